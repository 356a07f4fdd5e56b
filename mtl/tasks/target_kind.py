"""What a target kind is: `TargetKind`, how targets are read, written, predicted by floors and described; `HeadTargets`, what a head needs.
A target is a float (the index of a label, a number, or the index of a candidate) or a string (a word, a text, or several values in one cell). Arrays
of targets have the shape (rows,) and the dtype float64, or object for strings. A row without a target has NaN, or None for strings.

A unit is a part of a row's last text that a head has outputs for: a token of a sentence, or a word of a passage (`TargetKind.by_unit`)."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

Target = float | str
Sizes = np.ndarray | None  # int64 (rows,), the number of inputs, or of units, of each row; None if each row has one

PAST = -1  # in place of a code, or of a unit's step: after the last one of the row
WHOLE = -2  # in place of a unit's step: the whole text
LEAST_PROBABILITY = 1e-6  # of a class, as floors' probabilities are taken: their logarithms are finite
MOST_CONSTANTS = 20  # how many of the most frequent targets are tried as the best constant answer


def is_unknown(target: Target | None) -> bool:
    """Whether this stands for the target of a row without one: None, or NaN, which is unequal to itself."""
    return target is None or target != target


class HeadTargets(ABC):
    """What a head needs of the targets of a task.
    Head outputs have the shape (inputs, outputs). A row has one input; in a choice, it has one for each candidate. Kinds with units have outputs for
    each unit, (units, outputs), those of units that a model does not read, because it cuts the text, left out. `sizes`, int64 (rows,), is the number
    of inputs, or of units, of each row, or None if each row has one. A head is trained on codes, float (rows,) or (rows, codes): a code is the index
    of an output, a number, or PAST after the last code of a row. `answers` are the words that the outputs of a head mean; they come from the training
    rows. Kinds without words have no answers. `texts` are the last texts of the rows, which only kinds with units read."""

    def __init__(self, task: Task) -> None:
        self.task, self.labels = task, task.labels or []

    def answers(self, train: np.ndarray) -> list[str]:
        """The words that the outputs of a head mean, from the targets of the training rows."""
        return []

    @abstractmethod
    def outputs(self, answers: Sequence[str]) -> int:
        """The number of outputs that a head has for one input."""

    def encode(self, targets: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """Targets (rows,) as codes, float64 (rows,) or (rows, codes)."""
        return targets

    def decode(self, codes: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """Codes, float64 (rows,) or (rows, codes), as targets (rows,)."""
        return codes

    def unlearnable(self, codes: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Which rows, bool (rows,), a model that reads so many of each row's units, (rows,), cannot learn from."""
        return np.zeros(len(codes), dtype=bool)

    @abstractmethod
    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The mean loss of a batch."""

    def loss_weight(self, codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """What the mean of `loss` divides by, (): the number of rows, or the sum of their weights."""
        return codes.new_tensor(len(codes))

    def row_weights(self, codes: np.ndarray) -> np.ndarray | None:
        """The weight of each row in the mean of `loss`, (rows,); None if all count the same."""
        return None

    def balanced(self, codes: np.ndarray, power: float) -> Self:
        """The same with a loss that counts labels that are rare among these codes more, by this power (0: all the same)."""
        return self

    def separated(self) -> Self:
        """The same with a loss that judges each input by itself (`loss.choice`). Kinds with one input a row ignore this."""
        return self

    def unscaled(self) -> Self:
        """The same with outputs that mean numbers as they stand in the data (`transformer.number_loss`); only kinds with numbers."""
        return self

    def standard(self, outputs: np.ndarray) -> np.ndarray:
        """The outputs (inputs, outputs) of a head as those of a head of this task that `unscaled` did not change."""
        return outputs

    def with_transitions(self, transitions: "Tensor") -> Self:
        """The same with the scores of pairs of neighbouring units, (outputs + 2, outputs), that a head learns (`head.crf`)."""
        return self

    def joint(self, outputs: Sequence["Tensor"], sizes: "Tensor | None") -> "Tensor":
        """The outputs of an ensemble: the mean; for kinds with probabilities, the logarithm of their mean."""
        return sum(outputs[1:], outputs[0]) / len(outputs)

    @abstractmethod
    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The codes that a head predicts."""

    def _with(self, **attributes: Any) -> Self:
        """A copy with other values of these attributes."""
        changed = copy(self)
        vars(changed).update(attributes)
        return changed


