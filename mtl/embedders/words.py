"""A vector for each word of the vocabulary: what random and fastText embeddings have in common."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mtl.data.text import BOUNDARIES, TokenizedTexts, Vocabulary
from mtl.embedders.coverage import Coverage
from mtl.embedders.sequences import ArraySequences
from mtl.files import write_text

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

        sparse: the gradient of the vectors has only the words of a batch (`mtl.training.optimizer`). mapped: each vector goes
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
