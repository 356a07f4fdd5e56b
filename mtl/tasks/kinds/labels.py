"""Labels: one of a fixed list. A target is the index of its label."""

import re
from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mtl.tasks.floor_targets import Sizes, Target
from mtl.tasks.head_targets import ClassesHead
from mtl.tasks.target_kind import TargetKind

if TYPE_CHECKING:
    from torch import Tensor


class LabelHead(ClassesHead):
    """One output for each label. The loss is weighted in what `balanced` returns."""

    def loss_weight(self, codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        if self.weights is None:
            return super().loss_weight(codes, sizes)
        return codes.new_tensor(self.weights)[codes.long()].sum()

    def row_weights(self, codes: np.ndarray) -> np.ndarray | None:
        return None if self.weights is None else self.weights[codes.astype(int)]

    def balanced(self, codes: np.ndarray, power: float) -> Self:
        """Label c has the weight (rows / (labels * rows of c)) ** power; a label that no training row has, the weight 1."""
        counts = np.bincount(codes.astype(int), minlength=len(self.labels))
        shares = counts * len(self.labels) / len(codes)
        weights = np.where(counts > 0, np.maximum(shares, 1e-12) ** -power, 1.0)
        return self._with(weights=weights.astype(np.float32))


class Labels(TargetKind):
    """One of the task's labels."""

    head_type = LabelHead
    declared_by = "labels"
    chart = "confusion"

    @property
    def types_name(self) -> str:  # type: ignore[override]
        return f"one of {', '.join(self.labels)}"

    @cached_property
    def values(self) -> list[Any]:
        """The labels as Python code gets them: integers if all are whole numbers as Python writes them, else strings."""
        are_whole = all(re.fullmatch(r"0|-?[1-9][0-9]*", label) for label in self.labels)
        return [int(label) if are_whole else label for label in self.labels]

    def has_type(self, value: object) -> bool:
        """A label is a string. Labels that are whole numbers ("0", "1"), or "true" and "false", may have the JSON type, too."""
        return isinstance(value, str) or (isinstance(value, int) and str(value).lower() in self.labels)

    def parse(self, cell: str, candidates: int | None = None) -> float:
        if cell not in self.labels:
            raise ValueError(f"unknown label {cell!r}, expected one of {', '.join(self.labels)}")
        return float(self.labels.index(cell))

    def format(self, target: Target) -> str:
        return self.labels[int(target)]

    def to_python(self, target: Target) -> Any:
        return self.values[int(target)]

    def wrong(self, gold: Target | None, candidates: int | None = None) -> float:
        """The first label that is not gold."""
        return 1.0 if gold == 0 else 0.0

    def training_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        return targets.astype(np.int64)

    def uniform(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Each of the task's labels is equally probable, whether it occurs or not."""
        return rng.integers(len(self.labels), size=rows).astype(np.float64)

    def constants(self, train: np.ndarray) -> list[Target]:
        """Every label, the most frequent first."""
        counts = np.bincount(train.astype(np.int64), minlength=len(self.labels))
        return [float(label) for label in np.argsort(-counts, kind="stable")]

    def stratum(self, target: Target | None) -> Hashable:
        return target

    def distribution(self, targets: np.ndarray) -> str:
        shares = np.bincount(targets.astype(int), minlength=len(self.labels)) / len(targets)
        return ", ".join(f"{label} {share:.1%}" for label, share in zip(self.labels, shares, strict=True))

    def absent(self, targets: np.ndarray) -> list[str]:
        return [label for index, label in enumerate(self.labels) if index not in targets]
