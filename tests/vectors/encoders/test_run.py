import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data_files import read_column
from input_errors import raises_input_error

import mtl
from mtl.vectors.encoders import open_encoder

TEXTS = ["solen skiner nummer 1", "", "helt nya ord", "jag " * 300, "solen skiner nummer 1"]


@pytest.fixture
def copied(small_run: Path, tmp_path: Path) -> Path:
    """A copy of the run and its data."""
    shutil.copytree(small_run.parent, tmp_path / "copy")
    return tmp_path / "copy" / "run"


@pytest.mark.parametrize(("seed", "pooling"), [(None, "max"), (1, "mean"), (2, "max")])
def test_vectors_are_those_of_the_run(small_run: Path, seed: int | None, pooling: str) -> None:
    encoder = open_encoder(str(small_run), {"seed": seed, "pooling": pooling})
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (5, 16) and vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, mtl.load(small_run, seed).encode(TEXTS, pooling))
    np.testing.assert_allclose(encoder.encode(TEXTS[2:3], progress=True)[0], vectors[2], atol=1e-5)
    assert encoder.encode([]).shape == (0, 16)


def test_the_description(small_run: Path) -> None:
    shown = open_encoder(str(small_run), {}).description
    assert (shown.name, shown.title, shown.family) == ("random-frozen", "LSTM, random, frozen, changed", "lstm")
    assert (shown.dim, shown.language, shown.max_length) == (16, "sv", 256)
    assert shown.trained_on == ("liten/kansla", "liten/samma", "liten/betyg")
    assert shown.seed == mtl.load(small_run).seed
    encoder = mtl.load(small_run).model.encoder  # type: ignore[attr-defined]
    assert shown.parameters == sum(weight.numel() for weight in encoder.state_dict().values())
    assert shown.parameters_without_embeddings == sum(weight.numel() for weight in encoder.lstm.parameters())
    assert shown.memory == 4 * shown.parameters
    other = open_encoder(str(small_run), {"pooling": "mean", "centre": True, "seed": 2}).description
    assert (other.name, other.seed) == ("random-frozen-mean-centred", 2)
    assert other.title == "LSTM, random, frozen, changed, mean, centred"
    assert shown.settings == f"seed {shown.seed} (the best on dev), pooling max, not centred"
    assert other.settings == "seed 2, pooling mean, centred"


def test_centring_by_the_training_texts(copied: Path) -> None:
    plain = open_encoder(str(copied), {"seed": 1, "pooling": "mean"})
    settings = {"seed": 1, "pooling": "mean", "centre": True, "suite_data_dir": str(copied.parent / "data")}
    centred = open_encoder(str(copied), settings)
    # The pairs' texts are those of the other tasks, so that no held-out row hides one.
    rows = read_column(copied.parent / "data/train.tsv")
    mean = plain.encode([row.split("\t")[0] for row in rows]).mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(centred.encode(TEXTS), plain.encode(TEXTS) - mean, atol=1e-5)
    assert np.abs(mean).max() > 1e-3
    with (copied.parent / "data/train.tsv").open("a", encoding="utf-8") as file:
        file.write("ny text\tglad\n")  # it is no longer that of the run
    with raises_input_error(file="train.tsv"):
        open_encoder(str(copied), settings)


def test_fingerprints(small_run: Path, copied: Path) -> None:
    plain = open_encoder(str(small_run), {"seed": 1})
    assert plain.fingerprint == open_encoder(str(copied), {"seed": 1}).fingerprint  # of no path
    others: list[dict[str, Any]] = [{"seed": 2}, {"seed": 1, "pooling": "mean"}, {"seed": 1, "centre": True}]
    assert len({plain.fingerprint, *(open_encoder(str(small_run), other).fingerprint for other in others)}) == 4


@pytest.mark.parametrize(
    "settings", [{"seed": 9}, {"pooling": "both"}, {"device": "warp"}, {"layer": 1}, {"suite_data_dir": "x"}]
)
def test_wrong_settings(small_run: Path, settings: dict[str, Any]) -> None:
    with raises_input_error():
        open_encoder(str(small_run), settings)


def test_what_is_no_finished_run(copied: Path, tmp_path: Path) -> None:
    with raises_input_error():
        open_encoder(str(tmp_path / "none"), {})
    with raises_input_error(file="config.yaml"):
        open_encoder(str(copied.parent), {})
    (copied / "summary.json").unlink()
    with raises_input_error(file="run"):
        open_encoder(str(copied), {})
