"""What estimators read of rows: the interface of features, those that one vectorizer counts, and lines of tokens."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from mtl.base.settings.schema import FloorConfig

# Of joined texts, as in Superlim's paper: counts or TF-IDF, with the shortest and the longest word n-gram. The best on dev is taken.
VECTORIZERS = {
    f"{name}-1-{longest}": (kind, (1, longest))
    for name, kind in (("counts", CountVectorizer), ("tfidf", TfidfVectorizer))
    for longest in (2, 3)
}
SEPARATOR = " [SEP] "  # between joined texts
END = "</s>"  # which fastText takes for the end of a line
Matrix: TypeAlias = csr_matrix | np.ndarray  # features: (inputs, features)


class Document(NamedTuple):
    """A text and its tokens."""

    text: str
    tokens: list[str]


class RowFeatures:
    """What turns rows into features. A row is a model input here: a list of documents, of which all rows have equally many."""

    problem = "its training texts are empty"  # what messages say if training rows have nothing to learn from

    def fit(self, rows: Iterable[Sequence[Document]]) -> Any:
        """Learn from training rows; return a matrix (rows, features), or a line for each row. Raises ValueError if there is nothing to learn from."""
        return self.transform(rows)

    def transform(self, rows: Iterable[Sequence[Document]]) -> Any:
        """The features of rows, as `fit` returns them."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """What they have learned, as tensors and plain values; only features that can be kept."""
        raise NotImplementedError

    def restore(self, state: Mapping[str, Any]) -> None:
        """Learn what others with the same settings had learned. A state of another form raises KeyError, TypeError, ValueError or RecursionError."""
        raise NotImplementedError


@dataclass
class CountedFeatures(RowFeatures):
    """What one vectorizer of scikit-learn makes of rows, (rows, features)."""

    vectorizer: CountVectorizer
    read: Callable[[Sequence[Document]], Any]  # returns what the vectorizer reads of a row
    problem: str

    def fit(self, rows: Iterable[Sequence[Document]]) -> csr_matrix:
        return self.vectorizer.fit_transform(map(self.read, rows))

    def transform(self, rows: Iterable[Sequence[Document]]) -> csr_matrix:
        return self.vectorizer.transform(map(self.read, rows))

    def state(self) -> dict[str, Any]:
        return fitted_state(self.vectorizer)

    def restore(self, state: Mapping[str, Any]) -> None:
        restore_fitted(self.vectorizer, state)


def joined_features(vectorizer: str) -> CountedFeatures:
    """Counts or TF-IDF of word n-grams, as one of VECTORIZERS makes them. Words are scikit-learn's: two or more letters or digits, in their case."""
    kind, lengths = VECTORIZERS[vectorizer]
    problem = "its training texts have no word of two letters or digits"
    counted = kind(ngram_range=lengths, lowercase=False)
    return CountedFeatures(counted, lambda row: SEPARATOR.join(document.text for document in row), problem)


def unit_features(config: FloorConfig) -> CountedFeatures:
    """Which features each unit has (`UnitKind.unit_features`), as 1 and 0."""
    limits = {"min_df": config.min_count, "max_features": config.max_features}
    vectorizer = CountVectorizer(analyzer=list, binary=True, dtype=np.int8, **limits)
    problem = "no feature of its units occurs often enough; set a smaller floor.min_count"
    return CountedFeatures(vectorizer, lambda row: row[0].tokens, problem)


class TokenLines(RowFeatures):
    """What fastText reads of rows: a line of the tokens of each row, in lower case. The tokens of a pair have marks, since fastText does not know
    which text a token is from: "1:" for those in the first text alone, "2:" for those in the second one alone, "=" for those in both."""

    def transform(self, rows: Iterable[Sequence[Document]]) -> list[str]:
        return [" ".join(self._tokens(row)) for row in rows]

    def _tokens(self, row: Sequence[Document]) -> list[str]:
        sides = [[word for token in document.tokens if (word := token.lower()) != END] for document in row]
        if len(sides) == 1:
            return sides[0]
        shared = {*sides[0]} & {*sides[1]}
        marked = zip("12", sides, strict=True)
        return [f"={token}" if token in shared else f"{mark}:{token}" for mark, side in marked for token in side]


def fitted_state(vectorizer: CountVectorizer) -> dict[str, Any]:
    """The n-grams that a vectorizer has chosen, as one text, and their weights, if it weights them: what `restore_fitted` takes."""
    ngrams = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.__getitem__)
    state: dict[str, Any] = {"ngrams": json.dumps(ngrams)}
    if isinstance(vectorizer, TfidfVectorizer):
        state["idf"] = torch.from_numpy(vectorizer.idf_)
    return state


def restore_fitted(vectorizer: CountVectorizer, state: Mapping[str, Any]) -> None:
    """Give an unfitted vectorizer what `fitted_state` described, which is not trusted. Errors are those of `RowFeatures.restore`."""
    ngrams = json.loads(state["ngrams"])
    if not isinstance(ngrams, list) or not all(isinstance(ngram, str) for ngram in ngrams):
        raise ValueError("its vocabulary is no list of n-grams")
    # The numbers of n-grams that occur twice would lie outside of the matrices, and scipy would read other memory.
    if not ngrams or len(set(ngrams)) < len(ngrams):
        raise ValueError("its vocabulary has no n-gram, or one of them twice")
    vectorizer.vocabulary_ = {ngram: number for number, ngram in enumerate(ngrams)}
    if isinstance(vectorizer, TfidfVectorizer):
        vectorizer.idf_ = finite_numbers(state["idf"], (len(ngrams),))


def finite_numbers(tensor: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A tensor of finite float64 numbers as an array. Raises ValueError for anything else, and for another shape."""
    if not isinstance(tensor, torch.Tensor) or tensor.dtype != torch.float64:
        raise ValueError("has something else where numbers are expected")
    if tensor.shape != shape:
        raise ValueError(f"has {list(tensor.shape)} numbers where {list(shape)} are expected")
    if not tensor.isfinite().all():
        raise ValueError("has a number that is not finite")
    return tensor.detach().resolve_neg().numpy()
