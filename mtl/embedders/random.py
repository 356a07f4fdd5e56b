"""Embeddings learned from scratch: the row "LSTM" of KLEJ's Table 3."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from mtl.base.lazy import lazy
from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import AT_LEAST_ONE, POSITIVE, SIZE
from mtl.embedders.interface import EmbedderKind, EmbeddingsRequest, Reader, VectorReaderRequest, unknown_words

if TYPE_CHECKING:
    from mtl.embedders.vector_files.vector_file import WordVectors
    from mtl.embedders.words import WordEmbeddings


@dataclass(kw_only=True)
class RandomOptions(EmbedderOptions):
    """The keys of random embeddings; configs/embeddings/random.yaml explains them."""

    dim: Annotated[int, SIZE]
    trainable: bool
    init_std: Annotated[float, POSITIVE]
    min_count: Annotated[int, AT_LEAST_ONE]
    max_words: Annotated[int, AT_LEAST_ONE] | None = None
    sparse: bool = False


def random_embeddings(request: EmbeddingsRequest) -> "WordEmbeddings":
    """Vectors drawn from N(0, init_std²) for the words of `frequent_words`. All other words are unknown."""
    from mtl.data.text import Vocabulary
    from mtl.embedders.words import WordEmbeddings, coverage, frequent_words

    options, texts = request.options, request.texts
    vocabulary = Vocabulary(frequent_words(texts, request.training_texts, options.min_count, options.max_words))
    covered = coverage(texts, vocabulary.ids(texts.types) != Vocabulary.UNKNOWN)
    return WordEmbeddings(
        *(vocabulary, options.dim, None, covered, options.trainable, options.init_std), sparse=options.sparse
    )


@dataclass(frozen=True)
class DrawnVectors:
    """A vector from N(0, std²) for any word. It depends on the word and the seed alone. See `mtl.embedders.new_words.WordSource`."""

    dim: int
    std: float
    seed: int

    def read(self, words: Sequence[str]) -> "WordVectors":
        from mtl.embedders.vector_files.vector_file import WordVectors

        vectors = np.empty((len(words), self.dim), dtype=np.float32)
        for row, word in zip(vectors, words, strict=True):
            digest = hashlib.sha256(f"{self.seed} {word}".encode("utf-8", "surrogatepass")).digest()
            row[:] = self.std * np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(self.dim)
        return WordVectors(vectors, np.ones(len(words), dtype=bool), np.zeros(len(words), dtype=bool))

    def fingerprint(self) -> str:
        return repr(self)


def open_vectors(request: VectorReaderRequest) -> Reader:
    """A random vector for any word."""
    from mtl.embedders.new_words import source_words

    options = request.options
    return source_words(DrawnVectors(options.dim, options.init_std, request.seed), options.dim, parameters=0)


RANDOM = EmbedderKind(
    title="random",
    options=RandomOptions,
    build=random_embeddings,
    load=lazy("mtl.embedders.new_words:run_words"),
    open=open_vectors,
    open_keys=("embeddings.dim", "embeddings.init_std", "seed"),
    files=None,
    audit_note=lambda options: f"random embeddings: {unknown_words(options.min_count, options.max_words)}",
)
