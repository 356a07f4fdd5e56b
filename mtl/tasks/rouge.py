"""ROUGE-1 (Lin 2004): how many words a predicted text shares with the target, with two definitions of a word."""

from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any
from unicodedata import category

import numpy as np

from mtl.errors import InputError
from mtl.tasks.scored import ScoredRows
from mtl.tasks.task import Task

# The pairs of texts whose score is kept: resampling asks for each many times.
KEPT = 1 << 17


def rouge1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean F1 of words by Google's package `rouge_score`, whose words are runs of a–z and 0–9: "på" is "p".

    Raises InputError if the package is not installed.
    """
    return _mean(_google_f1, predicted, rows.targets, weights)


def rouge1_words(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean F1 of whole words: runs of letters and digits of any script, in lower case."""
    return _mean(_words_f1, predicted, rows.targets, weights)


def _mean(
    f1: Callable[[str, str], float], predicted: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The weighted mean over rows, (sets,). weights: (sets, rows)."""
    values = np.array([f1(target, text) for target, text in zip(targets, predicted, strict=True)])
    return weights @ values / weights.sum(axis=1)


@lru_cache(KEPT)
def _google_f1(target: str, predicted: str) -> float:
    return float(_google_scorer()(target, predicted)["rouge1"].fmeasure)


@cache
def _google_scorer() -> Callable[[str, str], dict[str, Any]]:
    try:
        from rouge_score.rouge_scorer import RougeScorer  # not at the top: it is optional, and imports nltk
    except ImportError:
        raise InputError(
            "metric rouge1: needs the package rouge_score; install it: pip install 'mtl-baselines[rouge]', or take rouge1_words"
        ) from None
    score: Callable[[str, str], dict[str, Any]] = RougeScorer(["rouge1"]).score
    return score


@lru_cache(KEPT)
def _words_f1(target: str, predicted: str) -> float:
    """Twice the shared words as a share of the words of both texts; a word counts as often as it occurs. 0 for texts without words."""
    one, other = Counter(_words(target)), Counter(_words(predicted))
    words = one.total() + other.total()
    return 2 * (one & other).total() / words if words else 0.0


def _words(text: str) -> list[str]:
    """Runs of letters, marks and digits: in many scripts, a vowel sign is a mark."""
    return "".join(sign if category(sign)[0] in "LMN" else " " for sign in text.lower()).split()
