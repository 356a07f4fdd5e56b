import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
import torch
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.data.dataset import load_dataset
from mtl.data.text import tokenized
from mtl.embedders.recipes import check_recipe, load_recipe, noted_source
from mtl.tasks.suite import load_suite
from mtl.vectors.words.fasttext import FastTextTraining
from mtl.vectors.words.training import (
    note_source,
    train_on_files,
    train_on_suite,
    train_recipe,
    training_settings,
)

CPU = torch.device("cpu")


@pytest.fixture
def trained_on(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The texts of each training. No vectors are written."""
    seen: list[set[str]] = []

    def record(self: object, lines: Iterable[Sequence[str]], path: Path, source: str, device: torch.device) -> None:
        seen.append({" ".join(words) for words in lines})
        note_source(path, source)

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
    train_recipe(load_recipe("fasttext-sample"), suite, data, share, suite_file.parent / "v.bin", CPU)
    train_on_suite(FastTextTraining(), suite, data, share, suite_file.parent / "v.bin", CPU)
    assert trained_on == [texts["train"]] * 2
    assert texts["dev"] - texts["train"]


def test_vectors_of_other_texts_or_another_tokenizer_are_refused(
    suite_file: Path, trained_on: list[set[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, data, path = load_suite(suite_file), suite_file.parent / "data", tmp_path / "v.bin"
    with raises_input_error(file="v.bin"):
        check_recipe(suite, data, 0.1, path)
    train_recipe(load_recipe("fasttext-sample"), suite, data, 0.1, path, CPU)
    check_recipe(suite, data, 0.1, path)
    (tmp_path / "t.txt").write_text("ett två\n", encoding="utf-8")
    noted = []
    for version in ("0", "1"):
        with monkeypatch.context() as patch:
            patch.setattr("sacremoses.__version__", version)
            with raises_input_error(file="v.bin"):
                check_recipe(suite, data, 0.1, path)
            train_on_files(FastTextTraining(), [tmp_path / "t.txt"], "sv", tmp_path / "w.bin", CPU)
            noted.append(noted_source(tmp_path / "w.bin"))
    assert noted[0] != noted[1]
    for share, added in ((0.2, ""), (0.1, "ny rad\tglad\n")):
        with (data / "train.tsv").open("a", encoding="utf-8") as file:
            file.write(added)
        with raises_input_error(file="v.bin"):
            check_recipe(suite, data, share, path)


def test_without_any_data_the_missing_files_are_named(suite_file: Path, tmp_path: Path) -> None:
    suite = load_suite(suite_file)
    with raises_input_error(file="train.tsv"):
        train_on_suite(FastTextTraining(), suite, tmp_path / "none", 0.1, tmp_path / "v.bin", CPU)


def test_training_on_files_needs_all_of_them_and_settings_of_its_own(
    tmp_path: Path, trained_on: list[set[str]]
) -> None:
    (tmp_path / "a.txt").write_text("ett två, tre\nfyra\n", encoding="utf-8")
    train_on_files(FastTextTraining(), [tmp_path / "a.txt"], "sv", tmp_path / "v.bin", CPU)
    assert trained_on == [{"ett två , tre", "fyra"}]
    with raises_input_error(file="none.txt"):
        train_on_files(FastTextTraining(), [tmp_path / "a.txt", tmp_path / "none.txt"], "sv", tmp_path / "v.bin", CPU)
    assert training_settings("fasttext", {"dim": 3, "bucket": 7}) == FastTextTraining(dim=3, bucket=7)


def test_text_files_beside_a_suite_are_trained_on_as_well(
    suite_file: Path, trained_on: list[set[str]], tmp_path: Path
) -> None:
    suite, data, path = load_suite(suite_file), suite_file.parent / "data", tmp_path / "v.bin"
    (tmp_path / "a.txt").write_text("ett två, tre\nfyra\n", encoding="utf-8")
    train_on_suite(FastTextTraining(), suite, data, 0.1, path, CPU)
    check_recipe(suite, data, 0.1, path)
    train_on_suite(FastTextTraining(), suite, data, 0.1, path, CPU, [tmp_path / "a.txt"])
    assert trained_on[0] and trained_on[1] == trained_on[0] | {"ett två , tre", "fyra"}
    with raises_input_error(file="v.bin"):
        check_recipe(suite, data, 0.1, path)
    with raises_input_error(file="none.txt"):
        train_on_suite(FastTextTraining(), suite, data, 0.1, path, CPU, [tmp_path / "none.txt"])


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("random", {}, "embeddings=random: cannot be trained; fasttext and "),
        ("skipgram", {}, "embeddings.name=skipgram: must be one of random, fasttext, glove, elmo, word2vec"),
        ("fasttext", {"dimension": 3}, "unknown key 'dimension'; "),
        ("fasttext", {"dim": "wide"}, "dim=wide: "),
        ("fasttext", {"dim": 0}, "dim=0: must be at least 1"),
    ],
)
def test_wrong_settings_are_one_line(name: str, given: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=f"^{problem}"):
        training_settings(name, given)


KILLED = """
import sys, time
from pathlib import Path
import torch
from mtl.vectors.words.fasttext import FastTextTraining
from mtl.vectors.words.training import _alone
def lines():
    yield from [["a", "b"]] * 1000
    print("written", flush=True)
    if sys.argv[2] == "text":
        time.sleep(600)
path = Path(sys.argv[1])
with _alone(path):
    FastTextTraining(dim=2, epochs=10**8, min_count=1, bucket=10, threads=1).train(lines(), path, "x", torch.device("cpu"))
"""


def killed_training(path: Path, during: str) -> list[int]:
    """Train vectors in a process that is killed while it writes its text, or trains. Returns the ids of its own processes."""
    command = [sys.executable, "-c", KILLED, str(path), during]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "written\n"
        children: list[int] = []
        while during == "training" and not children:
            time.sleep(0.05)
            listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            children = [int(pid) for pid in listed.split()]
        process.send_signal(signal.SIGKILL)
    return children


@pytest.mark.slow
def test_what_a_killed_training_leaves_is_removed(tmp_path: Path, trained_on: list[set[str]]) -> None:
    (tmp_path / "a.txt").write_text("ett", encoding="utf-8")
    path = tmp_path / "v.bin"
    killed_training(path, "text")
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".v.bin.") and file.suffix == ".txt"]
    kept = [".v.bin.x.0123456789abcdef0123456789abcdef.partial", ".w.bin.abcdefgh.txt", ".v.bin.notes.txt"]
    for name in (*kept, ".v.bin.0123456789abcdef0123456789abcdef.partial"):
        (tmp_path / name).touch()
    train_on_files(FastTextTraining(), [tmp_path / "a.txt"], "sv", path, CPU)
    left = {file.name for file in tmp_path.iterdir()} - {".v.bin.lock"}
    assert left == {"a.txt", "v.bin.source", *kept}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not end a process with its parent")
def test_the_process_of_a_killed_training_ends(tmp_path: Path) -> None:
    (child,) = killed_training(tmp_path / "v.bin", "training")
    while (state := Path(f"/proc/{child}/stat")).exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.05)
