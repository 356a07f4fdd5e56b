import math
from collections import Counter

import numpy as np

from mtl.data.dataset import Split
from mtl.methods.overlap import CHARACTERS, FEATURES, overlap, with_overlap

TEXTS = [
    "Mężczyzna biegnie po bieżni , szybko .",
    "Mężczyźni biegną po BIEŻNI !",
    "Die Katze schläft schläft.",
    "",
    "?!",
]
TEXTS += ["Ten sam tekst"]


def by_hand(first: str, second: str) -> list[float]:
    """The features of two texts, from dictionaries of counts."""

    def words(text: str) -> list[str]:
        spaced = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in text.lower())
        return spaced.split()

    def characters(text: str, length: int) -> list[str]:
        found = []
        for chunk in text.lower().split():
            padded = f" {chunk} "
            if len(padded) <= length:  # shorter words count once, as scikit-learn's char_wb counts them
                found.append(padded)
            else:
                found += [padded[start : start + length] for start in range(len(padded) - length + 1)]
        return found

    def cosine(u: list[str], v: list[str]) -> float:
        a, b = ({key: 1 + math.log(count) for key, count in Counter(grams).items()} for grams in (u, v))
        norm = math.sqrt(sum(x * x for x in a.values()) * sum(x * x for x in b.values()))
        return sum(a[key] * b.get(key, 0) for key in a) / norm if norm else 0.0

    a, b = words(first), words(second)
    shared, either, fewer = len({*a} & {*b}), len({*a} | {*b}), min(len({*a}), len({*b}))
    lengths = sorted((len(first), len(second)))
    return [
        cosine(a, b),
        *(cosine(characters(first, n), characters(second, n)) for n in CHARACTERS),
        shared / either if either else 0.0,
        shared / fewer if fewer else 0.0,
        lengths[0] / lengths[1] if lengths[1] else 0.0,
    ]


def test_overlap_against_counts_by_hand_for_each_input_of_a_split() -> None:
    pairs = np.array([[u, v] for u in range(len(TEXTS)) for v in range(len(TEXTS))])
    found = overlap(TEXTS, pairs)
    assert found.shape == (36, len(FEATURES)) and found.dtype == np.float32
    expected = [by_hand(TEXTS[u], TEXTS[v]) for u, v in pairs]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(found[-1], 1, atol=1e-6)  # a text and itself
    texts = np.array([[0, 1], [2, 5], [0, 1], [1, 0]])
    split = with_overlap(Split(texts, np.zeros(2), np.array([3, 1])), TEXTS)
    np.testing.assert_array_equal(split.overlap, overlap(TEXTS, texts))
    empty = with_overlap(Split(np.empty((0, 2), dtype=np.int64), np.zeros(0)), TEXTS).overlap
    assert empty is not None and empty.shape == (0, len(FEATURES))
