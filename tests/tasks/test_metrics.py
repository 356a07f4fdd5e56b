"""Each metric against scikit-learn, scipy and NumPy."""

import doctest
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn import metrics as sklearn_metrics

import mtl.tasks.metrics
from mtl.tasks.metrics import score
from mtl.tasks.suite import METRICS, Task


def task(metric: str, labels: int = 3) -> Task:
    if METRICS[metric] == "range":
        return Task(id="t", text=["x"], target="y", range=[1, 5], metric=metric)
    return Task(id="t", text=["x"], target="y", labels=[*"abcdef"][:labels], positive="b", metric=metric)


def labels_case(rng: np.random.Generator) -> tuple[int, np.ndarray, np.ndarray]:
    """A number of labels, predictions and gold: few rows or many, labels that are missing, and constants."""
    labels, rows = int(rng.integers(2, 7)), int(rng.choice([1, 2, 3, 5, 17, 200]))
    occurring = rng.choice(labels, int(rng.integers(1, labels + 1)), replace=False)
    gold = rng.choice(occurring, rows)
    predictions = np.where(rng.random(rows) < rng.choice([0, 0.5, 0.9, 1]), gold, rng.integers(0, labels, rows))
    if rng.random() < 0.25:
        predictions = np.full(rows, rng.integers(0, labels))
    return labels, predictions, gold


def numbers_case(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and gold from 1 to 5: few rows or many, with ties, constants and differences of any size."""
    rows = int(rng.choice([1, 2, 3, 5, 17, 200]))
    gold = rng.integers(1, 6, rows).astype(float) if rng.random() < 0.8 else np.full(rows, 3.0)
    noise = rng.normal(0, rng.choice([1e-6, 1e-3, 0.1, 1]), rows)
    predictions = np.clip(rng.choice([0, 0.1, 1]) * (gold - 3) + 3 + noise, 1, 5)
    if rng.random() < 0.5:
        predictions = predictions.round(1)
    if rng.random() < 0.1:
        predictions = np.full(rows, 2.3)
    return predictions, gold


def correlation(predictions: np.ndarray, gold: np.ndarray, function: Callable[..., Any]) -> float:
    constant = len(np.unique(predictions)) == 1 or len(np.unique(gold)) == 1
    return 0.0 if constant else float(function(predictions, gold).statistic)


def one_minus_wmae(predictions: np.ndarray, gold: np.ndarray) -> float:
    return 1 - np.mean([np.abs(predictions[gold == c] - c).mean() for c in np.unique(gold)]) / 4


EXPECTED: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": lambda p, g: sklearn_metrics.accuracy_score(g, p),
    "f1": lambda p, g: sklearn_metrics.f1_score(g == 1, p == 1, zero_division=0),
    "macro_f1": lambda p, g: sklearn_metrics.f1_score(g, p, average="macro", zero_division=0),
    "matthews": lambda p, g: sklearn_metrics.matthews_corrcoef(g, p),
    "spearman": lambda p, g: correlation(p, g, stats.spearmanr),
    "pearson": lambda p, g: correlation(p, g, stats.pearsonr),
    "one_minus_wmae": one_minus_wmae,
}


@pytest.mark.filterwarnings("ignore:A single label was found", "ignore:An input array is nearly constant")
@pytest.mark.parametrize("metric", METRICS)
def test_random_cases(metric: str) -> None:
    rng = np.random.default_rng(7)
    for case in range(400):
        if METRICS[metric] == "range":
            labels, (predictions, gold) = 0, numbers_case(rng)
        else:
            labels, predictions, gold = labels_case(rng)
        found = score(task(metric, labels), torch.from_numpy(predictions), torch.from_numpy(gold))
        expected = 100 * EXPECTED[metric](predictions, gold)
        assert found == pytest.approx(expected, abs=1e-4), (case, labels, predictions, gold)


@pytest.mark.parametrize("positive", [0, 10, 26, 90, 100])
@pytest.mark.parametrize("constant", [0, 1])
@pytest.mark.parametrize("metric", ["matthews", "f1", "macro_f1", "accuracy"])
def test_a_constant_prediction_of_two_labels(metric: str, constant: int, positive: int) -> None:
    gold = np.arange(100) < positive
    predictions = np.full(100, constant)
    expected = 0 if metric == "matthews" else 100 * EXPECTED[metric](predictions, gold.astype(int))
    found = score(task(metric, 2), torch.from_numpy(predictions), torch.from_numpy(gold))
    assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_score(metric: str, value: float) -> None:
    values = torch.tensor([1.0, 2.0, 1.0, 2.0])
    spoilt = torch.tensor([1.0, value, 1.0, value])
    with pytest.raises(ValueError, match="task t: 2 of 4 predictions are not finite"):
        score(task(metric), spoilt, values)
    with pytest.raises(ValueError, match="task t: 2 of 4 gold targets are not finite"):
        score(task(metric), values, spoilt)


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_a_correlation_with_a_constant_is_zero(metric: str) -> None:
    assert score(task(metric), torch.full((5,), 3.0), torch.arange(5.0)) == 0


def test_a_rating_that_never_occurs_does_not_count() -> None:
    # Gold has 1 and 5 alone: wMAE = (0 + 2) / 2 / 4.
    assert score(task("one_minus_wmae"), torch.tensor([1.0, 3.0, 3.0]), torch.tensor([1.0, 5.0, 5.0])) == 75


def test_the_worked_examples() -> None:
    assert doctest.testmod(mtl.tasks.metrics).failed == 0
