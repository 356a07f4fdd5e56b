"""Settings as Python code gives them: keyword arguments, dictionaries and "key=value" strings."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from mtl.base.errors import InputError
from mtl.base.interface import errors_as_input

MOST_ITEMS = 10_000  # of a list
SUITE_PROBLEM = "must be a name, a path or a Suite, as in mtl.Suite.from_frames({'train': frame}, name='mine')"

Settings: TypeAlias = str | Mapping[str, Any]
"""One setting as on the command line, as in "encoder.hidden_size=64", or several by key; nested, or with dotted keys."""


def plain_settings(settings: Sequence[Settings], named: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by dotted keys, with values as YAML has them; `suite` is a name or a path. Later settings replace earlier ones, as on the command
    line, and keyword arguments (`named`) all others. Raises InputError for a string that is not key=value, a key that is not a string,
    what is no suite, and a list that is too long.

    >>> plain_settings(["encoder.hidden_size=64", {"encoder": {"num_layers": 1}}], {"suite": "klej-sample", "seeds": 2})
    {'encoder.hidden_size': 64, 'encoder.num_layers': 1, 'suite': 'klej-sample', 'seeds': 2}
    """
    from mtl.jobs.job import parse_settings

    merged: dict[str, Any] = {}
    with errors_as_input("settings"):  # a list that holds itself is a RecursionError
        for layer in (*settings, named):
            if not isinstance(layer, str | Mapping):
                raise InputError(f"settings are key=value strings or dictionaries, not {type(layer).__name__}")
            merged |= parse_settings([layer]) if isinstance(layer, str) else _flat(layer)
    return merged


def call_text(settings: Mapping[str, Any]) -> str:
    """The call of `mtl.run` with these settings, which the files of a run record as they record a command line."""
    words = (
        f"{key}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}"
        for key, value in settings.items()
    )
    return f"mtl.run({', '.join(map(repr, words))})"


def _flat(tree: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by dotted keys that begin with the prefix; of a `Suite`, those of its file and data. Raises InputError as `plain_settings`."""
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        if not isinstance(key, str):
            raise InputError(f"{prefix}{key!r}: keys of settings are strings")
        if f"{prefix}{key}" == "suite" and not isinstance(value, str | os.PathLike):
            if not hasattr(value, "settings"):
                raise InputError(f"{SUITE_PROBLEM}, not a {type(value).__name__}", key=key)
            flat |= value.settings
        elif isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = _plain(value)
    return flat


def _plain(value: Any) -> Any:
    """A value as YAML has it: a path is a string, a sequence a list, a numpy number one of Python. Raises InputError for a list that is too long."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist") and not isinstance(value, type):
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        if len(value) > MOST_ITEMS:
            raise InputError(f"a list of {len(value):,} values; settings have at most {MOST_ITEMS:,}")
        return [_plain(item) for item in value]
    return value
