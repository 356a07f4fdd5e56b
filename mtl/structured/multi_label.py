"""Any number of a task's labels for each row. A target is one text: these labels in the task's order, with a separator between them, or empty."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mtl.data.columns import text
from mtl.tasks.floor_targets import Sizes, Target
from mtl.tasks.head_targets import HeadTargets
from mtl.tasks.target_kind import TargetKind, is_unknown
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from torch import Tensor

SEPARATOR = ";"  # between the labels of a set, unless the task names another one
# The cells of a column that is named after a label, in lower case: whether the row has the label.
TRUTH = {**dict.fromkeys(("1", "true", "yes", "1.0"), True), **dict.fromkeys(("0", "false", "no", "0.0"), False)}
MOST_SHOWN = 20  # the most labels in a message or a report
MOST_TOGETHER = 30  # the size of the largest set of most frequent labels that is tried as a constant answer


def separator_of(task: Task) -> str:
    """What stands between the labels of a set, in a target and in a cell."""
    return SEPARATOR if task.label_separator is None else task.label_separator


def members(task: Task, target: Target) -> list[str]:
    return str(target).split(separator_of(task)) if target else []


def indicators(task: Task, targets: Sequence[Target | None] | np.ndarray) -> "csr_matrix":
    """Which labels each of the targets (rows,) has: float64 (rows, labels) of 0 and 1. A row without a target has none."""
    from scipy.sparse import csr_matrix  # not at the top: every command reads the registry of metrics

    numbers = {label: number for number, label in enumerate(task.labels or ())}
    sets = {target: [numbers[label] for label in members(task, target or "")] for target in set(targets)}
    starts = np.cumsum([0, *(len(sets[target]) for target in targets)])
    columns = np.array([number for target in targets for number in sets[target]], dtype=np.int64)
    return csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(targets), len(numbers)))


class LabelSetHead(HeadTargets):
    """One output for each label, which a row has if its output is above 0. Codes are 0 and 1, (rows, labels)."""

    weights: np.ndarray | None = None  # float32 (labels,): what a row with a label counts, if one without it counts 1

    def encode(self, targets: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        codes: np.ndarray = indicators(self.task, targets).toarray()
        codes[[is_unknown(target) for target in targets]] = np.nan
        return codes

    def decode(self, codes: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        separator = separator_of(self.task)
        sets = [separator.join(self.labels[number] for number in np.flatnonzero(row)) for row in codes > 0]
        return np.array(sets, dtype=object)

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Binary cross-entropy: the sum over the labels is the cross-entropy of a row, and the mean over the rows is the loss."""
        from torch.nn import functional as F

        weights = None if self.weights is None else codes.new_tensor(self.weights)
        total = F.binary_cross_entropy_with_logits(outputs.float(), codes, pos_weight=weights, reduction="sum")
        return total / len(codes)

    def balanced(self, codes: np.ndarray, power: float) -> Self:
        """A copy in which a row with a label counts (rows without it / rows with it) ** power, or 1 if no row or every row has the label."""
        counts = codes.sum(axis=0)  # the rows that have each label
        odds = np.where((counts > 0) & (counts < len(codes)), (len(codes) - counts) / np.maximum(counts, 1), 1.0)
        return self._with(weights=(odds**power).astype(np.float32))

    def joint(self, outputs: Sequence["Tensor"], sizes: "Tensor | None") -> "Tensor":
        """The log-odds of the mean probability of each label."""
        import torch
        from torch.nn import functional as F

        scores = torch.stack([part.float() for part in outputs])
        return F.logsigmoid(scores).logsumexp(dim=0) - F.logsigmoid(-scores).logsumexp(dim=0)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        return (outputs > 0).to(outputs.dtype)


