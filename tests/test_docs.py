from dataclasses import fields
from pathlib import Path

import pytest

from mtl.embedders.elmo.training import ELMoTraining
from mtl.embedders.fasttext import FastTextTraining


@pytest.mark.parametrize("training", [FastTextTraining, ELMoTraining])
def test_every_setting_of_a_training_is_listed(training: type) -> None:
    text = (Path(__file__).parent.parent / "docs/embeddings.md").read_text(encoding="utf-8")
    assert [field.name for field in fields(training) if f"`{field.name}`" not in text] == []
