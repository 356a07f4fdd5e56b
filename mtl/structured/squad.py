"""The metrics of answer spans, as the scripts of SQuAD 1.1 and 2.0 compute them (Rajpurkar et al. 2016, 2018).
Before answers are compared, they are put in lower case, and ASCII punctuation, the English words a, an and the (in every language) and repeated
spaces are removed. A row has the score of the gold answer that fits best. Gold answers that become empty do not count. If all of them become
empty, as none in the data of SQuAD 1.1, the row is like one without an answer: a prediction that becomes empty is right, and any other one is wrong.
XQuAD, KLUE-MRC (exact match) and ParsiNLU use these metrics. MLQA's script removes the articles of the row's language instead, which mtl does not
support. For languages without spaces between words, `squad_f1_characters` counts characters instead of words, as KorQuAD and JSQuAD do."""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np

from mtl.structured.answer_cells import parse_gold
from mtl.tasks.formulas import CACHED_PAIRS, mean_of_rows
from mtl.tasks.metrics import Metric
from mtl.tasks.task import ScoredRows, Task

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def squad_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The mean over examples of the best F1 of the words of the answer and a gold answer, each word as often as it occurs."""
    return mean_of_rows(partial(_best, str.split), predicted, rows.targets, weights)


def squad_f1_characters(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """As squad_f1, but of the characters, without spaces: for languages that set none between words."""
    return mean_of_rows(partial(_best, _characters), predicted, rows.targets, weights)


def squad_exact(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of examples whose answer is, normalized, one of the gold answers."""
    return mean_of_rows(partial(_best, lambda text: [text]), predicted, rows.targets, weights)


def normalized(answer: str) -> str:
    """The answer in the form in which answers are compared."""
    return " ".join(ARTICLES.sub(" ", answer.lower().translate(PUNCTUATION)).split())


@lru_cache(CACHED_PAIRS)
def _best(split: Callable[[str], Sequence[str]], target: str, predicted: str) -> float:
    """The highest F1 of the answer and one of the gold answers, both normalized, of the parts that they are split into."""
    answer = Counter(split(normalized(predicted)))
    gold_texts = [text for text in map(normalized, parse_gold(target).texts) if text] or [""]
    return max(_f1(Counter(split(text)), answer) for text in gold_texts)


def _f1(expected: Counter[str], predicted: Counter[str]) -> float:
    """2 × the parts that both have / the parts of both; 1 if both are empty."""
    total = expected.total() + predicted.total()
    return 2 * (expected & predicted).total() / total if total else 1.0


def _characters(text: str) -> str:
    return text.replace(" ", "")


SQUAD_F1 = Metric("F1 (SQuAD)", ("answer",), squad_f1)
SQUAD_F1_CHARACTERS = Metric("F1 (SQuAD), characters", ("answer",), squad_f1_characters)
SQUAD_EXACT = Metric("exact match (SQuAD)", ("answer",), squad_exact)
