import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from mtl.tasks.constant import best_constant, constant_score
from mtl.tasks.suite import Task

DRAWN = np.random.default_rng(3)


def labelled(metric: str, labels: int = 3, positive: str | None = None) -> Task:
    names = [str(label) for label in range(labels)]
    return Task("t", text=["x"], target="y", labels=names, metric=metric, positive=positive)


def rated(metric: str, low: float = 1, high: float = 5) -> Task:
    return Task("r", text=["x"], target="y", range=[low, high], metric=metric)


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
    task = labelled(metric, 4, positive="2")
    for _ in range(10):
        gold = DRAWN.choice(4, size=50, p=DRAWN.dirichlet(np.ones(4)))
        scores = [100 * by_hand(gold, np.full(50, answer)) for answer in range(4)]
        found = best_constant(task, gold.astype(float))
        assert scores[int(found)] == pytest.approx(max(scores))
        assert constant_score(task, found, gold.astype(float)) == pytest.approx(max(scores))


def test_f1_is_best_where_every_row_is_positive() -> None:
    gold = np.array([0.0] * 9 + [1.0])
    task = labelled("f1", 2, positive="1")
    assert best_constant(task, gold) == 1
    assert constant_score(task, 1, gold) == pytest.approx(100 * 2 * 0.1 / 1.1)  # precision 0.1, recall 1
    assert best_constant(task, np.zeros(10)) == 0  # no label scores; the commonest


def test_of_equal_labels_it_is_the_commonest_then_the_first() -> None:
    assert best_constant(labelled("matthews"), np.array([0.0, 2, 2, 1])) == 2
    assert best_constant(labelled("accuracy"), np.array([2.0, 1, 1, 2])) == 1


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_of_a_correlation_it_is_the_mean(metric: str) -> None:
    gold = np.array([1.0, 2, 5, 5])
    assert best_constant(rated(metric), gold) == 3.25
    assert constant_score(rated(metric), 3.25, gold) == 0


def test_no_number_scores_better_in_wmae() -> None:
    task, grid = rated("one_minus_wmae"), np.linspace(1, 5, 401)
    for ratings in ([1, 2, 3, 4, 5], [1, 2, 4, 5], [1, 2, 5], [1, 1.5, 2, 4.75], [2, 5], [3]):
        gold = np.concatenate([ratings, DRAWN.choice(ratings, size=40, p=DRAWN.dirichlet(np.ones(len(ratings))))])
        found = best_constant(task, gold)
        best = max(one_minus_wmae(answer, gold, 4) for answer in grid)
        assert one_minus_wmae(found, gold, 4) >= best - 1e-9
        assert constant_score(task, found, gold) == pytest.approx(one_minus_wmae(found, gold, 4))


def test_rare_ratings_count_as_much_as_common_ones_in_wmae() -> None:
    # The mean is 4.82, the median of the rows 5; the ratings' median is 3.
    assert best_constant(rated("one_minus_wmae"), np.array([1.0, 2, 3, 4, *[5] * 50])) == 3
