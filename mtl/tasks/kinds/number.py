"""Numbers within a range."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mtl.tasks.floor_targets import Sizes, Target
from mtl.tasks.head_targets import HeadTargets
from mtl.tasks.target_kind import TargetKind
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

LARGEST = 1e100  # what a predicted number may be, so that the sum of many squares is finite


class NumberHead(HeadTargets):
    """One output, a number."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.ends = task.bounds  # the numbers that the outputs 0 and 1 mean

    def outputs(self, answers: Sequence[str]) -> int:
        return 1

    def decode(self, codes: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """Numbers clipped to the range, in float64: float32 rounds an end such as 0.8 to a number outside."""
        return np.clip(codes, *self.task.bounds)

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The squared error of targets scaled to 0 … 1; in what `unscaled` returns, of the targets."""
        from torch.nn import functional as F

        low, high = self.ends
        return F.mse_loss(outputs[:, 0], (codes - low) / (high - low))

    def unscaled(self) -> Self:
        return self._with(ends=(0.0, 1.0))

    def standard(self, outputs: np.ndarray) -> np.ndarray:
        """The outputs, of which 0 and 1 mean `ends`, as outputs of which 0 and 1 mean the bounds of the task."""
        (low, high), (first, last) = self.ends, self.task.bounds
        return ((low - first + (high - low) * outputs) / (last - first)).astype(outputs.dtype)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Numbers that may be outside the range; `decode` clips them."""
        low, high = self.ends
        return low + (high - low) * outputs[:, 0].float()


class Number(TargetKind):
    """A number within the task's range."""

    head_type = NumberHead
    declared_by = "range"
    by_cosine = True
    types = (int, float)
    types_name = "a number"
    estimator_type = "regressor"
    chart = "points"

    @classmethod
    def problem(cls, task: Task) -> str | None:
        if task.range is None or len(task.range) != 2 or not -np.inf < task.range[0] < task.range[1] < np.inf:
            return "range: must be [smallest, largest], two finite numbers"
        return None

    def parse(self, cell: str, candidates: int | None = None) -> float:
        low, high = self.task.bounds
        number = _number(cell)
        if not low <= number <= high:
            raise ValueError(f"target {cell} is outside {low:g} to {high:g}")
        return number

    def parse_prediction(self, cell: str, candidates: int | None = None) -> float:
        """Any number that metrics can square: they are defined outside the range, too, and regressors predict such numbers."""
        number = _number(cell)
        if not abs(number) <= LARGEST:
            raise ValueError(f"target {cell} is not finite, or beyond {LARGEST:g}")
        return number

    def from_python(self, value: Any) -> Any:
        """The value unchanged: a whole float is a number, and a truth value is none."""
        return value

    def to_json(self, target: Target) -> float:
        return float(target)

    def format(self, target: Target) -> str:
        return repr(float(target))

    def remark(self, predictions: np.ndarray) -> str | None:
        low, high = self.task.bounds
        outside = int(((predictions < low) | (predictions > high)).sum())
        return f"{outside} of {len(predictions)} predictions are outside {low:g} to {high:g}" if outside else None

    def wrong(self, gold: Target | None, candidates: int | None = None) -> float:
        """The end of the range that is farther from gold."""
        low, high = self.task.bounds
        return high if gold is not None and high - float(gold) > float(gold) - low else low

    def estimator_targets(self, estimator: Any, features: Any, sizes: Sizes, texts: Sequence[str] = ()) -> np.ndarray:
        return np.clip(super().estimator_targets(estimator, features, sizes), *self.task.bounds)

    def estimator_outputs(self, estimator: Any, features: Any, head: HeadTargets, answers: Sequence[str]) -> np.ndarray:
        low, high = self.task.bounds
        numbers = np.asarray(estimator.predict(features), dtype=np.float64)
        return ((numbers - low) / (high - low)).astype(np.float32)[:, None]

    def uniform(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Each number between the smallest and the largest of the training rows is equally probable."""
        return rng.uniform(train.min(), train.max(), size=rows)

    def commonest(self, train: np.ndarray) -> Target:
        return float(train.mean())

    def constants(self, train: np.ndarray) -> list[Target]:
        """The mean, then the median of the distinct numbers. All constants have the correlation 0. In 1 - wMAE, the error of a constant a on each
        row with rating c is |a - c|, so its total error is the mean of |a - c| over the distinct ratings, which is smallest at their median."""
        return [float(train.mean()), float(np.median(np.unique(train)))]

    def show(self, target: Target) -> str:
        return f"{float(target):g}"

    def distribution(self, targets: np.ndarray) -> str:
        return f"mean {targets.mean():.2f}, sd {targets.std():.2f}, {targets.min():g} to {targets.max():g}"


def _number(cell: str) -> float:
    try:
        return float(cell.replace("_", "?"))  # "1_000" is a number in Python alone
    except ValueError:
        raise ValueError(f"target {cell!r} is not a number") from None
