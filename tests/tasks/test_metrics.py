"""Each metric against scikit-learn, scipy, NumPy and torchmetrics; weights against repeated rows."""

import doctest
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from sklearn import metrics as sklearn_metrics
from torchmetrics.functional import classification, regression

import mtl.tasks.metrics
from mtl.tasks.metrics import METRICS, Metric, ScoredRows, score, weighted_scores
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import Task

Case = tuple[Task, np.ndarray, np.ndarray]  # a task, predictions, gold targets
KINDS = [(name, kind) for name, metric in METRICS.items() for kind in metric.kinds]


def task(metric: str, kind: str = "", labels: int = 3) -> Task:
    """A task with this metric; of the metric's first target kind unless another is named."""
    kind = kind or METRICS[metric].kinds[0]
    declared: dict[str, Any] = {
        "labels": {"labels": [*"abcdef"][:labels], "positive": "b"},
        "number": {"range": [1, 5]},
        "choice": {"candidates": ["z[]"]},
        "word": {},
        "text": {},
    }[kind]
    return Task(id="t", kind=kind, text=["x"], target="y", metric=metric, **declared)


def labels_case(rng: np.random.Generator, metric: str) -> Case:
    """Few rows or many, labels that are missing, and constants."""
    labels, rows = int(rng.integers(2, 7)), int(rng.choice([1, 2, 3, 5, 17, 200]))
    occurring = rng.choice(labels, int(rng.integers(1, labels + 1)), replace=False)
    gold = rng.choice(occurring, rows)
    predictions = np.where(rng.random(rows) < rng.choice([0, 0.5, 0.9, 1]), gold, rng.integers(0, labels, rows))
    if rng.random() < 0.25:
        predictions = np.full(rows, rng.integers(0, labels))
    return task(metric, "labels", labels), predictions.astype(float), gold.astype(float)


def numbers_case(rng: np.random.Generator, metric: str) -> Case:
    """Numbers from 1 to 5: few rows or many, with ties, constants and differences of any size."""
    rows = int(rng.choice([1, 2, 3, 5, 17, 200]))
    gold = rng.integers(1, 6, rows).astype(float) if rng.random() < 0.8 else np.full(rows, 3.0)
    noise = rng.normal(0, rng.choice([1e-6, 1e-3, 0.1, 1]), rows)
    predictions = np.clip(rng.choice([0, 0.1, 1]) * (gold - 3) + 3 + noise, 1, 5)
    if rng.random() < 0.5:
        predictions = predictions.round(1)
    if rng.random() < 0.1:
        predictions = np.full(rows, 2.3)
    return task(metric, "number"), predictions, gold


def choice_case(rng: np.random.Generator, metric: str) -> Case:
    _, predictions, gold = labels_case(rng, metric)
    return task(metric, "choice"), predictions, gold


def word_case(rng: np.random.Generator, metric: str) -> Case:
    """Words, of which predictions may have some that gold targets have not."""
    _, predictions, gold = labels_case(rng, metric)
    words = np.array(["sol", "regn", "snö", "dag", "natt", "år"], dtype=object)
    return task(metric, "word"), words[predictions.astype(int)], words[gold.astype(int)]


def text_case(rng: np.random.Generator, metric: str) -> Case:
    """Texts of no to nine words, with letters that Google's tokenizer drops."""
    rows = int(rng.choice([1, 2, 5, 17]))
    words = ["på", "en", "Väg", "går", "vi", "2", "år_24", "—", "C3PO"]
    gold, predictions = (
        np.array([" ".join(rng.choice(words, rng.integers(0, 10))) + "." for _ in range(rows)], dtype=object)
        for _ in range(2)
    )
    return task(metric, "text"), predictions, gold


def unigram_f1(pattern: str) -> Callable[[np.ndarray, np.ndarray], float]:
    """The mean F1 of the words that a pattern finds, from precision and recall."""

    def of_pair(predicted: str, gold: str) -> float:
        one, other = (Counter(re.findall(pattern, text.lower())) for text in (predicted, gold))
        shared = sum(min(count, other[word]) for word, count in one.items())
        if not shared:
            return 0.0
        precision, recall = shared / sum(one.values()), shared / sum(other.values())
        return 2 * precision * recall / (precision + recall)

    return lambda predictions, gold: float(np.mean([of_pair(p, g) for p, g in zip(predictions, gold, strict=True)]))


