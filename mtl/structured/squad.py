"""The metrics of answer spans, as the scripts of SQuAD 1.1 and 2.0 compute them (Rajpurkar et al. 2016, 2018).

Before answers are compared, they are put in lower case, and ASCII punctuation, the English words a, an and the (in every language) and repeated
spaces are removed. A row has the score of the gold answer that fits best. Gold answers that become empty do not count. If all of them become
empty, the row is like one without an answer: a prediction that becomes empty is right, and any other one is wrong. (There, the F1 of SQuAD 1.1's
script is 0, but no gold answer of its data becomes empty.)

XQuAD, KLUE-MRC (exact match) and ParsiNLU use these metrics. MLQA's script removes the articles of the row's language instead, which mtl does not
support. For languages without spaces between words, `squad_f1_characters` counts characters instead of words, as KorQuAD and JSQuAD do."""

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
    """The mean over examples of the best F1 of the words of the answer and a gold answer, each word as often as it occurs."""
    return mean_of_rows(_f1_of_words, predicted, rows.targets, weights)


def squad_f1_characters(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """As squad_f1, but of the characters, without spaces: for languages that set none between words."""
    return mean_of_rows(_f1_of_characters, predicted, rows.targets, weights)


def squad_exact(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of examples whose answer is, normalized, one of the gold answers."""
    return mean_of_rows(_exact, predicted, rows.targets, weights)


def normalized(answer: str) -> str:
    """The answer in the form in which answers are compared."""
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
    """2 × the words that both have / the words of both; 1 if both are empty."""
    total = gold.total() + answer.total()
    return 2 * (gold & answer).total() / total if total else 1.0


SQUAD_F1 = Metric("F1 (SQuAD)", ("answer",), squad_f1)
SQUAD_F1_CHARACTERS = Metric("F1 (SQuAD), characters", ("answer",), squad_f1_characters)
SQUAD_EXACT = Metric("exact match (SQuAD)", ("answer",), squad_exact)
