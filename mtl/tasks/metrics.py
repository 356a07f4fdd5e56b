"""The suites' metrics by name: torchmetrics objects, computed once over a whole split, never averaged over batches."""

from collections.abc import Callable

import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.classification import BinaryF1Score, MulticlassAccuracy, MulticlassConfusionMatrix, MulticlassF1Score
from torchmetrics.regression import PearsonCorrCoef

from mtl.tasks.suite import Task


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


class MatthewsCorrCoef(MulticlassConfusionMatrix):
    """The correlation of predicted and gold labels (Matthews 1975; Gorodkin 2004 for more than two); 0 where either is constant.

    torchmetrics' own gives constant predictions of two labels a score far from 0, and rounds the counts to float32.
    """

    def compute(self) -> Tensor:
        """The score, -1 to 1."""
        counts = super().compute().double()
        golds, guesses, rows = counts.sum(dim=1), counts.sum(dim=0), counts.sum()
        covariance = rows * counts.trace() - golds @ guesses
        spread = ((rows**2 - golds @ golds) * (rows**2 - guesses @ guesses)).sqrt()
        return covariance / spread if spread > 0 else torch.zeros_like(spread)


_METRICS: dict[str, Callable[[Task], Metric]] = {
    "accuracy": lambda task: MulticlassAccuracy(task.outputs, average="micro"),
    "f1": lambda task: BinaryF1Score(),
    "macro_f1": lambda task: MulticlassF1Score(task.outputs, average="macro"),
    "matthews": lambda task: MatthewsCorrCoef(task.outputs),
    "spearman": lambda task: PearsonCorrCoef(),  # of ranks
    "pearson": lambda task: PearsonCorrCoef(),
    "one_minus_wmae": lambda task: OneMinusWMAE(*task.bounds),
}


def score(task: Task, predictions: Tensor, gold: Tensor) -> float:
    """The task's metric × 100 over a whole split.

    predictions, gold: (rows,), label indices or numbers. A correlation with a constant is 0, and so is F1 where the label
    neither occurs nor is predicted; macro F1 is over the labels that occur or are predicted.
    Raises ValueError for predictions or gold targets that are not finite: no metric is defined for them.
    """
    for name, values in (("predictions", predictions), ("gold targets", gold)):
        if wrong := int((~values.isfinite()).sum()):
            raise ValueError(f"task {task.id}: {wrong} of {len(values)} {name} are not finite")
    if task.is_regression:
        predictions, gold = predictions.double(), gold.double()
    else:
        predictions, gold = predictions.long(), gold.long()
    if task.metric in ("spearman", "pearson"):
        if len(predictions.unique()) == 1 or len(gold.unique()) == 1:
            return 0.0
        if task.metric == "spearman":
            predictions, gold = _ranks(predictions), _ranks(gold)
        predictions, gold = _standardized(predictions), _standardized(gold)
    if task.metric == "f1":
        assert task.labels is not None and task.positive is not None
        positive = task.labels.index(task.positive)
        predictions, gold = (predictions == positive).long(), (gold == positive).long()
    metric = _METRICS[task.metric](task)
    metric.set_dtype(torch.float64)
    metric.update(predictions, gold)
    return 100 * float(metric.compute())


def _ranks(values: Tensor) -> Tensor:
    """The rank of each value, equal values sharing the mean of theirs: float64 (rows,).

    torchmetrics' Spearman adds 1e-6 to the product of the deviations, which shows with few rows.
    """
    _, places, counts = values.unique(return_inverse=True, return_counts=True)
    ends = counts.cumsum(0).double()
    return (ends - (counts - 1) / 2)[places]


def _standardized(values: Tensor) -> Tensor:
    """The values with mean 0 and variance 1, which leaves a correlation as it is: (rows,).

    torchmetrics' Pearson is NaN where values differ by little beside their size.
    """
    centred = values - values.mean()
    return centred / centred.square().mean().sqrt()
