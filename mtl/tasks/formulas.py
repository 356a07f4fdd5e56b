"""The formulas of metrics, for scores and for resampled scores.
A formula takes sets of weights of the rows. With weights of 1, it is the metric itself; with how often a resample draws each row, that on it."""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from mtl.base.extras import check_installed
from mtl.tasks.task import ScoredRows, Task

CACHED_PAIRS = 1 << 17  # the most pairs of texts whose score is kept: resampling asks for each many times


def accuracy(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of examples whose prediction is the target."""
    return weights @ (predicted == rows.targets).astype(np.float64) / weights.sum(axis=1)


def pseudo_alpha(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """Accuracy above chance, (A - c) / (1 - c), with c the task's `chance`: about the nominal α of a yes or no for each candidate."""
    chance = chance_share(task)
    return (accuracy(task, predicted, rows, weights) - chance) / (1 - chance)


def chance_share(task: Task) -> float:
    """The task's `chance` as a number. Raises ValueError unless it is at least 0 and below 1."""
    if not (match := re.fullmatch(r"(\d{1,12}(?:\.\d{1,12})?)(?:/([1-9]\d{0,11}))?", task.chance or "")):
        raise ValueError(f"{task.chance!r} is neither a number nor a fraction of whole numbers")
    if (chance := float(match[1]) / float(match[2] or 1)) >= 1:
        raise ValueError(f"{task.chance} must be below 1")
    return chance


def chance_problem(task: Task) -> str | None:
    if task.chance is None:
        return "chance: metric pseudo_alpha needs the accuracy of a guess, as in 0.2 or 109/2049"
    try:
        chance_share(task)
    except ValueError as error:
        return f"chance: {error}"
    return None


def lowest_pseudo_alpha(task: Task) -> float:
    """Pseudo-α × 100 where no prediction is right."""
    chance = chance_share(task)
    return -100 * chance / (1 - chance)


def f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """F1 of the label `positive`: 2 tp / (2 tp + fp + fn), with its true positives, false positives and false negatives."""
    assert task.labels is not None and task.positive is not None
    return _label_f1(task.labels.index(task.positive), predicted, rows.targets, weights)[0]


def f1_problem(task: Task) -> str | None:
    if task.positive in (task.labels or ()):
        return None
    return f"positive: name the label that metric f1 is computed for, one of {', '.join(task.labels or ())}"


def macro_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean of the labels' F1. Labels that neither occur nor are predicted do not count."""
    assert task.labels is not None
    labels = range(len(task.labels))
    scores, present = zip(*(_label_f1(label, predicted, rows.targets, weights) for label in labels), strict=True)
    return np.sum(scores, axis=0) / np.sum(present, axis=0)


def _label_f1(label: int, guesses: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F1 of one label, 0 where it neither occurs nor is predicted; and whether it occurs or is predicted. Both are (sets,)."""
    right = weights @ ((guesses == label) & (gold == label)).astype(np.float64)
    occurrences = weights @ (guesses == label).astype(np.float64) + weights @ (gold == label).astype(np.float64)
    return np.divide(2 * right, occurrences, out=np.zeros_like(right), where=occurrences > 0), occurrences > 0


def matthews(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The correlation of predicted and gold labels (Matthews 1975; Gorodkin 2004 for more than two); 0 where either is constant. (c n − Σ pₖ tₖ) /
    √((n² − Σ pₖ²) (n² − Σ tₖ²)), with n examples, c right ones, and pₖ predicted and tₖ gold ones of label k."""
    assert task.labels is not None
    gold, total = rows.targets, weights.sum(axis=1)
    labels = range(len(task.labels))
    golds = np.array([weights @ (gold == label).astype(np.float64) for label in labels])
    guesses = np.array([weights @ (predicted == label).astype(np.float64) for label in labels])
    covariance = total * (weights @ (predicted == gold).astype(np.float64)) - (golds * guesses).sum(axis=0)
    spread = np.sqrt((total**2 - (golds**2).sum(axis=0)) * (total**2 - (guesses**2).sum(axis=0)))
    return np.divide(covariance, spread, out=np.zeros_like(total), where=spread > 0)


def pearson(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """Pearson's correlation: the covariance divided by both standard deviations; 0 where either is constant."""
    return _correlation(predicted[None], rows.targets[None], weights)


def spearman(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """Spearman's correlation: Pearson's of the ranks, equal values sharing the mean of their ranks."""
    return _correlation(_ranks(predicted, weights), _ranks(rows.targets, weights), weights)


def _ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean rank of each row's value for each set of weights, (sets, rows)."""
    _, first, indices = np.unique(np.sort(values), return_index=True, return_inverse=True)
    order = np.argsort(values, kind="stable")
    counts = np.add.reduceat(weights[:, order], first, axis=1)
    ranks = np.empty_like(weights)
    ranks[:, order] = (np.cumsum(counts, axis=1) - (counts - 1) / 2)[:, indices]
    return ranks


def _correlation(left: np.ndarray, right: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Pearson's correlation of two arrays (sets or 1, rows) for each set of weights; 0 where one is constant."""
    a, a_varies = _standardized(left, weights)
    b, b_varies = _standardized(right, weights)
    mean = (weights * a * b).sum(axis=1) / weights.sum(axis=1)
    return np.where(a_varies & b_varies, np.clip(mean, -1, 1), 0.0)


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
    """One minus the mean absolute error averaged over the gold ratings (KLEJ, section 3.7). 1 − (1 / (|C| (b − a))) Σ_c (1 / n_c) Σ_i |ŷ_i − c|, with
    C the gold ratings that occur, n_c the number of examples i with rating c, and [a, b] the range.
    >>> task = Task(text=["text"], target="rating", kind="number", range=[1, 5], metric="one_minus_wmae")
    >>> rows = ScoredRows(np.array([1.0, 1.0, 3.0]))
    >>> one_minus_wmae(task, np.array([1.0, 2.0, 5.0]), rows, np.ones((1, 3)))  # mean errors: 0.5 and 2; so 1 - 1.25 / 4
    array([0.6875])
    """
    low, high = task.bounds
    errors = np.abs(predicted - rows.targets)
    means, present = np.zeros(len(weights)), np.zeros(len(weights))
    for rating in np.unique(rows.targets):
        rated = rows.targets == rating
        count = weights[:, rated].sum(axis=1)
        means += np.divide(weights[:, rated] @ errors[rated], count, out=np.zeros_like(count), where=count > 0)
        present += count > 0
    return 1 - means / present / (high - low)


def alpha_nominal(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """Krippendorff's α (2011, "Computing Krippendorff's Alpha-Reliability") of gold and predicted values that are equal or different: 1 − observed /
    expected disagreement; 0 where they disagree as often as their pooled values, paired at random, and at least −1 + 1 / N for N rows. The
    disagreement is the share that differ; the expected one, the probability that two of the 2N values, drawn without replacement, differ."""
    _, codes = np.unique(np.concatenate([rows.targets, predicted]), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    first = np.unique(codes[order], return_index=True)[1]
    counts = np.add.reduceat(np.hstack([weights, weights])[:, order], first, axis=1)  # of each value, (sets, values)
    values = counts.sum(axis=1)
    differing = weights @ (predicted != rows.targets).astype(np.float64) / weights.sum(axis=1)
    return _alpha(differing, (values**2 - (counts**2).sum(axis=1)) / (values * (values - 1)))


def alpha_interval(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """Krippendorff's α of numbers that disagree by their squared difference, which is expected to be twice the variance of the 2N pooled values."""
    gold, total = rows.targets, weights.sum(axis=1)
    differing = weights @ (gold - predicted) ** 2 / total
    mean = (weights @ (gold + predicted) / (2 * total))[:, None]
    # Deviations are squared after the mean is subtracted: rounding would hide the differences of large, nearly equal numbers.
    squares = (weights * ((gold - mean) ** 2 + (predicted - mean) ** 2)).sum(axis=1)
    return _alpha(differing, 2 * squares / (2 * total - 1))


def _alpha(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """1 minus the observed disagreement as a share of the expected one, (sets,); 1 without any disagreement."""
    return 1 - np.divide(observed, expected, out=np.zeros_like(observed), where=(observed > 0) & (expected > 0))


def gender_parity(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of triples, whose rows differ in a pronoun alone, that get one and the same label (Berdicevskis et al. 2023; Rudinger et al. 2018).
    The rows of a triple have the same value in the task's one column of `columns`. Gold labels do not matter."""
    # If a task's `group` keeps triples together, a triple counts as often as a resample draws it; else each row counts as its share of its triple.
    alike, sizes = _triples(task, predicted, rows)
    triples = weights / sizes
    return triples @ alike / triples.sum(axis=1)


def gender_parity_by_row(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The number of triples that get one and the same label, divided by the number of examples, as the leaderboard's evaluator does: at most 1/3."""
    alike, sizes = _triples(task, predicted, rows)
    return (weights / sizes) @ alike / weights.sum(axis=1)


def parity_problem(task: Task) -> str | None:
    """The error in a task's declaration for gender parity, as "key: message", or None."""
    if len(task.columns or ()) == 1:
        return None
    return f"columns: metric {task.metric} needs one column, in which the rows of a triple have the same value"


def _triples(task: Task, predicted: np.ndarray, rows: ScoredRows) -> tuple[np.ndarray, np.ndarray]:
    """For each row, whether its triple gets one label, as 1 or 0, and how many rows its triple has. Both float64, (rows,)."""
    assert task.columns is not None
    _, triple, sizes = np.unique(np.array(rows.columns[task.columns[0]]), return_inverse=True, return_counts=True)
    labels = np.bincount(np.unique([triple, predicted], axis=1)[0].astype(np.int64))  # how many each triple has
    return (labels == 1).astype(np.float64)[triple], sizes.astype(np.float64)[triple]


def rouge1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean F1 of words (ROUGE-1, Lin 2004) by Google's package `rouge_score`, whose words are runs of a–z and 0–9: "på" is "p"."""
    return mean_of_rows(_google_f1, predicted, rows.targets, weights)


def mean_of_rows(
    score: Callable[[str, str], float], texts: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The mean over rows of a score of target and prediction, for each set of weights, (sets,)."""
    values = np.array([score(target, text) for target, text in zip(targets, texts, strict=True)])
    return weights @ values / weights.sum(axis=1)


@lru_cache(CACHED_PAIRS)
def _google_f1(target: str, predicted: str) -> float:
    return float(google_scorer()(target, predicted)["rouge1"].fmeasure)


@cache
def google_scorer() -> Callable[[str, str], dict[str, Any]]:
    """The ROUGE-1 of Google's package, a function of target and prediction. Raises InputError if the package is not installed."""
    check_installed("rouge", key="metric", value="rouge1")
    from rouge_score.rouge_scorer import RougeScorer  # not at the top: it is optional, and imports nltk

    score: Callable[[str, str], dict[str, Any]] = RougeScorer(["rouge1"]).score
    return score
