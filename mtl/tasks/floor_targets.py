"""What the simple baselines need of the targets of a task: constant and random answers, and how scikit-learn's estimators learn and predict targets.
A target is a float (the index of a label, a number, or the index of a candidate) or a string (a word, a text, or several values in one cell). Arrays
of targets have the shape (rows,) and the dtype float64, or object for strings. A row without a target has NaN, or None for strings."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mtl.tasks.head_targets import HeadTargets

Target = float | str
Texts = Sequence[str]
Sizes = np.ndarray | None  # int64 (rows,), the number of inputs, or of units, of each row; None if each row has one

LEAST_PROBABILITY = 1e-6  # of a class, as estimators' probabilities are taken: their logarithms are finite


class FloorTargets(ABC):
    """The part of a `mtl.tasks.target_kind.TargetKind` that baselines need. `train` are the targets of the training rows, `rows` is the number of the
    rows to predict, and `sizes` are those of these rows. Features are (inputs, features), `texts` as in `HeadTargets`."""

    dtype: ClassVar[Any] = np.float64  # of arrays of targets
    most_constants: ClassVar[int] = 20  # how many of the most frequent targets are tried as the best constant answer
    estimator_type: ClassVar[str] = "classifier"  # or "regressor": which of a floor's two scikit-learn estimators fits

    @abstractmethod
    def format(self, target: Target) -> str:
        """The cell for a target or a prediction."""

    def commonest(self, train: np.ndarray) -> Target:
        """The most frequent target of the training rows; among equally frequent ones, the first in the order of their cells."""
        counts = Counter(train.tolist())
        return min(counts, key=lambda target: (-counts[target], self.format(target)))

    def constants(self, train: np.ndarray) -> list[Target]:
        """The answers that may be the best constant answer. Among equal scores, the first one is preferred."""
        return [target for target, _ in Counter(train.tolist()).most_common(self.most_constants)]

    def repeat(self, answer: Target, rows: int, sizes: Sizes) -> np.ndarray:
        """The same answer for every row: targets (rows,)."""
        return np.full(rows, answer, dtype=self.dtype)

    def draw(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Random targets (rows,), distributed as those of the training rows, or codes (rows, codes), which `HeadTargets.decode` makes targets."""
        return rng.choice(train, size=rows)

    def uniform(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Random targets (rows,), or codes as in `draw`. Each answer that occurs in the training rows is equally probable."""
        return rng.choice(np.array(sorted(set(train.tolist())), dtype=self.dtype), size=rows)

    def training_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        """The targets of rows with these sizes as an estimator is trained on them, (inputs,)."""
        return targets

    def trainable(self, estimator: Any) -> Any:
        """What is trained in place of this new estimator: itself, or one that is made of it."""
        return estimator

    def estimator_targets(self, estimator: Any, features: Any, sizes: Sizes, texts: Sequence[str] = ()) -> np.ndarray:
        """The targets (rows,) that a trained estimator predicts, of rows with these sizes."""
        return np.asarray(estimator.predict(features), dtype=self.dtype)

    def estimator_outputs(self, estimator: Any, features: Any, head: HeadTargets, answers: Sequence[str]) -> np.ndarray:
        """What a trained estimator says, as a head's outputs, in float32: of classes, logarithms of probabilities."""
        outputs = np.full((features.shape[0], head.outputs(answers)), np.log(LEAST_PROBABILITY), dtype=np.float32)
        codes = head.encode(estimator.classes_, answers).astype(np.int64)  # a class without training rows has none
        outputs[:, codes] = np.log(np.maximum(estimator.predict_proba(features), LEAST_PROBABILITY))
        return outputs
