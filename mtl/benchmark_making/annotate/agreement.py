"""How far people agree, and what most of them answer.
Krippendorff's α ("Computing Krippendorff's Alpha-Reliability", 2011) is 1 minus the disagreement within rows as a share of the disagreement of all
answers pooled, here for any number of people without gaps. `mtl.tasks.metrics` has the same α for two coders, with weights."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from mtl.base.wording import listed
from mtl.tasks.metrics import MEAN
from mtl.tasks.targets import first_kind
from mtl.tasks.task import Task

MOST_PAIRS = 10  # of people that are named; the others are counted
Level = Literal["nominal", "ordinal", "interval"]  # the distance of answers: whether they differ, of ranks, of numbers


def level_of(task: Task) -> Level:
    """Nominal for labels and choices; for numbers interval, or ordinal where the task's metric, Spearman's correlation, reads ranks alone."""
    if first_kind(task.kind) != "number":
        return "nominal"
    return "ordinal" if set(task.metric.split(MEAN)) == {"spearman"} else "interval"


def alpha(answers: np.ndarray, level: Level) -> float:
    """Krippendorff's α of answers, float64 (people, rows), of two people or more; 1 without any disagreement.

    The mean squared distance of two answers is twice their variance, so α is a ratio of variances. Of nominal answers, it is that of
    indicators of each answer, summed; of ordinal ones, that of their mean ranks among all answers.

    >>> alpha(np.array([[0.0, 1, 2, 2], [0, 1, 2, 1]]), "nominal")
    0.6666666666666667
    """
    values = answers[..., None]
    if level == "ordinal":
        values = rankdata(answers).reshape(values.shape)
    elif level == "nominal":
        values = (values == np.unique(answers)).astype(np.float64)
    within = values.var(axis=0, ddof=1).mean(axis=0).sum()
    pooled = values.reshape(-1, values.shape[-1]).var(axis=0, ddof=1).sum()
    return 1.0 if within == 0 else float(1 - within / pooled)


def agreement_text(task: Task, people: Sequence[str], answers: np.ndarray) -> str:
    """α of the answers of two people or more, float64 (people, rows), and the agreement of each pair, in one sentence."""
    level, pairs = level_of(task), []
    measure = "equal answers" if level == "nominal" else "mean absolute difference"
    for i, k in combinations(range(len(people)), 2):
        shown = f"{np.abs(answers[i] - answers[k]).mean():.3g}"
        if level == "nominal":
            shown = f"{(answers[i] == answers[k]).mean():.1%}"
        pairs.append(f"{people[i]} and {people[k]} {shown}")
    compared = f"Agreement on {task.id} ({answers.shape[1]} rows): Krippendorff's α, {level}, of {', '.join(people)}"
    return f"{compared}: {alpha(answers, level):.3f}; {measure}: {listed(pairs, MOST_PAIRS)}."


def majority(task: Task, answers: np.ndarray) -> tuple[np.ndarray, str]:
    """The most frequent answer of each row of float64 (people, rows), or the mean of its numbers, and in one sentence how it was made. Where several
    answers are the most frequent, the one of the person who agrees most with the others on all rows is taken."""
    people = f"of {len(answers)} people"
    if level_of(task) != "nominal":
        return answers.mean(axis=0), f"The majority on {task.id} is the mean of the numbers {people}."
    agreeing = (answers[:, None] == answers[None]).sum(axis=(1, 2))
    ordered = answers[np.argsort(-agreeing, kind="stable")]
    counts = (ordered[:, None] == ordered[None]).sum(axis=0)  # of each person's answer in its row
    chosen = ordered[counts.argmax(axis=0), np.arange(answers.shape[1])]  # the first of the most frequent
    tied = int(((counts == counts.max(axis=0)) & (ordered != chosen)).any(axis=0).sum())
    ties = f"; of the {tied} tied rows, that of the person who agrees most with the others" if tied else ""
    return chosen, f"The majority on {task.id} is each row's most frequent answer {people}{ties}."
