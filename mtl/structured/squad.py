"""The metrics of answer spans, as the script of SQuAD 2.0 counts them (Rajpurkar et al. 2018); that of SQuAD 1.1 counts the same.

An answer is taken in lower case, without the signs of ASCII's punctuation, without the English words a, an and the, whatever its language
is, and with single spaces. A row has the score of the gold answer that fits best. Gold answers of which nothing is left do not count,
unless they are all: then an answer of which nothing is left is right, and any other one wrong, as in a row without an answer. (The script
of SQuAD 1.1 has F1 0 for two answers of which nothing is left. None of its gold answers is one.)

XQuAD, KLUE-MRC's exact match and ParsiNLU are scored by these. MLQA's script drops articles of the row's language, and is not here.
For languages that set no spaces between words, `squad_f1_characters` counts characters instead of words, as KorQuAD and JSQuAD do."""

import re
import string
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from mtl.structured.answer import gold_texts
from mtl.tasks.metrics import KEPT, Metric, mean_of_rows
from mtl.tasks.task import ScoredRows, Task

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def squad_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean over rows of the best F1 of the words of the answer and a gold answer, each word as often as it occurs."""
    return mean_of_rows(_f1_of_words, predicted, rows.targets, weights)


def squad_f1_characters(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """As squad_f1, but of the characters, without spaces: for languages that set none between words."""
    return mean_of_rows(_f1_of_characters, predicted, rows.targets, weights)


def squad_exact(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of rows whose answer is, normalized, one of the gold answers."""
    return mean_of_rows(_exact, predicted, rows.targets, weights)


def normalized(answer: str) -> str:
    """The answer as it is compared."""
    return " ".join(ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split())


def _best(gold: str, predicted: str, measure: Callable[[str, str], float]) -> float:
    """The highest measure of the answer and one of the gold answers, both normalized."""
    golds = [text for text in map(normalized, gold_texts(gold)) if text] or [""]
    answer = normalized(predicted)
    return max(measure(text, answer) for text in golds)


@lru_cache(KEPT)
def _f1_of_words(gold: str, predicted: str) -> float:
    return _best(gold, predicted, lambda text, answer: _f1(Counter(text.split()), Counter(answer.split())))


@lru_cache(KEPT)
def _f1_of_characters(gold: str, predicted: str) -> float:
    return _best(gold, predicted, lambda *texts: _f1(*(Counter(text.replace(" ", "")) for text in texts)))


@lru_cache(KEPT)
def _exact(gold: str, predicted: str) -> float:
    return _best(gold, predicted, lambda text, answer: float(text == answer))


def _f1(gold: Counter[str], answer: Counter[str]) -> float:
    """2 × shared / all parts of both; of two texts of which one is empty, 1 if the other one is, too, else 0."""
    total = gold.total() + answer.total()
    return 2 * (gold & answer).total() / total if total else 1.0


SQUAD_F1 = Metric("F1 (SQuAD)", ("answer",), squad_f1)
SQUAD_F1_CHARACTERS = Metric("F1 (SQuAD), characters", ("answer",), squad_f1_characters)
SQUAD_EXACT = Metric("exact match (SQuAD)", ("answer",), squad_exact)
