"""Values of the right type that make no sense are refused with one line."""

from dataclasses import asdict
from typing import Any, get_args

import pytest
from msgspec import Meta

from mtl.base.errors import InputError
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
    assert len(lists) == 9
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
    ("key", "value", "complaint"),
    [
        ("resources.gpu", -1.0, "resources.gpu=-1.0: must be a share from 0 to 1"),
        ("resources.gpu", 1.5, "resources.gpu=1.5: must be a share from 0 to 1 with at most four decimals, or a whole"),
        ("resources.gpu", 0.00001, "resources.gpu=1e-05: must be a share from 0 to 1 with at most four decimals"),
        ("resources.gpu", float("inf"), "resources.gpu=inf: must be a finite number"),
        ("resources.memory", float("inf"), "resources.memory=inf: must be a finite number"),
        ("resources.memory", 1e-10, "resources.memory=1e-10: must be a number of GB"),
        ("encoder.hidden_size", 10**9, "encoder.hidden_size=1000000000: must lie between 1 and 65,536"),
        ("encoder.num_layers", 10**9, "encoder.num_layers=1000000000: must lie between 1 and 100"),
        ("head.attention_size", 10**9, "head.attention_size=1000000000: must lie between 1 and 65,536"),
        ("embeddings.dim", 10**9, "embeddings.dim=1000000000: must lie between 1 and 65,536"),
        ("pretrain.learning_rate", 1e-9, "must lie between 0 and pretrain.learning_rate=1e-09"),
        ("finetune.final_learning_rate", 1.0, "finetune.final_learning_rate=1.0: must lie between 0 and"),
        ("embeddings.dropout", 1.5, "embeddings.dropout=1.5: must be at least 0 and less than 1"),
        ("seeds", [], "must be different whole numbers"),
        ("seeds", [1, 1], "must be different whole numbers"),
        ("seeds", [-1], "must be different whole numbers"),
        ("seeds", [99999999999], "must be different whole numbers from 0 to"),
        ("floor.word_ngrams", [2, 1], "floor.word_ngrams=[2, 1]: must be [shortest, longest]"),
        ("floor.char_ngrams", [0, 1], "floor.char_ngrams=[0, 1]: must be [shortest, longest]"),
        ("floor.grid", {"C": 1}, "floor.grid.C=1: must be a list of values to try"),
        ("floor.grid", {"C": []}, "floor.grid.C=[]: must be a list of values to try"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(defaults: Config, key: str, value: object, complaint: str) -> None:
    assert checked(defaults) == defaults
    with pytest.raises(InputError) as caught:
        checked(defaults, **{key: value})
    assert complaint in str(caught.value) and "\n" not in str(caught.value)
