"""A vector for each word of the vocabulary: what random and fastText embeddings have in common."""

import hashlib
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import Tensor, nn

from mtl.data.text import Vocabulary


@dataclass(frozen=True)
class Coverage:
    """How much of the suite's texts an embedding knows: (types, tokens) of each kind, over the distinct texts."""

    found: tuple[int, int]
    from_ngrams: tuple[int, int]
    unknown: tuple[int, int]

    def __str__(self) -> str:
        types, tokens = (sum(kind[i] for kind in (self.found, self.from_ngrams, self.unknown)) for i in (0, 1))

        def share(kind: tuple[int, int]) -> str:
            return f"{kind[0]:,} types ({kind[0] / types:.1%}), {kind[1]:,} tokens ({kind[1] / tokens:.1%})"

        kinds = {"known": self.found, "from n-grams": self.from_ngrams, "unknown": self.unknown}
        return "; ".join(f"{name} {share(kind)}" for name, kind in kinds.items() if kind[0])

    def as_dict(self) -> dict[str, dict[str, int]]:
        """The same numbers, as summary.json has them."""
        return {name: dict(zip(("types", "tokens"), kind, strict=True)) for name, kind in asdict(self).items()}


def coverage(tokens: np.ndarray, found: np.ndarray, from_ngrams: np.ndarray) -> Coverage:
    """tokens: word types' numbers as they stand in the texts. found, from_ngrams: bool (types,)."""
    counts = np.bincount(tokens, minlength=len(found))

    def size(kind: np.ndarray) -> tuple[int, int]:
        return int(kind.sum()), int(counts[kind].sum())

    return Coverage(size(found), size(from_ngrams), size(~(found | from_ngrams)))


@dataclass(frozen=True)
class WordEmbeddings:
    """What an embedder is built from: the vocabulary, its first vectors, and what they cover.

    vectors: float32 (len(vocabulary), dim), or None where each seed draws its own from N(0, init_std²).
    """

    vocabulary: Vocabulary
    dim: int
    vectors: np.ndarray | None
    coverage: Coverage
    init_std: float = 1.0

    def fingerprint(self) -> str:
        """A hash of the vocabulary and the first vectors."""
        content = hashlib.sha256("\n".join(self.vocabulary.words).encode())
        if self.vectors is not None:
            content.update(self.vectors.tobytes())
        return content.hexdigest()

    def embedder(self, trainable: bool) -> "WordEmbedder":
        """A new embedder; random vectors are drawn from torch's current random state."""
        embedder = WordEmbedder(len(self.vocabulary), self.dim, trainable)
        if self.vectors is None:
            embedder.draw(self.init_std)
        else:
            embedder.load(self.vectors)
        return embedder


class WordEmbedder(nn.Module):
    """Word numbers in, vectors out. Padding (0) is zero and stays so."""

    def __init__(self, words: int, dim: int, trainable: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(words, dim, padding_idx=Vocabulary.PADDING)
        self.table.weight.requires_grad_(trainable)

    def draw(self, std: float) -> None:
        """Draw new vectors from N(0, std²)."""
        with torch.no_grad():
            self.table.weight.normal_(0, std)
            self.table.weight[Vocabulary.PADDING] = 0

    def load(self, vectors: np.ndarray) -> None:
        """Take these vectors, float32 (words, dim)."""
        with torch.no_grad():
            self.table.weight.copy_(torch.from_numpy(vectors))

    def extend(self, vectors: np.ndarray) -> None:
        """Add words with these vectors, float32 (words, dim), after those that are there."""
        weight = torch.cat([self.table.weight.detach(), torch.from_numpy(vectors)])
        self.table = nn.Embedding.from_pretrained(weight, padding_idx=Vocabulary.PADDING)

    def forward(self, tokens: Tensor) -> Tensor:
        """Word numbers (batch, time) -> (batch, time, dim)."""
        return self.table(tokens)


def with_specials(vectors: np.ndarray) -> np.ndarray:
    """Words' vectors, float32 (words, dim), after rows for padding (zero) and for the unknown word (their mean)."""
    return np.concatenate([np.zeros_like(vectors[:1]), vectors.mean(axis=0, keepdims=True), vectors])
