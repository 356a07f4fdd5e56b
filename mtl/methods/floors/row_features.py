"""The interface of features of rows, and what those have learned that scikit-learn's vectorizers make, for files."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

Matrix: TypeAlias = csr_matrix | np.ndarray  # features: (inputs, features)


class Document(NamedTuple):
    """A text and its tokens."""

    text: str
    tokens: list[str]


class RowFeatures:
    """What turns rows, which are model inputs, into features. Each row has equally many documents."""

    problem = "its training texts are empty"  # what messages say if training rows have nothing to learn from

    def fit(self, rows: Sequence[Sequence[Document]]) -> Any:
        """Learn from training rows, and return what the estimator reads: a matrix (rows, features), or a line for each row. Raises ValueError if the
        rows have nothing to learn from."""
        return self.transform(rows)

    def transform(self, rows: Sequence[Sequence[Document]]) -> Any:
        """The features of rows, as `fit` returns them."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """What they have learned, as tensors and plain values; only features that can be kept."""
        raise NotImplementedError

    def restore(self, state: Mapping[str, Any]) -> None:
        """Learn what others with the same settings had learned. A state of another form raises KeyError, TypeError, ValueError or RecursionError."""
        raise NotImplementedError


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
