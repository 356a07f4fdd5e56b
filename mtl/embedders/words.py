"""A vector for each word of the vocabulary: what random and fastText embeddings have in common.

How many words of a dataset's texts have a vector.
Words that are not in a run's vocabulary: where their vectors come from, and how they are added.
"""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.data.files import read_lines
from mtl.data.text import BOUNDARIES, TokenizedTexts, Vocabulary
from mtl.embedders.embedder import LoadRequest, WordTable
from mtl.embedders.vectors import VectorFile, WordVectors
from mtl.model.sequences import ArraySequences


@dataclass(frozen=True)
class Coverage:
    """The numbers of types (distinct words) and tokens in the dataset's distinct texts, (types, tokens), by the source of their vectors.

    Boundary words are not counted. found: the word has a vector. from_ngrams: its vector comes from its character n-grams. unknown: it has
    no vector in the embeddings' file or vocabulary, also if it gets a random one (`embeddings.missing=random`).
    unknown_types: bool (types,), the words without a vector. ngram_types: bool (types,), the words whose vectors come from their
    character n-grams; None for embeddings without n-grams.
    """

    found: tuple[int, int]
    from_ngrams: tuple[int, int]
    unknown: tuple[int, int]
    unknown_types: np.ndarray = field(repr=False, compare=False)
    ngram_types: np.ndarray | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        types, tokens = (sum(kind[i] for kind in (self.found, self.from_ngrams, self.unknown)) for i in (0, 1))

        def share(kind: tuple[int, int]) -> str:
            return f"{kind[0]:,} types ({kind[0] / types:.1%}), {kind[1]:,} tokens ({kind[1] / tokens:.1%})"

        kinds = {"known": self.found, "from n-grams": self.from_ngrams, "unknown": self.unknown}
        return "; ".join(f"{name} {share(kind)}" for name, kind in kinds.items() if kind[0])

    def as_dict(self) -> dict[str, dict[str, int]]:
        """The numbers as in summary.json: {"found": {"types": …, "tokens": …}, …}."""
        kinds = {"found": self.found, "from_ngrams": self.from_ngrams, "unknown": self.unknown}
        return {name: dict(zip(("types", "tokens"), kind, strict=True)) for name, kind in kinds.items()}


def coverage(texts: TokenizedTexts, found: np.ndarray, from_ngrams: np.ndarray | None = None) -> Coverage:
    """Count the types and tokens of texts. found, from_ngrams: bool (types,)."""
    counts = np.bincount(texts.tokens, minlength=len(found))
    words = np.array([word not in BOUNDARIES for word in texts.types], dtype=bool)
    built = np.zeros_like(found) if from_ngrams is None else from_ngrams
    unknown = ~(found | built)

    def size(kind: np.ndarray) -> tuple[int, int]:
        return int((kind & words).sum()), int(counts[kind & words].sum())

    return Coverage(size(found), size(built), size(unknown), unknown, from_ngrams)


VOCABULARY = "vocabulary.txt"  # in a run's folder: one word per line, in order


