"""Readers of word vectors as they are before any run: one opener for each kind of embeddings that has such vectors."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from mtl.data.text import Vocabulary
from mtl.embedders.interface import Reader
from mtl.embedders.new_words import FileSource, WordReader, WordSource
from mtl.embedders.vector_files.vector_file import WordVectors
from mtl.embedders.words import WordEmbedder, check_dim


@dataclass(frozen=True)
class ReaderRequest:
    """What a reader is opened from."""

    options: Any  # an instance of `mtl.embedders.interface.EmbedderKind.options`
    path: Any  # of the vectors, a Path; None for random vectors
    seed: int  # of random vectors
    device: torch.device  # computes vectors that are not only looked up


class SourceReader(WordReader):
    """The words of a source alone. The vector of other words is zero."""

    def __init__(self, source: WordSource, dim: int, parameters: int) -> None:
        """The source has vectors of size `dim`, and this number of parameters."""
        embedder = WordEmbedder(Vocabulary.FIRST, dim, trainable=False)
        embedder.load(np.zeros((Vocabulary.FIRST, dim), dtype=np.float32))
        super().__init__(Vocabulary([]), embedder, source)
        self._parameters = parameters

    def parameters(self) -> int:
        return self._parameters


@dataclass(frozen=True)
class DrawnVectors:
    """A vector from N(0, 1) for any word, which depends on the word and the seed alone: a `WordSource`."""

    dim: int
    seed: int

    def read(self, words: Sequence[str]) -> WordVectors:
        vectors = np.empty((len(words), self.dim), dtype=np.float32)
        for row, word in zip(vectors, words, strict=True):
            digest = hashlib.sha256(f"{self.seed} {word}".encode("utf-8", "surrogatepass")).digest()
            row[:] = np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(self.dim)
        return WordVectors(vectors, np.ones(len(words), dtype=bool), np.zeros(len(words), dtype=bool))

    def fingerprint(self) -> str:
        return repr(self)


def open_random(request: ReaderRequest) -> Reader:
    """A random vector for any word."""
    dim = request.options.dim
    return SourceReader(DrawnVectors(dim, request.seed), dim, parameters=0)


def open_static(request: ReaderRequest) -> Reader:
    """All words of a file. Raises InputError for a file that cannot be read, or has vectors of another size."""
    source = FileSource(request.path, None, ngrams=request.options.missing == "unknown")
    words, dim = source.file.shape
    check_dim(request.path, dim, request.options.dim)
    return SourceReader(source, dim, words * dim)


def open_elmo(request: ReaderRequest) -> Reader:
    """The mean of the layers of an ELMo, in float32."""
    from mtl.embedders.elmo.embeddings import ElmoReader, load_elmo, new_mix

    elmo, digest = load_elmo(request.path, request.options.exact, request.device)
    return ElmoReader(elmo, digest, "float32", new_mix(elmo))


@dataclass(frozen=True)
class Opener:
    """How the vectors of one kind of embeddings are read."""

    open: Callable[[ReaderRequest], Reader]
    settings: tuple[str, ...]  # those that the vectors depend on, as in `mtl encode average embeddings.dim=100`


STATIC = Opener(open_static, ("embeddings.path", "embeddings.dim", "embeddings.missing"))
OPENERS = {  # by the name of the embeddings, as in `mtl.embedders.EMBEDDERS`
    "random": Opener(open_random, ("embeddings.dim", "seed")),
    "fasttext": STATIC,
    "glove": STATIC,
    "elmo": Opener(open_elmo, ("embeddings.path", "embeddings.exact")),
    "word2vec": STATIC,
}
