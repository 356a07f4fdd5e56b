"""A finished run's encoder as a scikit-learn transformer."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class TextTransformer(TransformerMixin, BaseEstimator):
    """Turns texts into the vectors of a run's encoder (`Predictor.as_transformer`).
    >>> transformer = mtl.load("runs/klej/fasttext-frozen").as_transformer()  # doctest: +SKIP
    >>> make_pipeline(transformer, LogisticRegression()).fit(texts, labels)  # doctest: +SKIP
    """

    def __init__(self, run: Any, pooling: str | None = None) -> None:
        """The run is a `mtl.methods.predictor.Predictor`, the pooling as in its `encode`."""
        self.run, self.pooling = run, pooling

    def fit(self, texts: Iterable[str], targets: Any = None) -> "TextTransformer":
        """Do nothing, and return the transformer."""
        return self

    def transform(self, texts: Iterable[str]) -> np.ndarray:
        """The texts' vectors, float32 (texts, dim). Raises InputError as `Predictor.encode` does."""
        return self.run.encode(texts if isinstance(texts, str) else list(texts), self.pooling)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the vectors' numbers."""
        return np.array([f"vector{number}" for number in range(self.run.model.dim)], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True
