from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
import torch

from mtl.config.load import load_config
from mtl.data.dataset import load_dataset
from mtl.embedders import find_vectors
from mtl.embedders.fasttext import FastTextTraining
from mtl.embedders.recipes import load_recipe
from mtl.embedders.train import check_recipe, train, train_recipe
from mtl.errors import InputError
from mtl.tasks.suite import load_suite


@pytest.fixture
def trained_on(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The texts of each training, which are all that happens in it."""
    seen: list[set[str]] = []

    def record(self: object, lines: Iterable[Sequence[str]], path: Path, source: str, device: torch.device) -> None:
        seen.append({" ".join(words) for words in lines})

    monkeypatch.setattr(FastTextTraining, "train", record)
    return seen


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_dev_rows_of_the_run_are_not_trained_on(suite_file: Path, trained_on: list[set[str]], share: float) -> None:
    data = suite_file.parent / "data"
    for path in (*data.glob("*.tsv"), *data.glob("scores/*.tsv")):  # what is left is a task without a dev file
        path.unlink()
    suite = load_suite(suite_file)
    dataset = load_dataset(suite, suite.choose(["samma"]), data, 256, share)
    texts = {
        split: {" ".join(dataset.texts.words(i)) for i in dataset.distinct_texts(split)} for split in ("train", "dev")
    }
    train_recipe(load_recipe("fasttext-sample"), suite, data, share, suite_file.parent / "v.bin", torch.device("cpu"))
    given = [f"suite={suite_file}", f"data_dir={data}", f"suite_held_out={share}", f"out={suite_file.parent / 'v.bin'}"]
    train("fasttext", given)
    assert trained_on == [texts["train"]] * 2
    assert texts["dev"] - texts["train"]


def test_vectors_of_other_texts_are_refused(suite_file: Path, trained_on: list[set[str]], tmp_path: Path) -> None:
    suite, data, path = load_suite(suite_file), suite_file.parent / "data", tmp_path / "v.bin"
    with pytest.raises(InputError, match=r"v\.bin: was trained on other texts .*; remove it, and the same command"):
        check_recipe(suite, data, 0.1, path)
    train_recipe(load_recipe("fasttext-sample"), suite, data, 0.1, path, torch.device("cpu"))
    check_recipe(suite, data, 0.1, path)
    for share, added in ((0.2, ""), (0.1, "ny rad\tglad\n")):
        with (data / "train.tsv").open("a", encoding="utf-8") as file:
            file.write(added)
        with pytest.raises(InputError, match="was trained on other texts"):
            check_recipe(suite, data, share, path)


@pytest.mark.parametrize(("share", "name"), [(0.1, "klej-sample.bin"), (0.25, "klej-sample-held-out-0.25.bin")])
def test_each_share_of_held_out_rows_has_its_vectors(suite_file: Path, share: float, name: str) -> None:
    given = [f"suite={suite_file}", "embeddings=fasttext", f"held_out={share}"]
    for recipe, file in (("fasttext-sample", name), ("fasttext-pl", "cc.pl.300.bin")):
        config, suite = load_config([*given, f"embeddings.path={recipe}"])
        assert find_vectors(config, suite)[0].name == file


def test_vectors_of_a_suite_have_its_name(
    trained_on: list[set[str]], suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ["suite=liten.yaml", f"data_dir={suite_file.parent / 'data'}"]
    assert train("fasttext", given).name == "liten.bin"
    assert train("fasttext", [*given, "suite_held_out=0.3"]).name == "liten-held-out-0.3.bin"
