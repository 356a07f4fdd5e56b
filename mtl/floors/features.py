"""Texts as TF-IDF of their n-grams, and what methods compute from those vectors for a row of one text or two."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from mtl.config import FloorConfig
from mtl.progress import progress
from mtl.suite import Task

KINDS = ("words", "characters")  # of n-grams, in the order in which features stand
Vectors = Mapping[str, csr_matrix]  # TF-IDF by kind of n-grams: (texts, n-grams)
Matrix = csr_matrix | np.ndarray  # features: (rows, features)


class Document(NamedTuple):
    """A text and its tokens."""

    text: str
    tokens: list[str]


class Tfidf:
    """TF-IDF of word n-grams, and of character n-grams within words, both in lower case.

    Term frequencies are taken by their logarithm. Each kind's vector has length 1, or 0 for a text with no known n-gram.
    """

    def __init__(self, config: FloorConfig) -> None:
        common = {"min_df": config.min_count, "max_features": config.max_features, "sublinear_tf": True}
        words = TfidfVectorizer(
            preprocessor=_tokens,
            tokenizer=_same,
            token_pattern=None,
            lowercase=False,
            ngram_range=tuple(config.word_ngrams),
            **common,
        )
        characters = TfidfVectorizer(
            preprocessor=_text, analyzer="char_wb", ngram_range=tuple(config.char_ngrams), **common
        )
        self._vectorizers = dict(zip(KINDS, (words, characters), strict=True))

    def fit(self, documents: Collection[Document], title: str) -> Vectors:
        """Choose the n-grams and their weights by these documents, and return their vectors, (documents, n-grams) each.

        title: of the progress that is shown. Raises ValueError where no n-gram stands in enough documents.
        """
        return {
            kind: vectorizer.fit_transform(progress(documents, f"{title} · n-grams of {kind}", "texts"))
            for kind, vectorizer in self._vectorizers.items()
        }

    def transform(self, documents: Collection[Document]) -> Vectors:
        """The vectors of documents, (documents, n-grams) each."""
        return {kind: vectorizer.transform(documents) for kind, vectorizer in self._vectorizers.items()}


class TaskFeatures:
    """What a method reads of the rows of one task: `bag` of a single text, and of a pair what PAIR_FEATURES says."""

    def __init__(self, method: str, config: FloorConfig, task: Task) -> None:
        self._tfidf = Tfidf(config)
        self._compute: Callable[[Sequence[Vectors]], Matrix] = PAIR_FEATURES[method] if task.is_pair else bag
        self._title = task.id

    def fit(self, rows: Sequence[Sequence[Document]]) -> Matrix:
        """Choose the n-grams and their weights by the distinct texts of training rows, and return the rows' features.

        rows: of one text, or two. Raises ValueError where no n-gram stands in enough texts.
        """
        documents, places = _distinct(rows)
        return self._compute(_sides(self._tfidf.fit(documents, self._title), places))

    def transform(self, rows: Sequence[Sequence[Document]]) -> Matrix:
        """The features of rows, (rows, features)."""
        documents, places = _distinct(rows)
        return self._compute(_sides(self._tfidf.transform(documents), places))


def bag(sides: Sequence[Vectors]) -> csr_matrix:
    """The n-grams of a row's text or texts, (rows, n-grams of both kinds).

    The vectors of a pair are added, and the sum is scaled to length 1.
    """
    return hstack([normalize(sum(side[kind] for side in sides)) for kind in KINDS], format="csr")


def cosines(sides: Sequence[Vectors]) -> np.ndarray:
    """The cosine of a pair's two vectors by kind of n-grams, float64 (rows, 2), between 0 and 1."""
    first, second = sides
    return _sums([first[kind].multiply(second[kind]) for kind in KINDS])


def similarities(sides: Sequence[Vectors]) -> np.ndarray:
    """How alike a pair's vectors are, float64 (rows, 4): the sum of u * v, which is their cosine, and that of |u - v|."""
    first, second = sides
    return np.hstack([cosines(sides), _sums([abs(first[kind] - second[kind]) for kind in KINDS])])


def comparisons(sides: Sequence[Vectors]) -> csr_matrix:
    """A pair's n-grams (`bag`) beside |u - v| and u * v of each kind, and the cosines."""
    first, second = sides
    differences = [abs(first[kind] - second[kind]) for kind in KINDS]
    products = [first[kind].multiply(second[kind]) for kind in KINDS]
    return hstack([bag(sides), *differences, *products, _sums(products)], format="csr")


PAIR_FEATURES: dict[str, Callable[[Sequence[Vectors]], Matrix]] = {
    "svm": comparisons,
    "tree": similarities,
    "forest": similarities,
    "overlap": cosines,
}


def _sums(matrices: Sequence[csr_matrix]) -> np.ndarray:
    """The sum of each row of each matrix, (rows, matrices)."""
    return np.column_stack([np.asarray(matrix.sum(axis=1)).ravel() for matrix in matrices])


def _distinct(rows: Sequence[Sequence[Document]]) -> tuple[list[Document], np.ndarray]:
    """Each text of the rows once, and where the rows' texts stand among these, int64 (rows, sides)."""
    documents = {document.text: document for row in rows for document in row}
    index = {text: place for place, text in enumerate(documents)}
    return list(documents.values()), np.array([[index[document.text] for document in row] for row in rows])


def _sides(vectors: Vectors, places: np.ndarray) -> list[Vectors]:
    """The vectors of the rows' first texts, and of pairs' second texts. places: int64 (rows, sides)."""
    return [{kind: matrix[side] for kind, matrix in vectors.items()} for side in places.T]


def _tokens(document: Document) -> list[str]:
    return [token.lower() for token in document.tokens]


def _text(document: Document) -> str:
    return document.text.lower()


def _same(tokens: list[str]) -> list[str]:
    return tokens
