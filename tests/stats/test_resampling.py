"""Resamples of scored rows. That weights mean repeated rows is tested with the metrics."""

import numpy as np
import pytest

from mtl.stats import resampling
from mtl.stats.resampling import RESAMPLES, RowGroups, resampled_scores, row_groups, row_weights
from mtl.tasks.metrics import score
from mtl.tasks.task import ScoredRows, Task

ACCURACY = Task("t", kind="labels", text=["x"], target="y", labels=["a", "b", "c"], metric="accuracy")
SPEARMAN = Task("t", kind="number", text=["x"], target="y", range=[0, 5], metric="spearman")


def apart(rows: int) -> RowGroups:
    """Each row a group."""
    return row_groups("t", np.arange(rows))


@pytest.mark.parametrize("task", [ACCURACY, SPEARMAN], ids=["accuracy", "spearman"])
@pytest.mark.parametrize("block", [37, 2**22])
def test_a_resample_s_score_is_that_of_the_rows_drawn(task: Task, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks of one resample, and all in one block."""
    monkeypatch.setattr(resampling, "RESAMPLES", 40)
    monkeypatch.setattr(resampling, "BLOCK", block)
    rng = np.random.default_rng(5)
    gold, predictions = rng.integers(0, 3, 37).astype(float), rng.integers(0, 3, (3, 37)).astype(float)
    found = resampled_scores(task, predictions, ScoredRows(gold), apart(37))
    drawn = np.concatenate(list(row_weights(apart(37)))).astype(int)
    assert drawn.shape == (40, 37) and (drawn.sum(axis=1) == 37).all() and len(np.unique(drawn, axis=0)) == 40
    for resample, counts in enumerate(drawn):
        rows = np.repeat(np.arange(37), counts)
        expected = [score(task, predicted[rows], ScoredRows(gold[rows])) for predicted in predictions]
        assert found[:, resample] == pytest.approx(expected, abs=1e-6)


def test_groups_are_drawn_whole_and_vary_as_groups_do() -> None:
    groups = np.array([0, 1, 1, 2, 0, 2, 1])
    weights = np.concatenate(list(row_weights(row_groups("t", groups))))
    for group in range(3):
        of = weights[:, groups == group]
        assert (of == of[:, :1]).all()  # all rows of a group equally often
    drawn = weights[:, [0, 1, 3]]  # a row of each group
    assert (drawn.sum(axis=1) == 3).all() and drawn.mean(axis=0) == pytest.approx([1, 1, 1], abs=0.1)
    one, again, other = (np.concatenate(list(row_weights(row_groups(key, np.arange(9))))) for key in ("a", "a", "b"))
    assert (one == again).all() and (one != other).any()
    groups = np.repeat(np.arange(50), 4)
    predictions = (groups % 2).astype(float)[None]
    for drawn, count in ((row_groups("t", groups), 50), (apart(200), 200)):
        scores = resampled_scores(ACCURACY, predictions, ScoredRows(np.zeros(200)), drawn)
        assert scores.shape == (1, RESAMPLES)
        assert scores.std() == pytest.approx(100 * (0.25 / count) ** 0.5, rel=0.1)  # the binomial's
