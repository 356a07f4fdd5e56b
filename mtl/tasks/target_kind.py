"""What a target kind is: `TargetKind`, how targets are declared, read, written and described. What baselines need of a kind is in
`mtl.tasks.floor_targets`, which says what a target is; what heads need is in `mtl.tasks.head_targets`."""

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from mtl.tasks.floor_targets import FloorTargets, Target, Texts
from mtl.tasks.head_targets import HeadTargets
from mtl.tasks.task import Task


def is_unknown(target: Target | None) -> bool:
    """Whether this stands for the target of a row without one: None, or NaN, which is unequal to itself."""
    return target is None or target != target


class TargetKind(FloorTargets):
    """What a task predicts: a class for each kind, an instance for each task."""

    head_type: ClassVar[type[HeadTargets] | None] = None  # None: no head on text vectors and no estimator predicts it
    has_several_codes: ClassVar[bool] = False  # whether a target has; then outputs of other models are not added
    by_unit: ClassVar[bool] = False  # whether it is a `UnitKind`
    by_cosine: ClassVar[bool] = False  # whether a head may predict it from the cosine of a pair's two vectors alone
    declared_by: ClassVar[str | None] = None  # the key that does: labels, range or candidates; None: only `kind`
    has_indices: ClassVar[bool] = False  # whether `indices` may say what stands for its answers in files
    has_parts: ClassVar[bool] = False  # whether a target may have several columns, or parts (`label_separator`)
    derived_from: ClassVar[str | None] = None  # the name of the kind whose metrics fit this one too
    # The types of a target in a file with types (JSON, parquet), and what messages call them. A truth value is of none.
    types: ClassVar[tuple[type, ...]] = (str,)
    types_name: ClassVar[str] = "a string"
    chart: ClassVar[str | None] = None  # how the report draws predictions against targets: confusion, points or None

    def __init__(self, task: Task) -> None:
        self.task, self.labels = task, task.labels or []

    @cached_property
    def head(self) -> HeadTargets:
        """Only for kinds that have a head."""
        assert self.head_type is not None, f"no head predicts {self.task.kind}"
        return self.head_type(self.task)

    @classmethod
    def problem(cls, task: Task) -> str | None:
        """The error in the task's declaration, as "key: message", or None. Labels that declare a kind are two or more, all different."""
        labels = task.labels or []
        if cls.declared_by == "labels" and (len(labels) < 2 or len(set(labels)) < len(labels)):
            return "labels: needs at least two, all different"
        return None

    # The row of a target.

    def size(self, inputs: Sequence[Sequence[str]]) -> int | None:
        """How many candidates, or how many units, a row with these model inputs has, if its target depends on it."""
        return None

    def located(self, target: Target, texts: Sequence[str], starts: Sequence[str] | None) -> Target:
        """The target of a row with these texts; `starts` are in the column of the task's `starts`. Raises ValueError if it does not fit them."""
        return target

    def stratum(self, target: Target | None) -> Hashable:
        """The stratum of a row with this target; held-out rows keep the proportions of the strata."""
        return None

    # From a cell to a target.

    @abstractmethod
    def parse(self, cell: str, candidates: int | None = None) -> Target:
        """The target in a cell; `candidates` is how many candidates or units the row has (`size`), if known. Raises ValueError with the fault."""

    def parse_prediction(self, cell: str, candidates: int | None = None) -> Target:
        """The prediction in a cell, of a trained model or of another system. candidates and errors: as in `parse`."""
        return self.parse(cell, candidates)

    # To the cell of a value that stands otherwise in a file: with a type, as a list, in several columns, on a line, or in Python.

    def has_type(self, value: object) -> bool:
        """Whether a value of a file with types can be a target."""
        return isinstance(value, self.types) and not isinstance(value, bool)

    def join(self, values: Sequence[str]) -> str:
        """The cell for a list of values. Raises ValueError for a kind whose targets are no lists."""
        raise ValueError("a text or a number is expected here, not a list")

    def gather(self, values: Mapping[str, Any]) -> list[str]:
        """The list of values that stand in several columns, by column (None: nothing). Raises ValueError for values that are no target."""
        raise ValueError(f"a target of kind {self.task.kind} stands in one column")

    def line_cell(self, line: str) -> str:
        """The cell in a line that `to_line` wrote. Raises ValueError for a line that it cannot have written."""
        return line

    def from_python(self, value: Any) -> Any:
        """A prediction that Python code gives: for a whole float or a truth value, the integer that it equals, if only this can be a target."""
        if not isinstance(value, bool | float) or not float(value).is_integer():
            return value
        return int(value) if self.has_type(int(value)) and not self.has_type(value) else value

    # From a target to what is written.

    def format(self, target: Target) -> str:
        """The cell for a target or a prediction; `parse` reads it back unchanged."""
        return str(target)

    def to_line(self, target: Target) -> str:
        """The line for a target or a prediction in a file of one column, without a line end."""
        return self.format(target)

    def to_json(self, target: Target) -> str | int | float | list[str]:
        return self.format(target)

    def to_python(self, target: Target) -> Any:
        """A target or a prediction as Python code gets it."""
        return self.to_json(target)

    def remark(self, predictions: np.ndarray) -> str | None:
        """What the user should know of valid predictions (rows,), in words, or None."""
        return None

    def wrong(self, gold: Target | None, candidates: int | None = None) -> Target | None:
        """The prediction for an answer that means nothing: never gold if the row has another candidate. None if answers mean themselves."""
        return None

    # How audits and reports describe it.

    def show(self, target: Target) -> str:
        """The target as people read it."""
        return self.format(target)

    def distribution(self, targets: np.ndarray) -> str:
        """How the targets (rows,) of a split are distributed, in words."""
        return f"{len(set(targets.tolist()))} different"

    def absent(self, targets: np.ndarray) -> list[str]:
        """The labels that do not occur in these targets (rows,); empty for kinds without labels."""
        return []


class UnitKind(TargetKind):
    """A kind with outputs for each unit of a row's last text. A unit is a token of a sentence, or a word of a passage."""

    by_unit = True

    def size(self, inputs: Sequence[Sequence[str]]) -> int:
        return len(self.units(inputs[0][-1]))

    @abstractmethod
    def units(self, text: str) -> np.ndarray:
        """First character and end of each unit of a last text, int64 (units, 2). An empty one is the whole text."""

    @abstractmethod
    def unit_features(self, texts: Sequence[str]) -> list[list[str]]:
        """What a linear model reads of each unit of a row with these texts: names of binary features."""

    @abstractmethod
    def usual(self, train: np.ndarray, train_texts: Texts, last_texts: Texts, first_texts: Texts) -> np.ndarray:
        """The most frequent answer to each unit's words in the training rows: targets (rows,) of the rows with these last texts and, of pairs, first
        texts. `train` are the targets of the training rows, `train_texts` their last texts."""

    def join_text(self, tokens: Sequence[str]) -> str:
        """The text that a list of tokens stands for."""
        raise ValueError("a text is expected, not a list of texts")
