"""Settings from keyword arguments, dictionaries and strings are those of the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from input_errors import refused

import mtl
from mtl.api.settings import call_text, plain_settings
from mtl.jobs.job import parse_settings


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (["encoder.hidden_size=64", "seeds=[1, 2]"], {}),
        ([{"encoder": {"hidden_size": 64}, "seeds": [1, 2]}], {}),
        ([{"encoder.hidden_size": 64}], {"seeds": [1, 2]}),
        ([], {"encoder": {"hidden_size": np.int64(64)}, "seeds": range(1, 3)}),
        (["encoder.hidden_size=8"], {"encoder": {"hidden_size": 64}, "seeds": np.array([1, 2])}),
        ([{"seeds": 7}, "seeds=[1,2]"], {"encoder": {"hidden_size": 64}}),
    ],
)
def test_every_form_gives_the_same_settings(settings: list[Any], named: dict[str, Any]) -> None:
    assert plain_settings(settings, named) == parse_settings(["encoder.hidden_size=64", "seeds=[1,2]"])


def test_the_recorded_call_gives_the_same_settings() -> None:
    given = plain_settings(
        [], {"suite": "klej-sample", "seeds": 2, "tasks": None, "data_dir": Path("a/b"), "encoder.dropout": 0.5}
    )
    assert given["data_dir"] == "a/b"
    words = eval(call_text(given).removeprefix("mtl.run"))
    assert plain_settings(words, {}) == given


@pytest.mark.parametrize(
    ("settings", "named", "key"),
    [
        ([3], {}, None),
        (["suite"], {}, None),
        ([{1: 2}], {}, None),
        ([], {"encoder": {2: 3}}, None),
        ([], {"seeds": np.arange(10_001)}, None),
    ],
)
def test_settings_of_another_form(settings: list[Any], named: dict[str, Any], key: str | None) -> None:
    refused(lambda: plain_settings(settings, named), key=key)


SEEDS = [{"seeds": "many"}, {"seeds": 0}, {"seeds": 1.5}, {"seeds": True}]


@pytest.mark.parametrize("named", [*SEEDS, {"encoder": {"hidden_size": object}}, {"nix": 1}])
def test_values_that_no_run_takes(named: dict[str, Any]) -> None:
    with pytest.raises(mtl.InputError):
        mtl.run(suite="klej-sample", **named)