CASES = {"labels": labels_case, "number": numbers_case, "choice": choice_case, "word": word_case, "text": text_case}


def correlation(predictions: np.ndarray, gold: np.ndarray, function: Callable[..., Any]) -> float:
    constant = len(np.unique(predictions)) == 1 or len(np.unique(gold)) == 1
    return 0.0 if constant else float(function(predictions, gold).statistic)


def one_minus_wmae(predictions: np.ndarray, gold: np.ndarray) -> float:
    return 1 - np.mean([np.abs(predictions[gold == c] - c).mean() for c in np.unique(gold)]) / 4


EXPECTED: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": lambda p, g: sklearn_metrics.accuracy_score(g, p) if g.dtype != object else np.mean(p == g),
    "f1": lambda p, g: sklearn_metrics.f1_score(g == 1, p == 1, zero_division=0),
    "macro_f1": lambda p, g: sklearn_metrics.f1_score(g, p, average="macro", zero_division=0),
    "matthews": lambda p, g: sklearn_metrics.matthews_corrcoef(g, p),
    "spearman": lambda p, g: correlation(p, g, stats.spearmanr),
    "pearson": lambda p, g: correlation(p, g, stats.pearsonr),
    "one_minus_wmae": one_minus_wmae,
    "rouge1": unigram_f1(r"[a-z0-9]+"),
    "rouge1_words": unigram_f1(r"[a-z0-9åäö]+"),
}


def test_every_metric_has_an_independent_computation() -> None:
    assert set(EXPECTED) == set(METRICS) and {kind for _, kind in KINDS} == set(CASES) == set(TARGET_KINDS)


@pytest.mark.filterwarnings("ignore:A single label was found", "ignore:An input array is nearly constant")
@pytest.mark.parametrize(("metric", "kind"), KINDS)
def test_random_cases(metric: str, kind: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(400):
        of, predictions, gold = CASES[kind](rng, metric)
        found = score(of, predictions, ScoredRows(gold))
        assert found == pytest.approx(100 * EXPECTED[metric](predictions, gold), abs=1e-4), (predictions, gold)
        assert METRICS[metric].lowest <= found <= 100


TORCHMETRICS: dict[str, Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]] = {
    "accuracy": lambda p, g, n: classification.multiclass_accuracy(p, g, n, average="micro"),
    "f1": lambda p, g, n: classification.binary_f1_score((p == 1).long(), (g == 1).long()),
    "macro_f1": lambda p, g, n: classification.multiclass_f1_score(p, g, n, average="macro"),
    "matthews": lambda p, g, n: classification.multiclass_matthews_corrcoef(p, g, n),
    "spearman": lambda p, g, n: regression.spearman_corrcoef(p, g),
    "pearson": lambda p, g, n: regression.pearson_corrcoef(p, g),
}


