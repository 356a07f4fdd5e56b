"""Write what the declarations of settings say into the tables of keys in the documents: each key's default and the values that it takes.

    python tools/reference.py

The meaning of a key, the last column, is written by hand, in the document. A key without a row, and a row without a key, is an error.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import omegaconf
import yaml

from mtl.pretraining.settings import PretrainingSettings
from mtl.settings.bounds import Interval, OneOf, bounds_of
from mtl.settings.layers import flatten
from mtl.settings.schema import Config

ROOT = Path(__file__).resolve().parent.parent
PLAIN = {
    bool: "`true`, `false`",
    int: "whole number",
    float: "number",
    str: "text",
    list: "list",
    dict: "keys and values",
}


def values_in_words(kind: type, name: str) -> str:
    """The values that a field of a dataclass takes, as a cell of a table."""
    declared = get_type_hints(kind)[name]
    types = get_args(declared) if isinstance(declared, UnionType) else (declared,)
    (plain,) = [get_origin(type_) or type_ for type_ in types if type_ is not NoneType]
    match bounds_of(kind, name):
        case OneOf(values=values):
            words = ", ".join(f"`{value}`" for value in values)
        case Interval() as interval:
            words = f"{'whole number, ' if plain is int else ''}{interval}"
        case _:
            words = PLAIN[plain]
    return f"{words}, or null" if NoneType in types else words


def declared_keys(kind: type, prefix: str = "") -> Iterator[tuple[str, type, str]]:
    """Each key of a configuration by its dotted name, with the dataclass and the field that declare it."""
    types = get_type_hints(kind)
    for item in fields(kind):
        if is_dataclass(types[item.name]) and item.name != "embeddings":
            yield from declared_keys(types[item.name], f"{prefix}{item.name}.")
        elif item.name != "embeddings":
            yield f"{prefix}{item.name}", kind, item.name


def run_rows() -> dict[str, list[str]]:
    """The default and the values of each key of a run. The defaults stand in configs/baseline.yaml alone."""
    text = (ROOT / "configs/baseline.yaml").read_text(encoding="utf-8")
    given = flatten(yaml.safe_load(text))
    return {
        key: [code(given.get(key, {}), text), values_in_words(kind, name)] for key, kind, name in declared_keys(Config)
    }


def pretraining_rows() -> dict[str, list[str]]:
    """The default and the values of each setting of a pre-training."""
    rows = {}
    for item in fields(PretrainingSettings):
        default = "–" if item.default in (MISSING, omegaconf.MISSING) else code(item.default)
        rows[item.name] = [default, values_in_words(PretrainingSettings, item.name)]
    return rows


def code(value: Any, text: str = "") -> str:
    """A value as YAML in a code span; a number as it stands in the text, where it does."""
    if isinstance(value, float):
        shown = f"{value:.1e}".replace("e-0", "e-") if value and abs(value) < 1e-3 else repr(value)
    elif isinstance(value, str) and value != value.strip():
        shown = f'"{value}"'
    else:
        shown = yaml.safe_dump(value, default_flow_style=True, width=1000).splitlines()[0]
    return f"`{shown}`"


def filled(text: str, heading: str, rows: Mapping[str, list[str]]) -> str:
    """A document with the columns of a table filled in.

    Args:
        text: the document.
        heading: how the first line of the table begins.
        rows: by key, the cells between the key and its meaning.

    Raises:
        SystemExit: if the table lacks a key, or has one that does not exist.
    """
    lines = text.split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith(heading)) + 2
    seen = []
    for number in range(start, len(lines)):
        if not lines[number].startswith("|"):
            break
        cells = [cell.strip() for cell in lines[number].split("|")[1:-1]]
        keys = [key.strip(" `") for key in cells[0].split(",")]
        if unknown := [key for key in keys if key not in rows]:
            sys.exit(f"{heading} {unknown[0]}: no such key")
        seen += keys
        both = (" / ".join(dict.fromkeys(column)) for column in zip(*(rows[key] for key in keys), strict=True))
        lines[number] = f"| {cells[0]} | {' | '.join(both)} | {cells[-1]} |"
    if lacking := [key for key in rows if key not in seen]:
        sys.exit(f"{heading} has no row of {', '.join(lacking)}")
    return "\n".join(lines)


def documents() -> dict[Path, str]:
    """What the documents with tables of keys should be, by their paths."""
    tables = {
        ROOT / "docs/how-to/settings.md": ("| key | default | values |", run_rows()),
        ROOT / "docs/how-to/pretraining.md": ("| setting | default | values |", pretraining_rows()),
    }
    return {path: filled(path.read_text(encoding="utf-8"), heading, rows) for path, (heading, rows) in tables.items()}


if __name__ == "__main__":
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
