"""A vector for each word of the vocabulary: what random and fastText embeddings have in common."""

import hashlib
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mtl.data.text import Texts, Vocabulary
from mtl.embedders.coverage import Coverage
from mtl.training.batches import TokenTable


@dataclass(frozen=True)
class WordEmbeddings:
    """What an embedder is built from: the vocabulary, its first vectors, and what they cover.

    vectors: float32 (len(vocabulary), dim), or None where each seed draws its own from N(0, init_std²).
    trainable: whether stage 1 trains them.
    from_ngrams: bool (types of the texts,), the words whose vectors are put together from their n-grams; None: no word's are.
    """

    vocabulary: Vocabulary
    dim: int
    vectors: np.ndarray | None
    coverage: Coverage
    trainable: bool
    init_std: float = 1.0
    from_ngrams: np.ndarray | None = None

    def fingerprint(self) -> str:
        """A hash of the vocabulary and the first vectors."""
        content = hashlib.sha256("\n".join(self.vocabulary.words).encode())
        if self.vectors is not None:
            content.update(self.vectors.tobytes())
        return content.hexdigest()

    def embedder(self) -> "WordEmbedder":
        """A new embedder; random vectors are drawn from torch's current random state."""
        embedder = WordEmbedder(len(self.vocabulary), self.dim, self.trainable)
        if self.vectors is None:
            embedder.scale(self.init_std)
        else:
            embedder.load(self.vectors)
        return embedder

    def table(self, texts: Texts) -> TokenTable:
        """The texts as numbers of the vocabulary."""
        return word_table(self.vocabulary, texts)

    live = table

    def parameters(self) -> int:
        return len(self.vocabulary) * self.dim

    def to(self, device: torch.device) -> None:
        """There is nothing to compute."""


def word_table(vocabulary: Vocabulary, texts: Texts) -> TokenTable:
    """The texts as numbers of a vocabulary."""
    return TokenTable(vocabulary.ids(texts.types)[texts.tokens], texts.starts[:-1], texts.lengths)


class WordEmbedder(nn.Module):
    """Word numbers in, vectors out. Padding (0) is zero and stays so."""

    def __init__(self, words: int, dim: int, trainable: bool) -> None:
        """Vectors drawn from N(0, 1)."""
        super().__init__()
        self.table = nn.Embedding(words, dim, padding_idx=Vocabulary.PADDING)
        self.table.weight.requires_grad_(trainable)
        self.added: Tensor
        self.register_buffer("added", torch.empty(0, dim), persistent=False)

    def scale(self, factor: float) -> None:
        """Multiply all vectors."""
        with torch.no_grad():
            self.table.weight.mul_(factor)

    def load(self, vectors: np.ndarray) -> None:
        """Take these vectors, float32 (words, dim)."""
        with torch.no_grad():
            self.table.weight.copy_(torch.from_numpy(vectors))

    def for_task(self) -> "WordEmbedder":
        """What stage 2 uses: these vectors themselves, trained no more, so that all tasks share one table."""
        self.table.weight.requires_grad_(False)
        return self

    def add(self, vectors: np.ndarray) -> None:
        """Add words with these vectors, float32 (words, dim), after those that are there. They are not trained or saved."""
        self.added = torch.cat([self.added, torch.from_numpy(vectors).to(self.added.device)])

    def forward(self, tokens: Tensor) -> Tensor:
        """Word numbers (batch, time) -> (batch, time, dim)."""
        first = self.table.num_embeddings  # of the added words
        if not len(self.added):
            vectors: Tensor = self.table(tokens)
            return vectors
        return torch.where(
            (tokens >= first)[..., None],
            F.embedding((tokens - first).clamp(min=0), self.added),
            self.table(tokens.clamp(max=first - 1)),
        )


def with_specials(vectors: np.ndarray) -> np.ndarray:
    """Words' vectors, float32 (words, dim), after rows for padding (zero) and for the unknown word (their mean)."""
    return np.concatenate([np.zeros_like(vectors[:1]), vectors.mean(axis=0, keepdims=True), vectors])
