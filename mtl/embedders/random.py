"""Embeddings learned from scratch: the row "LSTM" of KLEJ's Table 3."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from omegaconf import MISSING

from mtl.embedders.embedder import BuildRequest, EmbedderKind, LoadRequest, OpenRequest, Reader, unknown_words
from mtl.settings.bounds import AT_LEAST_ONE, POSITIVE, SIZE, bounded
from mtl.settings.schema import EmbedderOptions

if TYPE_CHECKING:
    from mtl.embedders.vectors import WordVectors
    from mtl.embedders.words import WordEmbeddings


@dataclass
class RandomOptions(EmbedderOptions):
    """The keys of random embeddings; configs/embeddings/random.yaml explains them."""

    dim: int = bounded(SIZE)
    trainable: bool = MISSING
    init_std: float = bounded(POSITIVE)
    min_count: int = bounded(AT_LEAST_ONE)
    max_words: int | None = bounded(AT_LEAST_ONE, None)
    sparse: bool = False


def random_embeddings(request: BuildRequest) -> "WordEmbeddings":
    """Vectors drawn from N(0, init_std²) for the words of `frequent_words`. All other words are unknown."""
    from mtl.data.text import Vocabulary
    from mtl.embedders.words import WordEmbeddings, coverage, frequent_words

    options, texts = request.options, request.texts
    vocabulary = Vocabulary(frequent_words(texts, request.training_texts, options.min_count, options.max_words))
    covered = coverage(texts, vocabulary.ids(texts.types) != Vocabulary.UNKNOWN)
    return WordEmbeddings(
        *(vocabulary, options.dim, None, covered, options.trainable, options.init_std), sparse=options.sparse
    )


def load(request: LoadRequest) -> Reader:
    """The words of a finished run; all other words are unknown."""
    from mtl.embedders.words import run_words

    return run_words(request)


@dataclass(frozen=True)
class DrawnVectors:
    """A vector from N(0, std²) for any word. It depends on the word and the seed alone. See `mtl.embedders.words.WordSource`."""

    dim: int
    std: float
    seed: int

    def read(self, words: Sequence[str]) -> "WordVectors":
        """The vectors of these words."""
        from mtl.embedders.vectors import WordVectors

        vectors = np.empty((len(words), self.dim), dtype=np.float32)
        for row, word in zip(vectors, words, strict=True):
            digest = hashlib.sha256(f"{self.seed} {word}".encode("utf-8", "surrogatepass")).digest()
            row[:] = self.std * np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(self.dim)
        return WordVectors(vectors, np.ones(len(words), dtype=bool), np.zeros(len(words), dtype=bool))

    def fingerprint(self) -> str:
        """What the vectors depend on."""
        return repr(self)


def open_vectors(request: OpenRequest) -> Reader:
    """A random vector for any word."""
    from mtl.embedders.words import source_words

    options = request.options
    return source_words(DrawnVectors(options.dim, options.init_std, request.seed), options.dim, parameters=0)


RANDOM = EmbedderKind(
    title="random",
    options=RandomOptions,
    build=random_embeddings,
    load=load,
    open=open_vectors,
    open_keys=("embeddings.dim", "embeddings.init_std", "seed"),
    files=None,
    audit_note=lambda options: f"random embeddings: {unknown_words(options.min_count, options.max_words)}",
)
