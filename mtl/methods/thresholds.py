"""The decision thresholds of a task that is scored by F1 of single labels, chosen on dev (`finetune.threshold`).
With few rows of a label, the label with the highest output is seldom the decision with the highest F1 (Lipton et al. 2014, "Optimal thresholding of
classifiers to maximize F1 measure"). Where dev has a few dozen rows of the label, chance decides which threshold is best. The mean of the best
thresholds of many resamples (bagging, Breiman 1996) depends less on single rows.

A threshold is a shift, which is added to a label's output. The metric says which labels have one (`Metric.threshold`): the positive label, or all
labels of a task whose rows have several. These share one threshold. But where the metric is a mean over labels, each label that dev has FEWEST rows
of has its own, which was best on simulated labels (`experiments/thresholds/README.md`)."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mtl.base.arrays import read_checkpoint
from mtl.base.errors import InputError
from mtl.tasks.metrics import TIE, metric_named
from mtl.tasks.task import Task
from mtl.training.checkpoints import RESTORE_IT, WEIGHTS_FILES, CheckpointContent

RESAMPLES = 200
FEWEST = 100  # rows of a label on dev from which on it has a threshold of its own
LEAST_GAP = 1e-6  # margins that differ by less are equal: another CPU may order them differently


class Decisions(NamedTuple):
    """Yes or no decisions that one threshold changes."""

    margins: np.ndarray  # (decisions,): yes is decided if the shift is greater
    right: np.ndarray  # (decisions,): whether yes is right
    unshifted: np.ndarray  # (decisions,): whether yes is decided without a shift


def label_decisions(outputs: np.ndarray, gold: np.ndarray, label: int) -> Decisions:
    """Whether the answer is this label, which has the highest of the outputs (rows, labels). `gold` are the indices of the right labels, (rows,)."""
    highest = np.delete(outputs, label, axis=1).max(axis=1).astype(np.float64)
    # Among equal outputs, the first label is taken: not always another one.
    return Decisions(highest - outputs[:, label], gold == label, outputs.argmax(axis=1) == label)


def best_shift(decisions: Decisions) -> float:
    """What to add to the outputs so that F1 over these decisions is highest; of equal scores, the shift nearest to 0."""
    order = np.argsort(decisions.margins, kind="stable")
    margins, right, unshifted = decisions.margins[order], decisions.right[order], decisions.unshifted
    unshifted_score = 2 * (unshifted & decisions.right).sum() / max(1, unshifted.sum() + right.sum())
    # F1 where yes is decided up to each margin, with a shift halfway to the following one. Equal margins are decided together.
    scores = 2 * np.cumsum(right) / (np.arange(1, len(margins) + 1) + right.sum())
    following = np.append(margins[1:], margins[-1] + 1.0)
    possible = following - margins > LEAST_GAP
    possible_shifts = ((margins + following) / 2)[possible]
    possible_scores = scores[possible]
    best = possible_scores.max()
    if 100 * (best - unshifted_score) <= TIE:
        return 0.0
    best_shifts = possible_shifts[100 * (best - possible_scores) <= TIE]
    return float(best_shifts[np.abs(best_shifts).argmin()])


def bagged_shift(decisions: Decisions) -> float:
    """The mean of `best_shift` over resamples of the decisions, the same in every call, each with as many right ones and others."""
    rng = np.random.default_rng(0)
    strata = [np.flatnonzero(decisions.right), np.flatnonzero(~decisions.right)]
    shifts = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([rows[rng.integers(len(rows), size=len(rows))] for rows in strata if len(rows)])
        shifts.append(best_shift(Decisions(*(values[drawn] for values in decisions))))
    return float(np.mean(shifts))


# How shifts are chosen: the values of `finetune.threshold` other than argmax.
SHIFTS: dict[str, Callable[[Decisions], float]] = {"dev": best_shift, "bagged": bagged_shift}


def chosen_shifts(method: str, task: Task, outputs: np.ndarray, codes: np.ndarray) -> dict[int, float]:
    """What to add to the outputs of a task's head, by the number of the output, so that the metric is highest on some rows. `outputs` are those of
    the rows, (rows, outputs), and `codes` their right codes: (rows,), or for several labels of a row (rows, outputs) of 0 and 1."""
    choose, labels = SHIFTS[method], shifted_outputs(task)
    if codes.ndim == 1:
        return {label: choose(label_decisions(outputs, codes, label)) for label in labels}
    margins, right = -outputs.astype(np.float64), codes > 0
    shifts = dict.fromkeys(labels, choose(Decisions(margins.ravel(), right.ravel(), margins.ravel() < 0)))
    if metric_named(task.metric).threshold == "each":
        for label in np.flatnonzero(right.sum(axis=0) >= FEWEST).tolist():
            shifts[label] = choose(Decisions(margins[:, label], right[:, label], margins[:, label] < 0))
    return shifts


def shifted_outputs(task: Task) -> list[int]:
    """The numbers of the outputs that thresholds are added to; none if the task's metric knows no threshold."""
    threshold, labels = metric_named(task.metric).threshold, task.labels or []
    if threshold == "positive":
        assert task.positive is not None
        return [labels.index(task.positive)]
    return list(range(len(labels))) if threshold else []


def shift_text(shifts: dict[int, float]) -> str:
    """The shifts in a message: a single one, or the smallest and the largest."""
    low, high = min(shifts.values()), max(shifts.values())
    return f"{low:+.2f}" if low == high else f"{low:+.2f} to {high:+.2f}"


def shift_outputs(outputs: np.ndarray, shifts: dict[int, float], sign: int = 1) -> None:
    """Add the shifts to outputs, float32 (rows, outputs), or take them back (sign -1)."""
    for number, shift in shifts.items():
        outputs[:, number] += sign * shift


def recorded_shifts(folder: Path, task: Task) -> dict[int, float] | None:
    """The shifts in the finished stage's checkpoint in `folder`, by output; None if none were chosen. Raises InputError for a damaged file."""
    path, labels = folder / WEIGHTS_FILES["best"], shifted_outputs(task)
    recorded = read_checkpoint(path, CheckpointContent).get("threshold_shift")
    if recorded is None:
        return None
    shifts = recorded if isinstance(recorded, list) else [recorded]
    if len(shifts) != len(labels):
        raise InputError(f"has {len(shifts)} thresholds for {len(labels)} labels; {RESTORE_IT}", path=path)
    return dict(zip(labels, shifts, strict=True))
