"""Words, sentences and n-grams, and byte pairs beside those of the paper and of a plain computation."""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from input_errors import raises_input_error

from mtl.benchmark_making import text_units
from mtl.benchmark_making.text_units import byte_pairs, learn_merges, learned_byte_pairs, ngrams, sentences, words


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
        monkeypatch.setattr(text_units, name, value)
    assert learned_byte_pairs(["abababab aba", "aba"])("abab")
    with raises_input_error():
        learned_byte_pairs(["abababab aba", "abb"])


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
