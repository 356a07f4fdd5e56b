"""The search for near duplicates beside the computation of all similarities."""

import random
from itertools import combinations

import pytest
from input_errors import raises_input_error

from mtl.benchmark_making import near_duplicates as module
from mtl.benchmark_making.near_duplicates import near_duplicates
from mtl.benchmark_making.text_units import ngrams


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8, 0.95])
def test_near_duplicates_are_all_that_there_are(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 630)  # several blocks, also of few texts
    chance = random.Random(7)
    texts = [" ".join(f"w{int(chance.paretovariate(0.8))}" for _ in range(chance.randrange(1, 30))) for _ in range(40)]
    for text in texts[:30]:  # copies with a few other characters
        places = chance.choices(range(len(text)), k=chance.randrange(3))
        texts.append("".join("x" if place in places else letter for place, letter in enumerate(text)))
    pairs = combinations(enumerate(set(ngrams(text)) for text in texts), 2)
    values = [(i, j, len(left & right) / len(left | right)) for (i, left), (j, right) in pairs]
    expected = [pair for pair in values if pair[2] >= share]
    assert sorted(near_duplicates(texts, share)) == expected and len(expected) > 5


def test_near_duplicates_of_texts_shorter_than_an_n_gram_and_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for short in ([], ["", ""], ["ab", "ab", "abc", ""]):
        same = [(i, j, 1.0) for i, j in combinations(range(len(short)), 2) if short[i] == short[j]]
        assert list(near_duplicates(short, 0.5)) == same
    texts = ["a text that is nearly the same"] * 5
    assert len(list(near_duplicates(texts, 0.8))) == 10
    for bound in ("MOST_NEAR", "MOST_COMPARED"):
        with monkeypatch.context() as patch, raises_input_error():
            patch.setattr(module, bound, 9)
            list(near_duplicates(texts, 0.8))
