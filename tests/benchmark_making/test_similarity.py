"""The similarity of texts beside plain sets, and the search for similar pairs beside the computation of all."""

from itertools import combinations, product

import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.benchmark_making import similarity
from mtl.benchmark_making.similarity import TextComparison, near_duplicates
from mtl.benchmark_making.text_units import learned_byte_pairs, ngrams

TEXTS = ["The cat sat. It slept!", "A cat slept on the mat", "", "Dogs bark? Yes."]
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
    split = learned_byte_pairs([*TEXTS, *TEXTS])
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
    expected, split = [], learned_byte_pairs([*lefts, *rights])
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
