"""Every metric on resamples against torchmetrics on the rows that were drawn."""

import numpy as np
import pytest
import torch

from mtl.metrics import score
from mtl.results import resampling
from mtl.results.resampling import RESAMPLES, Comparison, compare, interval, resampled_scores
from mtl.suite import METRICS, Task


def a_task(metric: str) -> Task:
    if METRICS[metric] == "range":
        return Task("t", text=["x"], target="y", range=[1, 5], metric=metric)
    return Task("t", text=["x"], target="y", labels=["a", "b", "c"], metric=metric, positive="b")


def some_rows(task: Task, rng: np.random.Generator, rows: int = 37) -> tuple[np.ndarray, np.ndarray]:
    """Gold targets, and predictions that are right about half the time."""
    if task.is_regression:
        gold = rng.integers(1, 6, rows).astype(float)
        return gold, np.clip(gold + rng.integers(-2, 3, (3, rows)) / 2, 1, 5)
    gold = rng.choice([0, 1, 1, 2], rows).astype(float)
    return gold, np.where(rng.random((3, rows)) < 0.5, gold, rng.integers(0, 3, (3, rows)))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("block", [37, 2**22])
def test_every_metric_against_torchmetrics(metric: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "RESAMPLES", 40)
    monkeypatch.setattr(resampling, "BLOCK", block)
    task = a_task(metric)
    gold, predictions = some_rows(task, np.random.default_rng(5))
    found = resampled_scores(task, predictions, gold)
    drawn = np.concatenate(list(resampling._weights("t", len(gold)))).astype(int)
    assert drawn.shape == (40, 37) and (drawn.sum(axis=1) == 37).all() and len(np.unique(drawn, axis=0)) == 40
    for resample, counts in enumerate(drawn):
        rows = np.repeat(np.arange(37), counts)
        expected = np.median(
            [score(task, torch.from_numpy(p[rows]), torch.from_numpy(gold[rows])) for p in predictions]
        )
        assert found[resample] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("metric", ["spearman", "pearson", "f1", "macro_f1", "matthews"])
def test_a_constant_prediction(metric: str) -> None:
    task = a_task(metric)
    gold, _ = some_rows(task, np.random.default_rng(1))
    constant = np.full((1, len(gold)), 2.3 if task.is_regression else 2.0)
    expected = score(task, torch.from_numpy(constant[0]), torch.from_numpy(gold))
    assert np.median(resampled_scores(task, constant, gold)) == pytest.approx(expected, abs=3)


def test_the_interval_of_an_accuracy_is_the_binomial_s() -> None:
    task = a_task("accuracy")
    gold = np.zeros(400)
    predictions = (np.arange(400) < 120).astype(float)[None]  # 70 % right
    low, high = interval(resampled_scores(task, predictions, gold))
    spread = 100 * 1.96 * (0.7 * 0.3 / 400) ** 0.5
    assert low == pytest.approx(70 - spread, abs=0.8) and high == pytest.approx(70 + spread, abs=0.8)


def test_pairs_are_resampled_together() -> None:
    task = a_task("accuracy")
    gold = np.zeros(400)
    one = (np.arange(400) < 120).astype(float)[None]
    other = (np.arange(400) < 132).astype(float)[None]  # wrong on the same rows and 12 more: surely worse
    a, b = resampled_scores(task, one, gold), resampled_scores(task, other, gold)
    found = compare(3.0, a, b)
    assert found.verdict == "better" and found.low > 1 and compare(-3.0, b, a).verdict == "worse"
    # Drawn apart, a difference of 3 points would be lost in intervals of 9.
    assert interval(a)[0] < interval(b)[1]
    assert len(a) == RESAMPLES and compare(0.0, a, a) == Comparison(0.0, 0.0, 0.0)
    assert compare(0.0, a, a).verdict == "undecided"