class ClassesHead(HeadTargets):
    """One output for each class."""

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Cross-entropy."""
        from torch.nn import functional as F

        return F.cross_entropy(outputs, codes.long())

    def joint(self, outputs: Sequence["Tensor"], sizes: "Tensor | None") -> "Tensor":
        return log_mean(outputs)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        return outputs.argmax(dim=1)


def log_mean(outputs: Sequence["Tensor"]) -> "Tensor":
    """The logarithm of the mean of several softmaxes. Each has the shape (rows, outputs)."""
    import torch

    shares = torch.stack([scores.float().log_softmax(dim=1) for scores in outputs])
    return shares.logsumexp(dim=0) - math.log(len(outputs))


class TargetKind(ABC):
    """What a task predicts: a class for each kind, an instance for each task. Features are (inputs, features), `sizes` as in `HeadTargets`."""

    # What a head needs; None if no head on text vectors, and no estimator, can predict it.
    head_type: ClassVar[type[HeadTargets] | None] = None
    # Whether a target has several codes; then outputs of other models are not added.
    has_several_codes: ClassVar[bool] = False
    by_unit: ClassVar[bool] = False  # whether a head has outputs for each unit of a row's last text
    by_cosine: ClassVar[bool] = False  # whether a head may predict it from the cosine of a pair's two vectors alone
    # The key that declares it: labels, range or candidates; None: only `kind` does.
    declared_by: ClassVar[str | None] = None
    has_indices: ClassVar[bool] = False  # whether `indices` may say what stands for its answers in files
    # Whether a target may stand in several columns, or in parts of a cell (`label_separator`).
    has_parts: ClassVar[bool] = False
    derived_from: ClassVar[str | None] = None  # the name of the kind whose metrics fit this one too
    # The types of a target in a file with types (JSON, parquet), and what messages call them. A truth value is of none.
    types: ClassVar[tuple[type, ...]] = (str,)
    types_name: ClassVar[str] = "a string"
    dtype: ClassVar[Any] = np.float64  # of arrays of targets
    estimator: ClassVar[str] = "classifier"  # or "regressor": which of a floor's two scikit-learn estimators fits
    chart: ClassVar[str | None] = None  # how the report draws predictions against targets: confusion, points or None

    def __init__(self, task: Task) -> None:
        self.task, self.labels = task, task.labels or []

    @cached_property
    def head(self) -> HeadTargets:
        """Only for kinds that have a head."""
        assert self.head_type is not None, f"no head predicts {self.task.kind}"
        return self.head_type(self.task)

    # The parts of a row.

    def size(self, inputs: Sequence[Sequence[str]]) -> int | None:
        """How many candidates, or how many units, a row with these model inputs has, if its target depends on it."""
        return None

    def units(self, text: str) -> np.ndarray:
        """First character and end of each unit of a last text, int64 (units, 2); only kinds with units. An empty one is the whole text."""
        raise NotImplementedError

    def unit_features(self, texts: Sequence[str]) -> list[list[str]]:
        """What a linear model reads of each unit of a row with these texts: names of binary features. Only kinds with units."""
        raise NotImplementedError

    # How a target is read and written.

    @classmethod
    def problem(cls, task: Task) -> str | None:
        """The error in the task's declaration, as "key: message", or None."""
        return None

    def has_type(self, value: object) -> bool:
        """Whether a value of a file with types can be a target."""
        return isinstance(value, self.types) and not isinstance(value, bool)

    @abstractmethod
    def parse(self, cell: str, candidates: int | None = None) -> Target:
        """The target in a cell; `candidates` is how many candidates or units the row has (`size`), if known. Raises ValueError with the fault."""

    def located(self, target: Target, texts: Sequence[str], starts: Sequence[str] | None) -> Target:
        """The target of a row with these texts; `starts` are in the column of the task's `starts`. Raises ValueError if it does not fit them."""
        return target

    def join(self, values: Sequence[str]) -> str:
        """The cell for a list of values. Raises ValueError for a kind whose targets are no lists."""
        raise ValueError("a text or a number is expected here, not a list")

    def gather(self, values: Mapping[str, Any]) -> list[str]:
        """The list of values that stand in several columns, by column (None: nothing). Raises ValueError for values that are no target."""
        raise ValueError(f"a target of kind {self.task.kind} stands in one column")

    def join_text(self, tokens: Sequence[str]) -> str:
        """The text that a list of tokens stands for; only kinds with units."""
        raise ValueError("a text is expected, not a list of texts")

    def parse_prediction(self, cell: str, candidates: int | None = None) -> Target:
        """The prediction in a cell, of a trained model or of another system. candidates and errors: as in `parse`."""
        return self.parse(cell, candidates)

    def to_json(self, target: Target) -> str | int | float | list[str]:
        return self.format(target)

    def to_python(self, target: Target) -> Any:
        """A target or a prediction as Python code gets it."""
        return self.to_json(target)

    def from_python(self, value: Any) -> Any:
        """A prediction that Python code gives: for a whole float or a truth value, the integer that it equals, if only this can be a target."""
        is_whole = isinstance(value, bool | float) and float(value).is_integer()
        return int(value) if is_whole and not self.has_type(value) and self.has_type(int(value)) else value

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

    def wrong(self, gold: Target | None, candidates: int | None = None) -> Target | None:
        """The prediction for an answer that means nothing: never gold if the row has another candidate. None if answers mean themselves."""
        return None

    # Constant and random answers, scikit-learn's estimators, strata.

    def fit_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        """The targets (inputs,) that a scikit-learn estimator is trained on."""
        return targets

    def fitting(self, estimator: Any) -> Any:
        """What is trained in place of a scikit-learn estimator that has not been trained."""
        return estimator

    def from_estimator(self, estimator: Any, features: Any, sizes: Sizes, texts: Sequence[str] = ()) -> np.ndarray:
        """The targets (rows,) that a trained scikit-learn estimator predicts. `texts`: as in `HeadTargets`."""
        return np.asarray(estimator.predict(features), dtype=self.dtype)

    def estimator_outputs(self, estimator: Any, features: Any, head: HeadTargets, answers: Sequence[str]) -> np.ndarray:
        """What a trained scikit-learn estimator says, as a head's outputs, in float32: of classes, logarithms of probabilities."""
        outputs = np.full((features.shape[0], head.outputs(answers)), np.log(LEAST_PROBABILITY), dtype=np.float32)
        codes = head.encode(estimator.classes_, answers).astype(np.int64)  # a class without training rows has none
        outputs[:, codes] = np.log(np.maximum(estimator.predict_proba(features), LEAST_PROBABILITY))
        return outputs

    def repeat(self, answer: Target, rows: int, sizes: Sizes) -> np.ndarray:
        """The same answer for every row: targets (rows,)."""
        return np.full(rows, answer, dtype=self.dtype)

    def draw(self, train: np.ndarray, sizes: Sizes, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Random targets (rows,), distributed as those of the training rows, or codes (rows, codes), which `HeadTargets.decode` makes targets."""
        return rng.choice(train, size=rows)

    def uniform(self, train: np.ndarray, sizes: Sizes, rows: int, rng: np.random.Generator) -> np.ndarray:
        """Random targets (rows,), or codes as in `draw`. Each answer that occurs in the training rows is equally probable."""
        return rng.choice(np.array(sorted(set(train.tolist())), dtype=self.dtype), size=rows)

    def commonest(self, train: np.ndarray) -> Target:
        """The most frequent target of the training rows; among equally frequent ones, the first in the order of their cells."""
        counts = Counter(train.tolist())
        return min(counts, key=lambda target: (-counts[target], self.format(target)))

    def usual(
        self, train: np.ndarray, texts: Sequence[str], rows: Sequence[str], firsts: Sequence[str] = ()
    ) -> np.ndarray:
        """The most frequent answer to each unit's words in the training rows: targets (rows,) of the rows with these last texts and, of
        pairs, first texts. `texts` are the last ones of the training rows. Only kinds with units."""
        raise NotImplementedError

    def constants(self, train: np.ndarray) -> list[Target]:
        """The answers that may be the best constant answer. Among equal scores, the first one is preferred."""
        return [target for target, _ in Counter(train.tolist()).most_common(MOST_CONSTANTS)]

    def stratum(self, target: Target | None) -> Hashable:
        """The stratum of a row with this target; held-out rows keep the proportions of the strata."""
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
