"""Metrics: one registry, and one implementation for scores and for resampled scores.

A metric takes weights of the rows, many sets of weights at once. If all weights are 1, the result is the metric itself. If a
weight is the number of times that a resample draws the row, the result is the metric on that resample. A metric is computed
once over a whole split, never averaged over batches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mtl.tasks.rouge import rouge1, rouge1_words
from mtl.tasks.task import Task


@dataclass(frozen=True)
class ScoredRows:
    """The rows that predictions are compared with.

    targets: (rows,), see `mtl.tasks.kind`. candidates: int64 (rows,), the number of candidates of each row; None unless the task is
    a choice. columns: the values of the task's `columns` by name, one string per row.
    """

    targets: np.ndarray
    candidates: np.ndarray | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)


# Scores × 100 that differ by less are equal, so that rounding errors, which differ between CPUs, do not choose between them.
TIE = 1e-9

# task, predictions (rows,), scored rows, weights (sets, rows) -> scores (sets,), at most 1.
Formula = Callable[[Task, np.ndarray, ScoredRows, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Metric:
    """One metric.

    kinds: names of the target kinds that it fits; it fits kinds derived from them, too. lowest: the lowest score × 100; the highest
    is 100. problem: returns the error in a task's declaration for this metric, as "key: message", or None. one_label: whether it
    scores one label, the task's `positive`.
    """

    title: str
    kinds: Sequence[str]
    formula: Formula
    lowest: float = 0.0
    problem: Callable[[Task], str | None] = lambda task: None
    one_label: bool = False


def score(task: Task, predictions: np.ndarray, rows: ScoredRows) -> float:
    """The task's metric × 100 over all rows. predictions: targets, (rows,), see `mtl.tasks.kind`.

    A correlation with a constant is 0. F1 of a label that neither occurs nor is predicted is 0; macro F1 leaves such labels out.
    Raises ValueError for predictions or targets that are not finite: no metric is defined for them.
    """
    return float(weighted_scores(task, predictions, rows, np.ones((1, len(predictions))))[0])


def weighted_scores(task: Task, predictions: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The task's metric × 100 for each set of weights: (sets,). weights: float64 (sets, rows). Raises ValueError as `score`."""
    for name, values in (("predictions", predictions), ("gold targets", rows.targets)):
        if values.dtype != object and (wrong := int((~np.isfinite(values)).sum())):
            raise ValueError(f"task {task.id}: {wrong} of {len(values)} {name} are not finite")
    return 100 * METRICS[task.metric].formula(task, predictions, rows, weights)


