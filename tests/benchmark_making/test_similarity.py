"""Units, byte pairs, and the similarity of texts beside scikit-learn and plain sets; the search for similar pairs beside the computation of all."""

import re
from collections import Counter
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.benchmark_making import similarity
from mtl.benchmark_making.similarity import (
    TextComparison,
    byte_pairs,
    learn_merges,
    near_duplicates,
    ngrams,
    sentences,
    units_of,
    words,
)

TEXTS = ["The cat sat. It slept!", "A cat slept on the mat", "", "Dogs bark? Yes."]


def test_units() -> None:
    assert words("It's 3 o'clock") == ["it", "s", "3", "o", "clock"]
    assert ngrams("Ab  cde") == ["ab cd", "b cde"] and ngrams("a") == ["a"]
    assert sentences('He said: "Go!" Then 3.5 left… Fine') == ['He said: "Go!', "Then 3.5 left…", "Fine"]
    assert sentences("") == [""]


def test_byte_pairs_are_those_of_the_paper_and_of_a_plain_computation() -> None:
    """The example of Sennrich et al. (2016), with the last character of each word marked, and the first of equal pairs."""
    ranks = learn_merges(Counter({"low": 5, "lower": 2, "newest": 6, "widest": 3}), 6)
    pairs = byte_pairs(ranks)
    assert list(ranks)[:2] == [("e", "s"), ("es", "t▁")]
    assert pairs("newest lowest")[-1] == "est▁" and "".join(pairs("newest")) == "newest▁"
    rng = np.random.default_rng(3)
    words = ["".join(rng.choice(list("abcd"), rng.integers(1, 9))) for _ in range(150)]
    counts = Counter({word: int(rng.integers(1, 20)) for word in words})
    assert list(learn_merges(counts, 60)) == naive_merges(counts, 60)


def test_merges_are_counted_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of 8 and one of 3 letters: 8 · 5 + 3 · 3 letters, and the second of two alike words costs nothing."""
    for name, value in (("MOST_REWRITTEN", 49), ("MERGES", 5)):
        monkeypatch.setattr(similarity, name, value)
    assert units_of(["abababab aba", "aba"])("abab")
    with raises_input_error():
        units_of(["abababab aba", "abb"])


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


LEFT, RIGHT = 60, 90


def texts_of(count: int, seed: int) -> list[str]:
    """Texts of words with the frequencies of a language: few are very frequent."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 201)
    drawn = [rng.choice(200, rng.integers(1, 30), p=weights / weights.sum()) for _ in range(count)]
    return [" ".join(f"w{word}" for word in words) for words in drawn]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several blocks, and units of both kinds, also with few texts."""
    for name, size in (("BLOCK", 7 * RIGHT), ("DENSE_UNITS", 5)):
        monkeypatch.setattr(similarity, name, size)


def test_the_similarity_is_the_share_of_the_first_set() -> None:
    split = units_of([*TEXTS, *TEXTS])
    for left, right in product(TEXTS, repeat=2):
        ours, theirs = set(split(left)), set(split(right))
        values = TextComparison([*TEXTS, left], [*TEXTS, right], "").in_turn()
        assert values[-1] == len(ours & theirs) / max(1, len(ours))


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize(("most", "low"), [(1, 0.0), (3, 0.15), (50, 0.1), (None, 0.02)])
def test_pairs_are_those_of_a_computation_of_all(most: int | None, low: float, least: bool) -> None:
    """Of texts with the same key, but not of the same group."""
    lefts, rights = texts_of(LEFT, 1), texts_of(RIGHT, 2)
    rng = np.random.default_rng(5)
    keys, groups = ([rng.integers(0, high, size) for size in (LEFT, RIGHT)] for high in (3, 12))
    expected, split = [], units_of([*lefts, *rights])
    for i, left in enumerate(lefts):
        sets = set(split(left)), [set(split(right)) for right in rights]
        values = [len(sets[0] & theirs) / len(sets[0]) for theirs in sets[1]]
        allowed = [
            j for j in range(RIGHT) if keys[0][i] == keys[1][j] and groups[0][i] != groups[1][j] and values[j] >= low
        ]
        allowed.sort(key=lambda j: (values[j] if least else -values[j], j))
        expected += [(i, j, values[j]) for j in allowed[:most]]
    counted: list[int] = []
    pairs = TextComparison(lefts, rights, "").pairs(keys, groups, most, least, low, counted.append, "")
    assert counted[-1] == len(pairs.lefts)
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == expected and len(expected) > 10


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8, 0.95])
def test_near_duplicates_are_all_that_there_are(share: float) -> None:
    rng = np.random.default_rng(7)
    texts = texts_of(40, 3)
    for text in texts[:30]:  # copies with a few other characters
        letters = list(text)
        for place in rng.integers(0, len(letters), rng.integers(0, 4)):
            letters[place] = "x"
        texts.append("".join(letters))
    sets = [set(ngrams(text)) for text in texts]
    pairs = combinations(range(len(texts)), 2)
    values = {(i, j): len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in pairs}
    expected = {pair: value for pair, value in values.items() if value >= share}
    assert {(i, j): value for i, j, value in near_duplicates(texts, share)} == expected and len(expected) > 5


def test_near_duplicates_of_texts_shorter_than_an_n_gram_and_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for short in ([], ["", ""], ["ab", "ab", "abc", ""]):
        same = [(i, j, 1.0) for i, j in combinations(range(len(short)), 2) if short[i] == short[j]]
        assert list(near_duplicates(short, 0.5)) == same
    texts = ["a text that is nearly the same"] * 5
    assert len(list(near_duplicates(texts, 0.8))) == 10
    for bound in ("MOST_NEAR", "MOST_COMPARED"):
        with monkeypatch.context() as patch, raises_input_error():
            patch.setattr(similarity, bound, 9)
            list(near_duplicates(texts, 0.8))
