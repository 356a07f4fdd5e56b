"""Metrics: their registry, and how predictions are scored by them: once over a whole split, never averaged over batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np

from mtl.base.wings import Registry
from mtl.tasks import formulas
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

LOWEST = -100.0  # × 100, of correlations and of Krippendorff's α
# Scores × 100 that differ by less, or in later decimals alone, are equal: rounding errors, which differ between CPUs, do not choose between them.
TIE, DECIMALS = 1e-9, 9
MEAN = "+"  # between the names of the metrics of a mean, as in accuracy+f1
BY_VALUE = ("labels", "choice", "word")  # kinds whose targets are equal or different
# Task, predictions (rows,), scored rows, weights (sets, rows) -> scores (sets,), at most 1.
Formula = Callable[[Task, np.ndarray, ScoredRows, np.ndarray], np.ndarray]


class Parts(NamedTuple):
    """The parts of what a metric counts, as the types of entities."""

    name: str  # what one of them is, as in "type"
    counted: str  # what is counted in each, as in "entities"
    # Task, predictions (rows,), scored rows -> for each part with gold items their number and the score, at most 1.
    scores: Callable[[Task, np.ndarray, ScoredRows], dict[str, tuple[int, float]]]


@dataclass(frozen=True)
class Metric:
    title: str
    kinds: Sequence[str]  # names of the target kinds that it fits; it fits kinds derived from them, too
    formula: Formula
    lowest: float | Callable[[Task], float] = 0.0  # score × 100, or a function of a task; the highest is 100
    problem: Callable[[Task], str | None] = lambda task: None  # the error in a task's declaration, as "key: message"
    # What a decision threshold changes: the output of the task's `positive`, of each label by itself, or of all alike; None: nothing.
    threshold: Literal["positive", "each", "all"] | None = None
    parts: Parts | None = None  # the parts of what it counts, which the report shows one by one; None: it has none


@cache
def metric_named(name: str) -> Metric:
    """The metric of this name: one of METRICS, or the mean of several, as in GLUE's "pearson+spearman". Raises KeyError for an unknown name."""
    if name in METRICS:
        return METRICS[name]
    names = name.split(MEAN)
    metrics = [METRICS[metric_name] for metric_name in names]

    def formula(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
        return np.asarray(np.mean([metric.formula(task, predicted, rows, weights) for metric in metrics], axis=0))

    return Metric(
        title=" + ".join(metric.title for metric in metrics),
        kinds=[kind for kind in metrics[0].kinds if all(kind in metric.kinds for metric in metrics)],
        formula=formula,
        lowest=lambda task: fmean(lowest_score(task.measured_by(metric_name)) for metric_name in names),
        problem=lambda task: next(filter(None, (metric.problem(task) for metric in metrics)), None),
        threshold=next(filter(None, (metric.threshold for metric in metrics)), None),
    )


def is_metric(name: str) -> bool:
    """Whether a task can have a metric of this name: one of METRICS, or the mean of several different ones."""
    names = name.split(MEAN)
    return all(part in METRICS for part in names) and len(set(names)) == len(names)


def lowest_score(task: Task) -> float:
    """The lowest score × 100 that the task's metric can have. The highest is 100."""
    lowest = metric_named(task.metric).lowest
    return lowest(task) if callable(lowest) else lowest


def score(task: Task, predictions: np.ndarray, rows: ScoredRows) -> float:
    """The task's metric × 100 over all rows. Raises ValueError for predictions or targets that are not finite. A correlation with a constant is 0.
    F1 of a label that neither occurs nor is predicted is 0; macro F1 leaves such labels out."""
    return float(weighted_scores(task, predictions, rows, np.ones((1, len(predictions))))[0])


def further_scores(task: Task, predictions: np.ndarray, rows: ScoredRows) -> dict[str, float]:
    """The metrics × 100 of the task's `also`, by name. Raises ValueError as `score`."""
    return {name: score(task.measured_by(name), predictions, rows) for name in task.also or ()}


def weighted_scores(task: Task, predictions: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The task's metric × 100 for each set of weights, float64 (sets, rows): (sets,). Raises ValueError as `score`."""
    for name, values in (("predictions", predictions), ("gold targets", rows.targets)):
        if values.dtype != object and (wrong := int((~np.isfinite(values)).sum())):
            raise ValueError(f"task {task.id}: {wrong} of {len(values)} {name} are not finite")
    return 100 * metric_named(task.metric).formula(task, predictions, rows, weights)


def best_constant(task: Task, train: ScoredRows) -> Target:
    """The answer with the best score on the training rows if every row gets it, which every model must exceed; among equal scores, the first."""
    candidates = target_kind(task).constants(train.targets)
    return max(candidates, key=lambda answer: round(constant_score(task, answer, train), DECIMALS))


def constant_score(task: Task, answer: Target, rows: ScoredRows) -> float:
    """The metric × 100 if every row gets the same answer."""
    return score(task, target_kind(task).repeat(answer, len(rows.targets), rows.candidates), rows)


# By the value of `metric` in a suite file.
_CORE = {
    "accuracy": Metric("accuracy", BY_VALUE, formulas.accuracy),
    "f1": Metric("F1", ("labels",), formulas.f1, problem=formulas.f1_problem, threshold="positive"),
    "macro_f1": Metric("macro F1", ("labels",), formulas.macro_f1),
    "matthews": Metric("Matthews", ("labels",), formulas.matthews, lowest=LOWEST),
    "spearman": Metric("Spearman", ("number",), formulas.spearman, lowest=LOWEST),
    "pearson": Metric("Pearson", ("number",), formulas.pearson, lowest=LOWEST),
    "one_minus_wmae": Metric("1 − wMAE", ("number",), formulas.one_minus_wmae),
    "alpha_nominal": Metric("α nominal", BY_VALUE, formulas.alpha_nominal, lowest=LOWEST),
    "alpha_interval": Metric("α interval", ("number",), formulas.alpha_interval, lowest=LOWEST),
    "pseudo_alpha": Metric(
        "pseudo-α", BY_VALUE, formulas.pseudo_alpha, formulas.lowest_pseudo_alpha, formulas.chance_problem
    ),
    "gender_parity": Metric("gender parity", ("labels",), formulas.gender_parity, problem=formulas.parity_problem),
    "gender_parity_by_row": Metric(
        "gender parity by row", ("labels",), formulas.gender_parity_by_row, problem=formulas.parity_problem
    ),
    "rouge1": Metric("ROUGE-1", ("text",), formulas.rouge1),
}
METRICS: Registry[Metric] = Registry(_CORE, "metrics")
