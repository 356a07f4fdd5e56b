import logging
from pathlib import Path

import pytest
import yaml
from input_errors import raises_input_error
from pretraining_parts import GIVEN, lines

from mtl.vectors.pretraining.pretrain import own_body
from mtl.vectors.pretraining.training import MaskedLanguageModelling


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "mini.yaml"
    path.write_text(yaml.safe_dump({**GIVEN, "max_steps": 2}), encoding="utf-8")
    return str(path)


def test_a_body_is_trained_once_for_its_texts_and_settings(
    tmp_path: Path, config: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="mtl"):
        folder = own_body(lines(), "pl", tmp_path / "cache", config)
    assert folder.parent == tmp_path / "cache" and folder.name.startswith("bert-mini-")
    assert f"training {folder} on the suite's training text" in caplog.text
    from transformers import AutoModel, AutoTokenizer

    assert AutoModel.from_pretrained(folder).config.hidden_size == 32
    assert AutoTokenizer.from_pretrained(folder)("kot", "idzie")["token_type_ids"][-1] == 1
    run = MaskedLanguageModelling.run
    monkeypatch.setattr(MaskedLanguageModelling, "run", None)
    assert own_body(lines(), "pl", tmp_path / "cache", config) == folder
    monkeypatch.setattr(MaskedLanguageModelling, "run", run)
    assert own_body(lines(seed=1), "pl", tmp_path / "cache", config) != folder


def test_a_body_of_other_software_is_another_one(tmp_path: Path, config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name follows from the libraries that draw weights and make tokens, and from how mtl trains."""

    def name() -> str:
        return own_body(lines(), "pl", tmp_path, config).name

    monkeypatch.setattr("mtl.vectors.pretraining.pretrain.pretrain", lambda *given: None)
    names = [name()]
    monkeypatch.setattr("mtl.vectors.pretraining.pretrain.FORMAT", 0)
    names.append(name())
    monkeypatch.setattr("mtl.base.extras.version", lambda package: "0")
    names.append(name())
    monkeypatch.setattr("mtl.vectors.pretraining.pretrain.version", lambda package: "0")
    assert len({*names, name()}) == 4


def test_no_text_is_an_error(tmp_path: Path, config: str) -> None:
    with raises_input_error():
        own_body([], "pl", tmp_path, config)
