"""How far people agree in their answers to the rows of a task, and what the majority of them answers."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from mtl.base.wording import listed
from mtl.tasks.metrics import MEAN
from mtl.tasks.targets import first_kind
from mtl.tasks.task import Task

Level = Literal["nominal", "ordinal", "interval"]  # answers are compared as equal or not, by their ranks, or as numbers
MOST_PAIRS = 10  # of people that a sentence names; the others are counted


def level_of(task: Task) -> Level:
    """For numbers interval, or ordinal where the task's metric, Spearman's correlation, reads ranks alone; for all other answers nominal."""
    if first_kind(task.kind) != "number":
        return "nominal"
    return "ordinal" if set(task.metric.split(MEAN)) == {"spearman"} else "interval"


def alpha(answers: np.ndarray, level: Level) -> float:
    """Krippendorff's α ("Computing Krippendorff's Alpha-Reliability", 2011) of the answers of two people or more, float64 (people, rows), none of
    them missing. It is 1 minus the disagreement within rows as a share of the disagreement among all answers; 1 if all answers are the same. People
    with the nominal answers 0, 1, 2, 2 and 0, 1, 2, 1 have an α of 2 / 3. `mtl.tasks.metrics` has the same α for two people, with weights."""
    # The mean squared distance of two values is twice their variance, so α is a ratio of variances. The values are the answers themselves,
    # their ranks among all answers, or for each different answer whether it was given (1 or 0), and these variances are summed.
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
    level = level_of(task)
    measure = "equal answers" if level == "nominal" else "mean absolute difference"
    pairs = []
    for first, second in combinations(range(len(people)), 2):
        if level == "nominal":
            agreement = f"{(answers[first] == answers[second]).mean():.1%}"
        else:
            agreement = f"{np.abs(answers[first] - answers[second]).mean():.3g}"
        pairs.append(f"{people[first]} and {people[second]} {agreement}")
    compared = f"Agreement on {task.id} ({answers.shape[1]} rows): Krippendorff's α, {level}, of {', '.join(people)}"
    return f"{compared}: {alpha(answers, level):.3f}; {measure}: {listed(pairs, MOST_PAIRS)}."


def majority(task: Task, answers: np.ndarray) -> tuple[np.ndarray, str]:
    """The most frequent answer of each row of float64 (people, rows), or the mean of its numbers, and in one sentence how it was made. Where several
    answers are the most frequent, the one of the person who agrees most with the others on all rows is taken."""
    if level_of(task) != "nominal":
        return answers.mean(axis=0), f"The majority on {task.id} is the mean of the numbers of {len(answers)} people."
    agreements = (answers[:, None] == answers[None]).sum(axis=(1, 2))  # of each person with all, on all rows
    ordered = answers[np.argsort(-agreements, kind="stable")]  # the person who agrees most comes first
    counts = (ordered[:, None] == ordered[None]).sum(axis=0)  # how often each person's answer is given to its row
    chosen = ordered[counts.argmax(axis=0), np.arange(answers.shape[1])]  # the first of the most frequent
    tied = int(((counts == counts.max(axis=0)) & (ordered != chosen)).any(axis=0).sum())
    ties = f"; of the {tied} tied rows, that of the person who agrees most with the others" if tied else ""
    return chosen, f"The majority on {task.id} is each row's most frequent answer of {len(answers)} people{ties}."
