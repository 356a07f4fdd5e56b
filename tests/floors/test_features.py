from collections.abc import Sequence

import numpy as np
import pytest

from mtl.config import FloorConfig
from mtl.floors.features import Document, TaskFeatures, Tfidf, bag, comparisons, cosines, similarities
from mtl.suite import Task

PAIR = Task("pair", text=["a", "b"], target="y", labels=["0", "1"], metric="accuracy")
SINGLE = Task("single", text=["a"], target="y", labels=["0", "1"], metric="accuracy")
AB, CD, NEW = Document("ab ab", ["ab", "ab"]), Document("ab Cd", ["ab", "Cd"]), Document("zz", ["zz"])
RARE = np.log(3 / 2) + 1  # idf = ln((1 + texts) / (1 + texts with it)) + 1 (scikit-learn), of "cd"; that of "ab" is 1


def config(**other: object) -> FloorConfig:
    plain = {"word_ngrams": [1, 1], "char_ngrams": [3, 3], "min_count": 1, "max_features": 1000, "grid": {}}
    return FloorConfig(**(plain | other))  # type: ignore[arg-type]


def vectors(*documents: Document) -> list[np.ndarray]:
    found = Tfidf(config()).fit(documents, "t")
    return [found[kind].toarray() for kind in ("words", "characters")]


def pairs(texts: Sequence[tuple[Document, Document]]) -> tuple[TaskFeatures, np.ndarray]:
    features = TaskFeatures("svm", config(), PAIR)
    return features, features.fit(texts).toarray()


def test_words_and_characters_by_their_formula() -> None:
    words, characters = vectors(AB, CD)
    length = np.hypot(1, RARE)  # term frequency = 1 + ln(count), length 1
    np.testing.assert_allclose(words, [[1, 0], [1 / length, RARE / length]])
    # Characters within words: " ab", "ab ", " cd", "cd ", two of each.
    assert characters.shape == (2, 4)
    np.testing.assert_allclose(characters[0] @ characters[0], 1)
    np.testing.assert_allclose(sorted(characters[1]), sorted([1 / length / 2**0.5] * 2 + [RARE / length / 2**0.5] * 2))


def test_rare_ngrams_and_those_beyond_the_most_are_left_out() -> None:
    def width(**other: object) -> list[int]:
        found = Tfidf(config(**other)).fit([AB, CD], "t")
        return [found["words"].shape[1], found["characters"].shape[1]]

    assert width(min_count=2) == [1, 2]
    assert width(max_features=1) == [1, 1]
    assert width(word_ngrams=[1, 2]) == [4, 4]  # and "ab ab", "ab cd"
    features = Tfidf(config())
    features.fit([AB, CD], "t")
    assert all(matrix.nnz == 0 for matrix in features.transform([NEW]).values())


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(ValueError, match="min_df"):
        Tfidf(config(min_count=3)).fit([AB, AB], "t")  # two documents cannot hold anything three times


def test_a_single_text_is_its_ngrams_side_by_side() -> None:
    features = TaskFeatures("svm", config(), SINGLE)
    np.testing.assert_allclose(features.fit([[AB], [CD]]).toarray(), np.hstack(vectors(AB, CD)))
    assert features.transform([[NEW], [CD]]).shape == (2, 6)


def test_repeated_texts_count_once() -> None:
    once, often = (TaskFeatures("tree", config(), SINGLE) for _ in range(2))
    once.fit([[AB], [CD]])
    np.testing.assert_allclose(often.fit([[AB], [AB], [CD]]).toarray()[1:], once.transform([[AB], [CD]]).toarray())


def test_pairs_by_their_formulas() -> None:
    rows = [(AB, CD), (CD, CD), (AB, AB)]
    _, found = pairs(rows)
    words, characters = vectors(AB, CD)
    first, second = [0, 1, 0], [1, 1, 0]
    expected = []
    for kind in (words, characters):
        total = kind[first] + kind[second]
        expected.append(total / np.sqrt((total**2).sum(axis=1, keepdims=True)))
    expected += [np.abs(kind[first] - kind[second]) for kind in (words, characters)]
    expected += [kind[first] * kind[second] for kind in (words, characters)]
    expected += [(kind[first] * kind[second]).sum(axis=1, keepdims=True) for kind in (words, characters)]
    np.testing.assert_allclose(found, np.hstack(expected), atol=1e-12)


def test_similarities_by_their_formulas() -> None:
    features = Tfidf(config()).fit([AB, CD], "t")
    sides = [{kind: matrix[[side, 1]] for kind, matrix in features.items()} for side in (0, 1)]
    length = np.hypot(1, RARE)
    angle = 1 / length  # the words' vectors are (1, 0) and (1, RARE) / length
    np.testing.assert_allclose(cosines(sides), [[angle, angle], [1, 1]])
    distance = 1 - 1 / length + RARE / length
    np.testing.assert_allclose(similarities(sides), [[angle, angle, distance, distance * 2**0.5], [1, 1, 0, 0]], atol=1e-12)
    assert comparisons(sides).shape == (2, 3 * bag(sides).shape[1] + 2)


def test_new_pairs_have_the_training_texts_ngrams_and_weights() -> None:
    rows = [(AB, CD), (CD, CD), (AB, AB)]
    features, found = pairs(rows)
    np.testing.assert_allclose(features.transform([*rows[1:], (NEW, CD)]).toarray()[:2], found[1:])
    new = features.transform([(NEW, CD)]).toarray()[0]
    assert new[-2:].tolist() == [0, 0]  # a text of unknown n-grams is like no other
