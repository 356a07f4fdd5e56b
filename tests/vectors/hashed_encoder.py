"""A sentence encoder for tests: the mean of word vectors that are drawn from the words' hashes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mtl.vectors.encoders.encoder import Description

DIM = 32


@dataclass
class HashedEncoder:
    """It counts the texts that it encodes, and keeps those that it learns."""

    pooling: str = "mean"
    centre: bool = False
    trained_on: tuple[str, ...] = ()
    name: str = "hashed"
    seed: int | None = None
    software: dict[str, str] = field(default_factory=lambda: {"mtl": "1"})
    encoded: int = field(default=0, init=False)
    learnt: list[str] = field(default_factory=list, init=False)

    @property
    def description(self) -> Description:
        return Description(
            name=self.name,
            title=f"Hashed words, {self.pooling}",
            family="average",
            dim=DIM,
            language="pl",
            parameters=0,
            parameters_without_embeddings=0,
            memory=0,
            max_length=None,
            trained_on=self.trained_on,
            suite=None,
            seed=self.seed,
        )

    def learn(self, texts: Sequence[str]) -> None:
        self.learnt += texts

    def encode(self, texts: Sequence[str], progress: bool = False) -> np.ndarray:
        self.encoded += len(texts)
        pool = {"mean": np.mean, "max": np.max}[self.pooling]
        vectors = [pool([_vector(word) for word in text.lower().split() or [""]], axis=0) for text in texts]
        return np.array(vectors, dtype=np.float32).reshape(len(texts), DIM)

    def fingerprint(self) -> str:
        parts = (self.pooling, self.centre, self.trained_on, self.name, self.seed)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def versions(self) -> dict[str, str]:
        return self.software


def _vector(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(DIM)
