"""Texts as means of static vectors, with a linear model or a small network on top: what most users try before an LSTM."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtl.methods.floors.features import Document
from mtl.methods.floors.floor import Floor
from mtl.methods.floors.token_vectors import (
    TextVectors,
    TokenVectors,
    WordFile,
    is_model2vec,
    open_input_embeddings,
    open_model2vec,
)
from mtl.methods.method import BuildRequest
from mtl.tasks.task import Task


class StaticFloor(Floor):
    """`mtl.methods.method.Method` of static vectors: a floor whose features are means of vectors."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for vectors that cannot be read."""
        super().__init__(request)
        path, most = request.config.static.path, request.config.max_length
        source: TokenVectors
        if path is None:
            assert request.vectors is not None
            source = WordFile(request.vectors)
        else:
            source = open_model2vec(Path(path), most) if is_model2vec(Path(path)) else open_input_embeddings(path, most)
        self._vectors = TextVectors(source, request.config.static.weighting)
        documents = [Document(text, self.texts.words(number)) for number, text in enumerate(request.dataset.texts)]
        self._vectors.learn(documents, request.dataset.distinct_texts("train"))
        self.fingerprints |= source.fingerprints()
        self.embedding_parameters = source.size

    def new_features(self, task: Task, vectorizer: str | None) -> "StaticFeatures":
        return StaticFeatures(self._vectors)


class StaticFeatures:
    """The features of rows: u for a text; [u, v, |u - v|, u * v] for a pair (Conneau et al. 2017, as in jiant's classifiers)."""

    problem = "its training texts are empty"

    def __init__(self, vectors: TextVectors) -> None:
        self._vectors = vectors

    def fit(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of training rows: nothing is learned from them."""
        return self.transform(rows)

    def transform(self, rows: Sequence[Sequence[Document]]) -> np.ndarray:
        """The features of rows, float32 (rows, features)."""
        sides = [self._vectors.encode(side) for side in zip(*rows, strict=True)]
        if len(sides) == 1:
            return sides[0]
        first, second = sides
        return np.concatenate([first, second, abs(first - second), first * second], axis=1)
