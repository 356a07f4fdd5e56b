"""Texts as means of static vectors of words."""

from pathlib import Path

import numpy as np
import pytest

from mtl.methods.floors.features import Document
from mtl.methods.floors.static import TextVectors, WordFile

VECTORS = {"solen": [1.0, 0.0], "skiner": [0.0, 2.0], "regnet": [3.0, 3.0]}


def documents(*texts: str) -> list[Document]:
    return [Document(text, text.split()) for text in texts]


@pytest.fixture
def words(tmp_path: Path) -> WordFile:
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in VECTORS.items()]
    (tmp_path / "words.vec").write_text(f"{len(lines)} 2\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return WordFile(tmp_path / "words.vec")


def test_a_text_is_the_mean_of_its_known_words(words: WordFile) -> None:
    vectors = TextVectors(words, "none")
    texts = documents("solen skiner", "solen okänd solen regnet", "okänd", "")
    vectors.learn(texts, np.array([0]))
    assert vectors.encode(texts) == pytest.approx(np.array([[0.5, 1.0], [(1 + 1 + 3) / 3, 1.0], [0, 0], [0, 0]]))
    assert vectors.encode(texts[1:2]) == pytest.approx(np.array([[5 / 3, 1.0]]))
    assert words.size == 6
    # New texts and known ones, in any order.
    vectors = TextVectors(words, "none")
    vectors.learn(documents("solen"), np.array([0]))
    encoded = vectors.encode(documents("regnet", "solen", "regnet", "skiner solen"))
    assert encoded.tolist() == [[3, 3], [1, 0], [3, 3], [0.5, 1]]


def test_weights_by_hand(words: WordFile) -> None:
    texts = documents("solen skiner", "solen regnet", "solen")
    tfidf = TextVectors(words, "tfidf")
    tfidf.learn(texts, np.arange(3))
    common, rare = np.log(4 / 4) + 1, np.log(4 / 2) + 1
    assert tfidf.encode(texts)[0] == pytest.approx(np.array([common, 2 * rare]) / (common + rare))
    sif = TextVectors(words, "sif")
    sif.learn(texts, np.arange(3))
    weight = {word: 1e-3 / (1e-3 + count / 5) for word, count in {"solen": 3, "skiner": 1, "regnet": 1}.items()}
    means = np.array(
        [np.mean([weight[word] * np.array(VECTORS[word]) for word in text.tokens], axis=0) for text in texts]
    )
    first = np.linalg.svd(means)[2][0]
    assert sif.encode(texts) == pytest.approx(means - np.outer(means @ first, first), abs=1e-6)
    new = 1e-3 / (1e-3 + 1 / 5) * np.array(VECTORS["regnet"])
    assert sif.encode(documents("regnet")) == pytest.approx((new - (new @ first) * first)[None], abs=1e-6)
