"""Texts as means of the vectors of subwords."""

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
from mtl.methods.floors.static import TextVectors
from mtl.vectors.subwords import is_model2vec, open_input_embeddings, open_model2vec

TEXTS = ["solen skiner i dag", "regnet faller", "solen går ner"]
DOCUMENTS = [Document(text, text.split()) for text in TEXTS]


def test_the_input_embeddings_of_a_transformer(tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = write_bert(tmp_path / "bert", TEXTS)
    source = open_input_embeddings(str(folder), 6)
    vectors = TextVectors(source, DOCUMENTS)
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    table = model.get_input_embeddings().weight.detach().numpy()
    for text, mine in zip(TEXTS, vectors.encode(DOCUMENTS), strict=True):
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
    vectors = TextVectors(open_model2vec(folder, 256), DOCUMENTS)
    table = load_file(folder / "model.safetensors")["embeddings"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text, mine in zip(TEXTS, vectors.encode(DOCUMENTS), strict=True):
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
