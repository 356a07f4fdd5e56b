"""Averaged vectors equal those of an independent computation with NumPy; each wrong setting is one line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from data_files import read_column
from elmo_files import write_elmo
from input_errors import raises_input_error
from small_suite import write_suite

from mtl.embedders.elmo.model import ELMo
from mtl.tasks.suite import load_suite
from mtl.vectors.encoders import open_encoder
from mtl.vectors.encoders.encoder import SentenceEncoder

WORDS = ["solen", "skiner", "jag", "regnet", "faller", "dag", ",", "Solen"]
TEXTS = [
    *("solen skiner, jag skrattar", "jag", "regnet faller regnet", "", "helt okänt"),
    *("Solen skiner dag för dag " * 6, "jag", "faller solen"),
]
COUNTED = [
    *("solen skiner", "solen faller, jag", "regnet", "jag ser regnet faller", "dag , dag", "obekant", "solen skiner")
]
TABLE = dict(zip(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32), strict=True))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Settings that name vectors of WORDS and a file of COUNTED."""
    rows = "".join(f"{word} {' '.join(map(repr, vector.tolist()))}\n" for word, vector in TABLE.items())
    (tmp_path / "v.vec").write_text(rows, encoding="utf-8")
    (tmp_path / "texts.txt").write_text("\n".join([*COUNTED, ""]), encoding="utf-8")
    return {"embeddings.path": str(tmp_path / "v.vec"), "language": "sv", "texts": str(tmp_path / "texts.txt")}


def opened(files: dict[str, Any], **settings: Any) -> SentenceEncoder:
    kept = {key: value for key, value in files.items() if settings.get("centre") or key != "texts"}
    return open_encoder("average", {**kept, **settings})


def tokens(text: str) -> list[str]:
    """What Moses makes of these texts."""
    return text.replace(",", " , ").split()


def known_words(text: str) -> list[str]:
    return [word for word in tokens(text) if word in TABLE]


def plain_means(texts: Sequence[str]) -> np.ndarray:
    found = [[TABLE[word] for word in known_words(text)] for text in texts]
    return np.array([np.mean(vectors, axis=0) if vectors else np.zeros(5) for vectors in found])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, plain_means),
        ({"embeddings": "glove"}, plain_means),
        ({"centre": True}, lambda texts: plain_means(texts) - plain_means(list(dict.fromkeys(COUNTED))).mean(axis=0)),
    ],
)
def test_against_numpy(files: dict[str, Any], settings: dict[str, Any], expected: Any) -> None:
    encoder = opened(files, **settings)
    vectors = encoder.encode(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (len(TEXTS), encoder.description.dim)
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-5)


