"""Each wrong setting of averaged vectors is one line."""

from pathlib import Path
from typing import Any

import pytest
from elmo_files import write_elmo

from mtl.base.errors import InputError
from mtl.vectors.encoders import open_encoder

FASTTEXT = {"embeddings.path": "v.vec", "language": "sv"}
RANDOM = {"embeddings": "random", "language": "sv"}
ELMO = {"embeddings": "elmo", "embeddings.path": "elmo", "language": "sv"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({**FASTTEXT, "pooling": "min"}, "pooling=min: must be one of mean, max, both"),
        ({**FASTTEXT, "weighting": "idf"}, "weighting=idf: must be one of none, tfidf, sif"),
        ({**FASTTEXT, "dropout": 1}, "unknown key 'dropout'; known keys: centre, "),
        ({**FASTTEXT, "embeddings.width": 1}, "unknown key 'embeddings.width'; known keys: embeddings.dim, "),
        ({**FASTTEXT, "embeddings.min_count": 2}, "embeddings.min_count: averaged fasttext vectors do not read it"),
        ({**FASTTEXT, "layer": 1}, "layer: averaged fasttext vectors do not read it; they read embeddings.path, "),
        (
            {**FASTTEXT, "embeddings": "cove"},
            "embeddings=cove: unknown; known: elmo, fasttext, glove, random, word2vec",
        ),
        ({**FASTTEXT, "embeddings.dim": 3}, "v.vec: has vectors of 2 numbers, but embeddings.dim=3"),
        ({**FASTTEXT, "embeddings.path": "none.vec"}, "none.vec: no such vectors; set embeddings.path=PATH"),
        ({"language": "sv"}, "embeddings.path: name the fastText vectors: embeddings.path=PATH"),
        ({"embeddings.path": "v.vec"}, "language: name the texts' language, for the tokenizer: language=CODE"),
        ({**FASTTEXT, "data_dir": "x"}, "data_dir=x: name the suite that it belongs to: suite=NAME"),
        ({**FASTTEXT, "texts": "texts.txt"}, "texts=texts.txt: nothing reads them; set weighting=tfidf, "),
        ({**FASTTEXT, "weighting": "sif"}, "texts: weighting and centre need texts: set texts=FILE, or suite=NAME"),
        ({**FASTTEXT, "centre": True, "texts": "none.txt"}, "none.txt: no such file"),
        ({**FASTTEXT, "centre": True, "texts": "empty.txt"}, "empty.txt: has no texts"),
        ({**FASTTEXT, "centre": True, "texts": "a", "data_dir": "b"}, "data_dir=b: texts=a are read instead"),
        ({**FASTTEXT, "centre": True, "suite": "klej", "data_dir": "none"}, "none/.*no such file"),
        (
            {**FASTTEXT, "weighting": "tfidf", "pooling": "max", "texts": "a"},
            "weighting=tfidf: weights a mean; set pool",
        ),
        ({**ELMO, "layer": 3}, "layer=3: elmo has the layers 0 to 2"),
        ({**ELMO, "embeddings.path": "v.vec"}, "v.vec: is a file; embeddings.path must name the folder"),
        ({**RANDOM, "device": "warp"}, "device=warp: torch finds no such device"),
    ],
)
def test_wrong_settings(
    settings: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v.vec").write_text("solen 1 2\n", encoding="utf-8")
    Path("texts.txt").write_text("solen\n", encoding="utf-8")
    Path("empty.txt").write_text("\n \n", encoding="utf-8")
    if settings.get("embeddings") == "elmo":
        write_elmo(tmp_path / "elmo")
    with pytest.raises(InputError, match=message) as caught:
        open_encoder("average", settings)
    assert "\n" not in str(caught.value)


def test_languages_have_codes() -> None:
    for code in ("pl", "yue"):
        assert open_encoder("average", {**RANDOM, "language": code}).description.language == code
    for word in ("xx", "PL", "pl-PL", "polish", "", "a b"):
        with pytest.raises(InputError, match=f"language={word}: no such language; give its code in ISO 639"):
            open_encoder("average", {**RANDOM, "language": word})
