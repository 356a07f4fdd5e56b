"""The metrics of answer spans against SQuAD's own scripts, written here as they are published; weights against repeated rows."""

import collections
import json
import re
import string
from collections.abc import Callable

import numpy as np
import pytest

from mtl.tasks.metrics import score, weighted_scores
from mtl.tasks.task import ScoredRows, Task

WORDS = [
    "the",
    "The",
    "a",
    "an",
    "Warsaw",
    "warsaw,",
    "in",
    "1984",
    "—",
    "the-end",
    "café",
    "...",
    "",
    "An",
    "王",
    "朝",
]


def normalize_answer(s: str) -> str:
    """As in evaluate-v2.0.py."""

    def remove_articles(text: str) -> str:
        return re.sub(re.compile(r"\b(a|an|the)\b", re.UNICODE), " ", text)

    def white_space_fix(text: str) -> str:
        return " ".join(text.split())

    def remove_punc(text: str) -> str:
        exclude = set(string.punctuation)
        return "".join(ch for ch in text if ch not in exclude)

    return white_space_fix(remove_articles(remove_punc(s.lower())))


def compute_f1(a_gold: str, a_pred: str, tokens: Callable[[str], list[str]] = str.split) -> float:
    """As in evaluate-v2.0.py."""
    gold_toks, pred_toks = tokens(normalize_answer(a_gold)), tokens(normalize_answer(a_pred))
    num_same = sum((collections.Counter(gold_toks) & collections.Counter(pred_toks)).values())
    if len(gold_toks) == 0 or len(pred_toks) == 0:
        return int(gold_toks == pred_toks)
    if num_same == 0:
        return 0
    precision, recall = num_same / len(pred_toks), num_same / len(gold_toks)
    return (2 * precision * recall) / (precision + recall)


def first_script_f1(prediction: str, ground_truth: str) -> float:
    """As in evaluate-v1.1.py, which differs where a side has no words."""
    sides = normalize_answer(prediction).split(), normalize_answer(ground_truth).split()
    return compute_f1(ground_truth, prediction) if all(sides) else 0


def second_script(golds: list[str], answer: str) -> tuple[float, float, float]:
    """Exact match and F1 of evaluate-v2.0.py, and F1 of characters."""
    gold_answers = [text for text in golds if normalize_answer(text)] or [""]
    characters = [compute_f1(a, answer, lambda text: list(text.replace(" ", ""))) for a in gold_answers]
    exact = [int(normalize_answer(a) == normalize_answer(answer)) for a in gold_answers]
    return max(exact), max(compute_f1(a, answer) for a in gold_answers), max(characters)


def cell(texts: list[str]) -> str:
    return json.dumps({"text": texts, "answer_start": [None] * len(texts), "words": []})


def task(metric: str) -> Task:
    return Task("t", kind="answer", text=["question", "passage"], target="answer", metric=metric)


def test_every_metric_is_that_of_the_scripts_and_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(7)
    for _ in range(300):
        rows = int(rng.integers(1, 12))
        golds = [[text for _ in range(rng.integers(0, 4)) if (text := _text(rng)).strip()] for _ in range(rows)]
        answers = [rng.choice(gold) if gold and rng.random() < 0.4 else _text(rng) for gold in golds]
        scored = ScoredRows(np.array([cell(gold) for gold in golds], dtype=object))
        predicted = np.array(answers, dtype=object)
        expected = np.array([second_script(gold, answer) for gold, answer in zip(golds, answers, strict=True)])
        weights = rng.integers(0, 3, (4, rows)).astype(float)
        weights[:, 0] += 1
        for name, values in zip(("squad_exact", "squad_f1", "squad_f1_characters"), expected.T, strict=True):
            assert score(task(name), predicted, scored) == pytest.approx(100 * values.mean())
            found = weighted_scores(task(name), predicted, scored, weights)
            wanted = [100 * np.repeat(values, of_set.astype(int)).mean() for of_set in weights]
            assert found == pytest.approx(wanted)
        for gold, answer, value in zip(golds, answers, expected[:, 1], strict=True):
            if gold and all(map(normalize_answer, gold)):  # as all answers of SQuAD 1.1
                assert value == max(first_script_f1(answer, text) for text in gold)


def _text(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(WORDS, rng.integers(0, 5)))


@pytest.mark.parametrize(
    ("golds", "answer", "exact", "f1"),
    [
        (["the Warsaw."], "WARSAW", 1, 1),
        (["in Warsaw", "Warsaw"], "old Warsaw", 0, 2 / 3),
        ([], "", 1, 1),
        ([], "the", 1, 1),
        ([], "Warsaw", 0, 0),
        (["Warsaw"], "", 0, 0),
        (["der Hund"], "Hund", 0, 2 / 3),  # articles of English alone do not count
        (["王朝"], "王", 0, 0),
    ],
)
def test_single_answers(golds: list[str], answer: str, exact: float, f1: float) -> None:
    rows, predicted = ScoredRows(np.array([cell(golds)], dtype=object)), np.array([answer], dtype=object)
    assert score(task("squad_exact"), predicted, rows) == 100 * exact
    assert score(task("squad_f1"), predicted, rows) == pytest.approx(100 * f1)
    if golds == ["王朝"]:
        assert score(task("squad_f1_characters"), predicted, rows) == pytest.approx(100 * 2 / 3)
