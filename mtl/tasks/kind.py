"""The interface of a target kind: how a target is read and written, what a head outputs for it, the loss, and how outputs become
predictions.

A target is a float (the index of a label, a number, or the index of a candidate) or a string (a word or a text). Arrays of targets
have the shape (rows,) and the dtype float64, or object for strings. A row without a target has NaN, or None for strings."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor


Target = float | str

MOST_CONSTANTS = 20  # how many of the most frequent targets are tried as the best constant answer


class TargetKind(ABC):
    """What a task predicts. A subclass is one kind; an object of it belongs to one task.

    Head outputs have the shape (inputs, outputs). A row has one input; in a choice, it has one for each candidate. `sizes`, int64
    (rows,), is the number of inputs of each row, or None if each row has one. A head is trained on codes, float (rows,): a code is
    the index of an output, or a number. `answers` are the words that the outputs of a head mean; they come from the training rows.
    Kinds without words have no answers.
    """

    estimator: ClassVar[str] = (
        "classifier"  # which of a floor's two scikit-learn estimators fits: classifier or regressor
    )
    chart: ClassVar[str | None] = None  # how the report draws predictions against targets: confusion, points or None
    # The types of a target in a file with types (JSON, parquet), and what messages call them. A truth value is of none.
    types: ClassVar[tuple[type, ...]] = (str,)
    types_name: ClassVar[str] = "a string"
    dtype: ClassVar[Any] = np.float64  # the dtype of arrays of targets
    declared_by: ClassVar[str | None] = None  # the key that declares this kind: labels, range or candidates
    # Whether a head on text vectors, or an estimator, can predict it: a number, or one of finitely many answers.
    has_head: ClassVar[bool] = True
    by_cosine: ClassVar[bool] = False  # whether a head may predict it from the cosine of a pair's two vectors alone

    def __init__(self, task: Task) -> None:
        self.task = task

    @classmethod
    def problem(cls, task: Task) -> str | None:
        """The error in the task's declaration, as "key: message", or None."""
        return None

    def has_type(self, value: object) -> bool:
        """Whether a value of a file with types can be a target."""
        return isinstance(value, self.types) and not isinstance(value, bool)

    @abstractmethod
    def parse(self, cell: str, candidates: int | None = None) -> Target:
        """The target in a cell. candidates: how many the row has, if known. Raises ValueError that says what is wrong."""

    def parse_prediction(self, cell: str, candidates: int | None = None) -> Target:
        """The prediction in a cell, of a trained model or of another system. candidates and errors: as in `parse`."""
        return self.parse(cell, candidates)

    def to_json(self, target: Target) -> str | int | float:
        """The JSON value for a target or a prediction, of one of `types`."""
        return self.format(target)

    def format(self, target: Target) -> str:
        """The cell for a target or a prediction; `parse` reads it back unchanged."""
        return str(target)

    def to_line(self, target: Target) -> str:
        """The line for a target or a prediction in a file of one column, without a line end."""
        return self.format(target)

    def line_cell(self, line: str) -> str:
        """The cell in a line that `to_line` wrote. Raises ValueError for a line that it cannot have written."""
        return line

    def remark(self, predictions: np.ndarray) -> str | None:
        """What the user should know of valid predictions (rows,), in words, or None."""
        return None

    def answers(self, train: np.ndarray) -> list[str]:
        """The words that the outputs of a head mean. train: the targets of the training rows, (rows,)."""
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

    def loss_weight(self, codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """What the mean of `loss` divides by, (): the number of rows, or the sum of their weights. codes: (rows,)."""
        return codes.new_tensor(len(codes))

    def balance(self, codes: np.ndarray, power: float) -> None:
        """Let the loss count rare labels more, from now on: see `loss.class_weights`. codes: of the training rows, (rows,).

        Kinds without labels ignore this.
        """
        return

    def separate(self) -> None:
        """Let the loss judge each input by itself, from now on: see `loss.choice`. Kinds with one input a row ignore this."""
        return

    def unscale(self) -> None:
        """Let outputs mean numbers as they stand in the data, from now on: see `transformer.number_loss`. Kinds without numbers ignore
        this."""
        return

    @abstractmethod
    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The codes (rows,) that a head predicts. outputs: (inputs, outputs)."""

    def fit_targets(self, targets: np.ndarray, sizes: np.ndarray | None) -> np.ndarray:
        """The targets (inputs,) that a scikit-learn estimator is trained on. targets: (rows,)."""
        return targets

    def from_estimator(self, estimator: Any, features: Any, sizes: np.ndarray | None) -> np.ndarray:
        """The targets (rows,) that a trained scikit-learn estimator predicts. features: (inputs, features)."""
        predicted: np.ndarray = np.asarray(estimator.predict(features), dtype=self.dtype)
        return predicted

    def repeat(self, answer: Target, rows: int, sizes: np.ndarray | None) -> np.ndarray:
        """The same answer for every row: targets (rows,)."""
        return np.full(rows, answer, dtype=self.dtype)

    def draw(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Random targets (rows,) with the same distribution as the targets of the training rows."""
        return rng.choice(train, size=rows)

    def uniform(self, train: np.ndarray, sizes: np.ndarray | None, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Random targets (rows,). Each answer that occurs in the training rows is equally probable."""
        answers = np.array(sorted(set(train.tolist())), dtype=self.dtype)
        return rng.choice(answers, size=rows)

    def commonest(self, train: np.ndarray) -> Target:
        """The most frequent target of the training rows; among equally frequent ones, the first in the order of their cells."""
        counts = Counter(train.tolist())
        return min(counts, key=lambda target: (-counts[target], self.format(target)))

    def constants(self, train: np.ndarray) -> list[Target]:
        """The answers that may be the best constant answer. Among equal scores, the first one is preferred."""
        return [target for target, _ in Counter(train.tolist()).most_common(MOST_CONSTANTS)]

    def stratum(self, target: Target | None) -> Hashable:
        """The stratum of a row with this target; held-out rows keep the proportions of the strata."""
        return None

    def show(self, target: Target) -> str:
        """The target as people read it."""
        return self.format(target)

    def distribution(self, targets: np.ndarray) -> str:
        """How the targets (rows,) of a split are distributed, in words."""
        return f"{len(set(targets.tolist()))} different"

    def absent(self, targets: np.ndarray) -> list[str]:
        """The labels that do not occur in these targets (rows,); empty for kinds without labels."""
        return []

    def distance(self, groups: Sequence[Sequence[Target]]) -> str:
        """How far apart the targets within each group are, in words; empty for kinds without a distance."""
        return ""
