"""The metrics of sets of labels: F1 as scikit-learn computes it with `zero_division=0`. `macro_f1` leaves out absent labels; here they are 0."""

import numpy as np

from mtl.structured.multi_label import indicators
from mtl.structured.span_f1 import ratio
from mtl.tasks.formulas import accuracy
from mtl.tasks.metrics import Metric, Parts
from mtl.tasks.task import ScoredRows, Task

KINDS = ("multi_label",)


def micro_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """F1 over all decisions on a label of an example: 2 tp / (2 tp + fp + fn)."""
    right, sums = _label_counts(task, predicted, rows, weights).sum(axis=2)
    return ratio(2 * right, sums)


def multi_macro_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean of the F1 of all labels; 0 for a label that neither occurs nor is predicted."""
    right, sums = _label_counts(task, predicted, rows, weights)
    return ratio(2 * right, sums).mean(axis=1)


def label_scores(task: Task, predicted: np.ndarray, rows: ScoredRows) -> dict[str, tuple[int, float]]:
    """For each label that some rows have, their number and its F1."""
    all_rows = np.ones((1, len(predicted)))
    right, sums = _label_counts(task, predicted, rows, all_rows)
    numbers = np.asarray(all_rows @ indicators(task, rows.targets))[0]
    by_label = zip(task.labels or (), numbers, ratio(2 * right, sums)[0], strict=True)
    return {label: (int(number), float(score)) for label, number, score in by_label if number}


def _label_counts(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The rows that have a label and get it, and those that have it plus those that get it, by set of weights: float64 (2, sets, labels)."""
    gold, guessed = indicators(task, rows.targets), indicators(task, predicted)
    return np.stack([(gold.multiply(guessed).T @ weights.T).T, ((gold + guessed).T @ weights.T).T])


LABELS = Parts("label", "labels", label_scores)
MICRO_F1 = Metric("micro F1", KINDS, micro_f1, threshold="all", parts=LABELS)
MULTI_MACRO_F1 = Metric("macro F1 of all labels", KINDS, multi_macro_f1, threshold="each", parts=LABELS)
EXACT_MATCH = Metric("exact match", KINDS, accuracy)
