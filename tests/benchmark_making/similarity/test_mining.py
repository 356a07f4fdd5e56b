"""The search for similar pairs, beside the computation of all pairs one by one."""

from itertools import combinations

import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.benchmark_making.similarity import (
    SimilarityOptions,
    TextComparison,
    mining,
    most_similar,
    near_duplicates,
    ngrams,
    within_groups,
)
from mtl.benchmark_making.similarity import comparison as similarity

LEFT, RIGHT = 60, 90


def texts_of(count: int, seed: int) -> list[str]:
    """Texts of words with the frequencies of a language: few are very frequent."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 201)
    drawn = [rng.choice(200, rng.integers(1, 30), p=weights / weights.sum()) for _ in range(count)]
    return [" ".join(f"w{word}" for word in words) + ". End." * (n % 3) for n, words in enumerate(drawn)]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks, chunks and dense units also with few texts."""
    monkeypatch.setattr(similarity, "BLOCK", 7 * RIGHT)
    monkeypatch.setattr(mining, "BLOCK", 50)
    monkeypatch.setattr(mining, "CHUNK", 8)
    monkeypatch.setattr(similarity, "DENSE_UNITS", 5)


def parts(measure: str) -> tuple[TextComparison, tuple[np.ndarray, np.ndarray], np.ndarray]:
    """A comparison, groups, and all similarities, from single pairs (`test_comparison.py` checks these)."""
    comparison = TextComparison(texts_of(LEFT, 1), texts_of(RIGHT, 2), SimilarityOptions("words", measure, 1.2), "")
    rng = np.random.default_rng(5)
    groups = (rng.integers(0, 12, LEFT), rng.integers(0, 12, RIGHT))
    values = comparison.pairs(*np.indices((LEFT, RIGHT)).reshape(2, -1)).reshape(LEFT, RIGHT)
    return comparison, groups, values


@pytest.mark.parametrize("measure", ["containment", "dice", "jaccard"])
@pytest.mark.parametrize(
    ("most", "low", "high"), [(1, -np.inf, np.inf), (3, 0.15, np.inf), (4, 0.05, 0.2), (50, 0.1, np.inf)]
)
def test_the_most_similar_texts_of_other_groups(measure: str, most: int, low: float, high: float) -> None:
    comparison, groups, values = parts(measure)
    expected = []
    for i in range(LEFT):
        allowed = (groups[0][i] != groups[1]) & (values[i] >= low) & (values[i] <= high) & (values[i] > 0)
        best = np.flatnonzero(allowed).tolist()
        expected += [(i, j, values[i, j]) for j in sorted(best, key=lambda j: (-values[i, j], j))[:most]]
    counted: list[int] = []
    pairs = most_similar(comparison, groups, most, low, high, counted.append, "")
    assert counted[-1] == len(pairs.lefts)
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == expected and len(expected) > 10


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("most", [2, None])
def test_texts_of_the_same_group(least: bool, most: int | None) -> None:
    comparison, groups, values = parts("containment")
    expected = []
    for i in range(LEFT):
        best = np.flatnonzero((groups[0][i] == groups[1]) & (values[i] >= 0.02)).tolist()
        best.sort(key=lambda j: (values[i, j] if least else -values[i, j], j))
        expected += [(i, j, values[i, j]) for j in best[:most]]
    counted: list[int] = []
    pairs = within_groups(comparison, groups, most, least, 0.02, np.inf, counted.append)
    assert counted[-1] == len(pairs.lefts)
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == expected


def test_a_text_without_a_common_unit_is_in_no_pair_and_one_of_many_sentences_is_hardly_similar() -> None:
    comparison = TextComparison(["a b", "c"], ["a", "d"], SimilarityOptions("words"), "")
    pairs = most_similar(comparison, (np.array([0, 1]), np.array([2, 3])), 5, -np.inf, np.inf, [].append, "")
    assert [column.tolist() for column in pairs] == [[0], [0], [0.5]]
    comparison = TextComparison(["a b"], ["a. " * 900, "b."], SimilarityOptions("words", penalty=1.2), "")
    pairs = most_similar(comparison, (np.array([0]), np.array([1, 2])), 1, -np.inf, np.inf, [].append, "")
    assert pairs.rights.tolist() == [1] and pairs.values.tolist() == [1 / 2 / 1.2]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8, 0.95])
def test_near_duplicates_are_all_that_there_are(share: float) -> None:
    rng = np.random.default_rng(7)
    texts = texts_of(40, 3)
    for text in texts[:30]:  # copies with a few other characters
        letters = list(text)
        for place in rng.integers(0, len(letters), rng.integers(0, 4)):
            letters[place] = "x"
        texts.append("".join(letters))
    sets = [set(ngrams(text, 5)) for text in texts]
    pairs = combinations(range(len(texts)), 2)
    values = {(i, j): len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in pairs}
    expected = {pair: value for pair, value in values.items() if value >= share}
    assert {(i, j): value for i, j, value in near_duplicates(texts, share, 5)} == expected and len(expected) > 5


@pytest.mark.parametrize("texts", [[], ["", ""], ["ab", "ab", "abc", ""]])
def test_near_duplicates_of_texts_shorter_than_an_n_gram(texts: list[str]) -> None:
    same = [(i, j, 1.0) for i, j in combinations(range(len(texts)), 2) if texts[i] == texts[j]]
    assert list(near_duplicates(texts, 0.5, 5)) == same


@pytest.mark.parametrize("bound", ["MOST_NEAR", "MOST_COMPARED"])
def test_too_many_near_duplicates_are_one_line(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a text that is nearly the same"] * 5
    assert len(list(near_duplicates(texts, 0.8, 5))) == 10
    monkeypatch.setattr(f"mtl.benchmark_making.similarity.{bound}", 9)
    with raises_input_error():
        list(near_duplicates(texts, 0.8, 5))
