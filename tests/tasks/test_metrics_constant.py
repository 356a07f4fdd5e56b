from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from mtl.tasks.metrics import best_constant, constant_score
from mtl.tasks.task import ScoredRows, Task


def rows(targets: Sequence[float] | Sequence[str] | np.ndarray) -> ScoredRows:
    """Rows with these targets."""
    dtype = object if isinstance(targets[0], str) else np.float64
    return ScoredRows(np.array(targets, dtype=dtype))


def labelled(metric: str, labels: int = 3, positive: str | None = None) -> Task:
    names = [str(label) for label in range(labels)]
    return Task("t", kind="labels", text=["x"], target="y", labels=names, metric=metric, positive=positive)


def rated(metric: str, low: float = 1, high: float = 5) -> Task:
    return Task("r", kind="number", text=["x"], target="y", range=[low, high], metric=metric)


def one_minus_wmae(predicted: float, gold: np.ndarray, span: float) -> float:
    """KLEJ, section 3.7, in plain NumPy."""
    return 100 * (1 - np.mean([np.abs(predicted - gold[gold == rating]).mean() for rating in set(gold)]) / span)


@pytest.mark.parametrize(
    ("metric", "by_hand"),
    [
        ("accuracy", lambda gold, answer: accuracy_score(gold, answer)),
        ("macro_f1", lambda gold, answer: f1_score(gold, answer, average="macro", zero_division=0)),
        ("f1", lambda gold, answer: f1_score(gold, answer, labels=[2], average="micro", zero_division=0)),
    ],
)
def test_no_label_scores_better(metric: str, by_hand) -> None:  # type: ignore[no-untyped-def]
    task, rng = labelled(metric, 4, positive="2"), np.random.default_rng(3)
    for _ in range(10):
        gold = rng.choice(4, size=50, p=rng.dirichlet(np.ones(4)))
        scores = [100 * by_hand(gold, np.full(50, answer)) for answer in range(4)]
        found = best_constant(task, rows(gold))
        assert scores[int(found)] == pytest.approx(max(scores))
        assert constant_score(task, found, rows(gold)) == pytest.approx(max(scores))


def test_of_equal_labels_it_is_the_commonest_then_the_first() -> None:
    assert best_constant(labelled("matthews"), rows([0.0, 2, 2, 1])) == 2
    assert best_constant(labelled("accuracy"), rows([2.0, 1, 1, 2])) == 1


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_of_a_correlation_it_is_the_mean(metric: str) -> None:
    gold = rows([1.0, 2, 5, 5])
    assert best_constant(rated(metric), gold) == 3.25
    assert constant_score(rated(metric), 3.25, gold) == 0


def test_no_number_scores_better_in_wmae_and_no_place_of_a_candidate() -> None:
    task, grid, rng = rated("one_minus_wmae"), np.linspace(1, 5, 401), np.random.default_rng(4)
    for ratings in ([1, 2, 3, 4, 5], [1, 2, 4, 5], [1, 2, 5], [1, 1.5, 2, 4.75], [2, 5], [3]):
        gold = np.concatenate([ratings, rng.choice(ratings, size=40, p=rng.dirichlet(np.ones(len(ratings))))])
        found = best_constant(task, rows(gold))
        assert isinstance(found, float)
        best = max(one_minus_wmae(answer, gold, 4) for answer in grid)
        assert one_minus_wmae(found, gold, 4) >= best - 1e-9
        assert constant_score(task, found, rows(gold)) == pytest.approx(one_minus_wmae(found, gold, 4))
    task = Task("c", kind="choice", text=[], candidates=["a", "b"], target="y", metric="accuracy")
    assert best_constant(task, ScoredRows(np.array([0.0, 2, 1, 2]), np.array([3, 3, 3, 3]))) == 2
    # In a row with fewer candidates it is the last one.
    scored = ScoredRows(np.array([2.0, 0.0, 1.0, 2.0]), np.array([4, 2, 2, 3]))
    assert constant_score(task, 2, scored) == 75
