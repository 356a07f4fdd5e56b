"""Texts as means of static vectors, with a linear model or a small network on top: what most users try before an LSTM.
The vectors are of words (a file, as the LSTM reads it), or of whole texts, by a model that a wing reads."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from mtl.base.log import logger
from mtl.base.progress import Progress
from mtl.base.wings import hook
from mtl.data.text import UNKNOWN
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.methods.floors.features import Document, RowFeatures
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest
from mtl.tasks.task import Task

BLOCK = 4096  # texts
VectorSource = Any  # a `WordFile`, or what a wing has in its place, with the same methods


class StaticFloor(Floor):
    """`mtl.methods.method.Method` of static vectors: a floor whose features are means of vectors."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for vectors that cannot be read."""
        super().__init__(request)
        static = request.config.static
        if static.path is None:
            assert request.vectors is not None
            source: VectorSource = WordFile(request.vectors)
        else:
            source = hook("text_vectors")(static.path)  # a wing has this hook, as `StaticKind.check` found
        words = self.inputs.words
        assert words is not None  # joined texts are refused for this method
        documents = [Document(text, words(number)) for number, text in enumerate(request.dataset.texts)]
        self._text_vectors = TextVectors(source, documents)
        self.fingerprints |= source.fingerprints()
        self.embedding_parameters = source.size

    def new_features(self, task: Task, vectorizer: str | None) -> "TextVectors":
        return self._text_vectors


class WordFile:
    """Where the vectors of tokens come from: words in a file, of any format that `VectorFile` reads. A wing's source has these methods, too."""

    def __init__(self, path: Path) -> None:
        self._file = VectorFile(path)

    @property
    def size(self) -> int:
        """The number of parameters on which the vectors depend."""
        rows, dim = self._file.shape
        return rows * dim

    def tokens(self, documents: Sequence[Document]) -> list[list[str]]:
        """The tokens of each document: the words that the LSTM reads, too."""
        return [document.tokens for document in documents]

    def vectors(self, tokens: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of distinct tokens, float32 (tokens, dim), and which tokens have one, bool (tokens,)."""
        read = self._file.read(tokens)
        return read.vectors, read.has_vector & np.array([token != UNKNOWN for token in tokens], dtype=bool)

    def fingerprints(self) -> dict[str, str]:
        """Hashes, by name, of all that the vectors depend on."""
        return {"embeddings": self._file.sha256()}


class TextVectors(RowFeatures):
    """Features from the means of texts' token vectors; a text without a known token has the mean 0. A row of one text with the mean u has the
    features u. A pair with the means u and v has [u, v, |u - v|, u * v] (Conneau et al. 2017, as in jiant's classifiers)."""

    def __init__(self, source: VectorSource, documents: Sequence[Document]) -> None:
        """Encode these documents of distinct texts, once and for all."""
        self._means = _mean_vectors(source, documents)
        known = int(self._means.any(axis=1).sum())
        log = logger.info if known else logger.warning
        log("%s of %s texts have a word with a vector", f"{known:,}", f"{len(documents):,}")
        self._rows = {document.text: row for row, document in enumerate(documents)}

    def transform(self, rows: Iterable[Sequence[Document]]) -> np.ndarray:
        """The features of rows of these documents, float32 (rows, features)."""
        sides = [self._means[[self._rows[document.text] for document in side]] for side in zip(*rows, strict=True)]
        if len(sides) == 1:
            return sides[0]
        first, second = sides
        return np.concatenate([first, second, abs(first - second), first * second], axis=1)


def _mean_vectors(source: VectorSource, documents: Sequence[Document]) -> np.ndarray:
    """The mean of the token vectors of each document, float32 (documents, dim)."""
    tokens = source.tokens(documents)
    distinct = dict.fromkeys(token for text in tokens for token in text)
    index = {token: number for number, token in enumerate(distinct)}
    vectors, known = source.vectors(list(index))
    is_known = known.astype(np.float64)
    means = np.zeros((len(documents), vectors.shape[1]), dtype=np.float32)
    with Progress("encoding texts", len(documents), "texts") as bar:
        for start in range(0, len(documents), BLOCK):
            block = tokens[start : start + BLOCK]
            columns = np.fromiter((index[token] for text in block for token in text), dtype=np.int64)
            ends = np.cumsum([0, *map(len, block)])
            bags = csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(block), len(index)))  # of tokens
            known_tokens = bags @ is_known
            sums = bags.multiply(is_known).tocsr() @ vectors
            means[start : start + len(block)] = sums / np.where(known_tokens == 0, 1, known_tokens)[:, None]
            bar.advance(len(block))
    return means
