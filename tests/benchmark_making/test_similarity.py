"""Units, byte pairs, and the similarity of texts beside scikit-learn and plain sets; the search for similar pairs beside the computation of all."""

import re
from collections import Counter
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.benchmark_making import similarity
from mtl.benchmark_making.similarity import (
    BytePairs,
    SimilarityOptions,
    TextComparison,
    most_similar,
    near_duplicates,
    ngrams,
    sentences,
    units_of,
    within_groups,
    words,
)

TEXTS = ["The cat sat. It slept!", "A cat slept on the mat", "", "Dogs bark? Yes."]


def test_units() -> None:
    assert words("It's 3 o'clock") == ["it", "s", "3", "o", "clock"]
    assert ngrams("Ab  c", 3) == ["ab ", "b c"] and ngrams("a", 3) == ["a"]
    assert sentences('He said: "Go!" Then 3.5 left… Fine') == ['He said: "Go!', "Then 3.5 left…", "Fine"]
    assert sentences("") == [""]


def test_byte_pairs_are_those_of_the_paper_and_of_a_plain_computation() -> None:
    """The example of Sennrich et al. (2016), with the last character of each word marked, and the first of equal pairs."""
    pairs = BytePairs(Counter({"low": 5, "lower": 2, "newest": 6, "widest": 3}), 6)
    assert list(pairs.ranks)[:2] == [("e", "s"), ("es", "t▁")]
    assert pairs("newest lowest")[-1] == "est▁" and "".join(pairs("newest")) == "newest▁"
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list("abcd"), rng.integers(1, 9))) for _ in range(150)]
    counts = Counter({word: int(rng.integers(1, 20)) for word in words})
    assert list(BytePairs(counts, 60).ranks) == naive_merges(counts, 60)


def test_merges_are_counted_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of 8 and one of 3 letters: 8 · 5 + 3 · 3 letters, and the second of two alike words costs nothing."""
    monkeypatch.setattr("mtl.benchmark_making.similarity.MOST_REWRITTEN", 49)
    options = SimilarityOptions(merges=5)
    assert units_of(["abababab aba", "aba"], options)("abab")
    with raises_input_error():
        units_of(["abababab aba", "abb"], options)
    assert units_of(["abababab aba", "abb"], SimilarityOptions(units="words"))("abab") == ["abab"]


def naive_merges(counts: Counter[str], merges: int) -> list[tuple[str, str]]:
    """Byte pairs learned by counting all pairs anew after each merge."""
    spelled = {word: " ".join([*word, "▁"]).replace(" ▁", "▁") for word in counts}
    ranks = []
    for _ in range(merges):
        pairs = Counter[tuple[str, str]]()
        for word, symbols in spelled.items():
            for pair in pairwise(symbols.split()):
                pairs[pair] += counts[word]
        if not pairs or max(pairs.values()) < 2:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        ranks.append(best)
        both = re.compile(rf"(?<!\S){re.escape(' '.join(best))}(?!\S)")
        spelled = {word: both.sub("".join(best), symbols) for word, symbols in spelled.items()}
    return ranks


@pytest.mark.parametrize("measure", ["containment", "dice", "jaccard"])
@pytest.mark.parametrize("units", ["bpe", "words", "characters"])
def test_overlaps_are_those_of_sets(measure: str, units: str) -> None:
    options = SimilarityOptions(units=units, measure=measure, penalty=1.2)
    comparison = TextComparison(TEXTS, TEXTS, options, "")
    split = units_of([*TEXTS, *TEXTS], options)
    for left, right in product(range(len(TEXTS)), repeat=2):
        ours, theirs = set(split(TEXTS[left])), set(split(TEXTS[right]))
        sizes = {"containment": len(ours), "dice": (len(ours) + len(theirs)) / 2, "jaccard": len(ours | theirs)}
        expected = len(ours & theirs) / max(1, sizes[measure]) / 1.2 ** len(sentences(TEXTS[right]))
        assert comparison.pairs(np.array([left]), np.array([right])).tolist() == [pytest.approx(expected)]


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
    for name, size in (("BLOCK", 7 * RIGHT), ("CHUNK", 8), ("DENSE_UNITS", 5)):
        monkeypatch.setattr(similarity, name, size)


def parts(measure: str) -> tuple[TextComparison, tuple[np.ndarray, np.ndarray], np.ndarray]:
    """A comparison, groups, and all similarities, from single pairs."""
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
    monkeypatch.setattr(similarity, bound, 9)
    with raises_input_error():
        list(near_duplicates(texts, 0.8, 5))
