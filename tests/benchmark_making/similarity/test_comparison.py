"""Units, byte pairs, and the similarity of two texts beside scikit-learn and plain sets."""

import re
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.benchmark_making.similarity import (
    BytePairs,
    SimilarityOptions,
    TextComparison,
    ngrams,
    sentences,
    units_of,
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
