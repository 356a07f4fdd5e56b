"""The words of passages: where they stand, which of them answer a question, and what a simple model reads of them."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from unicodedata import category

import numpy as np

LONGEST = 30  # words of a predicted answer, as BERT's script for SQuAD has it (`max_answer_length`)
KEPT = 1 << 12  # the texts whose words are kept: the questions on one passage stand together
# Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Kana, Han. Each of their letters is a word.
UNSPACED = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
SENTENCE_END = re.compile(r"[.!?…。！？।؟]")
FAR = (1, 2, 4, 8, 16, 32)  # the numbers of words that distances are rounded up to
ASKED = 2  # the first words of a question, which say what is asked for, are features


@cache
def _word_pattern() -> re.Pattern[str]:
    """Words, with the marks of their letters (in many scripts, a vowel sign is a mark), and other signs one by one."""
    marks = "".join(map(re.escape, (sign for sign in map(chr, range(0x10000)) if category(sign)[0] == "M")))
    return re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)(?:(?![{UNSPACED}])[\w{marks}])*|[^\w\s]")


@lru_cache(KEPT)
def units_of(text: str) -> np.ndarray:
    """First character and end of the units of a passage, int64 (1 + words, 2): the whole passage, as an empty one, then its words."""
    return np.array([(0, 0), *(match.span() for match in _word_pattern().finditer(text))], dtype=np.int64)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [text[first:end].lower() for first, end in units_of(text)[1:].tolist()]


def units_within(text: str, start: int, stop: int) -> tuple[int, int]:
    """The first and the last unit of a passage that share a character with those from `start` to before `stop`, which are not all blank."""
    words = units_of(text)[1:]
    first = int(np.searchsorted(words[:, 1], start, side="right"))
    last = int(np.searchsorted(words[:, 0], stop, side="left"))
    return first + 1, last


def unit_text(text: str, first: int, last: int) -> str:
    """The characters of a passage from one unit to another; nothing for units that it does not have, and for the whole passage."""
    units = units_of(text)
    return text[units[first, 0] : units[last, 1]] if 0 < first <= last < len(units) else ""


def best_run(scores: np.ndarray) -> tuple[int, int, float]:
    """The first and the last place of the run of at most LONGEST scores with the largest sum, and this sum; of equal ones, the shortest
    that begins first. There must be a score."""
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    best = (0, 0, -math.inf)
    for length in range(1, min(LONGEST, len(scores)) + 1):
        totals = sums[length:] - sums[:-length]
        first = int(totals.argmax())
        if totals[first] > best[2] + 1e-9:  # rounding errors choose no longer run
            best = first, first + length - 1, float(totals[first])
    return best


def window_answer(question: str, passage: str, length: int) -> str:
    """The run of so many words whose surroundings share most with the question: the sliding window of Richardson et al. (2013).

    A window has as many words as the question and the answer together, with the answer in its middle. It scores the sum of log(1 + 1 / n)
    over its words that stand in the question; n is how often the word stands in the passage. The answer has no word of the question, if
    the passage has such a run. Without a word in common, there is no answer.
    """
    asked, words = set(filter(str.isalnum, words_of(question))), words_of(passage)
    counts = Counter(words)
    values = np.array([math.log(1 + 1 / counts[word]) if word in asked else 0.0 for word in words])
    if not values.any():
        return ""
    length = min(length, len(words))
    sums, shared = (np.concatenate([[0.0], np.cumsum(part)]) for part in (values, values > 0))
    firsts = np.arange(len(words) - length + 1)
    around = len(asked) // 2 + 1
    totals = sums[np.minimum(firsts + length + around, len(words))] - sums[np.maximum(firsts - around, 0)]
    fresh = shared[firsts + length] == shared[firsts]
    first = int(np.where(fresh | (not fresh.any()), totals, -math.inf).argmax())
    return unit_text(passage, first + 1, first + length)


def unit_features(question: str, passage: str) -> list[list[str]]:
    """What a linear model reads of each unit of a passage, as names of features: of a word its shape, its neighbours, where it stands, how
    far the next words of the question are, and how the question begins; of the whole passage how many words of the question it has."""
    asked, words = words_of(question), words_of(passage)
    shapes = [_shape(passage[first:end]) for first, end in units_of(passage)[1:].tolist()]
    known = {word for word in asked if word.isalnum()}
    hits = np.array([word in known for word in words], dtype=bool)
    left, right = _distances(hits), _distances(hits[::-1])[::-1]
    begins = [f"{number}:{word}" for number, word in enumerate(asked[:ASKED])]
    features = [_whole_features(known, words, begins)]
    ends = [number for number, word in enumerate(words) if SENTENCE_END.match(word)]
    first_sentence = ends[0] if ends else len(words)
    for number, (word, shape) in enumerate(zip(words, shapes, strict=True)):
        near = [("<", number - 1), (">", number + 1)]
        near_words = [(side, words[place], shapes[place]) for side, place in near if 0 <= place < len(words)]
        distance = _rounded(min(left[number], right[number]))
        of_word = [
            *("word", f"shape={shape}", f"is={word}", f"asked={hits[number]}", f"near={distance}"),
            *(f"left={_rounded(left[number])}", f"right={_rounded(right[number])}"),
            *(f"{side}{text}" for side, text, _ in near_words),
            *(f"{side}shape={of_shape}" for side, _, of_shape in near_words),
            *([f"first={hits[number]}"] if number <= first_sentence else []),
            *(f"{begin}&shape={shape}" for begin in begins),
            *(f"{begin}&near={distance}&asked={hits[number]}" for begin in begins),
        ]
        features.append(of_word)
    return features


def _whole_features(known: set[str], words: Sequence[str], begins: Sequence[str]) -> list[str]:
    share = round(4 * len(known & set(words)) / max(1, len(known)))
    return ["whole", f"whole&shared={share}", *(f"whole&{begin}" for begin in begins)]


def _distances(hits: np.ndarray) -> np.ndarray:
    """How many places before each one the last hit is, int64; a large number where there is none."""
    places = np.arange(len(hits))
    last = np.maximum.accumulate(np.where(hits, places, -FAR[-1] - 1)) if len(hits) else places
    return np.minimum(places - last, FAR[-1] + 1)


def _rounded(distance: int) -> str:
    """The distance, rounded up to one of FAR."""
    return str(next((far for far in FAR if distance <= far), "far")) if distance else "0"


def _shape(word: str) -> str:
    """What a word looks like: x for lower case, X for upper case, 9 for digits, others as they are; runs count once, as "Xx" of "Warsaw"."""
    signs = ("X" if sign.isupper() else "9" if sign.isdigit() else "x" if sign.isalpha() else sign for sign in word)
    return re.sub(r"(.)\1+", r"\1", "".join(signs))
