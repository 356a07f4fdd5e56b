"""The words of passages: their positions, runs of them that answer a question, and the features that a linear model reads."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache

import numpy as np

from mtl.structured.marked import word_places

LONGEST = 30  # words of a predicted answer, as BERT's script for SQuAD has it (`max_answer_length`)
KEPT = 1 << 12  # the most texts whose words are kept in memory; questions about one passage are usually neighbours
SENTENCE_END = re.compile(r"[.!?…。！？।؟]")
FAR = (1, 2, 4, 8, 16, 32)  # features have distances in words, rounded up to one of these
ASKED = 2  # how many words from the beginning of a question are features: they say what is asked for


@lru_cache(KEPT)
def units_of(text: str) -> np.ndarray:
    """Where each unit of a passage begins and ends, int64 (1 + words, 2): unit 0 is the whole passage, with (0, 0); the others are its words."""
    return np.array([(0, 0), *word_places(text)], dtype=np.int64)


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
    """The run of at most LONGEST scores with the largest sum: the positions of its first and its last score, and the
    sum; 0, 0 and -inf without scores. Of runs with equal sums, the shortest counts, then the first."""
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
    This is the sliding window of Richardson et al. (2013). A window has about as many words as the question and the answer together, with the
    answer in its middle. Its score is the sum of log(1 + 1 / n) over its words that are also in the question, where n is how often the word
    occurs in the passage. Runs without a word of the question are preferred."""
    asked, words = set(filter(str.isalnum, words_of(question))), words_of(passage)
    counts = Counter(words)
    values = np.array([math.log(1 + 1 / counts[word]) if word in asked else 0.0 for word in words])
    if not values.any():
        return ""
    length = min(length, len(words))
    sums = np.concatenate([[0.0], np.cumsum(values)])  # of the values before each word
    firsts = np.arange(len(words) - length + 1)
    around = len(asked) // 2 + 1
    scores = sums[np.minimum(firsts + length + around, len(words))] - sums[np.maximum(firsts - around, 0)]
    shares_none = sums[firsts + length] == sums[firsts]
    if shares_none.any():
        scores[~shares_none] = -math.inf
    first = int(scores.argmax())
    return unit_text(passage, first + 1, first + length)


def unit_features(question: str, passage: str) -> list[list[str]]:
    """The names of the features that a linear model reads of each unit of a passage. Those of the whole passage are the share of the question's words
    that it has, and the beginning of the question."""
    asked, words = words_of(question), words_of(passage)
    beginning = [f"{number}:{word}" for number, word in enumerate(asked[:ASKED])]
    asked_words = {word for word in asked if word.isalnum()}
    share = round(4 * len(asked_words & set(words)) / max(1, len(asked_words)))
    whole = ["whole", f"whole&shared={share}", *(f"whole&{begin}" for begin in beginning)]
    return [whole, *_word_features(passage, asked_words, beginning)]


def _word_features(passage: str, asked: Set[str], beginning: Sequence[str]) -> Iterator[list[str]]:
    """The features of each word: the word and its shape, its neighbours, whether it is in the first sentence and in the question (`asked`), how far
    the nearest words of the question are, and the beginning of the question."""
    words = words_of(passage)
    shapes = [_shape(passage[first:end]) for first, end in units_of(passage)[1:].tolist()]
    is_asked = np.array([word in asked for word in words], dtype=bool)
    left, right = _distances(is_asked), _distances(is_asked[::-1])[::-1]
    first_end = next((place for place, word in enumerate(words) if SENTENCE_END.match(word)), len(words))
    for place, (word, shape, hit) in enumerate(zip(words, shapes, is_asked, strict=True)):
        near = _rounded(min(left[place], right[place]))
        names = ["word", f"shape={shape}", f"is={word}", f"asked={hit}", f"near={near}"]
        names += [f"left={_rounded(left[place])}", f"right={_rounded(right[place])}"]
        neighbours = [(side, at) for side, at in (("<", place - 1), (">", place + 1)) if 0 <= at < len(words)]
        names += [f"{side}{words[at]}" for side, at in neighbours]
        names += [f"{side}shape={shapes[at]}" for side, at in neighbours]
        names += [f"first={hit}"] * (place <= first_end)
        names += [f"{begin}&shape={shape}" for begin in beginning]
        names += [f"{begin}&near={near}&asked={hit}" for begin in beginning]
        yield names


def _distances(hits: np.ndarray) -> np.ndarray:
    """How many words back from each word the last hit is, int64 (words,); FAR[-1] + 1 if it is farther or there is none."""
    places = np.arange(len(hits))
    last = np.maximum.accumulate(np.where(hits, places, -FAR[-1] - 1))
    return np.minimum(places - last, FAR[-1] + 1)


def _rounded(distance: int) -> str:
    """The distance, rounded up to one of FAR; 0 stays 0, and more than the last of them is "far"."""
    return str(next((far for far in FAR if distance <= far), "far")) if distance else "0"


def _shape(word: str) -> str:
    """The kinds of a word's characters, runs of one kind as one: X for capitals, x for other letters, 9 for digits; "Xx" for "Warsaw"."""
    signs = ("X" if sign.isupper() else "9" if sign.isdigit() else "x" if sign.isalpha() else sign for sign in word)
    return re.sub(r"(.)\1+", r"\1", "".join(signs))
