"""Word vectors without a run, for averages: their options, and a reader for each kind of embeddings that has vectors before any training."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import typed
from mtl.base.wings import lazy
from mtl.data.text import Vocabulary
from mtl.embedders import embedder_kind, read_embeddings
from mtl.embedders.interface import Reader
from mtl.embedders.new_words import FileSource, WordReader, WordSource
from mtl.embedders.static import check_dim
from mtl.embedders.vector_files.vector_file import WordVectors
from mtl.embedders.words import WordEmbedder


@dataclass(frozen=True)
class VectorReaderRequest:
    """What a reader of vectors is opened from.

    Attributes:
        options: an instance of `EmbedderKind.options`.
        path: the file or folder of the vectors; None for kinds that need none.
        layer: the layer to read, counted from 0, if the embeddings have layers; None for the mean of all layers.
        seed: that of random vectors.
        device: where to compute vectors that are not only looked up.
    """

    options: Any
    path: Path | None
    layer: int | None
    seed: int
    device: torch.device


@dataclass(frozen=True)
class Opener:
    """How the vectors of one kind of embeddings are read as they are without training.

    Attributes:
        open: makes the reader.
        keys: the names of the settings that it reads: keys below "embeddings.", and "layer" and "seed".
    """

    open: Callable[[VectorReaderRequest], Reader]
    keys: tuple[str, ...]


def embedder_options(name: str, changes: Mapping[str, Any]) -> EmbedderOptions:
    """The options of the embeddings file `name`, with some keys changed. Raises InputError."""
    content = read_embeddings(name)
    content.pop("config", None)  # for runs
    return typed(embedder_kind(content["name"]).options, {**content, **changes}, "embeddings.")


class SourceReader(WordReader):
    """The words of a source alone. The vector of other words is zero."""

    def __init__(self, source: WordSource, dim: int, parameters: int) -> None:
        """The source has vectors of this size, and this number of parameters."""
        embedder = WordEmbedder(Vocabulary.FIRST, dim, trainable=False)
        embedder.load(np.zeros((Vocabulary.FIRST, dim), dtype=np.float32))
        super().__init__(Vocabulary([]), embedder, source)
        self._parameters = parameters

    def parameters(self) -> int:
        return self._parameters


@dataclass(frozen=True)
class DrawnVectors:
    """A vector from N(0, std²) for any word. It depends on the word and the seed alone. See `mtl.embedders.new_words.WordSource`."""

    dim: int
    std: float
    seed: int

    def read(self, words: Sequence[str]) -> WordVectors:
        vectors = np.empty((len(words), self.dim), dtype=np.float32)
        for row, word in zip(vectors, words, strict=True):
            digest = hashlib.sha256(f"{self.seed} {word}".encode("utf-8", "surrogatepass")).digest()
            row[:] = self.std * np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(self.dim)
        return WordVectors(vectors, np.ones(len(words), dtype=bool), np.zeros(len(words), dtype=bool))

    def fingerprint(self) -> str:
        return repr(self)


def open_random(request: VectorReaderRequest) -> Reader:
    """A random vector for any word."""
    options = request.options
    return SourceReader(DrawnVectors(options.dim, options.init_std, request.seed), options.dim, parameters=0)


def open_static(request: VectorReaderRequest) -> Reader:
    """All words of the file at `request.path`. Raises InputError for a file that cannot be read, or has vectors of another size."""
    options, path = request.options, request.path
    assert path is not None
    source = FileSource(path, None, ngrams=options.missing == "unknown")
    rows, dim = source.file.shape
    check_dim(path, dim, options.dim)
    return SourceReader(source, dim, rows * dim)


STATIC = Opener(open_static, ("embeddings.path", "embeddings.dim", "embeddings.missing"))

# By the name of the embeddings.
OPENERS: dict[str, Opener] = {
    "random": Opener(open_random, ("embeddings.dim", "embeddings.init_std", "seed")),
    "fasttext": STATIC,
    "glove": STATIC,
    "elmo": Opener(lazy("mtl.vectors.elmo.layers:open_elmo"), ("embeddings.path", "embeddings.exact", "layer")),
    "word2vec": STATIC,
}
