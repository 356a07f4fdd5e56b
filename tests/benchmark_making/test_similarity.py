"""The similarity of texts beside plain sets, and similar pairs beside the computation of all."""

from itertools import product

import numpy as np
import pytest

from mtl.benchmark_making import similarity
from mtl.benchmark_making.similarity import PairRule, TextComparison
from mtl.benchmark_making.text_units import learned_byte_pairs

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
    keys, groups = ((rng.integers(0, high, LEFT), rng.integers(0, high, RIGHT)) for high in (3, 12))
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
    pairs = TextComparison(lefts, rights, "").pairs(PairRule(keys, [groups], low, most, least), counted.append, "")
    assert counted[-1] == len(pairs.lefts)
    assert list(zip(*map(np.ndarray.tolist, pairs), strict=True)) == expected and len(expected) > 10
