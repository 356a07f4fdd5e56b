"""What a head needs of the targets of a task: how many outputs, which codes it is trained on, its loss, and what its outputs predict.
Head outputs have the shape (inputs, outputs). A row has one input; in a choice, it has one for each candidate. Kinds with units
(`mtl.tasks.target_kind.UnitKind`) have outputs for each unit, (units, outputs), those of units that a model does not read, because it cuts the text,
left out. `sizes`, int64 (rows,), is the number of inputs, or of units, of each row, or None if each row has one.
A head is trained on codes, float (rows,) or (rows, codes): a code is the index of an output, a number, or PAST after the last code of a row.
`answers` are the words that the outputs of a head mean; they come from the training rows. Kinds without words have no answers. `texts` are the last
texts of the rows, which only kinds with units read."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mtl.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

PAST = -1  # in place of a code, or of a unit's step: after the last one of the row
WHOLE = -2  # in place of a unit's step: the whole text


class HeadTargets(ABC):
    """The targets of a task as its head sees them; the words of the signatures are explained above."""

    def __init__(self, task: Task) -> None:
        self.task, self.labels = task, task.labels or []

    def answers(self, train: np.ndarray) -> list[str]:
        """The words that the outputs of a head mean, from the targets of the training rows."""
        return []

    def outputs(self, answers: Sequence[str]) -> int:
        """The number of outputs that a head has for one input: one for each label. Kinds without labels have other outputs."""
        return len(self.labels)

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

    @abstractmethod
    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """The codes that a head predicts."""

    def joint(self, outputs: Sequence["Tensor"], sizes: "Tensor | None") -> "Tensor":
        """The outputs of an ensemble: the mean; for kinds with probabilities, the logarithm of their mean."""
        return sum(outputs[1:], outputs[0]) / len(outputs)

    def standard(self, outputs: np.ndarray) -> np.ndarray:
        """The outputs (inputs, outputs) of a head as those of a head of this task that `unscaled` did not change."""
        return outputs

    # The same targets with another loss or other outputs, as settings ask for it. Kinds that have no such thing return themselves.

    def balanced(self, codes: np.ndarray, power: float) -> Self:
        """The same with a loss that counts labels that are rare among these codes more, by this power (0: all the same)."""
        return self

    def separated(self) -> Self:
        """The same with a loss that judges each input by itself (`loss.choice`). Kinds with one input a row ignore this."""
        return self

    def unscaled(self) -> Self:
        """The same with outputs that mean numbers as they stand in the data (`transformer.number_loss`); only kinds with numbers."""
        return self

    def with_transitions(self, transitions: "Tensor") -> Self:
        """The same with the scores of pairs of neighbouring units, (outputs + 2, outputs), that a head learns (`head.crf`)."""
        return self

    def _with(self, **attributes: Any) -> Self:
        """A copy with other values of these attributes."""
        changed = copy(self)
        vars(changed).update(attributes)
        return changed


class ClassesHead(HeadTargets):
    """One output for each class."""

    weights: np.ndarray | None = None  # of the classes in the loss, float32 (outputs,); None: all count the same

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        """Cross-entropy with these weights."""
        from torch.nn import functional as F

        weights = None if self.weights is None else outputs.new_tensor(self.weights)
        return F.cross_entropy(outputs, codes.long(), weight=weights)

    def joint(self, outputs: Sequence["Tensor"], sizes: "Tensor | None") -> "Tensor":
        return log_mean(outputs)

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        return outputs.argmax(dim=1)


def by_row(outputs: "Tensor", sizes: "Tensor | None", padding: float = 0) -> "Tensor":
    """Outputs (inputs, …) as (rows, most inputs, …), with `padding` after the last input of a row; `sizes` must be there, and on the CPU."""
    from torch.nn.utils.rnn import pad_sequence

    assert sizes is not None
    return pad_sequence(list(outputs.split(sizes.tolist())), batch_first=True, padding_value=padding)


def log_mean(outputs: Sequence["Tensor"]) -> "Tensor":
    """The logarithm of the mean of several softmaxes. Each has the shape (rows, outputs)."""
    import torch

    shares = torch.stack([scores.float().log_softmax(dim=1) for scores in outputs])
    return shares.logsumexp(dim=0) - math.log(len(outputs))
