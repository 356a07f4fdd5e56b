"""Values of the right type that make no sense are refused with one line."""

from dataclasses import asdict
from typing import Any, get_args

import pytest
from input_errors import refused
from msgspec import Meta

from mtl.base.settings.schema import BY_TASK, CHOICES, INDIFFERENT, LOCATIONS, Config, config_of
from mtl.base.typed import declared_keys, notes_of
from mtl.embedders import EMBEDDERS
from mtl.jobs.job import load_job


def test_what_keys_are_follows_from_their_types_and_lists_have_examples() -> None:
    known = dict(declared_keys(Config))
    for kind in EMBEDDERS.values():
        known |= dict(declared_keys(kind.options, "embeddings."))
    assert set(INDIFFERENT) <= set(known) and set(LOCATIONS) <= set(INDIFFERENT)
    assert CHOICES == ("suite", "method", "variant", "architecture", "preset")
    assert BY_TASK == ("floor.train_rows", "imported.labels", "imported.rows")
    lists = {key: hint for key, hint in declared_keys(Config) if "list[" in str(hint) and key not in BY_TASK}
    assert len(lists) == 6
    for hint in lists.values():
        assert any(isinstance(note, Meta) and note.examples for note in notes_of(hint)), get_args(hint)


def checked(config: Config, **changes: Any) -> Config:
    """The configuration with these values by dotted key."""
    content = asdict(config)
    for key, value in changes.items():
        section, _, name = key.rpartition(".")
        (content[section] if section else content)[name] = value
    return config_of(content, type(config.embeddings))


@pytest.fixture(scope="module")
def defaults() -> Config:
    return load_job({"suite": "klej-sample"}).config


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("resources.gpu", share) for share in (-1.0, 1.5, 0.00001, float("inf"))),
        *(("resources.memory", float("inf")), ("resources.memory", 1e-10), ("embeddings.dropout", 1.5)),
        *((f"{key}", 10**9) for key in ("encoder.hidden_size", "encoder.num_layers", "head.attention_size", "embeddings.dim")),
        *(("pretrain.learning_rate", 1e-9), ("finetune.final_learning_rate", 1.0)),
        *(("seeds", seeds) for seeds in ([], [1, 1], [-1], [99999999999])),
        *(("floor.grid", {"C": 1}), ("floor.grid", {"C": []})),
    ],
)  # fmt: skip
def test_a_value_that_makes_no_sense_is_named(defaults: Config, key: str, value: object) -> None:
    assert checked(defaults) == defaults
    refused(lambda: checked(defaults, **{key: value}))
