"""Each metric against its formula, computed another way."""

import doctest

import numpy as np
import pytest
import torch
from scipy import stats

import mtl.metrics
from mtl.metrics import score
from mtl.suite import METRICS, Task


def task(metric: str) -> Task:
    if METRICS[metric] == "range":
        return Task(id="t", text=["x"], target="y", range=[1, 5], metric=metric)
    return Task(id="t", text=["x"], target="y", labels=["a", "b", "c"], positive="b", metric=metric)


def classes(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 3, 200)
    return np.where(rng.random(200) < 0.6, gold, rng.integers(0, 3, 200)), gold


def numbers(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(1, 6, 300).astype(float)
    return np.clip(gold + rng.normal(0, 1, 300), 1, 5).round(1), gold


def f1(predictions: np.ndarray, gold: np.ndarray, label: int) -> float:
    hits = int(((predictions == label) & (gold == label)).sum())
    return 2 * hits / (int((predictions == label).sum()) + int((gold == label).sum()))


def matthews(predictions: np.ndarray, gold: np.ndarray) -> float:
    x, y = (np.eye(3)[values] for values in (predictions, gold))
    covariance = [[(np.cov(a[:, k], b[:, k])[0, 1]) for k in range(3)] for a, b in ((x, y), (x, x), (y, y))]
    xy, xx, yy = (sum(values) for values in covariance)
    return xy / np.sqrt(xx * yy)


def one_minus_wmae(predictions: np.ndarray, gold: np.ndarray) -> float:
    return 1 - np.mean([np.abs(predictions[gold == c] - c).mean() for c in np.unique(gold)]) / 4


EXPECTED = {
    "accuracy": lambda p, g: (p == g).mean(),
    "f1": lambda p, g: f1(p, g, 1),
    "macro_f1": lambda p, g: np.mean([f1(p, g, c) for c in range(3)]),
    "matthews": matthews,
    "spearman": lambda p, g: stats.spearmanr(p, g).statistic,
    "pearson": lambda p, g: stats.pearsonr(p, g).statistic,
    "one_minus_wmae": one_minus_wmae,
}


@pytest.mark.parametrize("metric", METRICS)
def test_against_the_formula(metric: str) -> None:
    predictions, gold = (numbers if METRICS[metric] == "range" else classes)()
    value = score(task(metric), torch.from_numpy(predictions), torch.from_numpy(gold))
    assert value == pytest.approx(100 * EXPECTED[metric](predictions, gold), abs=1e-4)


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_a_correlation_with_a_constant_is_zero(metric: str) -> None:
    assert score(task(metric), torch.full((5,), 3.0), torch.arange(5.0)) == 0


def test_f1_without_a_hit_is_zero() -> None:
    assert score(task("f1"), torch.zeros(4), torch.ones(4)) == 0


def test_a_rating_that_never_occurs_does_not_count() -> None:
    # Gold has 1 and 5 alone: wMAE = (0 + 2) / 2 / 4.
    assert score(task("one_minus_wmae"), torch.tensor([1.0, 3.0, 3.0]), torch.tensor([1.0, 5.0, 5.0])) == 75


def test_the_worked_examples() -> None:
    assert doctest.testmod(mtl.metrics).failed == 0
