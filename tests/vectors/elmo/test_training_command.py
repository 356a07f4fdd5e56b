import json
from pathlib import Path

from input_errors import raises_input_error

from mtl.embedders.elmo import ELMo
from mtl.jobs.text_training import TrainingText, train_embeddings

SMALL_ELMO = {
    "character_dim": 4,
    "filters": [[1, 4], [2, 8]],
    "projection_dim": 8,
    "lstm_dim": 16,
    "min_count": 1,
    "held_out": 0.05,
    "batch_tokens": 100,
    "negatives": 2,
    "max_steps": 3,
    "threads": 1,
}


def test_an_elmo_is_trained_on_text_files_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("ala ma kota\nkot ma ala\n" * 40, encoding="utf-8")
    out = tmp_path / "elmo"
    text = TrainingText(texts=str(tmp_path / "a.txt"), language="pl")
    assert train_embeddings("elmo", text, SMALL_ELMO, str(out), "cpu") == out
    assert ELMo(out / "options.json", out / "weights.hdf5").layers([["ala", "ma"]])[0].shape == (3, 2, 16)
    assert json.loads((out / "training.json").read_text(encoding="utf-8"))["perplexity"]
    with raises_input_error(file="elmo"):
        train_embeddings("elmo", text, SMALL_ELMO, str(out), "cpu")


def test_the_accelerator_must_exist(tmp_path: Path) -> None:
    text = TrainingText("a.txt", "sv")
    with raises_input_error(key="accelerator"):
        train_embeddings("elmo", text, {}, str(tmp_path / "elmo"), "warp")
