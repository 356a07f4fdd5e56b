"""ROUGE-1 of texts with letters beyond a to z; against an independent computation in test_metrics.py."""

import sys

import numpy as np
import pytest
from input_errors import refused

from mtl.tasks import metrics as rouge
from mtl.tasks.metrics import score
from mtl.tasks.task import ScoredRows, Task


def of(metric: str, predicted: str, gold: str) -> float:
    task = Task("t", kind="text", text=["x"], target="y", metric=metric)
    return score(task, np.array([predicted], dtype=object), ScoredRows(np.array([gold], dtype=object)))


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        ("ÅR", "år!", 100.0),
        ("हिन्दी में", "हिन्दी", 200 / 3),  # a vowel sign does not split a word
        ("snö_snö snö", "snö", 50.0),  # a word counts as often as it occurs; _ is no letter
        ("", "snö", 0.0),
        ("…", "—", 0.0),
    ],
)
def test_whole_words(predicted: str, gold: str, expected: float) -> None:
    assert of("rouge1_words", predicted, gold) == pytest.approx(expected)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    rouge.google_scorer.cache_clear()
    refused(lambda: of("rouge1", "text that no other test has", "another"))
    assert of("rouge1_words", "a", "a") == 100
