"""Readers of word vectors as they are before any run."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from mtl.data.text import Vocabulary
from mtl.embedders.interface import Reader
from mtl.embedders.new_words import FileSource, WordReader, WordSource
from mtl.embedders.vector_files.vector_file import WordVectors
from mtl.embedders.words import WordEmbedder, check_dim

FILE = ("embeddings.path", "embeddings.dim", "embeddings.missing")
# By the name of embeddings that have vectors before a run, the settings that the vectors depend on.
READ_SETTINGS = {
    "random": ("embeddings.dim", "seed"),
    "fasttext": FILE,
    "glove": FILE,
    "elmo": ("embeddings.path", "embeddings.exact"),
    "word2vec": FILE,
}


class SourceReader(WordReader):
    """The words of a source alone. The vector of other words is zero."""

    def __init__(self, source: WordSource, dim: int, parameters: int) -> None:
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


def open_reader(options: Any, path: Any, seed: int, device: torch.device) -> Reader:
    """The reader of the vectors of embeddings in READ_SETTINGS, with these options (`EmbedderKind.options`). The path
    is None for random vectors, which follow from the seed. The device computes an ELMo's vectors, in float32. Raises
    InputError for vectors that cannot be read, or of another size than `options.dim`."""
    if options.name == "random":
        return SourceReader(DrawnVectors(options.dim, seed), options.dim, parameters=0)
    if options.name == "elmo":
        from mtl.embedders.elmo.embeddings import ElmoEmbedder, ElmoReader, load_elmo

        elmo, digest = load_elmo(path, options.exact, device)
        return ElmoReader(elmo, digest, "float32", ElmoEmbedder(elmo))  # untrained: the mean of the layers
    source = FileSource(path, None, ngrams=options.missing == "unknown")
    words, dim = source.file.shape
    check_dim(path, dim, options.dim)
    return SourceReader(source, dim, words * dim)
