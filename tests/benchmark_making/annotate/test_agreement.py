from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest

from mtl.benchmark_making.annotate.agreement import (
    Level,
    agreement_text,
    alpha,
    level_of,
    majority,
    majority_text,
    pair_agreement,
)
from mtl.tasks.kinds.number import Number
from mtl.tasks.metrics import score
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import ScoredRows, Task

LABELS = Task(id="t", text=["a"], target="t", kind="labels", labels=["x", "y", "z"], metric="alpha_nominal")
NUMBER = Task(id="n", text=["a"], target="t", kind="number", range=[0, 9], metric="alpha_interval")
ANSWERS = np.random.default_rng(1).integers(0, 3, size=(4, 30)).astype(np.float64)
ANSWERS[:, :20] = ANSWERS[0, :20]


def squared_distance(level: Level, one: float, other: float, pooled: list[float]) -> float:
    """The distances of Krippendorff (2011), as they are written there."""
    if level is Level.NOMINAL:
        return float(one != other)
    if level is Level.INTERVAL:
        return (one - other) ** 2
    low, high = sorted((one, other))
    between = sum(low <= value <= high for value in pooled)
    return (between - (pooled.count(low) + pooled.count(high)) / 2) ** 2


@pytest.mark.parametrize("level", Level)
def test_alpha_is_that_of_the_definition(level: Level) -> None:
    pooled = ANSWERS.ravel().tolist()
    within = [squared_distance(level, *pair, pooled) for row in ANSWERS.T.tolist() for pair in permutations(row, 2)]
    every = [squared_distance(level, *pair, pooled) for pair in combinations(pooled, 2)]
    assert alpha(ANSWERS, level) == pytest.approx(1 - np.mean(within) / np.mean(every))


def test_alpha_of_two_people_is_that_of_the_metrics_at_the_level_of_the_metric() -> None:
    for task, level in ((LABELS, Level.NOMINAL), (NUMBER, Level.INTERVAL)):
        assert 100 * alpha(ANSWERS[:2], level) == pytest.approx(score(task, ANSWERS[0], ScoredRows(ANSWERS[1])))
    for level in Level:
        assert alpha(np.tile([0.0, 1.0, 2.0], (3, 1)), level) == alpha(np.zeros((3, 4)), level) == 1
    levels = {metric: level_of(NUMBER.measured_by(metric)) for metric in ("spearman", "pearson", "pearson+spearman")}
    assert levels == {"spearman": Level.ORDINAL, "pearson": Level.INTERVAL, "pearson+spearman": Level.INTERVAL}
    assert level_of(LABELS) is Level.NOMINAL


def test_a_kind_that_is_derived_from_numbers_has_their_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TARGET_KINDS, "stars", type("Stars", (Number,), {"derived_from": "number"}))
    stars = replace(NUMBER, kind="stars")
    assert level_of(stars) is Level.INTERVAL and "is the mean of the numbers" in majority_text(stars, 0, 3)


def test_ties_go_to_the_person_who_agrees_most_and_pairs_and_alpha_in_words() -> None:
    answers = np.array([[0.0, 0, 2, 0], [1, 0, 1, 1], [2, 0, 1, 1]])
    chosen, tied = majority(answers, Level.NOMINAL)
    assert chosen.tolist() == [1, 0, 1, 1] and tied == 1
    assert "of the 1 tied rows" in majority_text(LABELS, tied, 3)
    assert majority(answers, Level.INTERVAL)[0].tolist() == [1, 0, 4 / 3, 2 / 3]
    two = np.array([[0.0, 1, 2, 2], [0, 1, 2, 1]])
    assert agreement_text(LABELS, ["Anna", "Bo"], two) == (
        "Agreement on t (4 rows): Krippendorff's α, nominal, of Anna, Bo: 0.667; equal answers: Anna and Bo 75.0%."
    )
    assert pair_agreement(two[0], two[1], Level.INTERVAL) == -0.25
    assert "mean absolute difference: Anna and Bo 0.25." in agreement_text(NUMBER, ["Anna", "Bo"], two)
