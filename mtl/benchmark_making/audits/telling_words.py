"""Words of one text of a pair that tell the class of the row by more than chance: annotation artefacts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm
from sklearn.feature_extraction.text import CountVectorizer

from mtl.data.dataset import Split
from mtl.tasks.task import Task

LEVEL = 0.05  # of the tests of all words and classes together
FEWEST_WITH_WORD = 20  # rows; a word in fewer is not tested
LEAST_VARIANCE = 1e-12  # of a count, where a class has all rows or none


@dataclass(frozen=True)
class Word:
    """A word that tells a class."""

    name: str  # with "1: " or "2: " before it, which says the text that it stands in
    answer: str  # the class
    rows: int  # the training rows that have the word
    share: float  # of the class among them
    base: float  # the share of the class among all training rows
    z: float  # the standard deviations that lie between the two shares

    def __str__(self) -> str:
        return f"“{self.name}” {self.answer} {self.share:.0%} of {self.rows} rows (all: {self.base:.0%})"


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> tuple[list[Word], int]:
    """The words of one text of a pair that tell the class by more than chance, the most certain first, and how many were tested."""
    answers = list(task.labels or ())
    vectorizer = CountVectorizer(analyzer=lambda row: _words_of(row, words), binary=True, min_df=FEWEST_WITH_WORD)
    try:
        present = vectorizer.fit_transform(train.texts.tolist())  # (rows, words)
    except ValueError:  # no word in so many rows
        return [], 0
    indicators = (train.targets[:, None] == np.arange(len(answers))).astype(np.float64)  # (rows, classes)
    base = indicators.mean(axis=0)  # (classes,)
    having = np.asarray(present.sum(axis=0)).reshape(-1, 1).astype(np.float64)  # rows, (words, 1)
    counts = present.T @ indicators  # rows, (words, classes)
    z = _certain_scores(counts, having, base)
    names = vectorizer.get_feature_names_out()
    telling = []
    for number in np.flatnonzero(z.max(axis=1) > 0):
        answer = z[number].argmax()  # the class that the word tells most certainly
        rows = int(having[number, 0])
        share = float(counts[number, answer] / rows)
        name = str(names[number])
        telling.append(Word(name, answers[answer], rows, share, float(base[answer]), float(z[number, answer])))
    return sorted(telling, key=lambda word: (-word.z, word.name)), len(z)


def _certain_scores(counts: np.ndarray, having: np.ndarray, base: np.ndarray) -> np.ndarray:
    """The z-score of each word and class (Gardner et al. 2021), (words, classes): the class's share among the rows that have the word, against its
    share among all rows; 0 for a difference that may be chance. A rare class has large ones by chance, so the exact binomial test counts, too."""
    variances = np.maximum(having * base * (1 - base), LEAST_VARIANCE)
    z = (counts - having * base) / np.sqrt(variances)
    level = LEVEL / (2 * z.size)  # of one side of each test, corrected for all words and classes (Bonferroni)
    return np.where((z > norm.isf(level)) & (binom.sf(counts - 1, having, base) < level), z, 0)


def _words_of(row: Sequence[int], words: Callable[[int], list[str]]) -> set[str]:
    """The different words of the texts of a row, in lower case, each with a mark of the text that it stands in."""
    return {f"{side}: {word.lower()}" for side, text in enumerate(row, start=1) for word in words(text)}
