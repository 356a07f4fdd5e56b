"""The decision threshold of a task that is scored by F1 of one label, chosen on dev (`finetune.threshold`).

With few rows of that label, the label with the highest output is seldom the decision with the highest F1 (Lipton et al. 2014,
"Optimal thresholding of classifiers to maximize F1 measure").

Where dev has a few dozen rows of the label, its best threshold is best by chance, too: the F1 there is several points above that on new
rows. The mean of the best thresholds of many resamples (bagging, Breiman 1996) depends less on single rows.

A threshold is a shift, which is added to the label's output.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from mtl.base.untrusted import read_checkpoint
from mtl.tasks.metrics import TIE
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS, Checkpoint

RESAMPLES = 200
LEAST = 1e-6  # margins that differ by less are equal: another CPU may order them differently


def best_shift(outputs: np.ndarray, gold: np.ndarray, label: int) -> float:
    """What to add to the outputs of `label` so that its F1 over these rows is highest; 0 if nothing is better than 0.

    Among equal scores, the shift nearest to 0 is taken.

    Args:
        outputs: (rows, labels).
        gold: the indices of the right labels, (rows,).
    """
    highest = np.delete(outputs, label, axis=1).max(axis=1).astype(np.float64)
    margins = highest - outputs[:, label]  # the label is predicted if the shift is greater
    order = np.argsort(margins, kind="stable")
    margins, right = margins[order], (gold == label)[order]
    predicted = np.arange(1, len(margins) + 1)
    scores = 2 * np.cumsum(right) / (predicted + right.sum())
    following = np.append(margins[1:], margins[-1] + 1.0)
    possible = following - margins > LEAST  # rows with equal margins are predicted together
    shifts, scores = ((margins + following) / 2)[possible], scores[possible]
    at_zero = outputs.argmax(axis=1) == label  # among equal outputs, the first label: not always another one
    unshifted = 2 * (at_zero & (gold == label)).sum() / (at_zero.sum() + right.sum()) if at_zero.any() else 0.0
    best = scores.max()
    if 100 * (best - unshifted) <= TIE:
        return 0.0
    equal = shifts[100 * (best - scores) <= TIE]
    return float(equal[np.abs(equal).argmin()])


def bagged_shift(outputs: np.ndarray, gold: np.ndarray, label: int) -> float:
    """The mean of `best_shift` over resamples of the rows, each with as many rows of the label as there are, and as many others. The
    resamples are the same in every call."""
    rng = np.random.default_rng(0)
    parts = [np.flatnonzero(gold == label), np.flatnonzero(gold != label)]
    shifts = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([part[rng.integers(len(part), size=len(part))] for part in parts if len(part)])
        shifts.append(best_shift(outputs[drawn], gold[drawn], label))
    return float(np.mean(shifts))


# How the shift is chosen: the values of `finetune.threshold` other than argmax.
SHIFTS: dict[str, Callable[[np.ndarray, np.ndarray, int], float]] = {"dev": best_shift, "bagged": bagged_shift}


def positive_label(task: Task) -> int:
    """The index of the label that the task is scored by."""
    assert task.labels is not None and task.positive is not None
    return task.labels.index(task.positive)


def recorded_shift(folder: Path) -> float | None:
    """The shift that the finished stage's checkpoint in `folder` contains; None if none was chosen yet."""
    return read_checkpoint(folder / WEIGHTS["best"], Checkpoint).get("threshold_shift")
