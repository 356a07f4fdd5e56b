from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from gensim.models import KeyedVectors

from mtl.embedders.vector_files.word_index import WordVectors
from mtl.vectors.word_vectors import method
from mtl.vectors.word_vectors.method import Expressions, nearest_words

WORDS = [f"w{i}" for i in range(300)]


def blocks(vectors: np.ndarray, size: int) -> Iterator[tuple[list[str], np.ndarray]]:
    for start in range(0, len(WORDS), size):
        yield WORDS[start : start + size], vectors[start : start + size].copy()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_same_words_as_gensim(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """gensim's `most_similar` leaves out the words of the question."""
    monkeypatch.setattr(method, "MOST_COSINES", 100)
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(300, 10)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)  # gensim adds vectors of length 1
    keyed = KeyedVectors(10)
    keyed.add_vectors(WORDS, vectors)
    questions = rng.integers(0, 300, (40, 3)).tolist()
    expected = [
        keyed.most_similar(positive=[WORDS[b], WORDS[c]], negative=[WORDS[a]], topn=1)[0][0] for a, b, c in questions
    ]
    queries = np.array([vectors[b] - vectors[a] + vectors[c] for a, b, c in questions])
    asked = [[WORDS[word] for word in question] for question in questions]
    assert nearest_words(blocks(vectors, size), queries, asked) == expected
    # Nothing excluded: the nearest of all words.
    expected = [keyed.similar_by_vector(query, topn=1)[0][0] for query in queries]
    assert nearest_words(blocks(vectors, size), queries, [()] * 40) == expected


def small(*words: str) -> list[tuple[list[str], np.ndarray]]:
    rows = np.array([[1.0, 0], [1, 0.1], [0, 1], [0, 0]], np.float32)
    return [(list(words), rows[: len(words)].copy())]


def test_excluded_words_and_equals() -> None:
    query = np.array([[2.0, 0]], np.float32)
    assert nearest_words(small("Rom", "Paris", "sol"), query, [["rom"]]) == ["Rom"]
    assert nearest_words(small("Rom", "Paris", "sol"), query, [["Rom"]]) == ["Paris"]
    twice = [*small("a", "b"), *small("c", "d")]
    assert nearest_words(twice, np.array([[2.0, 0]], np.float32), [()]) == ["a"]
    queries = np.array([[2.0, 0], [2, 0]], np.float32)
    assert nearest_words(small("a"), queries, [["a"], []]) == [None, "a"]


@pytest.mark.parametrize("word", ["</s>", "", "\u00a0", "a\tb", "a\rb", "a\nb", "\udcff\udcfe"])
def test_a_word_that_no_prediction_file_can_hold_is_no_answer(word: str) -> None:
    assert nearest_words(small(word, "Paris"), np.array([[2.0, 0]], np.float32), [()]) == ["Paris"]


FILE = {"grön": [1.0, 0], "bok": [0, 3.0], "Lund": [2, 2.0]}


def read(words: Sequence[str]) -> WordVectors:
    """Words of FILE, and n-grams for all words that end in "bok"."""
    found = np.array([word in FILE for word in words])
    ngrams = np.array([word.endswith("bok") for word in words]) & ~found
    vectors = np.array(
        [FILE.get(word, [0, 5.0] if built else [0, 0]) for word, built in zip(words, ngrams, strict=True)]
    )
    return WordVectors(vectors.astype(np.float32), found, ngrams)


def test_an_expression_is_the_mean_of_its_words_with_a_vector() -> None:
    found = Expressions(["grön bok", "grön okänd", "okänd", "bok", "psalmbok"], str.split, read)
    assert found.vectors.tolist() == [[0.5, 1.5], [1, 0], [0, 0], [0, 3], [0, 5]]
    expected = {"expressions": 4, "expressions_without_vector": 1, "words": 4, "words_without_vector": 1}
    assert found.counts(np.array([0, 1, 2, 2, 4])) == expected