def test_a_vector_does_not_depend_on_its_batch_and_long_texts_are_cut(
    files: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = opened(files, centre=True)
    together = encoder.encode(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-5)
    monkeypatch.setattr("mtl.data.blocks.BLOCK", 3)
    np.testing.assert_allclose(encoder.encode(TEXTS, progress=True), together, atol=1e-5)
    assert encoder.encode([]).shape == (0, 5)
    short, cut = encoder.encode(["solen skiner " * 128, "solen skiner " * 128 + "regnet"])
    np.testing.assert_allclose(short, cut, atol=1e-6)


def test_random_vectors_depend_on_the_word_and_the_seed_alone() -> None:
    settings = {"embeddings": "random", "embeddings.dim": 400, "language": "sv"}
    encoder = open_encoder("average", settings)
    apart = encoder.encode(["solen", "skiner", "", "nya"])
    joined = open_encoder("average", settings).encode(["skiner solen"])
    np.testing.assert_allclose(joined[0], apart[:2].mean(axis=0), atol=1e-5)
    assert (apart[2] == 0).all()
    drawn = apart[[0, 1, 3]]
    assert np.abs(drawn.std(axis=1) - 1).max() < 0.15 and np.abs(np.corrcoef(drawn)[0, 1:]).max() < 0.3
    other = open_encoder("average", {**settings, "seed": 2})
    assert np.abs(other.encode(["solen"]) - apart[0]).max() > 1
    assert other.fingerprint != encoder.fingerprint
    assert (encoder.description.parameters, encoder.description.dim) == (0, 400)


def test_elmo_s_layers_are_averaged(tmp_path: Path) -> None:
    options, weights = write_elmo(tmp_path / "elmo")
    words = [["jag", "ser", "regnet"], ["sol"]]
    encoder = open_encoder("average", {**RANDOM, "embeddings": "elmo", "embeddings.path": str(tmp_path / "elmo")})
    expected = torch.stack([layers.mean(dim=(0, 1)) for layers in ELMo(options, weights).layers(words)]).numpy()
    vectors = encoder.encode([" ".join(text) for text in words])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert encoder.description.name == "average-elmo-mean" and encoder.description.parameters > 1000


def test_the_training_texts_of_a_suite(files: dict[str, Any], tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    vectors = {"embeddings.path": files["embeddings.path"]}
    settings = {**vectors, "suite": str(suite), "suite_data_dir": str(tmp_path / "data")}
    encoder = open_encoder("average", {**settings, "centre": True})
    train = [line.split("\t")[0] for line in read_column(tmp_path / "data/train.tsv")]
    # The texts of all tasks are those of this file; rows of `samma` are held out, but other tasks train on their texts.
    plain = open_encoder("average", {**vectors, "language": "sv"})
    expected = plain.encode(TEXTS) - plain.encode(train).mean(axis=0)
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-5)
    assert encoder.description.language == "sv"
    assert encoder.description.trained_on == tuple(f"liten/{task}" for task in load_suite(suite).tasks)
    with raises_input_error(key="suite_data_dir"):  # nothing reads the texts
        open_encoder("average", settings)


def test_descriptions_and_fingerprints(files: dict[str, Any], tmp_path: Path) -> None:
    plain = opened(files)
    shown = plain.description
    assert (shown.name, shown.title) == ("average-fasttext-mean", "Average of word vectors, fastText")
    assert (shown.family, shown.dim, shown.language, shown.max_length) == ("average", 5, "sv", 256)
    assert (shown.parameters, shown.parameters_without_embeddings, shown.memory) == (40, 0, 160)
    assert (shown.trained_on, shown.seed) == ((), None)
    centred = opened(files, centre=True)
    assert centred.description.name == "average-fasttext-mean-centred"
    assert centred.description.title == "Average of word vectors, fastText, centred"
    marks = {plain.fingerprint, centred.fingerprint, opened(files, language="en").fingerprint}
    assert len(marks) == 3
    moved = tmp_path / "elsewhere.vec"
    moved.write_bytes((tmp_path / "v.vec").read_bytes())
    assert opened({**files, "embeddings.path": str(moved)}).fingerprint == plain.fingerprint
    (tmp_path / "texts.txt").write_text("annan text\n", encoding="utf-8")
    assert opened(files, centre=True).fingerprint not in marks


FASTTEXT = {"embeddings.path": "v.vec", "language": "sv"}
RANDOM = {"embeddings": "random", "language": "sv"}


@pytest.mark.parametrize(
    "settings",
    [
        *({**FASTTEXT, **other} for other in ({"embeddings.width": 1}, {"embeddings.min_count": 2}, {"seed": 1})),
        *({**FASTTEXT, **other} for other in ({"embeddings.path": "none.vec"}, {"suite_data_dir": "x"})),
        *({**RANDOM, "embeddings": "cove"}, {"language": "sv"}, {"embeddings.path": "v.vec"}),
        *({**FASTTEXT, "texts": "texts.txt"}, {**FASTTEXT, "centre": True}),
        *({**FASTTEXT, "centre": True, "texts": name} for name in ("none.txt", "empty.txt")),
        {**FASTTEXT, "centre": True, "texts": "a", "suite_data_dir": "b"},
        {**FASTTEXT, "pooling": "max"},
        {**FASTTEXT, "centre": True, "suite": "klej", "suite_data_dir": "none"},
        *({**RANDOM, "language": code} for code in ("PL", "pl-PL", "polish")),
    ],
)
def test_wrong_settings(settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v.vec").write_text("solen 1 2\n", encoding="utf-8")
    Path("texts.txt").write_text("solen\n", encoding="utf-8")
    Path("empty.txt").write_text("\n \n", encoding="utf-8")
    with raises_input_error():
        open_encoder("average", settings)
