"""Scores of tags against a script of conlleval's rules, a pattern for whole entities, and scikit-learn."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from mtl.structured.span_f1 import entities, type_scores, whole_entities
from mtl.tasks.metrics import METRICS, metric_named
from mtl.tasks.task import ScoredRows, Task

TYPES = ("PER", "LOC-X", "MISC")
BIO = ["O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in TYPES)]
BIOES = ["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in TYPES)]
SPAN_METRICS = ("span_precision", "span_recall", "span_f1")

Rows = list[list[str]]
Spans = set[tuple[int, str, int, int]]


def task(metric: str, labels: Sequence[str]) -> Task:
    return Task("t", kind="token_labels", text=["x"], target="y", labels=list(labels), metric=metric)


def drawn(labels: Sequence[str], seed: int) -> tuple[Rows, Rows]:
    """Random tags of some rows, valid or not, and predictions of which about two in three are right."""
    rng = np.random.default_rng(seed)
    gold = [[labels[i] for i in rng.integers(len(labels), size=rng.integers(1, 9))] for _ in range(rng.integers(1, 7))]
    pick = lambda tag: tag if rng.random() < 0.6 else labels[rng.integers(len(labels))]  # noqa: E731
    return gold, [[pick(tag) for tag in row] for row in gold]


def cells(rows: Rows) -> np.ndarray:
    return np.array([" ".join(row) for row in rows], dtype=object)


def score(metric: str, labels: Sequence[str], gold: Rows, predicted: Rows, weights: Sequence[float]) -> float:
    scored = task(metric, labels)
    weighed = np.array([[1.0] * len(gold), weights])
    return float(metric_named(metric).formula(scored, cells(predicted), ScoredRows(cells(gold)), weighed)[1])


def conlleval_spans(rows: Rows) -> Spans:
    """The chunks that conlleval's rules start and end, token by token."""
    spans: Spans = set()
    for number, row in enumerate(rows):
        start = None
        pairs = [(tag[0], tag[2:]) for tag in [*row, "O"]]
        for place, ((prefix, kind), (before, old)) in enumerate(zip(pairs, [("O", ""), *pairs], strict=False)):
            ends = before != "O" and (prefix in "BO" or kind != old)
            starts = prefix == "B" or (prefix == "I" and (before == "O" or kind != old))
            if ends:
                assert start is not None
                spans.add((number, old, start, place - 1))
            if starts:
                start = place
    return spans


def strict_spans(rows: Rows) -> Spans:
    """The entities that a regular expression finds in tags of IOBES: S, or B I* E of one type."""
    spans: Spans = set()
    for number, row in enumerate(rows):
        for kind in TYPES:
            letters = "".join(tag[0] if tag[2:] == kind else "x" for tag in row)
            spans |= {(number, kind, match.start(), match.end() - 1) for match in re.finditer("S|BI*E", letters)}
    return spans


def expected(gold: Spans, predicted: Spans) -> dict[str, float]:
    right = len(gold & predicted)
    precision, recall = right / (len(predicted) or 1), right / (len(gold) or 1)
    return dict(zip(SPAN_METRICS, (precision, recall, 2 * right / (len(predicted) + len(gold) or 1)), strict=True))


def repeated(rows: Rows, weights: Sequence[int]) -> Rows:
    return [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]


@pytest.mark.parametrize(("labels", "find"), [(BIO, conlleval_spans), (BIOES, strict_spans)])
def test_scores_of_entities_are_those_of_independent_counts(labels: Sequence[str], find: object) -> None:
    assert callable(find)
    for seed in range(150):
        gold, predicted = drawn(labels, seed)
        weights = np.random.default_rng(seed).integers(0, 4, size=len(gold)).tolist()
        wanted = expected(*(find(repeated(rows, weights)) for rows in (gold, predicted)))
        made = {name: score(name, labels, gold, predicted, weights) for name in SPAN_METRICS}
        assert made == pytest.approx(wanted), (gold, predicted, weights)
        spans = [find(rows) for rows in (gold, predicted)]
        by_type = {kind: [{span for span in each if span[1] == kind} for each in spans] for kind in TYPES}
        shown = {kind: (len(each[0]), expected(*each)["span_f1"]) for kind, each in by_type.items() if each[0]}
        parts = type_scores(task("span_f1", labels), cells(predicted), ScoredRows(cells(gold)))
        assert parts == {kind: (number, pytest.approx(f1)) for kind, (number, f1) in shown.items()}


def test_scores_of_tags_are_those_of_scikit_learn() -> None:
    labels = ["NOUN", "VERB", "X"]
    for seed in range(50):
        gold, predicted = drawn(labels, seed)
        flat = [[tag for row in rows for tag in row] for rows in (gold, predicted)]
        made = score("token_accuracy", labels, gold, predicted, [1] * len(gold))
        assert made == pytest.approx(accuracy_score(*flat))


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("I-A I-A O", {("-A", 0, 1)}),  # as conlleval counts what follows no B-
        ("B-A I-B", {("-A", 0, 0), ("-B", 1, 1)}),
        ("B-A B-A", {("-A", 0, 0), ("-A", 1, 1)}),
        ("B I O I", {("", 0, 1), ("", 3, 3)}),  # one type, without a name
        ("O", set()),
    ],
)
def test_entities(tags: str, found: set[tuple[str, int, int]]) -> None:
    assert set(entities(tags.split())) == found


@pytest.mark.parametrize("tags", ["S-A B-A I-A E-A", "U-A B-A I-A L-A", "S-A B-A M-A E-A"])
def test_whole_entities_in_all_spellings(tags: str) -> None:
    assert set(whole_entities(tags.split())) == {("-A", 0, 0), ("-A", 1, 3)}
    assert set(whole_entities(tags.replace("B-", "O-").split())) == {("-A", 0, 0)}


def test_metrics_of_entities_need_tags_of_entities() -> None:
    for name in SPAN_METRICS:
        assert METRICS[name].problem(task(name, BIO)) is None
        problem = METRICS[name].problem(task(name, ["NOUN", "O"]))
        assert problem is not None and "'NOUN'" in problem and "token_accuracy" in problem
