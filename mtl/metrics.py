"""The suites' metrics by name: torchmetrics objects, computed once over a whole split, never averaged over batches."""

import warnings
from collections.abc import Callable

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.classification import BinaryF1Score, MulticlassAccuracy, MulticlassF1Score, MulticlassMatthewsCorrCoef
from torchmetrics.regression import PearsonCorrCoef, SpearmanCorrCoef

from mtl.suite import Task


class OneMinusWMAE(Metric):
    r"""One minus the mean absolute error averaged over the gold ratings (KLEJ, section 3.7).

    .. math:: 1 - \frac{1}{|C|\,(b - a)} \sum_{c \in C} \frac{1}{n_c} \sum_{i: y_i = c} |\hat{y}_i - c|

    with C the gold ratings that occur, n_c the rows of rating c, and a to b the range.

    >>> metric = OneMinusWMAE(1, 5)
    >>> metric.update(torch.tensor([1.0, 2.0, 5.0]), torch.tensor([1.0, 1.0, 3.0]))
    >>> metric.compute()  # class 1 errs by 0.5 on average, class 3 by 2: 1 - 1.25 / 4
    tensor(0.6875)
    """

    full_state_update = False

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        self.span = high - low
        self.predictions: list[Tensor]
        self.gold: list[Tensor]
        self.add_state("predictions", [], dist_reduce_fx="cat")
        self.add_state("gold", [], dist_reduce_fx="cat")

    def update(self, predictions: Tensor, gold: Tensor) -> None:
        """Predicted and gold ratings, (rows,) each."""
        self.predictions.append(predictions)
        self.gold.append(gold)

    def compute(self) -> Tensor:
        """The score, between 0 and 1 for predictions within the range."""
        errors = (torch.cat(self.predictions) - torch.cat(self.gold)).abs()
        ratings, classes = torch.cat(self.gold).unique(return_inverse=True)
        means = torch.zeros_like(ratings).index_add(0, classes, errors) / classes.bincount()
        return 1 - means.mean() / self.span


_METRICS: dict[str, Callable[[Task], Metric]] = {
    "accuracy": lambda task: MulticlassAccuracy(task.outputs, average="micro"),
    "f1": lambda task: BinaryF1Score(),
    "macro_f1": lambda task: MulticlassF1Score(task.outputs, average="macro"),
    "matthews": lambda task: MulticlassMatthewsCorrCoef(task.outputs),
    "spearman": lambda task: SpearmanCorrCoef(),
    "pearson": lambda task: PearsonCorrCoef(),
    "one_minus_wmae": lambda task: OneMinusWMAE(*task.bounds),
}


def score(task: Task, predictions: Tensor, gold: Tensor) -> float:
    """The task's metric × 100 over a whole split.

    predictions, gold: (rows,), label indices or numbers. A correlation with a constant is 0.
    """
    if task.is_regression:
        predictions, gold = predictions.double(), gold.double()
    else:
        predictions, gold = predictions.long(), gold.long()
    if task.metric in ("spearman", "pearson") and (len(predictions.unique()) == 1 or len(gold.unique()) == 1):
        return 0.0
    if task.metric == "f1":
        assert task.labels is not None and task.positive is not None
        positive = task.labels.index(task.positive)
        predictions, gold = (predictions == positive).long(), (gold == positive).long()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Metric .* will save all targets")  # a split is small
        metric = _METRICS[task.metric](task)
    metric.set_dtype(torch.float64)
    metric.update(predictions, gold)
    return 100 * float(metric.compute())
