"""The binary features, by name, that linear models read of units: of the tokens of a sentence, and of the words of a passage."""

import re
from collections.abc import Iterator, Sequence, Set
from sys import intern

import numpy as np

from mtl.structured.passages import units_of, words_of

WINDOW = 2  # tokens before and after a token that are features of it
AFFIX = 4  # characters of its longest prefix and suffix
SENTENCE_END = re.compile(r"[.!?…。！？।؟]")
FAR = (1, 2, 4, 8, 16, 32)  # features have distances in words, rounded up to one of these
ASKED = 2  # how many words from the beginning of a question are features: they say what is asked for


def token_features(words: Sequence[str]) -> list[list[str]]:
    """The features of each word, as usual for linear taggers (Ratnaparkhi 1996): the words around it, its first and last characters, its shape."""
    lower = ["<s>"] * WINDOW + [word.lower() for word in words] + ["</s>"] * WINDOW
    shapes = [shape(word, "Aa0", "+") for word in words]
    features = []
    for position, word in enumerate(words):
        window = lower[position : position + 2 * WINDOW + 1]  # with the word in its middle
        before, lower_word, after = window[WINDOW - 1 : WINDOW + 2]
        affix_sizes = range(1, min(AFFIX, len(lower_word) - 1) + 1)  # affixes are shorter than the word
        names = [f"{step}:{near}" for step, near in enumerate(window, -WINDOW)]
        names += [f"-1,0:{before}|{lower_word}", f"0,1:{lower_word}|{after}"]
        names += [f"^{size}:{lower_word[:size]}" for size in affix_sizes]
        names += [f"${size}:{lower_word[-size:]}" for size in affix_sizes]
        names += [f"word:{word}", f"shape:{shapes[position]}"]
        for step in (-1, 1):
            if 0 <= position + step < len(words):
                names.append(f"shape{step}:{shapes[position + step]}")
        if position == 0:
            names.append("first")
        if position == len(words) - 1:
            names.append("last")
        features.append([intern(name) for name in names])  # most of them are those of other tokens, too
    return features


def passage_features(question: str, passage: str) -> list[list[str]]:
    """The features of each unit of a passage; of the whole, the share of the question's words that it has, and the beginning of the question."""
    asked, words = words_of(question), words_of(passage)
    beginning = [f"{number}:{word}" for number, word in enumerate(asked[:ASKED])]
    asked_words = {word for word in asked if word.isalnum()}
    share = round(4 * len(asked_words & set(words)) / max(1, len(asked_words)))
    whole = ["whole", f"whole&shared={share}", *(f"whole&{begin}" for begin in beginning)]
    return [whole, *_word_features(passage, asked_words, beginning)]


def _word_features(passage: str, asked: Set[str], beginning: Sequence[str]) -> Iterator[list[str]]:
    """The features of each word of a passage. `asked` are the words of the question, `beginning` the first ones with their numbers."""
    words = words_of(passage)
    shapes = [shape(passage[first:end], "Xx9", "") for first, end in units_of(passage)[1:].tolist()]
    is_asked = np.array([word in asked for word in words], dtype=bool)
    left, right = _distances(is_asked), _distances(is_asked[::-1])[::-1]
    sentence_end = next((position for position, word in enumerate(words) if SENTENCE_END.match(word)), len(words))
    for position, word in enumerate(words):
        hit, word_shape = is_asked[position], shapes[position]
        near = _rounded(min(left[position], right[position]))
        names = ["word", f"shape={word_shape}", f"is={word}", f"asked={hit}", f"near={near}"]
        names += [f"left={_rounded(left[position])}", f"right={_rounded(right[position])}"]
        sides = {"<": position - 1, ">": position + 1}
        neighbours = {side: neighbour for side, neighbour in sides.items() if 0 <= neighbour < len(words)}
        names += [f"{side}{words[neighbour]}" for side, neighbour in neighbours.items()]
        names += [f"{side}shape={shapes[neighbour]}" for side, neighbour in neighbours.items()]
        if position <= sentence_end:
            names.append(f"first={hit}")
        names += [f"{begin}&shape={word_shape}" for begin in beginning]
        names += [f"{begin}&near={near}&asked={hit}" for begin in beginning]
        yield names


def _distances(hits: np.ndarray) -> np.ndarray:
    """How many words back from each word the last hit is, int64 (words,); FAR[-1] + 1 if it is farther or there is none."""
    positions = np.arange(len(hits))
    last_hits = np.maximum.accumulate(np.where(hits, positions, -FAR[-1] - 1))
    return np.minimum(positions - last_hits, FAR[-1] + 1)


def _rounded(distance: int) -> str:
    """The distance, rounded up to one of FAR; 0 stays 0, and more than the last of them is "far"."""
    return str(next((far for far in FAR if distance <= far), "far")) if distance else "0"


def shape(word: str, kinds: str, repeat: str) -> str:
    """The kinds of a word's characters: `kinds` has the signs of a capital, another letter and a digit; any other character stands for itself. A run
    of one kind is its sign and `repeat`: Aa+ for Warsaw, with the kinds Aa0 and the repeat +."""
    capital, letter, digit = list(kinds)
    signs = (capital if c.isupper() else letter if c.isalpha() else digit if c.isdigit() else c for c in word)
    return re.sub(r"(.)\1+", rf"\1{repeat}", "".join(signs))
