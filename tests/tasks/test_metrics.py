"""Each metric against scikit-learn, scipy, NumPy and krippendorff; weights against repeated rows."""

import doctest
import math
import re
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import krippendorff
import numpy as np
import pytest
from input_errors import refused
from scipy import stats
from sklearn import metrics as sklearn_metrics

import mtl.tasks.metrics
from mtl.tasks import formulas as rouge
from mtl.tasks.metrics import METRICS, is_metric, lowest_score, metric_named, score, weighted_scores
from mtl.tasks.targets import TARGET_KINDS
from mtl.tasks.task import ScoredRows, Task

Case = tuple[Task, np.ndarray, np.ndarray]  # a task, predictions, gold targets
PARITY = ("gender_parity", "gender_parity_by_row")  # of triples, which weights must not divide
KINDS = [(name, kind) for name, metric in METRICS.core.items() for kind in metric.kinds]


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
    return Task(id="t", kind=kind, text=["x"], target="y", metric=metric, chance="1/5", columns=["triple"], **declared)


def scored(gold: np.ndarray) -> ScoredRows:
    """Rows with these gold targets; each three make a triple, and the last ones what is left."""
    return ScoredRows(gold, columns={"triple": [str(row // 3) for row in range(len(gold))]})


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
    texts = [[" ".join(rng.choice(words, rng.integers(0, 10))) + "." for _ in range(rows)] for _ in range(2)]
    gold, predictions = (np.array(of, dtype=object) for of in texts)
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


def alpha(predictions: np.ndarray, gold: np.ndarray, level: str) -> float:
    """By the package krippendorff, which refuses values that are all equal."""
    values, codes = np.unique(np.concatenate([gold, predictions]), return_inverse=True)
    if len(values) == 1:
        return 1.0
    coded = codes.astype(float) if level == "nominal" else values[codes]
    return float(krippendorff.alpha(reliability_data=coded.reshape(2, -1), level_of_measurement=level))


def parity(predictions: np.ndarray, by_row: bool) -> float:
    triples = [set(predictions[start : start + 3]) for start in range(0, len(predictions), 3)]
    return sum(len(labels) == 1 for labels in triples) / (len(predictions) if by_row else len(triples))


EXPECTED: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": lambda p, g: sklearn_metrics.accuracy_score(g, p) if g.dtype != object else np.mean(p == g),
    "f1": lambda p, g: sklearn_metrics.f1_score(g == 1, p == 1, zero_division=0),
    "macro_f1": lambda p, g: sklearn_metrics.f1_score(g, p, average="macro", zero_division=0),
    "matthews": lambda p, g: sklearn_metrics.matthews_corrcoef(g, p),
    "spearman": lambda p, g: correlation(p, g, stats.spearmanr),
    "pearson": lambda p, g: correlation(p, g, stats.pearsonr),
    "one_minus_wmae": one_minus_wmae,
    "alpha_nominal": lambda p, g: alpha(p, g, "nominal"),
    "alpha_interval": lambda p, g: alpha(p, g, "interval"),
    "pseudo_alpha": lambda p, g: (np.mean(p == g) - 0.2) / 0.8,
    "gender_parity": lambda p, g: parity(p, by_row=False),
    "gender_parity_by_row": lambda p, g: parity(p, by_row=True),
    "rouge1": unigram_f1(r"[a-z0-9]+"),
}


def test_every_metric_has_an_independent_computation() -> None:
    assert set(EXPECTED) == set(METRICS.core)
    # What a metric says of a kind, it says of those that are derived from it.
    not_derived = {name for name, kind in TARGET_KINDS.core.items() if kind.derived_from is None}
    assert {kind for _, kind in KINDS} == set(CASES) >= not_derived
    assert doctest.testmod(mtl.tasks.metrics).failed == 0


@pytest.mark.filterwarnings("ignore:A single label was found", "ignore:An input array is nearly constant")
@pytest.mark.parametrize(("metric", "kind"), KINDS)
def test_random_cases(metric: str, kind: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(150):
        of, predictions, gold = CASES[kind](rng, metric)
        found = score(of, predictions, scored(gold))
        assert found == pytest.approx(100 * EXPECTED[metric](predictions, gold), abs=1e-4), (predictions, gold)
        assert lowest_score(of) <= found <= 100


@pytest.mark.parametrize(("metric", "kind"), [pair for pair in KINDS if pair[0] not in PARITY])
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


@pytest.mark.parametrize("metric", METRICS.core)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_score(metric: str, value: float) -> None:
    values, spoilt = np.array([1.0, 2.0, 1.0, 2.0]), np.array([1.0, value, 1.0, value])
    with pytest.raises(ValueError, match="task t: 2 of 4 predictions are not finite"):
        score(task(metric), spoilt, scored(values))
    with pytest.raises(ValueError, match="task t: 2 of 4 gold targets are not finite"):
        score(task(metric), values, scored(spoilt))


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_a_correlation_with_a_constant_is_zero(metric: str) -> None:
    assert score(task(metric), np.full(5, 3.0), ScoredRows(np.arange(5.0))) == 0
    # On a resample that draws only rows that are alike, too.
    weights = np.array([[0.0, 3.0, 2.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    found = weighted_scores(task(metric), np.array([1.0, 2, 2, 3]), ScoredRows(np.arange(4.0)), weights)
    assert found[0] == 0 and found[1] > 90


def test_correlations_and_alphas_of_large_numbers_and_divided_triples() -> None:
    rng = np.random.default_rng(10)
    small, gold = rng.normal(size=50), rng.normal(size=50)
    expected = 100 * stats.pearsonr(small, gold).statistic
    assert score(task("pearson"), 1e8 + small, ScoredRows(gold)) == pytest.approx(expected, abs=1e-3)
    # A row counts as its share of its triple, with the triple's other rows as they are.
    rows, predictions = scored(np.zeros(6)), np.array([0.0, 0, 0, 1, 1, 0])
    weights = np.array([[1.0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0], [2, 0, 1, 0, 1, 0]])
    assert weighted_scores(task("gender_parity"), predictions, rows, weights) == pytest.approx([100, 0, 75])
    weights = np.array([[2.0, 1, 0, 0], [0, 0, 0, 3], [1, 1, 1, 1]])
    gold, predictions = np.array([1.0, 1, 2, 3]), np.array([1.0, 1, 1, 3])
    for metric in ("alpha_nominal", "alpha_interval"):
        found = weighted_scores(task(metric), predictions, ScoredRows(gold), weights)
        assert found[:2].tolist() == [100, 100] and 0 < found[2] < 100
    rng = np.random.default_rng(13)
    gold = rng.normal(size=50)
    predictions = gold + rng.normal(size=50)
    found = [score(task("alpha_interval"), shift + predictions, ScoredRows(shift + gold)) for shift in (0, 1e8)]
    assert found[1] == pytest.approx(found[0], abs=1e-4)


@pytest.mark.parametrize("metric", PARITY)
def test_a_triple_that_is_drawn_twice_counts_twice(metric: str) -> None:
    """A resample that keeps triples together: as if each of its copies was a triple of its own."""
    rng = np.random.default_rng(11)
    for _ in range(60):
        of, predictions, gold = labels_case(rng, metric)
        triples = np.arange(len(gold)) // 3
        counts = rng.poisson(1.0, triples[-1] + 1)
        counts[rng.integers(len(counts))] += 1
        found = weighted_scores(of, predictions, scored(gold), counts[triples][None].astype(float))
        copies = [(triple, copy) for triple, count in enumerate(counts) for copy in range(count)]
        drawn = [(row, f"{triple} {copy}") for triple, copy in copies for row in np.flatnonzero(triples == triple)]
        rows, names = [row for row, _ in drawn], [name for _, name in drawn]
        expected = score(of, predictions[rows], ScoredRows(gold[rows], columns={"triple": names}))
        assert found == pytest.approx([expected], abs=1e-4)


@pytest.mark.parametrize(("chance", "share"), [("0", 0.0), ("0.2", 0.2), ("109/2049", 109 / 2049)])
def test_a_chance_is_a_number_or_a_fraction(chance: str, share: float) -> None:
    of = task("pseudo_alpha", "choice")
    of.chance = chance
    found = score(of, np.array([0.0, 1, 1, 1]), ScoredRows(np.zeros(4)))
    assert found == pytest.approx(100 * (0.25 - share) / (1 - share))
    assert lowest_score(of) == pytest.approx(-100 * share / (1 - share))


@pytest.mark.parametrize("chance", ["1", "3/2", "-0.1", "1/0", "nan", "1e9", "a", "", "1/2/3", "0.5.5"])
def test_a_bad_chance(chance: str) -> None:
    of = task("pseudo_alpha")
    assert METRICS["pseudo_alpha"].problem(of) is None
    of.chance = chance
    problem = METRICS["pseudo_alpha"].problem(of)
    assert problem is not None and problem.startswith("chance: ")
    of.chance = None
    assert "needs the accuracy of a guess" in str(METRICS["pseudo_alpha"].problem(of))


@pytest.mark.parametrize("parts", [("accuracy", "f1"), ("pearson", "spearman"), ("accuracy", "macro_f1", "matthews")])
def test_the_mean_of_several_metrics(parts: tuple[str, ...]) -> None:
    rng = np.random.default_rng(0)
    kind = METRICS[parts[0]].kinds[0]
    declared = task(parts[1])
    gold, predicted = (rng.integers(0, 3, 50).astype(float) for _ in range(2))
    if kind == "number":
        gold, predicted = rng.uniform(1, 5, 50), rng.uniform(1, 5, 50)
    rows, weights = ScoredRows(gold), rng.integers(1, 4, (6, 50)).astype(float)
    mean = declared.measured_by("+".join(parts))
    each = [weighted_scores(declared.measured_by(part), predicted, rows, weights) for part in parts]
    assert weighted_scores(mean, predicted, rows, weights) == pytest.approx(np.mean(each, axis=0))
    assert lowest_score(mean) == pytest.approx(np.mean([lowest_score(declared.measured_by(part)) for part in parts]))
    assert metric_named("+".join(parts)).title == " + ".join(METRICS[part].title for part in parts)


def test_a_mean_fits_the_kinds_that_its_metrics_share() -> None:
    assert list(metric_named("accuracy+f1").kinds) == ["labels"]
    assert metric_named("accuracy+f1").threshold == "positive" and metric_named("pearson+spearman").threshold is None
    assert metric_named("accuracy+f1").problem(task("accuracy").measured_by("f1")) is None
    for name in ("accuracy+", "+", "accuracy+accuracy", "accuracy+unknown", "unknown", ""):
        assert not is_metric(name)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    rouge.google_scorer.cache_clear()
    texts = [np.array([text], dtype=object) for text in ("text that no other test has", "another")]
    refused(lambda: score(task("rouge1", "text"), texts[0], ScoredRows(texts[1])))
