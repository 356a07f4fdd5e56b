"""What estimators read of rows: the interface of features."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

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
