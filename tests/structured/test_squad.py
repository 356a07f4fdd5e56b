"""The metrics of answer spans against torchmetrics, which has SQuAD's script, and weights against repeated rows."""

import json
from collections import Counter

import numpy as np
import pytest
from torchmetrics.functional.text import squad

from mtl.tasks.metrics import score, weighted_scores
from mtl.tasks.task import ScoredRows, Task

WORDS = [
    *["the", "The", "a", "an", "Warsaw", "warsaw,", "in", "1984", "—", "the-end", "café", "..."],
    "",
    "An",
    "王",
    "朝",
]


def script(golds: list[str], answer: str) -> tuple[float, float]:
    """Exact match and F1, as torchmetrics computes them of a row with gold answers."""
    target = {"answers": {"answer_start": [0] * len(golds), "text": golds}, "id": "1"}
    found = squad({"prediction_text": answer, "id": "1"}, target)
    return float(found["exact_match"]), float(found["f1"])


def cell(texts: list[str]) -> str:
    return json.dumps({"text": texts, "answer_start": [None] * len(texts), "words": []})


def task(metric: str) -> Task:
    return Task("t", kind="answer", text=["question", "passage"], target="answer", metric=metric)


def test_every_metric_is_that_of_the_script_and_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        rows = int(rng.integers(1, 12))
        golds = [[text for _ in range(rng.integers(0, 4)) if (text := _text(rng)).strip()] for _ in range(rows)]
        answers = [rng.choice(gold) if gold and rng.random() < 0.4 else _text(rng) for gold in golds]
        # Gold answers that become empty do not count.
        counted = [[text for text in gold if script([text], "")[0] == 0] or [""] for gold in golds]
        expected = np.array([script(gold, answer) for gold, answer in zip(counted, answers, strict=True)])
        scored = ScoredRows(np.array([cell(gold) for gold in golds], dtype=object))
        predicted = np.array(answers, dtype=object)
        weights = rng.integers(0, 3, (4, rows)).astype(float)
        weights[:, 0] += 1
        for name, values in zip(("squad_exact", "squad_f1"), expected.T, strict=True):
            assert score(task(name), predicted, scored) == pytest.approx(values.mean(), abs=1e-4)
            found = weighted_scores(task(name), predicted, scored, weights)
            wanted = [np.repeat(values, of_set.astype(int)).mean() for of_set in weights]
            assert found == pytest.approx(wanted, abs=1e-4)


def test_characters_are_counted_without_spaces() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        gold, answer = ("".join(rng.choice([*"bcd王朝 "], 6)) for _ in range(2))
        ours, theirs = (Counter(text.replace(" ", "")) for text in (answer, gold))
        both, either = (ours & theirs).total(), ours.total() + theirs.total()
        rows = ScoredRows(np.array([cell([gold])], dtype=object))
        found = score(task("squad_f1_characters"), np.array([answer], dtype=object), rows)
        assert found == pytest.approx(200 * both / either if either else 100)


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
