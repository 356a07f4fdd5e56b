"""How far people agree: Krippendorff's α for any number of people without gaps, the agreement of each pair, and the majority.

α (2011, "Computing Krippendorff's Alpha-Reliability") is 1 minus the disagreement within rows as a share of the disagreement of all answers
pooled. `mtl.tasks.metrics` has the same α for two coders, with weights.
"""

from collections.abc import Sequence
from enum import Enum
from itertools import combinations
from statistics import fmean

import numpy as np
from scipy.stats import rankdata

from mtl.base.files import listed
from mtl.tasks.metrics import MEAN
from mtl.tasks.targets import first_kind
from mtl.tasks.task import Task

MOST_PAIRS = 10  # that are named; the others are counted
LEAST_FOR_MAJORITY = 3  # people; of two, each would be the majority


class Level(Enum):
    """The distance between two answers of α."""

    NOMINAL = "nominal"  # equal or different
    ORDINAL = "ordinal"  # of their ranks among all answers
    INTERVAL = "interval"  # of the numbers


def level_of(task: Task) -> Level:
    """Nominal for labels and choices; for numbers interval, or ordinal where the task's metric, Spearman's correlation, reads ranks alone."""
    if first_kind(task.kind) != "number":
        return Level.NOMINAL
    return Level.ORDINAL if set(task.metric.split(MEAN)) == {"spearman"} else Level.INTERVAL


def alpha(answers: np.ndarray, level: Level) -> float:
    """Krippendorff's α; 1 without any disagreement.

    The mean squared distance of two answers is twice their variance, so α is a ratio of variances. Of nominal answers, it is that of
    indicators of each answer, summed; of ordinal ones, that of their mean ranks among all answers.

    Args:
        answers: float64 (people, rows), two people or more.

    >>> alpha(np.array([[0.0, 1, 2, 2], [0, 1, 2, 1]]), Level.NOMINAL)
    0.6666666666666667
    """
    values = answers[..., None]
    if level is Level.ORDINAL:
        values = rankdata(answers).reshape(values.shape)
    elif level is Level.NOMINAL:
        values = (values == np.unique(answers)).astype(np.float64)
    within = values.var(axis=0, ddof=1).mean(axis=0).sum()
    pooled = values.reshape(-1, values.shape[-1]).var(axis=0, ddof=1).sum()
    return 1.0 if within == 0 else float(1 - within / pooled)


def pair_agreement(first: np.ndarray, second: np.ndarray, level: Level) -> float:
    """How far two people agree: the share of equal answers; of numbers, minus the mean absolute difference. Both (rows,)."""
    if level is Level.NOMINAL:
        return float((first == second).mean())
    return -float(np.abs(first - second).mean())


def majority(answers: np.ndarray, level: Level) -> tuple[np.ndarray, int]:
    """The most frequent answer of each row of float64 (people, rows), and how many rows have several; of numbers, the mean, and none.

    Where several answers are the most frequent, the one of the person who agrees most with the others on all rows is taken.
    """
    if level is not Level.NOMINAL:
        return answers.mean(axis=0), 0
    shares = [
        fmean(pair_agreement(answers[i], answers[j], level) for j in range(len(answers)) if j != i)
        for i in range(len(answers))
    ]
    by_agreement = answers[np.argsort([-share for share in shares], kind="stable")]
    counts = (by_agreement[:, None] == by_agreement[None]).sum(axis=0)  # of each person's answer in its row
    chosen = by_agreement[counts.argmax(axis=0), np.arange(answers.shape[1])]  # the first of the most frequent
    frequent = counts == counts.max(axis=0)
    tied = sum(len(set(row[mask].tolist())) > 1 for row, mask in zip(by_agreement.T, frequent.T, strict=True))
    return chosen, tied


def agreement_text(task: Task, people: Sequence[str], answers: np.ndarray) -> str:
    """α of answers, float64 (people, rows), and the agreement of each pair, in one sentence."""
    level = level_of(task)
    pairs = []
    for i, j in combinations(range(len(people)), 2):
        agreement = pair_agreement(answers[i], answers[j], level)
        shown = f"{agreement:.1%}" if level is Level.NOMINAL else f"{-agreement:.3g}"
        pairs.append(f"{people[i]} and {people[j]} {shown}")
    what = "equal answers" if level is Level.NOMINAL else "mean absolute difference"
    return (
        f"Agreement on {task.id} ({answers.shape[1]} rows): Krippendorff's α, {level.value}, of {', '.join(people)}: "
        f"{alpha(answers, level):.3f}; {what}: {listed(pairs, MOST_PAIRS)}."
    )


def majority_text(task: Task, tied: int, people: int) -> str:
    """How the majority of a task was made, in one sentence."""
    if first_kind(task.kind) == "number":
        return f"The majority on {task.id} is the mean of the numbers of {people} people."
    ties = f"; of the {tied} tied rows, that of the person who agrees most with the others" if tied else ""
    return f"The majority on {task.id} is each row's most frequent answer of {people} people{ties}."