@dataclass(frozen=True)
class WordEmbeddings:
    """The vocabulary, its initial vectors, and how many words of the dataset they cover.

    vectors: float32 (len(vocabulary), dim), or None if each seed draws its own vectors from N(0, init_std²).
    trainable: whether stage 1 trains them. drawn: bool (len(vocabulary),), the rows of `vectors` that each seed draws from N(0, 1)
    instead; None: no row. sparse, mapped: see `WordEmbedder`.
    """

    vocabulary: Vocabulary
    dim: int
    vectors: np.ndarray | None
    coverage: Coverage
    trainable: bool
    init_std: float = 1.0
    drawn: np.ndarray | None = None
    sparse: bool = False
    mapped: bool = False

    def fingerprint(self) -> str:
        """A hash of the vocabulary and the initial vectors."""
        content = hashlib.sha256("\n".join(self.vocabulary.words).encode())
        if self.vectors is not None:
            content.update(self.vectors.tobytes())
        if self.drawn is not None:
            content.update(self.drawn.tobytes())
        return content.hexdigest()

    def embedder(self) -> "WordEmbedder":
        """A new embedder; random vectors are drawn from torch's current random state."""
        embedder = WordEmbedder(len(self.vocabulary), self.dim, self.trainable, self.sparse, self.mapped)
        if self.vectors is None:
            embedder.scale(self.init_std)
        else:
            embedder.load(self.vectors, self.drawn)
        return embedder

    def sequences(self, texts: TokenizedTexts) -> ArraySequences:
        """The texts as word ids."""
        return word_sequences(self.vocabulary, texts)

    uncached_sequences = sequences

    def parameters(self) -> int:
        """The number of parameters in all vectors, and in their linear map."""
        return len(self.vocabulary) * self.dim + (self.dim**2 if self.mapped else 0)

    def to(self, device: torch.device) -> None:
        """Do nothing: vectors are only looked up."""

    def save(self, folder: Path) -> None:
        """Write the vocabulary, in order."""
        write_text(folder / VOCABULARY, "".join(f"{word}\n" for word in self.vocabulary.words))


def word_sequences(vocabulary: Vocabulary, texts: TokenizedTexts) -> ArraySequences:
    """The texts as word ids of a vocabulary."""
    return ArraySequences(vocabulary.ids(texts.types)[texts.tokens], texts.starts[:-1], texts.lengths)


class WordEmbedder(nn.Module):
    """Turns word ids into vectors. The vector of padding (id 0) is zero, also after training."""

    def __init__(self, words: int, dim: int, trainable: bool, sparse: bool = False, mapped: bool = False) -> None:
        """Draw vectors from N(0, 1). words: the number of ids.

        sparse: the gradient of the vectors has only the words of a batch (`mtl.training.module`). mapped: each vector goes
        through a trained linear map, which starts as the identity: so training changes all words alike, also unseen ones.
        """
        super().__init__()
        self.table = nn.Embedding(words, dim, padding_idx=Vocabulary.PADDING, sparse=sparse)
        self.table.weight.requires_grad_(trainable)
        self.map = nn.Linear(dim, dim, bias=False) if mapped else nn.Identity()
        if isinstance(self.map, nn.Linear):
            nn.init.eye_(self.map.weight)
        self.added: Tensor
        self.register_buffer("added", torch.empty(0, dim), persistent=False)

    def scale(self, factor: float) -> None:
        """Multiply all vectors."""
        with torch.no_grad():
            self.table.weight.mul_(factor)

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

    def remove_added(self) -> None:
        """Remove the words that `add` added."""
        self.added = self.added[:0]

    def forward(self, tokens: Tensor) -> Tensor:
        """Word ids (batch, time) -> vectors (batch, time, dim)."""
        vectors: Tensor = self.map(self._looked_up(tokens))
        return vectors

    def _looked_up(self, tokens: Tensor) -> Tensor:
        first = self.table.num_embeddings  # the id of the first added word
        if not len(self.added):
            vectors: Tensor = self.table(tokens)
            return vectors
        return torch.where(
            (tokens >= first)[..., None],
            F.embedding((tokens - first).clamp(min=0), self.added),
            self.table(tokens.clamp(max=first - 1)),
        )


def frequent_words(
    texts: TokenizedTexts, training_texts: np.ndarray, min_count: int, max_words: int | None
) -> list[str]:
    """The words that get a vector of their own, in the order of `texts.types`: boundary words, and frequent words.

    Frequent words occur at least `min_count` times in the training texts, and are among their `max_words` most frequent words, if that
    is set; of equally frequent words, the first in `texts.types`, which is in order of first occurrence.
    """
    counts = texts.counts(training_texts)
    is_boundary = np.array([word in BOUNDARIES for word in texts.types], dtype=bool)
    chosen = (counts >= max(1, min_count)) & ~is_boundary
    if max_words is not None:
        places = np.flatnonzero(chosen)
        chosen[places[np.argsort(-counts[places], kind="stable")[max_words:]]] = False
    return [texts.types[place] for place in np.flatnonzero(chosen | is_boundary)]


