"""A run's encoder as a scikit-learn transformer."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

import mtl

if TYPE_CHECKING:
    from mtl.encoders.run import Predictor


class TextTransformer(TransformerMixin, BaseEstimator):
    """Turns texts into the vectors of a finished run's encoder, which `fit` does not change.

    >>> transformer = mtl.load("runs/klej/fasttext-frozen").as_transformer()  # doctest: +SKIP
    >>> make_pipeline(transformer, LogisticRegression()).fit(texts, labels)  # doctest: +SKIP

    The run is read when it is first needed. Clones share it; a pickle holds the parameters only, so the run's folder must exist where
    it is loaded.
    """

    def __init__(self, run_dir: str, seed: int | None = None, device: str = "cpu", pooling: str | None = None) -> None:
        """Keep the parameters.

        Args:
            run_dir, seed, device: as in `mtl.load`.
            pooling: as in `Predictor.encode`.
        """
        self.run_dir = run_dir
        self.seed = seed
        self.device = device
        self.pooling = pooling

    def keep(self, predictor: "Predictor") -> None:
        """Use a run that is loaded already; it must be the one that the parameters name."""
        self._loaded = (self._key(), predictor)

    def fit(self, texts: Iterable[str], targets: Any = None) -> "TextTransformer":
        """Read the run. Raises InputError as `mtl.load` does."""
        self._predictor()
        return self

    def transform(self, texts: Iterable[str]) -> np.ndarray:
        """The texts' vectors, float32 (texts, dim). Raises InputError as `Predictor.encode` does."""
        return self._predictor().encode(texts if isinstance(texts, str) else list(texts), self.pooling)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the vectors' numbers."""
        return np.array([f"vector{number}" for number in range(self._predictor().model.dim)], dtype=object)

    def _predictor(self) -> "Predictor":
        loaded: tuple[Any, Predictor] | None = getattr(self, "_loaded", None)
        if loaded is None or loaded[0] != self._key():
            loaded = (self._key(), mtl.load(self.run_dir, self.seed, device=self.device))
            self._loaded = loaded
        return loaded[1]

    def _key(self) -> tuple[str, int | None, str]:
        """The parameters that the run is loaded with."""
        return self.run_dir, self.seed, self.device

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> "TextTransformer":
        clone = TextTransformer(**self.get_params())
        if hasattr(self, "_loaded"):
            clone._loaded = self._loaded
        return clone

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key != "_loaded"}
