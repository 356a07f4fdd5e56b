"""A vector for each word of a run's vocabulary, drawn at random or read from a file."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.data.text import BOUNDARIES, TokenizedTexts, Vocabulary
from mtl.embedders.find import check_dim
from mtl.embedders.interface import Coverage, EmbeddingsRequest, count_coverage
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.model.sequences import ArraySequences

VOCABULARY = "vocabulary.txt"  # in a run's folder: one word per line, in order


def random_embeddings(request: EmbeddingsRequest) -> "WordEmbeddings":
    """Vectors drawn from N(0, 1) for the words of `frequent_words`. All other words are unknown."""
    options, texts = request.options, request.texts
    vocabulary = Vocabulary(frequent_words(texts, request.training_texts, options.min_count, options.max_words))
    covered = count_coverage(texts, vocabulary.ids(texts.types) != Vocabulary.UNKNOWN)
    return WordEmbeddings(vocabulary, options.dim, None, covered, options.trainable, sparse=options.sparse)


def static_embeddings(request: EmbeddingsRequest) -> "WordEmbeddings":
    """The vectors of the dataset's words, read from the file at `request.path`.
    With min_count=1 and max_words=None, these are all words of all texts, else those of `frequent_words`. Words beside them are unknown.
    With missing=unknown, a word that is not in the file has the vector of its character n-grams if the file is a .bin; else it is unknown.
    With missing=random, as in GLUE's baselines and jiant, each seed draws the vectors of such words, and n-grams are not used.
    Raises InputError for a file that cannot be read, or whose vectors do not have `options.dim` numbers (None: any)."""
    options, texts, path = request.options, request.texts, request.path
    assert path is not None
    types = texts.types
    if not options.takes_all_words:
        types = frequent_words(texts, request.training_texts, options.min_count, options.max_words)
    words = [word for word in types if word not in BOUNDARIES]
    if not words:
        message = "no word occurs so often in the training texts; set a smaller one"
        raise InputError(message, key="embeddings.min_count", value=options.min_count)
    read = VectorFile(path).read_once(words)
    check_dim(path, read.dim, options.dim)
    draws_missing = options.missing == "random"
    has_vector = read.in_file if draws_missing else read.has_vector
    if not has_vector.any():
        raise InputError(f"knows none of the suite's {len(words)} words; is it for another language?", path=path)
    known = list(compress(words, has_vector))
    known_or_boundary = {*known, *BOUNDARIES}
    vocabulary = Vocabulary(types if draws_missing else [word for word in types if word in known_or_boundary])
    vectors, drawn = _initial_vectors(vocabulary, known, read.vectors[has_vector], draws_missing)
    words_in_file = set(compress(words, read.in_file))
    words_of_ngrams = set(known) - words_in_file
    is_in_file = np.array([word in words_in_file for word in texts.types])
    is_from_ngrams = np.array([word in words_of_ngrams for word in texts.types])
    covered = count_coverage(texts, is_in_file, is_from_ngrams)
    return WordEmbeddings(vocabulary, read.dim, vectors, covered, options.trainable, drawn, options.sparse)


def _initial_vectors(
    vocabulary: Vocabulary, words: Sequence[str], vectors: np.ndarray, draws_unknown: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """The fields `vectors` and `drawn` of `WordEmbeddings`, where these words have these vectors.
    The vector of the unknown word is the mean of all of them, or drawn. Those of boundary words and of further words are always drawn."""
    ids = vocabulary.ids(words)
    initial = np.zeros((len(vocabulary), vectors.shape[1]), dtype=np.float32)
    initial[ids] = vectors
    initial[Vocabulary.UNKNOWN] = vectors.mean(axis=0)
    drawn = np.ones(len(vocabulary), dtype=bool)
    drawn[ids] = drawn[Vocabulary.PADDING] = False
    drawn[Vocabulary.UNKNOWN] = draws_unknown
    return initial, (drawn if drawn.any() else None)


@dataclass(frozen=True)
class WordEmbeddings:
    """The vocabulary, its initial vectors, and how many words of the dataset they cover."""

    vocabulary: Vocabulary  # of the words that have a vector
    dim: int
    vectors: np.ndarray | None  # float32 (len(vocabulary), dim); None: each seed draws its own ones from N(0, 1)
    coverage: Coverage
    trainable: bool  # in stage 1
    drawn: np.ndarray | None = None  # bool (len(vocabulary),), the vectors that each seed draws from N(0, 1) instead
    sparse: bool = False  # as in `WordEmbedder`

    def fingerprint(self) -> str:
        """A hash of the vocabulary and the initial vectors."""
        content = hashlib.sha256("\n".join(self.vocabulary.words).encode())
        for values in (self.vectors, self.drawn):
            content.update(b"" if values is None else values.tobytes())
        return content.hexdigest()

    def embedder(self) -> "WordEmbedder":
        """A new embedder; random vectors are drawn from torch's current random state."""
        embedder = WordEmbedder(len(self.vocabulary), self.dim, self.trainable, self.sparse)
        if self.vectors is not None:
            embedder.load(self.vectors, self.drawn)
        return embedder

    def sequences(self, texts: TokenizedTexts) -> ArraySequences:
        return word_sequences(self.vocabulary, texts)

    uncached_sequences = sequences

    def parameters(self) -> int:
        return len(self.vocabulary) * self.dim

    def to(self, device: torch.device) -> None:
        """Do nothing: vectors are only looked up."""

    def save(self, folder: Path) -> None:
        write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in self.vocabulary.words))


