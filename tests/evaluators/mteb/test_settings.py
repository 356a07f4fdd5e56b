"""The settings of `mtl mteb`."""

from datetime import date

import pytest

from mtl.errors import InputError
from mtl.evaluators.mteb.settings import read_settings


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
        ("tasks", "CBD", r"tasks=CBD: must be a list, as in \[PpcPC,SICK-R-PL\]"),
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
