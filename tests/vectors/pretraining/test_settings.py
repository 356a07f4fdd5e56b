from pathlib import Path
from typing import Any

import pytest
from input_errors import raises_input_error
from pretraining_parts import GIVEN

from mtl.base.settings.layers import shipped
from mtl.vectors.pretraining.settings import read_settings


@pytest.mark.parametrize("path", sorted((shipped("configs") / "pretrain").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_file_is_valid(path: Path) -> None:
    assert read_settings(path.stem, {}) == read_settings(str(path), {})


def test_herbert_has_the_papers_figures_and_given_limits_replace_those_of_a_file() -> None:
    herbert = read_settings("herbert", {})
    assert (herbert.num_layers, herbert.hidden_size, herbert.num_heads, herbert.vocabulary) == (12, 768, 12, "bpe")
    assert (herbert.max_steps, herbert.batch_size, herbert.learning_rate, herbert.warmup) == (180_000, 570, 1e-4, 500)
    assert (herbert.vocab_size, herbert.max_length, herbert.min_tokens) == (50_000, 512, 20)
    assert (herbert.beta2, herbert.epsilon) == (0.999, 1e-8)
    assert read_settings("tiny", {"max_steps": 9}).max_steps == 9


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        *(({"hidden_size": 33}, "num_heads"), ({"accumulate": 3}, "accumulate"), ({"max_steps": None}, "max_steps")),
        *(({"learning_rate": float("nan")}, "learning_rate"), ({"max_minutes": 1}, None)),
        ({"warmup": 12}, "warmup"),
    ],
)
def test_a_setting_that_makes_no_sense_is_one_line(changes: dict[str, Any], key: str | None) -> None:
    with raises_input_error(key=key):
        read_settings("tiny", {**GIVEN, **changes})


def test_a_file_of_ones_own_may_lack_nothing(tmp_path: Path) -> None:
    for content, file in (("vocab_size: 100", None), ("vocabsize: 100", "own.yaml")):
        (tmp_path / "own.yaml").write_text(content, encoding="utf-8")
        with raises_input_error(file=file):
            read_settings(str(tmp_path / "own.yaml"), {})
    with raises_input_error():
        read_settings("huge", {})
