"""What a linear model reads of each token of a sentence: names of binary features, as usual for linear taggers (Ratnaparkhi 1996)."""

import re
from collections.abc import Sequence
from sys import intern

WINDOW = 2  # tokens before and after a token that are features of it
AFFIX = 4  # characters of its longest prefix and suffix


def token_features(words: Sequence[str]) -> list[list[str]]:
    """The features of each word: the words around it, its first and last characters, and its shape."""
    lower = [*["<s>"] * WINDOW, *map(str.lower, words), *["</s>"] * WINDOW]
    shapes = list(map(shape, words))
    features = []
    for place, word in enumerate(words):
        window = lower[place : place + 2 * WINDOW + 1]
        before, lower_word, after = window[WINDOW - 1 : WINDOW + 2]
        affix_sizes = range(1, min(AFFIX, len(lower_word) - 1) + 1)  # affixes are shorter than the word
        names = [f"{step}:{near}" for step, near in enumerate(window, -WINDOW)]
        names += [f"-1,0:{before}|{lower_word}", f"0,1:{lower_word}|{after}"]
        names += [f"^{size}:{lower_word[:size]}" for size in affix_sizes]
        names += [f"${size}:{lower_word[-size:]}" for size in affix_sizes]
        names += [f"word:{word}", f"shape:{shapes[place]}"]
        names += [f"shape{step}:{shapes[place + step]}" for step in (-1, 1) if 0 <= place + step < len(words)]
        names += ["first"] * (place == 0) + ["last"] * (place == len(words) - 1)
        features.append(list(map(intern, names)))  # most of them are those of other tokens, too
    return features


def shape(word: str) -> str:
    """The kinds of a word's characters, runs of one kind as one: A for capitals, a for other letters, 0 for digits."""
    kinds = ("A" if sign.isupper() else "a" if sign.isalpha() else "0" if sign.isdigit() else sign for sign in word)
    return re.sub(r"(.)\1+", r"\1+", "".join(kinds))
