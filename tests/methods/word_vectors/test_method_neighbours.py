from collections.abc import Iterator

import numpy as np
import pytest
from gensim.models import KeyedVectors

import mtl.methods.word_vectors.method as neighbours
from mtl.methods.word_vectors.method import nearest_words

WORDS = [f"w{i}" for i in range(300)]


def blocks(vectors: np.ndarray, size: int) -> Iterator[tuple[list[str], np.ndarray]]:
    for start in range(0, len(WORDS), size):
        yield WORDS[start : start + size], vectors[start : start + size].copy()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_same_words_as_gensim(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """gensim's `most_similar` leaves out the words of the question."""
    monkeypatch.setattr(neighbours, "MOST_SCORES", 100)
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
    assert nearest_words(blocks(vectors, size), queries, asked, str) == expected
    # Nothing excluded: the nearest of all words.
    expected = [keyed.similar_by_vector(query, topn=1)[0][0] for query in queries]
    assert nearest_words(blocks(vectors, size), queries, [()] * 40, str) == expected


def small(*words: str) -> list[tuple[list[str], np.ndarray]]:
    rows = np.array([[1.0, 0], [1, 0.1], [0, 1], [0, 0]], np.float32)
    return [(list(words), rows[: len(words)].copy())]


def test_excluded_words_and_their_case() -> None:
    query = np.array([[2.0, 0]], np.float32)
    assert nearest_words(small("Rom", "Paris", "sol"), query, [["rom"]], str) == ["Rom"]
    assert nearest_words(small("Rom", "Paris", "sol"), query, [["rom"]], str.casefold) == ["Paris"]


def test_the_end_of_a_line_is_no_word() -> None:
    assert nearest_words(small("</s>", "Paris"), np.array([[2.0, 0]], np.float32), [()], str) == ["Paris"]


def test_among_equals_the_first() -> None:
    twice = [*small("a", "b"), *small("c", "d")]
    assert nearest_words(twice, np.array([[2.0, 0]], np.float32), [()], str) == ["a"]


def test_no_word_is_left() -> None:
    queries = np.array([[2.0, 0], [2, 0]], np.float32)
    assert nearest_words(small("a"), queries, [["a"], []], str) == [None, "a"]


@pytest.mark.parametrize("word", ["", "\u00a0", "a\tb", "a\rb", "a\nb", "\udcff\udcfe"])
def test_a_word_that_no_prediction_file_can_hold_is_no_answer(word: str) -> None:
    assert nearest_words(small(word, "Paris"), np.array([[2.0, 0]], np.float32), [()], str) == ["Paris"]