def word_sequences(vocabulary: Vocabulary, texts: TokenizedTexts) -> ArraySequences:
    """The texts as ids of the vocabulary's words."""
    return ArraySequences(vocabulary.ids(texts.types)[texts.tokens], texts.starts[:-1], texts.lengths)


class WordEmbedder(nn.Module):
    """Turns word ids into vectors. The vector of padding (id 0) is zero, also after training."""

    def __init__(self, words: int, dim: int, trainable: bool, sparse: bool = False) -> None:
        """Draw vectors of so many words from N(0, 1). If `sparse`, their gradient has only the words of a batch (`mtl.training.optimizers`)."""
        super().__init__()
        self.table = nn.Embedding(words, dim, padding_idx=Vocabulary.PADDING, sparse=sparse)
        self.table.weight.requires_grad_(trainable)
        self.added: Tensor
        self.register_buffer("added", torch.empty(0, dim), persistent=False)

    def load(self, vectors: np.ndarray, drawn: np.ndarray | None = None) -> None:
        """Copy these vectors, float32 (words, dim), except the rows `drawn`, bool (words,), which keep their random values."""
        copied = slice(None) if drawn is None else torch.from_numpy(~drawn)
        with torch.no_grad():
            self.table.weight[copied] = torch.from_numpy(vectors)[copied]

    def for_task(self) -> "WordEmbedder":
        """This embedder, which is no longer trained, so that all tasks of stage 2 share its vectors."""
        return self.requires_grad_(False)

    def add(self, vectors: np.ndarray) -> None:
        """Add words with these vectors, float32 (words, dim), after the existing ones. They are neither trained nor saved."""
        self.added = torch.cat([self.added, torch.from_numpy(vectors).to(self.added.device)])

    def forward(self, tokens: Tensor) -> Tensor:
        """Word ids (batch, time) -> vectors (batch, time, dim)."""
        if not len(self.added):
            return self.table(tokens)
        first_added = self.table.num_embeddings  # an id
        added = F.embedding((tokens - first_added).clamp(min=0), self.added)
        return torch.where((tokens >= first_added)[..., None], added, self.table(tokens.clamp(max=first_added - 1)))


def frequent_words(texts: TokenizedTexts, train_texts: np.ndarray, min_count: int, max_words: int | None) -> list[str]:
    """The words that get a vector of their own, in the order of `texts.types`: boundary words, and words that occur at least `min_count` times in
    the training texts, int64 (texts,), whose indices these are. Of frequent words, there are at most `max_words`, if it is not None: the most
    frequent ones, of equally frequent ones the first in `texts.types`, which is in order of first occurrence."""
    counts = texts.counts(train_texts)
    is_boundary = np.array([word in BOUNDARIES for word in texts.types], dtype=bool)
    is_frequent = (counts >= max(1, min_count)) & ~is_boundary
    if max_words is not None:
        indices = np.flatnonzero(is_frequent)
        is_frequent[indices[np.argsort(-counts[indices], kind="stable")[max_words:]]] = False
    return [texts.types[index] for index in np.flatnonzero(is_frequent | is_boundary)]