class MultiLabel(TargetKind):
    """Any number of the task's labels, or none."""

    head_type = LabelSetHead
    has_several_codes = True
    declared_by = "labels"
    has_indices = True
    has_parts = True
    types = (str, list)
    types_name = "a list of labels, or a text with labels"
    dtype = object

    @classmethod
    def problem(cls, task: Task) -> str | None:
        if problem := super().problem(task):
            return problem
        labels, separator = task.labels or [], separator_of(task)
        if not separator or "\n" in separator or "\r" in separator:
            return "label_separator: is what stands between two labels in a cell, without line ends"
        if task.indices is not None and not len(set(task.indices)) == len(task.indices) == len(labels):
            return f"indices: names what stands for each of the {len(labels)} labels, all different"
        for key, names in (("labels", labels), ("indices", task.indices or ())):
            if "" in names:
                return f"{key}: one is empty; a row without labels has an empty cell or list"
            if spaced := [name for name in names if name != name.strip()]:
                return f"{key}: {spaced[0]!r} begins or ends with a space"
            if holding := [name for name in names if separator in name]:
                return f"{key}: {holding[0]!r} holds {separator!r}, which separates labels; set label_separator to another one"
        return None

    @cached_property
    def names(self) -> list[str]:
        """The name of each label in the files."""
        return self.task.indices or self.labels

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of the label with each name."""
        return {name: number for number, name in enumerate(self.names)}

    def parse(self, cell: str, candidates: int | None = None) -> str:
        separator = separator_of(self.task)
        counts = Counter(part for part in map(str.strip, cell.split(separator)) if part)
        for part, count in counts.items():
            if part not in self.numbers:
                rest = f", … ({len(self.names)} labels)" if len(self.names) > MOST_SHOWN else ""
                known = f"{', '.join(self.names[:MOST_SHOWN])}{rest}, separated by {separator!r} (label_separator)"
                raise ValueError(f"unknown label {part!r}; a row has none or several of {known}")
            if count > 1:
                raise ValueError(f"label {part!r} stands twice; answers of several people are no set of labels")
        return separator.join(self.labels[number] for number in sorted(map(self.numbers.__getitem__, counts)))

    def join(self, values: Sequence[str]) -> str:
        separator = separator_of(self.task)
        if holding := next((value for value in values if separator in value), None):
            raise ValueError(f"label {holding!r} holds {separator!r}, which separates labels (label_separator)")
        return separator.join(values)

    def gather(self, values: Mapping[str, Any]) -> list[str]:
        """The labels in the columns of a row. A column that is named after a label says whether the row has it; others have a label or nothing."""
        labels = []
        for column, value in values.items():
            cell = "" if value is None else text(value).strip()
            if column not in self.labels:
                labels += [cell] if cell else []
            elif cell.lower() not in TRUTH:
                problem = "does not say whether the row has this label; write 0 or 1"
                raise ValueError(f"column {column!r}: {cell!r} {problem}")
            elif TRUTH[cell.lower()]:
                labels.append(self.names[self.labels.index(column)])
        return labels

    def format(self, target: Target) -> str:
        return separator_of(self.task).join(self.to_json(target))

    def to_json(self, target: Target) -> list[str]:
        labels = members(self.task, target)
        return labels if self.task.indices is None else [self.names[self.labels.index(label)] for label in labels]

    def training_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        """Whether each row has each label, int64 (rows, labels) of 0 and 1."""
        return indicators(self.task, targets).toarray().astype(np.int64)

    def trainable(self, estimator: Any) -> Any:
        from mtl.structured.by_label import labels_estimator  # not at the top: scikit-learn is slow to import

        return labels_estimator(estimator, len(self.labels))

    def estimator_targets(self, estimator: Any, features: Any, sizes: Sizes, texts: Sequence[str] = ()) -> np.ndarray:
        return self.head.decode(np.asarray(estimator.predict(features)), [])

    def estimator_outputs(self, estimator: Any, features: Any, head: HeadTargets, answers: Sequence[str]) -> np.ndarray:
        """The log-odds of each label."""
        return estimator.decision_function(features).astype(np.float32)

    def uniform(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Each set of the task's labels is equally probable, whether it occurs or not."""
        return self.head.decode(rng.integers(2, size=(rows, len(self.labels))), [])

    def constants(self, train: np.ndarray) -> list[Target]:
        """The answers that may be the best constant one. They are the most frequent sets; the most frequent label, the
        two most frequent ones, and so on up to MOST_TOGETHER; and all labels, which have the best macro F1."""
        by_frequency = np.argsort(-self._counts(train), kind="stable")
        labels = len(by_frequency)
        together = np.zeros((min(MOST_TOGETHER, labels), labels))  # each row has one more label than the row above
        together[:, by_frequency] = np.tri(*together.shape)
        sets = self.head.decode(np.vstack([together, np.ones(labels)]), [])
        return list(dict.fromkeys([*super().constants(train), *sets.tolist()]))

    def stratum(self, target: Target | None) -> Hashable:
        """The first of its labels. There are too many sets to keep the proportions of all of them."""
        return None if is_unknown(target) else next(iter(members(self.task, target or "")), "")

    def show(self, target: Target) -> str:
        return ", ".join(members(self.task, target)) or "no label"

    def distribution(self, targets: np.ndarray) -> str:
        counts = self._counts(targets)
        shown, rest = list(range(len(self.labels))), ""
        if len(counts) > MOST_SHOWN:
            shown = np.argsort(-counts, kind="stable")[:MOST_SHOWN].tolist()
            rest = f", and {len(counts) - MOST_SHOWN} rarer labels"
        shares = ", ".join(f"{self.labels[number]} {counts[number] / len(targets):.1%}" for number in shown)
        sets = Counter(targets.tolist())
        empty = f", none in {sets[''] / len(targets):.1%} of the rows" if sets[""] else ""
        return f"{shares}{rest}; {counts.sum() / len(targets):.2f} labels a row{empty}; {len(sets)} different sets"

    def absent(self, targets: np.ndarray) -> list[str]:
        return [self.labels[number] for number in np.flatnonzero(self._counts(targets) == 0)]

    def _counts(self, targets: np.ndarray) -> np.ndarray:
        """How many of the targets (rows,) have each label, float64 (labels,)."""
        return np.asarray(indicators(self.task, targets).sum(axis=0)).ravel()