def with_specials(vectors: np.ndarray) -> np.ndarray:
    """These vectors, float32 (words, dim), with two rows before them: padding (zero) and the unknown word (their mean)."""
    return np.concatenate([np.zeros_like(vectors[:1]), vectors.mean(axis=0, keepdims=True), vectors])


def with_drawn(vectors: np.ndarray, drawn: np.ndarray, unknown: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """`WordEmbeddings.vectors` and `WordEmbeddings.drawn` for a vocabulary of which some words have random vectors.

    vectors: from `with_specials`, of the other words. drawn: bool (words,), which words have random vectors. unknown: whether the
    unknown word has one too.
    """
    rows = np.concatenate([[False, unknown], drawn])
    if not rows.any():
        return vectors, None
    table = np.zeros((len(rows), vectors.shape[1]), dtype=vectors.dtype)
    table[np.concatenate([[True, True], ~drawn])] = vectors
    return table, rows


MOST_NEW = 200_000  # words beside the vocabulary that a reader keeps; with 300 numbers each, 240 MB

logger = logging.getLogger("mtl")


class WordSource(Protocol):
    """Vectors of words that a run never saw."""

    def read(self, words: Sequence[str]) -> WordVectors:
        """The vectors of these words, and which of them have one. May be called several times."""

    def fingerprint(self) -> str:
        """A hash of everything that the vectors depend on."""


class FileSource:
    """A file of vectors. If it does not exist, no word has a vector."""

    def __init__(self, path: Path, dim: int | None, ngrams: bool = True) -> None:
        """dim: of the vectors to expect; None: as in the file, which must exist. ngrams: whether words that are not in the file may get
        vectors from their character n-grams."""
        self.file = VectorFile(path)
        self.dim = dim
        self.ngrams = ngrams

    def read(self, words: Sequence[str]) -> WordVectors:
        """As `WordSource.read`. Raises InputError for vectors of another size."""
        if self.dim is not None and not self.file.path.exists():
            logger.warning("%s does not exist: %d words that the run never saw are unknown", self.file.path, len(words))
            none = np.zeros(len(words), dtype=bool)
            return WordVectors(np.zeros((len(words), self.dim), dtype=np.float32), none, none)
        read = self.file.read(words)
        if self.dim not in (None, read.dim):
            raise InputError(
                f"has vectors of {read.dim} numbers, the run's have {self.dim}; put back the run's file",
                path=self.file.path,
            )
        return read if self.ngrams else replace(read, from_ngrams=np.zeros(len(words), dtype=bool))

    def fingerprint(self) -> str:
        """A hash of the file's content."""
        hashes = sorted(self.file.hashes().items()) if self.file.path.exists() else None
        return f"{hashes} {self.ngrams}"


class WordReader:
    """A vocabulary, to which words that have a vector in `source` are added when a text has them. All other words are unknown.

    No word is looked up twice, until MOST_NEW new words are known; then they are forgotten, so that memory stays bounded. source:
    None: no word is added.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        embedder: WordEmbedder,
        source: WordSource | None = None,
        parameters: int | None = None,
    ) -> None:
        """embedder: has vectors for the words of the vocabulary, in its order. parameters: None: those of the embedder."""
        self.vocabulary = vocabulary
        self.embedder = embedder
        self.source = source
        self.dim = embedder.table.embedding_dim
        self._parameters = parameters
        self._first_new = len(vocabulary)
        self._without_vector: set[str] = set()

    def learn(self, words: Sequence[str]) -> None:
        """Look up these words at once. Of more than MOST_NEW distinct words, each block of texts looks up its own."""
        distinct = list(dict.fromkeys(words))
        if len(distinct) <= MOST_NEW:
            self._learn(distinct)

    def sequences(self, texts: TokenizedTexts) -> ArraySequences:
        """The texts as word ids, which are valid until the next call. New words that have a vector are added to the vocabulary."""
        self._learn(texts.types)
        return word_sequences(self.vocabulary, texts)

    def table(self, words: Sequence[str]) -> WordTable:
        """The vectors of the vocabulary, and of these words if they have one."""
        self._learn(list(dict.fromkeys(words)))
        ids = torch.arange(len(self.vocabulary), device=self.embedder.table.weight.device)
        with torch.no_grad():
            vectors = self.embedder(ids[None])[0].float().cpu()
        return WordTable(list(self.vocabulary.words), vectors, self.source is not None)

    def known(self, texts: TokenizedTexts) -> np.ndarray:
        """Which of `texts.types` have a vector of their own, bool (types,); after `sequences`."""
        return self.vocabulary.ids(texts.types) != Vocabulary.UNKNOWN

    def fingerprint(self) -> str:
        """A hash of the vocabulary, and of the source of new words."""
        words = "\n".join(self.vocabulary.words[: self._first_new - Vocabulary.FIRST])
        source = "" if self.source is None else self.source.fingerprint()
        return hashlib.sha256(f"{words}\0{source}".encode("utf-8", "surrogatepass")).hexdigest()

    def parameters(self) -> int:
        """The number of parameters that the vectors depend on: of the run's words and their linear map, or of the source."""
        if self._parameters is not None:
            return self._parameters
        return sum(parameter.numel() for parameter in self.embedder.parameters())

    def _learn(self, words: Sequence[str]) -> None:
        """Add those of these distinct words that have a vector to the vocabulary."""
        if self.source is None:
            return
        if len(self.vocabulary) - self._first_new + len(self._without_vector) > MOST_NEW:
            self._forget()
        ids = self.vocabulary.ids(words)
        unknown = [word for word, id in zip(words, ids, strict=True) if id == Vocabulary.UNKNOWN]
        if new := [word for word in unknown if word not in self._without_vector]:
            self._add(new, self.source)

    def _add(self, new: Sequence[str], source: WordSource) -> None:
        read = source.read(new)
        self.embedder.add(read.vectors[read.known])
        self.vocabulary.add(word for word, has_vector in zip(new, read.known, strict=True) if has_vector)
        self._without_vector.update(word for word, has_vector in zip(new, read.known, strict=True) if not has_vector)

    def _forget(self) -> None:
        self.vocabulary.shorten(self._first_new)
        self.embedder.remove_added()
        self._without_vector.clear()


def run_words(request: LoadRequest, file: Path | None = None, ngrams: bool = True) -> WordReader:
    """The vocabulary of a finished run. file, ngrams: where new words get their vectors from, see `FileSource`; None: nowhere.

    Raises InputError if the run has no vectors, or another number of them than of words.
    """
    weight = request.weights.get("table.weight")
    if weight is None or weight.dim() != 2:
        raise InputError(
            "the weights of stage 1 have no word vectors; restore them, or make the run again", path=request.folder
        )
    vocabulary = Vocabulary(read_lines(request.folder / VOCABULARY))
    if len(vocabulary) != len(weight):
        raise InputError(
            f"has {len(vocabulary) - Vocabulary.FIRST} words, the run has vectors of {len(weight) - Vocabulary.FIRST}; restore the file",
            path=request.folder / VOCABULARY,
        )
    embedder = WordEmbedder(len(weight), weight.shape[1], trainable=False, mapped="map.weight" in request.weights)
    return WordReader(vocabulary, embedder, None if file is None else FileSource(file, weight.shape[1], ngrams))


def source_words(source: WordSource, dim: int, parameters: int) -> WordReader:
    """The words of a source alone. The vector of a word that it lacks is zero. parameters: of the source."""
    embedder = WordEmbedder(Vocabulary.FIRST, dim, trainable=False)
    embedder.load(np.zeros((Vocabulary.FIRST, dim), dtype=np.float32))
    return WordReader(Vocabulary([]), embedder, source, parameters)
