"""Sets of labels as texts and as matrices, and their metrics: micro and macro F1, F1 of each row, and exact match.

All are those of scikit-learn for indicator matrices, with `zero_division=0`: F1 is 0 where nothing is right and nothing is predicted. So
`multi_macro_f1` counts labels that neither occur nor are predicted as 0 (`macro_f1` of single labels leaves them out), and `samples_f1` counts a
row without labels as 0, also if none is predicted.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mtl.structured.span_f1 import ratio
from mtl.tasks.metrics import Metric, Parts
from mtl.tasks.target_kind import Target
from mtl.tasks.task import ScoredRows, Task

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SEPARATOR = ";"  # between the labels of a set, unless the task names another one
KIND = ("multi_label",)


def separator_of(task: Task) -> str:
    """What stands between the labels of a set, in a target and in a cell."""
    return SEPARATOR if task.label_separator is None else task.label_separator


def members(task: Task, target: Target) -> list[str]:
    """The labels of a target."""
    return str(target).split(separator_of(task)) if target else []


def indicators(task: Task, targets: Sequence[Target | None] | np.ndarray) -> "csr_matrix":
    """Which labels the targets (rows,) have: float64 (rows, labels) of 0 and 1. A row without a target has none."""
    from scipy.sparse import csr_matrix  # not at the top: every command reads the registry of metrics

    numbers = {label: number for number, label in enumerate(task.labels or ())}
    sets = {target: [numbers[label] for label in members(task, target or "")] for target in set(targets)}
    of_rows = [sets[target] for target in targets]
    ends = np.cumsum([0, *map(len, of_rows)])
    columns = np.array([number for of_row in of_rows for number in of_row], dtype=np.int64)
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(of_rows), len(numbers)))


def micro_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """F1 over all decisions on a label of an example: 2 tp / (2 tp + fp + fn)."""
    both, either = (counts.sum(axis=1) for counts in _label_counts(task, predicted, rows, weights))
    return ratio(2 * both, either)


def multi_macro_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean of the F1 of all labels; 0 for a label that neither occurs nor is predicted."""
    both, either = _label_counts(task, predicted, rows, weights)
    scores: np.ndarray = ratio(2 * both, either).mean(axis=1)
    return scores


def label_scores(task: Task, predicted: np.ndarray, rows: ScoredRows) -> dict[str, tuple[int, float]]:
    """For each label that some rows have, their number and its F1."""
    ones = np.ones((1, len(predicted)))
    both, either = _label_counts(task, predicted, rows, ones)
    numbers = np.asarray(ones @ indicators(task, rows.targets))[0]
    by_label = zip(task.labels or (), numbers, ratio(2 * both, either)[0], strict=True)
    return {label: (int(number), float(score)) for label, number, score in by_label if number}


def samples_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean of the examples' F1; 0 for an example without labels."""
    gold, guessed = indicators(task, rows.targets), indicators(task, predicted)
    both, either = (np.asarray(matrix.sum(axis=1)).ravel() for matrix in (gold.multiply(guessed), gold + guessed))
    scores: np.ndarray = weights @ ratio(2 * both, either) / weights.sum(axis=1)
    return scores


def exact_match(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of examples whose labels are all right."""
    share: np.ndarray = weights @ (predicted == rows.targets).astype(np.float64) / weights.sum(axis=1)
    return share


def _label_counts(
    task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each set of weights and each label, the rows that have it and get it, and the sum of those that have it and that get it."""
    gold, guessed = indicators(task, rows.targets), indicators(task, predicted)
    return (gold.multiply(guessed).T @ weights.T).T, ((gold + guessed).T @ weights.T).T


LABELS = Parts("label", "labels", label_scores)
MICRO_F1 = Metric("micro F1", KIND, micro_f1, threshold="all", parts=LABELS)
MULTI_MACRO_F1 = Metric("macro F1 of all labels", KIND, multi_macro_f1, threshold="each", parts=LABELS)
SAMPLES_F1 = Metric("samples F1", KIND, samples_f1, threshold="all")
EXACT_MATCH = Metric("exact match", KIND, exact_match)