def accuracy(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of rows whose prediction is the target."""
    return weights @ (predicted == rows.targets).astype(np.float64) / weights.sum(axis=1)


def f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """F1 of the label `positive`."""
    assert task.labels is not None and task.positive is not None
    return _f1_of(task.labels.index(task.positive), predicted, rows.targets, weights)[0]


def macro_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean of the labels' F1. Labels that neither occur nor are predicted do not count."""
    assert task.labels is not None
    labels = range(len(task.labels))
    scores, present = zip(*(_f1_of(label, predicted, rows.targets, weights) for label in labels), strict=True)
    return np.sum(scores, axis=0) / np.sum(present, axis=0)


def _f1_of(label: int, predicted: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F1 of one label, 0 where it neither occurs nor is predicted; and whether it occurs or is predicted."""
    both = weights @ ((predicted == label) & (gold == label)).astype(np.float64)
    either = weights @ (predicted == label).astype(np.float64) + weights @ (gold == label).astype(np.float64)
    return np.divide(2 * both, either, out=np.zeros_like(both), where=either > 0), either > 0


def matthews(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The correlation of predicted and gold labels (Matthews 1975; Gorodkin 2004 for more than two); 0 where either is constant."""
    assert task.labels is not None
    gold, total = rows.targets, weights.sum(axis=1)
    labels = range(len(task.labels))
    golds = np.array([weights @ (gold == label).astype(np.float64) for label in labels])
    guesses = np.array([weights @ (predicted == label).astype(np.float64) for label in labels])
    covariance = total * (weights @ (predicted == gold).astype(np.float64)) - (golds * guesses).sum(axis=0)
    spread = np.sqrt((total**2 - (golds**2).sum(axis=0)) * (total**2 - (guesses**2).sum(axis=0)))
    return np.divide(covariance, spread, out=np.zeros_like(total), where=spread > 0)


def pearson(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """Pearson's correlation."""
    return _correlation(predicted[None], rows.targets[None], weights)


def spearman(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """Spearman's correlation: Pearson's of the ranks, equal values sharing the mean of their ranks."""
    return _correlation(_ranks(predicted, weights), _ranks(rows.targets, weights), weights)


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean rank of each row's value for each set of weights, (sets, rows)."""
    _, first, place = np.unique(np.sort(values), return_index=True, return_inverse=True)
    order = np.argsort(values, kind="stable")
    counts = np.add.reduceat(weights[:, order], first, axis=1)
    ranks = np.empty_like(weights)
    ranks[:, order] = (np.cumsum(counts, axis=1) - (counts - 1) / 2)[:, place]
    return ranks


def _correlation(one: np.ndarray, other: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's correlation for each set of weights; 0 where one side is constant. one, other: (sets or 1, rows)."""
    a, one_varies = _standardized(one, weights)
    b, other_varies = _standardized(other, weights)
    mean = (weights * a * b).sum(axis=1) / weights.sum(axis=1)
    return np.where(one_varies & other_varies, np.clip(mean, -1, 1), 0.0)


def _standardized(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values scaled to weighted mean 0 and variance 1, (sets, rows); and whether the values with a weight differ, (sets,)."""
    total = weights.sum(axis=1, keepdims=True)
    drawn = weights > 0
    least = np.where(drawn, values, np.inf).min(axis=1)
    varies = np.where(drawn, values, -np.inf).max(axis=1) > least
    # Subtract the least value first: in the mean of large, nearly equal numbers, rounding would hide their differences.
    near = values - least[:, None]
    centred = near - (weights * near).sum(axis=1, keepdims=True) / total
    deviation = np.sqrt((weights * centred**2).sum(axis=1, keepdims=True) / total)
    return np.divide(centred, deviation, out=np.zeros_like(centred), where=varies[:, None]), varies


def one_minus_wmae(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    r"""One minus the mean absolute error averaged over the gold ratings (KLEJ, section 3.7).

    .. math:: 1 - \frac{1}{|C|\,(b - a)} \sum_{c \in C} \frac{1}{n_c} \sum_{i: y_i = c} |\hat{y}_i - c|

    with C the gold ratings that occur, n_c the number of rows with rating c, and [a, b] the range.

    >>> task = Task(text=["text"], target="rating", kind="number", range=[1, 5], metric="one_minus_wmae")
    >>> rows = ScoredRows(np.array([1.0, 1.0, 3.0]))
    >>> score(task, np.array([1.0, 2.0, 5.0]), rows)  # mean errors: rating 1: 0.5, rating 3: 2; so 1 - 1.25 / 4
    68.75
    """
    low, high = task.bounds
    errors = np.abs(predicted - rows.targets)
    means, present = np.zeros(len(weights)), np.zeros(len(weights))
    for rating in np.unique(rows.targets):
        of_rating = rows.targets == rating
        count = weights[:, of_rating].sum(axis=1)
        means += np.divide(weights[:, of_rating] @ errors[of_rating], count, out=np.zeros_like(count), where=count > 0)
        present += count > 0
    return 1 - means / present / (high - low)


def _f1_problem(task: Task) -> str | None:
    if task.positive in (task.labels or ()):
        return None
    return f"positive: name the label that metric f1 is computed for, one of {', '.join(task.labels or ())}"


# By the value of `metric` in a suite file.
METRICS: dict[str, Metric] = {
    "accuracy": Metric("accuracy", ("labels", "choice", "word"), accuracy),
    "f1": Metric("F1", ("labels",), f1, problem=_f1_problem, one_label=True),
    "macro_f1": Metric("macro F1", ("labels",), macro_f1),
    "matthews": Metric("Matthews", ("labels",), matthews, lowest=-100.0),
    "spearman": Metric("Spearman", ("number",), spearman, lowest=-100.0),
    "pearson": Metric("Pearson", ("number",), pearson, lowest=-100.0),
    "one_minus_wmae": Metric("1 − wMAE", ("number",), one_minus_wmae),
    "rouge1": Metric("ROUGE-1", ("text",), rouge1),
    "rouge1_words": Metric("ROUGE-1, whole words", ("text",), rouge1_words),
}
