import numpy as np
import pytest

from mtl.config import FloorConfig
from mtl.floors.features import Document, Features


def config(**other: object) -> FloorConfig:
    plain = {"word_ngrams": [1, 1], "char_ngrams": [3, 3], "min_count": 1, "max_features": 1000, "grid": {}}
    return FloorConfig(**(plain | other))  # type: ignore[arg-type]


def test_words_and_characters_by_their_formula() -> None:
    documents = [Document("ab ab", ["ab", "ab"]), Document("ab Cd", ["ab", "Cd"])]
    found = Features(config()).fit(documents).toarray()
    # Words: ab stands in both, cd in one; idf = ln((1 + 2) / (1 + n)) + 1 (scikit-learn), tf = 1 + ln(count), length 1.
    rare = np.log(3 / 2) + 1
    length = np.hypot(1, rare)
    np.testing.assert_allclose(found[:, :2], [[1, 0], [1 / length, rare / length]])
    # Characters within words: " ab", "ab ", " cd", "cd ", two of each.
    assert found.shape == (2, 6)
    np.testing.assert_allclose(found[0, 2:] @ found[0, 2:], 1)
    np.testing.assert_allclose(sorted(found[1, 2:]), sorted([1 / length / 2**0.5] * 2 + [rare / length / 2**0.5] * 2))


def test_rare_ngrams_and_those_beyond_the_most_are_left_out() -> None:
    documents = [Document("ab ab", ["ab", "ab"]), Document("ab Cd", ["ab", "Cd"])]
    assert Features(config(min_count=2)).fit(documents).shape == (2, 3)
    assert Features(config(max_features=1)).fit(documents).shape == (2, 2)
    features = Features(config(word_ngrams=[1, 2]))
    assert features.fit(documents).shape == (2, 2 + 2 + 4)  # and "ab ab", "ab cd"
    assert features.transform([Document("zz", ["zz"])]).nnz == 0


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(ValueError, match="min_df"):
        Features(config(min_count=3)).fit(
            [Document("ab", ["ab"])] * 2
        )  # two documents cannot hold anything three times
