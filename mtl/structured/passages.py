"""The words of passages: their positions, and runs of them that answer a question."""

import math
from collections import Counter
from functools import lru_cache

import numpy as np

from mtl.structured.marked import word_bounds

LONGEST = 30  # words of a predicted answer, as BERT's script for SQuAD has it (`max_answer_length`)
KEPT = 1 << 12  # the most texts whose words are kept in memory; questions about one passage are usually neighbours


@lru_cache(KEPT)
def units_of(text: str) -> np.ndarray:
    """Where each unit of a passage begins and ends, int64 (1 + words, 2): unit 0 is the whole passage, with (0, 0); the others are its words."""
    return np.array([(0, 0), *word_bounds(text)], dtype=np.int64)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [text[first:end].lower() for first, end in units_of(text)[1:].tolist()]


def units_within(text: str, start: int, stop: int) -> tuple[int, int]:
    """The first and the last word, as units, that share a character with `text[start:stop]`, which must not be blank."""
    words = units_of(text)[1:]
    first = int(np.searchsorted(words[:, 1], start, side="right"))
    last = int(np.searchsorted(words[:, 0], stop, side="left"))
    return first + 1, last


def unit_text(text: str, first: int, last: int) -> str:
    """The characters of a passage from its unit `first` to its unit `last`; empty for the whole passage, and for units that it lacks."""
    units = units_of(text)
    return text[units[first, 0] : units[last, 1]] if 0 < first <= last < len(units) else ""


def best_run(scores: np.ndarray) -> tuple[int, int, float]:
    """The run of at most LONGEST scores with the largest sum: the positions, from 0, of its first and its last score, and
    the sum; 0, 0 and -inf without scores. Of runs with equal sums, the shortest counts, then the first."""
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    best = (0, 0, -math.inf)
    for length in range(1, min(LONGEST, len(scores)) + 1):
        totals = sums[length:] - sums[:-length]
        first = int(totals.argmax())
        if totals[first] > best[2] + 1e-9:  # a rounding error must not choose a longer run
            best = first, first + length - 1, float(totals[first])
    return best


def window_answer(question: str, passage: str, length: int) -> str:
    """The run of `length` words whose surroundings share most with the question; empty if question and passage have no word in common.
    In the sliding window of Richardson et al. (2013), a window has about as many words as question and answer together, the answer in its middle.
    Its score sums log(1 + 1 / n) over its words of the question, which occur n times in the passage. Runs without such words are preferred."""
    asked, words = set(filter(str.isalnum, words_of(question))), words_of(passage)
    counts = Counter(words)
    word_scores = np.array([math.log(1 + 1 / counts[word]) if word in asked else 0.0 for word in words])
    if not word_scores.any():
        return ""
    length = min(length, len(words))
    sums_before = np.concatenate([[0.0], np.cumsum(word_scores)])  # of the scores before each word
    firsts = np.arange(len(words) - length + 1)
    margin = len(asked) // 2 + 1  # words on each side of the run
    scores = sums_before[np.minimum(firsts + length + margin, len(words))] - sums_before[np.maximum(firsts - margin, 0)]
    shares_none = sums_before[firsts + length] == sums_before[firsts]
    if shares_none.any():
        scores[~shares_none] = -math.inf
    first = int(scores.argmax())
    return unit_text(passage, first + 1, first + length)
