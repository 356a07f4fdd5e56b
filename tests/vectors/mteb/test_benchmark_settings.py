"""The settings of `mtl mteb`."""

from datetime import date

import pytest

from mtl.base.errors import InputError
from mtl.base.typed import UnknownKey
from mtl.vectors.mteb.benchmark import read_settings, unknown_key


def test_other_keys_are_the_encoders() -> None:
    given = {
        "tasks": ["CBD"],
        "pooling": "mean",
        "embeddings.path": "x",
        "suite_data_dir": "k",
        "model.license": "mit",
    }
    settings, encoder = read_settings({**given, "model.release_date": date(2026, 11, 22)})
    assert (settings.tasks, settings.benchmark, settings.data_dir) == (["CBD"], "pl-mteb", None)
    assert (settings.model.license, settings.model.release_date) == ("mit", "2026-11-22")
    assert encoder == {"pooling": "mean", "embeddings.path": "x", "data_dir": "k"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("tasks", "CBD", r"tasks=CBD: must be a list, as in tasks=\[PpcPC,SICK-R-PL\]"),
        ("model.name", "plain", "must be organization/name"),
        ("model.release_date", "soon", "must be a date"),
        ("model.open_weights", True, "needs a licence"),
        ("model.open_weights", "perhaps", "model.open_weights=perhaps: "),
        ("model.reference", "ftp://x", "must begin with https"),
        ("model.colour", "red", "unknown key 'model.colour'"),
    ],
)
def test_a_bad_value_is_one_line(key: str, value: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_settings({key: value})
    assert "\n" not in str(raised.value)


def test_an_unknown_key_is_shown_with_the_keys_of_the_command() -> None:
    shown = unknown_key(UnknownKey("bogus", ["seed", "data_dir"]))
    own = "benchmark, data_dir, model.license, model.name, model.open_weights, model.public_training_code, "
    own += "model.public_training_data, model.reference, model.release_date, runs_dir, seed, suite_data_dir, tasks"
    assert str(shown) == f"unknown key 'bogus'; known keys: {own}"
    assert str(unknown_key(UnknownKey("data_dir", ["seed"]))).startswith("unknown key 'suite_data_dir'; ")
    of_section = UnknownKey("colour", ["dim"], "embeddings.")
    assert str(unknown_key(of_section)) == "unknown key 'embeddings.colour'; known keys: embeddings.dim"
