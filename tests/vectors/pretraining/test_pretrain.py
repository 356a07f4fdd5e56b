import json
import logging
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from data_files import read_json
from input_errors import raises_input_error
from pretraining_parts import ARGUMENTS, GIVEN, lines, small, text_file
from safetensors.torch import load_file

from mtl.base.errors import InputError
from mtl.base.folders import check_new_folder
from mtl.vectors.pretraining import pretrain as module
from mtl.vectors.pretraining.pretrain import pretrain, trained_body
from mtl.vectors.pretraining.tokens import PretrainingTexts
from mtl.vectors.pretraining.training import MaskedLanguageModelling
from mtl.vectors.pretraining.unfinished import unfinished_folder


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> PretrainingTexts:
    return PretrainingTexts([text_file(tmp_path_factory.mktemp("text"))], language="pl")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, texts: PretrainingTexts) -> Path:
    folder = tmp_path_factory.mktemp("model") / "bert"
    pretrain(texts, small(), folder)
    return folder


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def test_transformers_loads_the_folder_without_a_network(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification, AutoTokenizer

    def refuse(*arguments: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    tokenizer = AutoTokenizer.from_pretrained(finished)
    pair = tokenizer("kot idzie", "żółw", return_tensors="pt")
    assert tokenizer.model_max_length == 16 and pair["token_type_ids"].unique().tolist() == [0, 1]
    model, loaded = AutoModelForMaskedLM.from_pretrained(finished, output_loading_info=True)
    assert not any(loaded[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert model.dtype == torch.float32 and model(**pair).logits.shape[-1] == len(tokenizer)
    assert AutoModel.from_pretrained(finished)(**pair).last_hidden_state.shape[-1] == 32
    heads = AutoModelForSequenceClassification.from_pretrained(finished, num_labels=3)
    assert heads(**pair).logits.shape == (1, 3)


def test_the_folder_says_how_the_model_was_made(finished: Path, texts: PretrainingTexts) -> None:
    log = read_json(finished / "training.json")
    assert log["fingerprint"] == texts.fingerprint and log["texts"] == ["text.txt"]
    assert log["settings"]["hidden_size"] == 32 and log["steps"] == 12 and log["documents"] == 150
    assert [row["step"] for row in log["validations"]] == [4, 8, 12]
    card = (finished / "README.md").read_text(encoding="utf-8")
    assert 'language: "pl"' in card and f"{log['validations'][-1]['perplexity']:.2f}" in card
    assert str(finished.parent) not in card + json.dumps(log)
    assert not unfinished_folder(finished).exists()
    modes = {path.name: path.stat().st_mode & 0o777 for path in finished.iterdir()}
    assert modes["model.safetensors"] == modes["config.json"]
    with raises_input_error(file="bert"):  # it is not replaced
        pretrain(texts, small(), finished)
    assert not unfinished_folder(finished).exists()


@pytest.mark.slow
def test_a_killed_training_gives_the_same_weights_when_continued(
    tmp_path: Path, finished: Path, texts: PretrainingTexts, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "bert"
    command = ["pretrain", "transformer", f"texts=[{texts.files[0]}]", f"out={out}", "language=pl", "config=tiny"]
    code = f"""
import os, signal, sys
sys.path[:0] = {sys.path!r}
from mtl.api.cli import main
from mtl.vectors.pretraining.training import MaskedLanguageModelling
compute = MaskedLanguageModelling.loss_and_gradients
def killed(self, batch):
    if self.step == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return compute(self, batch)
MaskedLanguageModelling.loss_and_gradients = killed
main({[*command, "accelerator=cpu", *ARGUMENTS]!r})
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    assert not out.exists()
    with raises_input_error(file="bert.unfinished"):
        pretrain(texts, small(seed=2), out)
    with caplog.at_level(logging.INFO, logger="mtl"):
        pretrain(texts, small(), out)
    assert "continuing after step 4" in caplog.text
    torch.testing.assert_close(weights(out), weights(finished), rtol=0, atol=0)
    for rows in zip(*(read_json(folder / "training.json")["validations"] for folder in (finished, out)), strict=True):
        assert {**rows[0], "seconds": 0} == {**rows[1], "seconds": 0}


def test_what_a_killed_preparation_left_is_replaced_and_files_of_no_training_stay(tmp_path: Path) -> None:
    left, other = (unfinished_folder(tmp_path / name) for name in ("bert", "other"))
    for path, content in (
        (left / "claim.json", "{}"),
        (tmp_path / "mac.unfinished/.DS_Store", ""),
        (left / "tokenizer.json", "of other texts"),
        (other / "x", "mine"),
        (tmp_path / "damaged.unfinished/claim.json", "{"),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    pretrain(PretrainingTexts(texts=lines()), small(max_steps=1), tmp_path / "bert")
    pretrain(PretrainingTexts(texts=lines()), small(max_steps=1), tmp_path / "mac")
    for name in ("other", "damaged"):
        with raises_input_error():
            pretrain(PretrainingTexts(texts=lines()), small(max_steps=1), tmp_path / name)
    with raises_input_error():  # a training that fails leaves nothing
        pretrain(PretrainingTexts(texts=lines(40)), small(batch_size=64), tmp_path / "little")
    assert {path.name for path in tmp_path.iterdir()} == {"bert", "mac", "other.unfinished", "damaged.unfinished"}
    assert [path.name for path in other.iterdir() if path.name != ".lock"] == ["x"]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory, texts: PretrainingTexts) -> Path:
    """The folder of a training that was interrupted after its first checkpoint."""
    compute = MaskedLanguageModelling.loss_and_gradients

    def interrupt(self: MaskedLanguageModelling, batch: np.ndarray) -> torch.Tensor:
        if self.step == 4:
            raise KeyboardInterrupt
        return compute(self, batch)

    folder = tmp_path_factory.mktemp("interrupted") / "bert"
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(MaskedLanguageModelling, "loss_and_gradients", interrupt)
        pretrain(texts, small(), folder)
    return unfinished_folder(folder)


@pytest.fixture
def left(interrupted: Path, tmp_path: Path) -> Path:
    """A copy of that folder; the training of `tmp_path / "bert"` continues there."""
    return shutil.copytree(interrupted, unfinished_folder(tmp_path / "bert"))


@pytest.mark.parametrize("name", ["claim.json", "tokenizer.json", "tokens.bin", "last.ckpt"])
def test_a_truncated_file_of_an_unfinished_training_is_one_line(
    tmp_path: Path, texts: PretrainingTexts, left: Path, name: str
) -> None:
    path = left / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with raises_input_error():
        pretrain(texts, small(), tmp_path / "bert")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mtl.vectors.pretraining.unfinished.FORMAT", 0, "format of mtl"),
        ("mtl.base.extras.version", lambda package: "0", "transformers, tokenizers"),
    ],
)
def test_a_training_of_other_software_does_not_continue(
    texts: PretrainingTexts, left: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: object, said: str
) -> None:
    monkeypatch.setattr(name, value)
    with pytest.raises(InputError, match=f"^{left}: holds an unfinished training with another {said};"):
        pretrain(texts, small(), left.with_name("bert"))


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "mini.yaml"
    path.write_text(yaml.safe_dump({**GIVEN, "max_steps": 2}), encoding="utf-8")
    return str(path)


def test_a_body_is_trained_once_for_its_texts_and_settings(
    tmp_path: Path, config: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="mtl"):
        folder = trained_body(lines(), "pl", tmp_path / "cache", config)
    assert folder.parent == tmp_path / "cache" and folder.name.startswith("bert-mini-")
    assert f"training {folder} on the suite's training text" in caplog.text
    from transformers import AutoModel, AutoTokenizer

    assert AutoModel.from_pretrained(folder).config.hidden_size == 32
    assert AutoTokenizer.from_pretrained(folder)("kot", "idzie")["token_type_ids"][-1] == 1
    with monkeypatch.context() as patch:
        patch.setattr(MaskedLanguageModelling, "run", None)
        assert trained_body(lines(), "pl", tmp_path / "cache", config) == folder
    assert trained_body(lines(seed=1), "pl", tmp_path / "cache", config) != folder
    with monkeypatch.context() as patch:  # another process trains it meanwhile
        patch.setattr(module, "train_once", lambda out, *given, **named: (out.mkdir(), check_new_folder(out.parent)))
        assert trained_body(lines(seed=2), "pl", tmp_path / "cache", config).is_dir()


def test_a_body_of_other_software_is_another_one(tmp_path: Path, config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name follows from the libraries that draw weights and make tokens, and from how mtl trains."""

    def name() -> str:
        return trained_body(lines(), "pl", tmp_path, config).name

    monkeypatch.setattr("mtl.vectors.pretraining.pretrain.pretrain", lambda *given: None)
    names = [name()]
    monkeypatch.setattr("mtl.vectors.pretraining.pretrain.FORMAT", 0)
    names.append(name())
    monkeypatch.setattr("mtl.base.extras.version", lambda package: "0")
    names.append(name())
    monkeypatch.setattr("mtl.vectors.pretraining.pretrain.version", lambda package: "0")
    assert len({*names, name()}) == 4
