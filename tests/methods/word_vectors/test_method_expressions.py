from collections.abc import Sequence

import numpy as np
import pytest

from mtl.embedders.vector_files.vector_file import WordVectors
from mtl.methods.word_vectors.method import cases, cosines, expressions, unit_rows

FILE = {"grön": [1.0, 0], "bok": [0, 3.0], "Lund": [2, 2.0], "ordbok": [0, 1.0]}


def read(words: Sequence[str]) -> WordVectors:
    """Words of FILE, and n-grams for all words that end in "bok"."""
    found = np.array([word in FILE for word in words])
    ngrams = np.array([word.endswith("bok") for word in words]) & ~found
    vectors = np.array(
        [FILE.get(word, [0, 5.0] if built else [0, 0]) for word, built in zip(words, ngrams, strict=True)]
    )
    return WordVectors(vectors.astype(np.float32), found, ngrams)


def test_an_expression_is_the_mean_of_its_words_with_a_vector() -> None:
    found = expressions(["grön bok", "grön okänd", "okänd", "bok", "psalmbok"], str.split, read, False)
    assert found.vectors.tolist() == [[0.5, 1.5], [1, 0], [0, 0], [0, 3], [0, 5]]
    assert found.known.tolist() == [True, True, False, True, True]
    assert found.counts(np.array([0, 1, 2, 2, 4])) == {
        "expressions": 4,
        "expressions_without_vector": 1,
        "words": 4,
        "words_without_vector": 1,
        "words_from_ngrams": 1,
    }


def test_case_is_ignored_or_not() -> None:
    texts = ["lund", "GRÖN", "Ordbok", "Psalmbok"]
    assert expressions(texts, str.split, read, False).vectors.tolist() == [[0, 0], [0, 0], [0, 5], [0, 5]]
    # A word of the file in another case is better than n-grams.
    assert expressions(texts, str.split, read, True).vectors.tolist() == [[2, 2], [1, 0], [0, 1], [0, 5]]


def test_cases() -> None:
    assert cases("åR") == ["åR", "år", "År", "ÅR"] and cases("år") == ["år", "År", "ÅR"]


def test_cosines() -> None:
    one, other = np.array([[3.0, 4], [1, 0], [0, 0]], np.float32), np.array([[6.0, 8], [0, 2], [1, 1]], np.float32)
    assert cosines(one, other).tolist() == pytest.approx([1, 0, 0])
    assert unit_rows(one) == pytest.approx(np.array([[0.6, 0.8], [1, 0], [0, 0]]))
