"""A choice among a row's candidates: a target is the index of the right one, from 0."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mtl.tasks.floor_targets import LEAST_PROBABILITY, Sizes, Target
from mtl.tasks.head_targets import HeadTargets, by_row, log_mean
from mtl.tasks.target_kind import TargetKind
from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

MOST_DIGITS = 6  # in the index of a candidate


class ChoiceHead(HeadTargets):
    """One output for each candidate."""

    separately = False  # whether the loss judges each candidate by itself

    def outputs(self, answers: Sequence[str]) -> int:
        return 1

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Cross-entropy over the candidates of each row; in what `separated` returns, binary cross-entropy of each candidate."""
        from torch.nn import functional as F

        if self.separately:
            assert sizes is not None
            right = codes.new_zeros(int(sizes.sum()))
            right[(sizes.cumsum(0) - sizes).to(codes.device) + codes.long()] = 1
            return F.binary_cross_entropy_with_logits(outputs[:, 0].float(), right)
        return F.cross_entropy(_scores(outputs, sizes), codes.long())

    def loss_weight(self, codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        if sizes is None or not self.separately:
            return super().loss_weight(codes, sizes)
        return codes.new_tensor(int(sizes.sum()))

    def separated(self) -> Self:
        return self._with(separately=True)

    def joint(self, outputs: Sequence["Tensor"], sizes: "Tensor | None") -> "Tensor":
        joint = log_mean([_scores(part, sizes) for part in outputs])
        return joint[joint > -np.inf].unsqueeze(1)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        return _scores(outputs, sizes).argmax(dim=1)


class Choice(TargetKind):
    """One of a row's candidates."""

    head_type = ChoiceHead
    declared_by = "candidates"
    has_indices = True
    types = (int,)
    types_name = "an integer"

    @classmethod
    def problem(cls, task: Task) -> str | None:
        if not task.candidates:
            return "candidates: a choice names columns of candidates, or a column with lists of them, as in [answers[]]"
        if len(task.text) > 1:
            return "text: a choice has at most one text column beside its candidates"
        if task.indices is not None and not 2 <= len(set(task.indices)) == len(task.indices):
            return "indices: needs at least two, all different"
        return None

    def size(self, inputs: Sequence[Sequence[str]]) -> int:
        return len(inputs)

    def has_type(self, value: object) -> bool:
        """An index is an integer; what `indices` names may be a string, too."""
        return (self.task.indices is not None and isinstance(value, str)) or super().has_type(value)

    def parse(self, cell: str, candidates: int | None = None) -> float:
        if (names := self.task.indices) is not None:
            if cell not in names[:candidates]:
                known = ", ".join(names[:candidates])
                raise ValueError(f"target {cell!r} is not the index of a candidate, one of {known}")
            return float(names.index(cell))
        if not cell.isdecimal() or not cell.isascii() or len(cell) > MOST_DIGITS:
            raise ValueError(f"target {cell!r} is not the index of a candidate (0, 1, …)")
        if candidates is not None and int(cell) >= candidates:
            raise ValueError(f"target {cell} is not the index of one of the row's {candidates} candidates")
        return float(cell)

    def to_json(self, target: Target) -> str | int:
        return int(target) if self.task.indices is None else self.format(target)

    def format(self, target: Target) -> str:
        return str(int(target)) if self.task.indices is None else self.task.indices[int(target)]

    def wrong(self, gold: Target | None, candidates: int | None = None) -> float:
        """The first candidate that is not gold."""
        return 1.0 if gold == 0 and candidates != 1 else 0.0

    def training_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        """1 for a row's right candidate, 0 for its others."""
        assert sizes is not None
        index_in_row = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return (index_in_row == np.repeat(targets, sizes)).astype(np.int64)

    def estimator_targets(self, estimator: Any, features: Any, sizes: Sizes, texts: Sequence[str] = ()) -> np.ndarray:
        """The candidate with the estimator's highest score; among equals, the first one."""
        assert sizes is not None
        if hasattr(estimator, "decision_function"):
            scores = np.asarray(estimator.decision_function(features))
        else:
            scores = np.asarray(estimator.predict_proba(features))[:, 1]
        return np.array([np.argmax(row) for row in np.split(scores, np.cumsum(sizes)[:-1])], dtype=np.float64)

    def estimator_outputs(self, estimator: Any, features: Any, head: HeadTargets, answers: Sequence[str]) -> np.ndarray:
        """The logarithm of the odds that each candidate is the right one."""
        wrong, right = np.maximum(estimator.predict_proba(features), LEAST_PROBABILITY).T
        return np.log(right / wrong).astype(np.float32)[:, None]

    def repeat(self, answer: Target, rows: int, sizes: Sizes) -> np.ndarray:
        """The candidate with this index; the last candidate in a row that has fewer."""
        assert sizes is not None
        return np.minimum(super().repeat(answer, rows, sizes), sizes - 1)

    def draw(self, train: np.ndarray, rows: int, sizes: Sizes, rng: np.random.Generator) -> np.ndarray:
        """Each candidate of a row is equally probable."""
        assert sizes is not None
        return rng.integers(sizes).astype(np.float64)

    uniform = draw

    def commonest(self, train: np.ndarray) -> Target:
        """The first candidate: the order of candidates carries no meaning."""
        return 0.0


def _scores(outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
    """Head outputs (inputs, 1) as the scores of each row's candidates, (rows, candidates), -inf after the last one."""
    return by_row(outputs[:, 0].float(), sizes, -np.inf)
