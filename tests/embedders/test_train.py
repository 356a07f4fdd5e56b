from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
import torch

from mtl.data.dataset import load_dataset
from mtl.data.text import tokenized
from mtl.embedders.elmo.training import ELMoTraining
from mtl.embedders.fasttext import FastTextTraining
from mtl.embedders.recipes import load_recipe
from mtl.embedders.source import note_source
from mtl.embedders.train import check_recipe, train_on_files, train_on_suite, train_recipe, training_settings
from mtl.errors import InputError
from mtl.tasks.suite import load_suite

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


def test_vectors_of_other_texts_are_refused(suite_file: Path, trained_on: list[set[str]], tmp_path: Path) -> None:
    suite, data, path = load_suite(suite_file), suite_file.parent / "data", tmp_path / "v.bin"
    with pytest.raises(InputError, match=r"v\.bin: was trained on other texts .*; remove it, and the same command"):
        check_recipe(suite, data, 0.1, path)
    train_recipe(load_recipe("fasttext-sample"), suite, data, 0.1, path, CPU)
    check_recipe(suite, data, 0.1, path)
    for share, added in ((0.2, ""), (0.1, "ny rad\tglad\n")):
        with (data / "train.tsv").open("a", encoding="utf-8") as file:
            file.write(added)
        with pytest.raises(InputError, match="was trained on other texts"):
            check_recipe(suite, data, share, path)


def test_without_any_data_the_missing_files_are_named(suite_file: Path, tmp_path: Path) -> None:
    suite = load_suite(suite_file)
    with pytest.raises(
        InputError, match=r"train\.tsv: no such file; tasks of suite liten without their files: kansla, samma, betyg"
    ):
        train_on_suite(FastTextTraining(), suite, tmp_path / "none", 0.1, tmp_path / "v.bin", CPU)


def test_training_on_files_needs_all_of_them(tmp_path: Path, trained_on: list[set[str]]) -> None:
    (tmp_path / "a.txt").write_text("ett två, tre\nfyra\n", encoding="utf-8")
    train_on_files(FastTextTraining(), [tmp_path / "a.txt"], "sv", tmp_path / "v.bin", CPU)
    assert trained_on == [{"ett två , tre", "fyra"}]
    with pytest.raises(InputError, match=r"none\.txt: no such file"):
        train_on_files(FastTextTraining(), [tmp_path / "a.txt", tmp_path / "none.txt"], "sv", tmp_path / "v.bin", CPU)


def test_text_files_beside_a_suite_are_trained_on_as_well(
    suite_file: Path, trained_on: list[set[str]], tmp_path: Path
) -> None:
    suite, data, path = load_suite(suite_file), suite_file.parent / "data", tmp_path / "v.bin"
    (tmp_path / "a.txt").write_text("ett två, tre\nfyra\n", encoding="utf-8")
    train_on_suite(FastTextTraining(), suite, data, 0.1, path, CPU)
    check_recipe(suite, data, 0.1, path)
    train_on_suite(FastTextTraining(), suite, data, 0.1, path, CPU, [tmp_path / "a.txt"])
    assert trained_on[0] and trained_on[1] == trained_on[0] | {"ett två , tre", "fyra"}
    with pytest.raises(InputError, match="was trained on other texts"):
        check_recipe(suite, data, 0.1, path)
    with pytest.raises(InputError, match=r"none\.txt: no such file"):
        train_on_suite(FastTextTraining(), suite, data, 0.1, path, CPU, [tmp_path / "none.txt"])


def test_settings_are_of_the_kind_s_own_training() -> None:
    assert training_settings("fasttext", {"dim": 3, "bucket": 7}) == FastTextTraining(dim=3, bucket=7)
    assert training_settings("elmo", {"max_steps": 3}) == ELMoTraining(max_steps=3)


@pytest.mark.parametrize(
    ("name", "given", "problem"),
    [
        ("random", {}, "embeddings=random: cannot be trained; fasttext and elmo can"),
        ("word2vec", {}, "embeddings.name=word2vec: must be one of random, fasttext, elmo"),
        ("fasttext", {"dimension": 3}, "unknown key 'dimension'; "),
        ("fasttext", {"dim": "wide"}, "dim=wide: "),
        ("fasttext", {"dim": 0}, "dim=0: too small"),
        ("fasttext", {"lstm_dim": 3}, "unknown key 'lstm_dim'"),
    ],
)
def test_wrong_settings_are_one_line(name: str, given: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=f"^{problem}"):
        training_settings(name, given)
