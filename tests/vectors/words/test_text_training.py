from pathlib import Path

import fasttext
import pytest

from mtl.api.cli import main
from mtl.base.errors import InputError
from mtl.vectors.words.text_training import TrainingText, train_embeddings

SMALL = {"dim": 4, "bucket": 100, "min_count": 1, "epochs": 1, "threads": 1}


def test_training_on_an_embedded_suite_writes_its_data(tmp_path: Path) -> None:
    text = TrainingText(suite="glue-sample", data_dir=str(tmp_path / "data"))
    assert train_embeddings("fasttext", text, SMALL, str(tmp_path / "v.bin")) == tmp_path / "v.bin"
    assert (tmp_path / "data/CoLA/train.tsv").exists()


def test_vectors_of_a_suite_have_its_name(suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for share, name in ((None, "liten.bin"), (0.3, "liten-held-out-0.3.bin")):
        text = TrainingText(suite=str(suite_file), data_dir=str(suite_file.parent / "data"), held_out=share)
        assert train_embeddings("fasttext", text, SMALL) == Path("embeddings") / name
        assert "skiner" in fasttext.load_model(str(tmp_path / "embeddings" / name)).words


@pytest.mark.parametrize(
    ("text", "settings", "out", "problem"),
    [
        (TrainingText(), {}, None, r"name what to train on: texts=\[FILE,…\], suite=NAME, or both"),
        (TrainingText("a.txt", "sv", suite="klej"), {}, "x", "language: is that of the suite; drop it"),
        (TrainingText("a.txt", suite="klej"), {}, None, "name what to write: out=PATH"),
        (TrainingText("a.txt", "sv"), {}, None, "name what to write: out=PATH"),
        (TrainingText("a.txt"), {}, "x", "name the language of the texts, for the tokenizer: language=CODE"),
        (TrainingText("a.txt", "sv"), {"dimension": 3}, "x", "unknown key 'dimension'"),
        (TrainingText("a.txt", "sv"), {"dim": "wide"}, "x", "dim=wide"),
        (TrainingText(["none.txt"], "sv"), {}, "x", r"none\.txt: no such file"),
        (TrainingText(suite="none"), {}, None, "suite=none: unknown"),
    ],
)
def test_wrong_arguments_are_one_line(
    text: TrainingText,
    settings: dict[str, object],
    out: str | None,
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=problem):
        train_embeddings("fasttext", text, settings, out)
    assert list(tmp_path.iterdir()) == []


def test_names_that_look_like_numbers_are_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "2024").write_text("ala ma kota\n" * 9, encoding="utf-8")
    settings = [f"{key}={value}" for key, value in SMALL.items()]
    for texts, out in (("2024", "1"), ("[2024]", "2")):
        assert main(["embeddings", "train", "fasttext", f"texts={texts}", "language=pl", f"out={out}", *settings]) == 0
        assert (tmp_path / out).is_file()
