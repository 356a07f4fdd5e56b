"""Words of one text of a pair that tell the class: annotation artefacts, since no word alone should tell the relation of two texts."""

from collections.abc import Callable
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

    word: str  # of a pair's texts with "1: " or "2: " before it, which says the text that it stands in
    answer: str  # the class
    rows: int  # the training rows that have the word
    share: float  # of the class among them
    base: float  # the share of the class among all training rows
    z: float  # the standard deviations that lie between the two shares

    def __str__(self) -> str:
        return f"“{self.word}” {self.answer} {self.share:.0%} of {self.rows} rows (all: {self.base:.0%})"


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> tuple[list[Word], int]:
    """The words that tell a class by more than chance, the most certain first, and how many were tested. `words`: those of a text, by its number."""
    answers = list(task.labels or ())
    vectorizer = CountVectorizer(analyzer=lambda row: row, binary=True, min_df=FEWEST_WITH_WORD)
    try:
        present = vectorizer.fit_transform(_words_by_row(train, words))
    except ValueError:  # no word in so many rows
        return [], 0
    indicators = (train.targets[:, None] == np.arange(len(answers))).astype(np.float64)  # (rows, classes)
    base = indicators.mean(axis=0)  # (classes,)
    having = np.asarray(present.sum(axis=0)).reshape(-1, 1).astype(np.float64)  # rows, (words, 1)
    counts = present.T @ indicators  # rows, (words, classes)
    z = _certain_scores(counts, having, base)
    telling, names = [], vectorizer.get_feature_names_out()
    for word, answer in enumerate(z.argmax(axis=1).tolist()):
        if z[word, answer] > 0:
            rows, deviations = int(having[word, 0]), float(z[word, answer])
            share, class_share = float(counts[word, answer] / having[word, 0]), float(base[answer])
            telling.append(Word(str(names[word]), answers[answer], rows, share, class_share, deviations))
    return sorted(telling, key=lambda word: (-word.z, word.word)), len(z)


def _certain_scores(counts: np.ndarray, having: np.ndarray, base: np.ndarray) -> np.ndarray:
    """The z-score of each word and class, (words, classes); 0 where the word does not tell the class by more than chance.
    The z-score is that of Gardner et al. 2021: the class's share among the rows that have the word, against its share among all rows. A rare class
    has large ones by chance, so a word must pass the exact binomial test, too, at that level, corrected for all words and classes (Bonferroni)."""
    variances = np.maximum(having * base * (1 - base), LEAST_VARIANCE)
    z = (counts - having * base) / np.sqrt(variances)
    level = LEVEL / (2 * z.size)
    return np.where((z > norm.isf(level)) & (binom.sf(counts - 1, having, base) < level), z, 0)


def _words_by_row(train: Split, words: Callable[[int], list[str]]) -> list[set[str]]:
    """The different words of each row, in lower case; of a pair, each with a mark of the text that it stands in."""
    sides = train.texts.shape[1]
    marks = [f"{side}: " if sides > 1 else "" for side in range(1, sides + 1)]
    return [
        {f"{mark}{word.lower()}" for mark, text in zip(marks, row, strict=True) for word in words(text)}
        for row in train.texts.tolist()
    ]
