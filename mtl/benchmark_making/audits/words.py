"""Words that tell a class by more than chance."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm
from sklearn.feature_extraction.text import CountVectorizer

from mtl.data.dataset import Split
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LEVEL = 0.05  # of the threshold for words, and of an audit's intervals
FEWEST_WITH_WORD = 20  # rows


@dataclass(frozen=True)
class Word:
    """A word that tells a class, with "1: " or "2: " before it, which of a pair's texts it stands in: how many training rows have the word, how
    many of these are of the class, the share of the class in all rows, and how many standard deviations lie between the two."""

    word: str
    answer: str
    rows: int
    share: float
    base: float
    z: float


@dataclass(frozen=True)
class Words:
    """The words that tell a class by more than chance, the most certain first, of so many tested ones; the threshold is that of z (Bonferroni)."""

    telling: list[Word]
    tested: int
    threshold: float


def telling_words(task: Task, train: Split, words: Callable[[int], list[str]]) -> Words:
    """The words that tell a class, by the z-score of Gardner et al. 2021: the class's share among the rows that have the word, against its
    share among all rows. The rows of a choice are its candidates, which are right or wrong.

    A rare class has large z-scores by chance, so a word must pass the exact binomial test at the same level, too.
    """
    codes = target_kind(task).fit_targets(train.targets, train.sizes)
    answers, sides = list(task.labels or ()), train.texts
    if task.candidates is not None:
        answers, sides = ["wrong", "right"], train.texts[:, -1:]
    marks = [f"{side}: " if sides.shape[1] > 1 else "" for side in range(1, sides.shape[1] + 1)]
    rows = [
        {f"{mark}{word.lower()}" for mark, text in zip(marks, row, strict=True) for word in words(text)}
        for row in sides.tolist()
    ]
    vectorizer = CountVectorizer(analyzer=lambda row: row, binary=True, min_df=FEWEST_WITH_WORD)
    try:
        present = vectorizer.fit_transform(rows)
    except ValueError:  # no word in so many rows
        return Words([], 0, np.inf)
    indicators = (codes[:, None] == np.arange(len(answers))).astype(np.float64)
    base = indicators.mean(axis=0)
    having = np.asarray(present.sum(axis=0)).ravel().astype(np.float64)
    counts = present.T @ indicators
    deviations = np.sqrt(np.maximum(having[:, None] * base * (1 - base), 1e-12))
    z = (counts - having[:, None] * base) / deviations
    threshold = float(norm.isf(LEVEL / (2 * z.size)))
    named = vectorizer.get_feature_names_out()
    chance = binom.sf(counts - 1, having[:, None], base)
    z_told = np.where((z > threshold) & (chance < LEVEL / (2 * z.size)), z, 0)
    telling = []
    for word in np.flatnonzero(z_told.any(axis=1)).tolist():
        answer = int(np.argmax(z_told[word]))
        figures = counts[word, answer] / having[word], base[answer], z[word, answer]
        telling.append(Word(str(named[word]), answers[answer], int(having[word]), *map(float, figures)))
    return Words(sorted(telling, key=lambda word: (-word.z, word.word)), len(named), threshold)
