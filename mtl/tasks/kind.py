"""What a target kind is: how a target is read and written, what a head outputs for it, the loss, and how outputs become
predictions.

A target is a float (a label's index, a number, a candidate's index) or a text (a word). Arrays of targets are float64 or of
objects, one element a row; NaN or None where a row has no target.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

Target = float | str

MOST_CONSTANTS = 20  # words that are tried as the best constant answer


class TargetKind(ABC):
    """What a task predicts. A subclass is one kind; an object of it belongs to one task.

    Head outputs are (inputs, outputs), where a row has one input, or one for each candidate of a choice. `sizes`, int64 (rows,),
    is the number of inputs of each row; None where each row has one. A head is trained on codes: float (rows,), the index of an
    output or a number. `answers` are the words that the outputs stand for, where the training rows say which.
    """

    estimator: ClassVar[str] = (
        "classifier"  # which of a floor's two scikit-learn estimators fits: classifier or regressor
    )
    chart: ClassVar[str | None] = None  # what the report draws of predictions beside targets: confusion or points
    dtype: ClassVar[Any] = np.float64  # of arrays of targets
    declared_by: ClassVar[str | None] = None  # which of labels, range and candidates a task of this kind has

    def __init__(self, task: Task) -> None:
        self.task = task

    @classmethod
    def problem(cls, task: Task) -> str | None:
        """What is wrong with the task's declaration, as "key: what", or None."""
        return None

    @abstractmethod
    def parse(self, cell: str, candidates: int | None = None) -> Target:
        """The target that a cell holds. candidates: of the row, where known. Raises ValueError with what is wrong."""

    def format(self, target: Target) -> str:
        """The cell of a target or a prediction; `parse` reads it back as the same."""
        return str(target)

    def answers(self, train: np.ndarray) -> list[str]:
        """The words that head outputs stand for. train: the targets of the training rows, (rows,)."""
        return []

    @abstractmethod
    def outputs(self, answers: Sequence[str]) -> int:
        """The number of outputs that a head has for one input."""

    def encode(self, targets: np.ndarray, answers: Sequence[str]) -> np.ndarray:
        """Targets (rows,) as codes, float64 (rows,)."""
        return targets

    def decode(self, codes: np.ndarray, answers: Sequence[str]) -> np.ndarray:
        """Codes, float64 (rows,), as targets (rows,)."""
        return codes

    @abstractmethod
    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The mean loss of a batch. outputs: (inputs, outputs). codes: (rows,)."""

    @abstractmethod
    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The codes (rows,) that a head predicts. outputs: (inputs, outputs)."""

    def fit_targets(self, targets: np.ndarray, sizes: np.ndarray | None) -> np.ndarray:
        """What a scikit-learn estimator is trained on: (inputs,). targets: (rows,)."""
        return targets

    def from_estimator(self, estimator: Any, features: Any, sizes: np.ndarray | None) -> np.ndarray:
        """The targets (rows,) that a trained scikit-learn estimator predicts. features: (inputs, features)."""
        predicted: np.ndarray = np.asarray(estimator.predict(features), dtype=self.dtype)
        return predicted

    def repeat(self, answer: Target, rows: int, sizes: np.ndarray | None) -> np.ndarray:
        """The same answer for every row: targets (rows,)."""
        return np.full(rows, answer, dtype=self.dtype)

    def draw(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Random targets (rows,), distributed as those of the training rows."""
        return rng.choice(train, size=rows)

    def constants(self, train: np.ndarray) -> list[Target]:
        """The answers that may be the best one for all rows, the first to be preferred among equals."""
        return [target for target, _ in Counter(train.tolist()).most_common(MOST_CONSTANTS)]

    def stratum(self, target: Target | None) -> Hashable:
        """What the held-out rows keep the proportions of."""
        return None

    def show(self, target: Target) -> str:
        """The target for a reader."""
        return self.format(target)

    def distribution(self, targets: np.ndarray) -> str:
        """How the targets (rows,) of a split are distributed, for a reader."""
        return f"{len(set(targets.tolist()))} different"

    def absent(self, targets: np.ndarray) -> list[str]:
        """The labels that none of these targets (rows,) is; empty for kinds without a list of labels."""
        return []

    def distance(self, groups: Sequence[Sequence[Target]]) -> str:
        """How far apart the targets within each group are, for a reader; empty for kinds that know no distance."""
        return ""