@pytest.mark.parametrize("metric", TORCHMETRICS)
def test_random_cases_against_torchmetrics(metric: str) -> None:
    """Without constants, of which torchmetrics' correlations are undefined or, of two labels, 1 or -1."""
    rng, compared = np.random.default_rng(8), 0
    correlations = ("matthews", "spearman", "pearson")
    for _ in range(200):
        of, predictions, gold = CASES[METRICS[metric].kinds[0]](rng, metric)
        if metric in correlations and min(np.ptp(predictions), np.ptp(gold)) < 0.01:
            continue
        dtype = torch.long if of.labels else torch.float64
        tensors = [torch.from_numpy(values).to(dtype) for values in (predictions, gold)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of small variances
            expected = 100 * float(TORCHMETRICS[metric](*tensors, len(of.labels or ())))
        assert score(of, predictions, ScoredRows(gold)) == pytest.approx(expected, abs=1e-3), (predictions, gold)
        compared += 1
    assert compared > 60


@pytest.mark.parametrize(("metric", "kind"), KINDS)
def test_weights_are_repeated_rows(metric: str, kind: str) -> None:
    """Many sets of weights at once; some leave labels out, or only rows that are alike."""
    rng = np.random.default_rng(9)
    for _ in range(60):
        of, predictions, gold = CASES[kind](rng, metric)
        rows = len(gold)
        weights = rng.poisson(rng.choice([0.3, 1.0, 3.0]), (8, rows))
        weights[np.arange(8), rng.integers(0, rows, 8)] += 1  # no set is empty
        found = weighted_scores(of, predictions, ScoredRows(gold), weights.astype(float))
        assert found.shape == (8,)
        for counts, weighted in zip(weights, found, strict=True):
            drawn = np.repeat(np.arange(rows), counts)
            expected = score(of, predictions[drawn], ScoredRows(gold[drawn]))
            assert weighted == pytest.approx(expected, abs=1e-4), (predictions, gold, counts)


@pytest.mark.parametrize("positive", [0, 10, 26, 90, 100])
@pytest.mark.parametrize("constant", [0, 1])
@pytest.mark.parametrize("metric", ["matthews", "f1", "macro_f1", "accuracy"])
def test_a_constant_prediction_of_two_labels(metric: str, constant: int, positive: int) -> None:
    gold = (np.arange(100) < positive).astype(float)
    predictions = np.full(100, float(constant))
    expected = 0 if metric == "matthews" else 100 * EXPECTED[metric](predictions, gold)
    assert score(task(metric, labels=2), predictions, ScoredRows(gold)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_score(metric: str, value: float) -> None:
    values, spoilt = np.array([1.0, 2.0, 1.0, 2.0]), np.array([1.0, value, 1.0, value])
    with pytest.raises(ValueError, match="task t: 2 of 4 predictions are not finite"):
        score(task(metric), spoilt, ScoredRows(values))
    with pytest.raises(ValueError, match="task t: 2 of 4 gold targets are not finite"):
        score(task(metric), values, ScoredRows(spoilt))


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_a_correlation_with_a_constant_is_zero(metric: str) -> None:
    assert score(task(metric), np.full(5, 3.0), ScoredRows(np.arange(5.0))) == 0
    # On a resample that draws only rows that are alike, too.
    weights = np.array([[0.0, 3.0, 2.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    found = weighted_scores(task(metric), np.array([1.0, 2, 2, 3]), ScoredRows(np.arange(4.0)), weights)
    assert found[0] == 0 and found[1] > 90


def test_a_correlation_of_large_numbers_keeps_their_differences() -> None:
    rng = np.random.default_rng(10)
    small, gold = rng.normal(size=50), rng.normal(size=50)
    expected = 100 * stats.pearsonr(small, gold).statistic
    assert score(task("pearson"), 1e8 + small, ScoredRows(gold)) == pytest.approx(expected, abs=1e-3)


def test_a_rating_that_never_occurs_does_not_count() -> None:
    # Gold has 1 and 5 alone: wMAE = (0 + 2) / 2 / 4.
    gold = ScoredRows(np.array([1.0, 5.0, 5.0]))
    assert score(task("one_minus_wmae"), np.array([1.0, 3.0, 3.0]), gold) == 75


def test_a_metric_reads_what_the_rows_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """By pairs of rows: a pair counts where both of its rows are right."""

    def both(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
        names, pairs = np.unique(np.array(rows.columns["pair"]), return_inverse=True)
        right = np.ones(len(names))
        np.minimum.at(right, pairs, (predicted == rows.targets).astype(float))
        return weights @ right[pairs] / weights.sum(axis=1)

    monkeypatch.setitem(METRICS, "pairs", Metric("pairs", ("labels",), both))
    rows = ScoredRows(np.array([0.0, 1, 0, 1]), columns={"pair": ["a", "a", "b", "b"]})
    assert score(task("pairs"), np.array([0.0, 1, 0, 0]), rows) == 50


def test_f1_needs_its_label() -> None:
    without = task("f1")
    assert METRICS["f1"].problem(without) is None
    without.positive = "z"
    assert METRICS["f1"].problem(without) == "positive: name the label that metric f1 is computed for, one of a, b, c"
    assert METRICS["accuracy"].problem(without) is None


def test_the_worked_examples() -> None:
    assert doctest.testmod(mtl.tasks.metrics).failed == 0
