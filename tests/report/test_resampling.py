"""Every metric on resamples against torchmetrics on the rows that were drawn."""

import numpy as np
import pytest
import torch

from mtl.report import resampling
from mtl.report.resampling import RESAMPLES, DevRows, lowest, resampled_scores, row_weights
from mtl.tasks.metrics import score
from mtl.tasks.suite import METRICS, Task


def a_task(metric: str) -> Task:
    if METRICS[metric] == "range":
        return Task("t", text=["x"], target="y", range=[1, 5], metric=metric)
    return Task("t", text=["x"], target="y", labels=["a", "b", "c"], metric=metric, positive="b")


def apart(rows: int) -> DevRows:
    """Each row a group."""
    return DevRows("t", np.arange(rows))


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
    found = resampled_scores(task, predictions, gold, apart(37))
    drawn = np.concatenate(list(row_weights(apart(37)))).astype(int)
    assert drawn.shape == (40, 37) and (drawn.sum(axis=1) == 37).all() and len(np.unique(drawn, axis=0)) == 40
    for resample, counts in enumerate(drawn):
        rows = np.repeat(np.arange(37), counts)
        expected = [score(task, torch.from_numpy(p[rows]), torch.from_numpy(gold[rows])) for p in predictions]
        assert found[:, resample] == pytest.approx(expected, abs=1e-4)
    assert (found >= lowest(task)).all()


@pytest.mark.parametrize("metric", ["spearman", "pearson", "f1", "macro_f1", "matthews"])
def test_a_constant_prediction(metric: str) -> None:
    task = a_task(metric)
    gold, _ = some_rows(task, np.random.default_rng(1))
    constant = np.full((1, len(gold)), 2.3 if task.is_regression else 2.0)
    expected = score(task, torch.from_numpy(constant[0]), torch.from_numpy(gold))
    assert np.median(resampled_scores(task, constant, gold, apart(len(gold)))) == pytest.approx(expected, abs=3)


def test_the_spread_of_an_accuracy_is_the_binomial_s() -> None:
    predictions = (np.arange(400) < 120).astype(float)[None]  # 70 % right
    scores = resampled_scores(a_task("accuracy"), predictions, np.zeros(400), apart(400))
    assert scores.shape == (1, RESAMPLES)
    assert scores.std() == pytest.approx(100 * (0.7 * 0.3 / 400) ** 0.5, rel=0.1)


def test_groups_are_drawn_whole() -> None:
    groups = np.array([0, 1, 1, 2, 0, 2, 1])
    weights = np.concatenate(list(row_weights(DevRows("t", groups))))
    for group in range(3):
        of = weights[:, groups == group]
        assert (of == of[:, :1]).all()  # all rows of a group equally often
    drawn = weights[:, [0, 1, 3]]  # a row of each group
    assert (drawn.sum(axis=1) == 3).all() and drawn.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.1)


def test_rows_of_a_group_that_are_right_together_vary_as_groups_do() -> None:
    groups = np.repeat(np.arange(50), 4)
    predictions = (groups % 2).astype(float)[None]
    task, gold = a_task("accuracy"), np.zeros(200)
    grouped = resampled_scores(task, predictions, gold, DevRows("t", groups))
    assert grouped.std() == pytest.approx(100 * (0.25 / 50) ** 0.5, rel=0.1)
    assert resampled_scores(task, predictions, gold, apart(200)).std() == pytest.approx(
        100 * (0.25 / 200) ** 0.5, rel=0.1
    )


def test_equal_rows_are_drawn_alike_and_others_apart() -> None:
    one, again, other = (np.concatenate(list(row_weights(DevRows(key, np.arange(9))))) for key in ("a", "a", "b"))
    assert (one == again).all() and (one != other).any()
