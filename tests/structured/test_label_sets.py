"""Metrics of sets of labels against scikit-learn, and weights against repeated rows."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from mtl.structured.label_sets import indicators, label_scores
from mtl.tasks.metrics import METRICS, best_constant, metric_named, score, weighted_scores
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

EXPECTED = {
    "micro_f1": lambda gold, guessed: f1_score(gold, guessed, average="micro", zero_division=0),
    "multi_macro_f1": lambda gold, guessed: f1_score(gold, guessed, average="macro", zero_division=0),
    "samples_f1": lambda gold, guessed: f1_score(gold, guessed, average="samples", zero_division=0),
    "exact_match": accuracy_score,
}


def task(metric: str = "micro_f1", labels: int = 4) -> Task:
    return Task("t", kind="multi_label", text=["x"], target="y", labels=[*"abcdef"][:labels], metric=metric)


def random_case(rng: np.random.Generator) -> tuple[Task, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A task, predictions and gold sets, and both as matrices: few rows or many, labels that are missing, rows without labels."""
    labels, rows = int(rng.integers(2, 7)), int(rng.choice([1, 2, 3, 17, 100]))
    shares = rng.random(labels) * rng.choice([0, 1], labels, p=[0.2, 0.8])
    gold = (rng.random((rows, labels)) < shares).astype(int)
    flipped = rng.random((rows, labels)) < rng.choice([0, 0.1, 0.5])
    guessed = np.where(flipped, 1 - gold, gold)
    of = task(labels=labels)
    decode = target_kind(of).head.decode
    return of, decode(guessed, []), decode(gold, []), guessed, gold


@pytest.mark.parametrize("metric", EXPECTED)
def test_scores_are_those_of_scikit_learn_and_weights_are_repeated_rows(metric: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        of, predicted, gold, guessed, truth = random_case(rng)
        of = of.measured_by(metric)
        assert score(of, predicted, ScoredRows(gold)) == pytest.approx(100 * EXPECTED[metric](truth, guessed))
        by_label = zip(
            of.labels or (), truth.sum(axis=0), f1_score(truth, guessed, average=None, zero_division=0), strict=True
        )
        parts = {label: (count, pytest.approx(f1)) for label, count, f1 in by_label if count}
        assert label_scores(of, predicted, ScoredRows(gold)) == parts
        weights = rng.poisson(1.0, (6, len(gold)))
        weights[np.arange(6), rng.integers(0, len(gold), 6)] += 1  # no set is empty
        found = weighted_scores(of, predicted, ScoredRows(gold), weights.astype(float))
        for counts, weighted in zip(weights, found, strict=True):
            drawn = np.repeat(np.arange(len(gold)), counts)
            assert weighted == pytest.approx(100 * EXPECTED[metric](truth[drawn], guessed[drawn]))


def test_all_metrics_of_the_kind_are_here() -> None:
    assert {name for name, metric in METRICS.items() if "multi_label" in metric.kinds} == set(EXPECTED)
    assert metric_named("micro_f1+exact_match").threshold == "all"


def test_the_best_constant_answer_may_be_a_set_that_no_row_has() -> None:
    gold = np.array(["a", "b", "c", "a", "b", "", "a", "b"], dtype=object)
    sets = {metric: best_constant(task(metric), ScoredRows(gold)) for metric in EXPECTED}
    assert sets == {"micro_f1": "a;b", "multi_macro_f1": "a;b;c", "samples_f1": "a;b", "exact_match": "a"}


def test_indicators_have_a_row_for_each_target() -> None:
    assert indicators(task(), ["b;d", None, ""]).toarray().tolist() == [[0, 1, 0, 1], [0] * 4, [0] * 4]
