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
    texts = documents("solen skiner", "solen okänd solen regnet", "okänd", "")
    vectors = TextVectors(words, texts)
    assert vectors.encode(texts) == pytest.approx(np.array([[0.5, 1.0], [(1 + 1 + 3) / 3, 1.0], [0, 0], [0, 0]]))
    assert vectors.encode(texts[1:2]) == pytest.approx(np.array([[5 / 3, 1.0]]))
    assert words.size == 6
    # New texts and known ones, in any order.
    vectors = TextVectors(words, documents("solen"))
    encoded = vectors.encode(documents("regnet", "solen", "regnet", "skiner solen"))
    assert encoded.tolist() == [[3, 3], [1, 0], [3, 3], [0.5, 1]]


def test_vectors_that_no_text_needs_are_a_warning(words: WordFile, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    TextVectors(words, documents("solen skiner", "okänd"))
    TextVectors(words, documents("okänd", "annan"))
    said = [(record.levelname, record.message) for record in caplog.records]
    assert said == [
        ("INFO", "1 of 2 texts have a word with a vector"),
        ("WARNING", "0 of 2 texts have a word with a vector"),
    ]
