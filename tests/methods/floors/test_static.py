"""Texts as means of static vectors of words and subwords."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from input_errors import raises_input_error
from safetensors.numpy import load_file, save_file
from tiny_transformers import save_tokenizer, word_pieces, write_bert
from tokenizers import Tokenizer

from mtl.methods.floors.features import Document
from mtl.methods.floors.static import (
    TextVectors,
    WordFile,
    is_model2vec,
    open_input_embeddings,
    open_model2vec,
)

VECTORS = {"solen": [1.0, 0.0], "skiner": [0.0, 2.0], "regnet": [3.0, 3.0]}
TEXTS = ["solen skiner i dag", "regnet faller", "solen går ner"]


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


def test_the_input_embeddings_of_a_transformer(tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = write_bert(tmp_path / "bert", TEXTS)
    source = open_input_embeddings(str(folder), 6)
    vectors = TextVectors(source, "none")
    vectors.learn(documents(*TEXTS), np.array([0]))
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    table = model.get_input_embeddings().weight.detach().numpy()
    for text, mine in zip(TEXTS, vectors.encode(documents(*TEXTS)), strict=True):
        assert mine == pytest.approx(
            table[tokenizer(text, add_special_tokens=False)["input_ids"][:6]].mean(axis=0), abs=1e-6
        )
    assert source.size == table.size
    assert set(source.fingerprints()) == {"static.table", "static.tokenizer"}


def write_model2vec(folder: Path, **arrays: Any) -> Path:
    tokenizer = word_pieces(TEXTS)
    save_tokenizer(tokenizer, folder, None)
    table = np.random.default_rng(0).normal(size=(tokenizer.get_vocab_size(), 8)).astype(np.float32)
    save_file({"embeddings": table, **arrays}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec"}), encoding="utf-8")
    return folder


def test_a_model2vec_model_with_weights_and_fewer_rows_than_tokens(tmp_path: Path) -> None:
    ids = word_pieces(TEXTS).get_vocab_size()
    weights = np.linspace(0.5, 1.5, ids)
    folder = write_model2vec(tmp_path / "m2v", weights=weights, mapping=np.arange(ids) // 2)
    assert is_model2vec(folder) and not is_model2vec(tmp_path)
    vectors = TextVectors(open_model2vec(folder, 256), "none")
    vectors.learn(documents(*TEXTS), np.array([0]))
    table = load_file(folder / "model.safetensors")["embeddings"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text, mine in zip(TEXTS, vectors.encode(documents(*TEXTS)), strict=True):
        found = [id for id in tokenizer.encode(text, add_special_tokens=False).ids if id != 1]
        expected = np.mean([table[id // 2] * weights[id] for id in found], axis=0)
        assert mine == pytest.approx(expected, abs=1e-5)


def test_damaged_models_are_named(tmp_path: Path) -> None:
    def damaged(name: str, damage: Any, **arrays: Any) -> None:
        folder = write_model2vec(tmp_path / name, **arrays)
        damage(folder)
        with raises_input_error():
            open_model2vec(folder, 256)

    def nothing(folder: Path) -> None:
        pass

    damaged("cut", lambda folder: (folder / "model.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}      "))
    damaged("short", lambda folder: (folder / "model.safetensors").write_bytes(b"\x08"))
    damaged("no-weights", lambda folder: (folder / "model.safetensors").unlink())
    damaged("no-tokenizer", lambda folder: (folder / "tokenizer.json").unlink())
    damaged("no-json", lambda folder: (folder / "tokenizer.json").write_text("{}"))
    damaged("nan", nothing, embeddings=np.full((9, 8), np.nan, dtype=np.float32))
    damaged("flat", nothing, embeddings=np.ones(9, dtype=np.float32))
    damaged("few-rows", nothing, embeddings=np.ones((3, 8), dtype=np.float32))
    damaged("far-rows", nothing, mapping=np.full(400, 10**6))
    damaged("weights", nothing, weights=np.ones(3))
