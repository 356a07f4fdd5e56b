import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from input_errors import raises_input_error

from mtl.api.cli import main
from mtl.data.loading import load_dataset
from mtl.data.text import tokenized
from mtl.embedders.recipes import check_trained_on, load_recipe
from mtl.tasks.suite import load_suite
from mtl.vectors.words import files, training
from mtl.vectors.words.fasttext import FastTextTraining
from mtl.vectors.words.request import TrainingRequest
from mtl.vectors.words.training import train_embeddings, train_recipe, training_settings

CPU = torch.device("cpu")
SMALL = {"dim": 4, "bucket": 100, "min_count": 1, "epochs": 1, "threads": 1}


@pytest.fixture
def trained_on(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The texts of each training. No vectors are written."""
    seen: list[set[str]] = []

    def record(self: object, lines: Iterable[Sequence[str]], path: Path, source: str, device: torch.device) -> None:
        seen.append({" ".join(words) for words in lines})
        files.replace_texts_note(path, source)

    monkeypatch.setattr(FastTextTraining, "train", record)
    return seen


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_dev_rows_of_the_run_are_not_trained_on(suite_file: Path, trained_on: list[set[str]], share: float) -> None:
    data = suite_file.parent / "data"
    for path in (*data.glob("*.tsv"), *data.glob("scores/*.tsv")):  # only a task without a dev file remains
        path.unlink()
    suite = load_suite(suite_file)
    dataset = load_dataset(suite, suite.choose(["samma"]), data, share)
    tokens = tokenized(dataset.texts, suite.language, 256)
    texts = {split: {" ".join(tokens.words(i)) for i in dataset.distinct_texts(split)} for split in ("train", "dev")}
    path, of_suite = suite_file.parent / "v.bin", {"suite": str(suite_file), "data_dir": str(data)}
    train_recipe(load_recipe("fasttext-sample"), suite, data, share, path, CPU)
    train_embeddings("fasttext", TrainingRequest(**of_suite, suite_held_out=share, out=str(path)), {})
    assert trained_on == [texts["train"]] * 2
    assert texts["dev"] - texts["train"]


def test_vectors_of_other_texts_or_another_tokenizer_are_refused(
    suite_file: Path, trained_on: list[set[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, data, path = load_suite(suite_file), suite_file.parent / "data", tmp_path / "v.bin"
    with raises_input_error(file="v.bin"):
        check_trained_on(suite, data, 0.1, path)
    train_recipe(load_recipe("fasttext-sample"), suite, data, 0.1, path, CPU)
    check_trained_on(suite, data, 0.1, path)
    (tmp_path / "t.txt").write_text("ett två\n", encoding="utf-8")
    noted = []
    for version in ("0", "1"):
        with monkeypatch.context() as patch:
            patch.setattr("sacremoses.__version__", version)
            with raises_input_error(file="v.bin"):
                check_trained_on(suite, data, 0.1, path)
            noted.append(training.file_text([tmp_path / "t.txt"], "sv")[1])
    assert noted[0] != noted[1]
    for share, added in ((0.2, ""), (0.1, "ny rad\tglad\n")):
        with (data / "train.tsv").open("a", encoding="utf-8") as file:
            file.write(added)
        with raises_input_error(file="v.bin"):
            check_trained_on(suite, data, share, path)


def test_text_files_beside_a_suite_are_trained_on_as_well(
    suite_file: Path, trained_on: list[set[str]], tmp_path: Path
) -> None:
    data, path, file = suite_file.parent / "data", tmp_path / "v.bin", tmp_path / "a.txt"
    file.write_text("ett två, tre\nfyra\n", encoding="utf-8")
    of_suite = {"suite": str(suite_file), "data_dir": str(data), "out": str(path)}
    for request in ({"texts": str(file), "language": "sv", "out": str(path)}, of_suite):
        train_embeddings("fasttext", TrainingRequest.take(request.copy()), {})
    check_trained_on(load_suite(suite_file), data, 0.1, path)
    train_embeddings("fasttext", TrainingRequest(texts=[str(file)], **of_suite), {})
    assert trained_on[0] == {"ett två , tre", "fyra"} and trained_on[1]
    assert trained_on[2] == trained_on[0] | trained_on[1]
    with raises_input_error(file="v.bin"):
        check_trained_on(load_suite(suite_file), data, 0.1, path)
    train_embeddings("fasttext", TrainingRequest(texts=[], **of_suite), {})
    assert trained_on[3] == trained_on[1]
    check_trained_on(load_suite(suite_file), data, 0.1, path)


def test_training_on_an_embedded_suite_writes_its_data(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    request = TrainingRequest(suite="glue-sample", data_dir=str(tmp_path / "data"), out=str(tmp_path / "v.bin"))
    assert train_embeddings("fasttext", request, SMALL) == tmp_path / "v.bin"
    assert (tmp_path / "data/CoLA/train.tsv").exists()


@pytest.mark.parametrize(
    "given",
    [
        *({"texts": "a.txt", "language": "sv", "suite": "klej", "out": "x"}, {"texts": "a.txt", "language": "sv"}),
        *(
            {"texts": "a.txt", "out": "x"},
            {"texts": ["none.txt"], "language": "sv", "out": "x"},
            {"suite": "none", "out": "x"},
        ),
    ],
)
def test_wrong_arguments_are_one_line(given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with raises_input_error():
        train_embeddings("fasttext", TrainingRequest.take(given.copy()), {})
    assert list(tmp_path.iterdir()) == []


def test_names_that_look_like_numbers_are_names_and_no_text_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "2024").write_text("ala ma kota\n" * 9, encoding="utf-8")
    settings = [f"{key}={value}" for key, value in SMALL.items()]
    for texts, out in (("2024", "1"), ("[2024]", "2")):
        assert main(["embeddings", "train", "fasttext", f"texts={texts}", "language=pl", f"out={out}", *settings]) == 0
        assert (tmp_path / out).is_file()
    (tmp_path / "folder").mkdir()
    for out in ("2024", "folder"):  # before the training
        with raises_input_error(file=out):
            train_embeddings("fasttext", TrainingRequest(texts=["2024"], language="sv", out=out), SMALL)
    assert (tmp_path / "2024").read_text(encoding="utf-8").startswith("ala")


def test_wrong_settings_are_one_line() -> None:
    given = [("random", {}), ("skipgram", {}), ("fasttext", {"dimension": 3}), ("fasttext", {"dim": "wide"})]
    for name, settings in given:
        with raises_input_error():
            training_settings(name, settings)


def test_what_a_killed_training_leaves_is_removed(tmp_path: Path) -> None:
    path, mark = tmp_path / "v.bin", "0123456789abcdef" * 2
    kept = [f".v.bin.x.{mark}.partial", ".v.bin.notes.txt"]
    for name in (*kept, f".v.bin.{mark}.partial", f".v.bin.source.{mark}.partial"):
        (tmp_path / name).touch()
    (tmp_path / "a.txt").write_text("ett\n", encoding="utf-8")
    request = TrainingRequest(texts=[str(tmp_path / "a.txt")], language="sv", out=str(path))
    train_embeddings("fasttext", request, {**SMALL, "dim": 2})
    assert {file.name for file in tmp_path.iterdir()} == {"a.txt", "v.bin", "v.bin.source", *kept}


ENDLESS = """
import sys
from pathlib import Path
from mtl.vectors.words.fasttext import FastTextTraining
training = FastTextTraining(dim=2, epochs=10**8, min_count=1, bucket=10, threads=1)
training.train([["a", "b"]] * 1000, Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not end a process with its parent")
def test_the_process_of_a_killed_training_ends(tmp_path: Path) -> None:
    children: list[str] = []
    with subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path / "v.bin")]) as process:
        while not children:
            time.sleep(0.05)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
    state = Path(f"/proc/{children[0]}/stat")
    while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.05)
