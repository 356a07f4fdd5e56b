"""TF-IDF features of a row's text or pair of texts: its n-grams of words and of characters, and what the texts of a pair share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler, normalize

from mtl.base.progress import progress
from mtl.base.settings.schema import FloorConfig
from mtl.methods.floors.features import Document, Matrix, RowFeatures, finite_numbers, fitted_state, restore_fitted
from mtl.tasks.task import Task

KINDS = ("words", "characters")  # of n-grams, in the order of the features
WORD_NGRAMS, CHARACTER_NGRAMS = (1, 2), (2, 5)  # the shortest and the longest one
LEAST_SCALE = 1e-100  # of cosines, so that scaled ones are finite
WHOLE_TEXTS = 2 * len(KINDS)  # the last features of trees, which compare whole texts

Vectors = Mapping[str, csr_matrix]  # TF-IDF by kind of n-grams: (texts, n-grams)


class TaskFeatures(RowFeatures):
    """The features that a method reads for the rows of one task: PAIR_FEATURES of pairs, `bag` of all others."""

    def __init__(self, method: str, config: FloorConfig, task: Task) -> None:
        self._method, self._task = method, task
        self._vectorizers = new_vectorizers(config)
        self._scaler = StandardScaler()
        self.problem = f"no n-gram occurs in floor.min_count={config.min_count} training texts; set fewer"

    def fit(self, rows: Iterable[Sequence[Document]]) -> Matrix:
        """Choose the n-grams and their weights from the distinct texts of training rows; return the rows' features."""
        documents, indices = _distinct(rows)
        vectors = {
            kind: vectorizer.fit_transform(progress(documents, f"{self._task.id} · n-grams of {kind}", "texts"))
            for kind, vectorizer in self._vectorizers.items()
        }
        sides = _sides(vectors, indices)
        if not self._task.is_pair:
            return bag(sides)
        pairs = Pairs(sides)
        self._scaler.fit(pairs.cosines)
        return self._pair_features(pairs)

    def transform(self, rows: Iterable[Sequence[Document]]) -> Matrix:
        documents, indices = _distinct(rows)
        vectors = {kind: vectorizer.transform(documents) for kind, vectorizer in self._vectorizers.items()}
        sides = _sides(vectors, indices)
        return self._pair_features(Pairs(sides)) if self._task.is_pair else bag(sides)

    def _pair_features(self, pairs: "Pairs") -> Matrix:
        return PAIR_FEATURES[self._method](pairs, self._scaler.transform(pairs.cosines))

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {kind: fitted_state(vectorizer) for kind, vectorizer in self._vectorizers.items()}
        if self._task.is_pair:
            state |= {"mean": torch.from_numpy(self._scaler.mean_), "scale": torch.from_numpy(self._scaler.scale_)}
        return state

    def restore(self, state: Mapping[str, Any]) -> None:
        for kind, vectorizer in self._vectorizers.items():
            restore_fitted(vectorizer, state[kind])
        if self._task.is_pair:
            self._scaler.mean_ = finite_numbers(state["mean"], (len(KINDS),))
            self._scaler.scale_ = finite_numbers(state["scale"], (len(KINDS),))
            if (self._scaler.scale_ < LEAST_SCALE).any():
                raise ValueError("its cosines have no scale")
            self._scaler.n_features_in_ = len(KINDS)


def new_vectorizers(config: FloorConfig) -> dict[str, TfidfVectorizer]:
    """TF-IDF of word n-grams, and of character n-grams within words, both in lower case, by kind. Term frequencies are on a logarithmic scale. Each
    kind's vector has length 1, or 0 for a text with no known n-gram."""
    common = {"min_df": config.min_count, "max_features": config.max_features, "sublinear_tf": True}
    words = {"tokenizer": lambda document: [token.lower() for token in document.tokens], "token_pattern": None}
    characters = {"preprocessor": lambda document: document.text.lower(), "analyzer": "char_wb"}
    return {
        "words": TfidfVectorizer(**words, lowercase=False, ngram_range=WORD_NGRAMS, **common),
        "characters": TfidfVectorizer(**characters, ngram_range=CHARACTER_NGRAMS, **common),
    }


def _distinct(rows: Iterable[Sequence[Document]]) -> tuple[list[Document], np.ndarray]:
    """The distinct documents of the rows, and the index of each row's documents in them, int64 (rows, sides)."""
    rows = list(rows)
    documents = {document.text: document for row in rows for document in row}
    index = {text: number for number, text in enumerate(documents)}
    return list(documents.values()), np.array([[index[document.text] for document in row] for row in rows])


def _sides(vectors: Vectors, indices: np.ndarray) -> list[Vectors]:
    """The vectors of the rows' first texts, and of the second texts of pairs."""
    return [{kind: matrix[side] for kind, matrix in vectors.items()} for side in indices.T]


def bag(sides: Sequence[Vectors]) -> csr_matrix:
    """The sum of the TF-IDF vectors of each row's texts, scaled to length 1: (rows, n-grams of both kinds)."""
    return hstack([normalize(sum(side[kind] for side in sides)) for kind in KINDS], format="csr")


class Pairs:
    """Pairs of texts with the vectors u and v, compared for each kind of n-grams."""

    def __init__(self, sides: Sequence[Vectors]) -> None:
        self.sides = sides
        first, second = sides
        self.products = [first[kind].multiply(second[kind]) for kind in KINDS]  # u * v, number by number
        self.cosines = _row_sums(self.products)  # float64 (pairs, kinds), between 0 and 1: vectors have length 1 or 0

    def differences(self) -> list[csr_matrix]:
        """|u - v| of each kind."""
        first, second = self.sides
        return [abs(first[kind] - second[kind]) for kind in KINDS]


def _row_sums(matrices: Sequence[csr_matrix]) -> np.ndarray:
    """The sum of each row of each matrix, (rows, matrices)."""
    return np.column_stack([np.asarray(matrix.sum(axis=1)).ravel() for matrix in matrices])


def _for_linear_model(pairs: Pairs, standardized: np.ndarray) -> csr_matrix:
    """The pair's n-grams (`bag`), |u - v| and u * v of each kind, and the cosines, which need no large weights since they are standardized."""
    return hstack([bag(pairs.sides), *pairs.differences(), *pairs.products, standardized], format="csr")


def _for_tree(pairs: Pairs, standardized: np.ndarray) -> csr_matrix:
    """|u - v| and u * v of each kind, and the WHOLE_TEXTS: the cosines, and the sums of |u - v|."""
    differences = pairs.differences()
    return hstack([*differences, *pairs.products, standardized, _row_sums(differences)], format="csr")


def _for_forest(pairs: Pairs, standardized: np.ndarray) -> csr_matrix:
    """As for a tree, with copies of the WHOLE_TEXTS: of the sqrt(n) features that a forest draws at each split, two are such copies on average."""
    features = _for_tree(pairs, standardized)
    copies = round(features.shape[1] ** 0.5 * 2 / WHOLE_TEXTS)
    return hstack([features, *[features[:, -WHOLE_TEXTS:]] * copies], format="csr")


# What each method reads of pairs, (pairs, features). The second argument has the cosines, standardized over the training rows, (pairs, kinds).
PAIR_FEATURES: Mapping[str, Callable[[Pairs, np.ndarray], Matrix]] = {
    "overlap": lambda pairs, standardized: pairs.cosines,
    "logistic": _for_linear_model,
    "svm": _for_linear_model,
    "naive_bayes": lambda pairs, standardized: _for_linear_model(pairs, pairs.cosines),  # it takes no negative number
    "tree": _for_tree,
    "forest": _for_forest,
}
