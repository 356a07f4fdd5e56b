"""The rows of a task in a local folder, which is not trusted: its files, none of which leads out of it, and whether their lines are rows."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from huggingface_hub import metadata_load

from mtl.base.errors import InputError
from mtl.base.untrusted import inside, is_inside, read_bytes
from mtl.base.untrusted_lines import open_lines
from mtl.base.untrusted_yaml import YAML_LIMIT
from mtl.data.files import decode
from mtl.data.json_rows import parse_row


def row_files(folder: Path) -> list[Path]:
    """The files of a folder of rows. Raises InputError for a link that leads out of the folder, for a card that names other files, and for a
    .huggingface.yaml, which may name some."""
    files = sorted(inside(folder, str(path.relative_to(folder))) for path in folder.rglob("*") if path.is_file())
    for path in files:
        if path.name == ".huggingface.yaml":
            raise InputError("is not supported; move its content to README.md", path=path)
        for name in _named_files(path) if path.name == "README.md" else ():
            if not is_inside(name) or ":" in name:  # an address, or a file system of fsspec
                raise InputError(f"{name!r} is no file of this folder; name one that is", path=path, key="configs")
    return files


def check_json_lines(files: Sequence[Path]) -> None:
    """Raise InputError for a .jsonl file without rows or with a line that is no row."""
    for path in [file for file in files if file.suffix == ".jsonl"]:
        has_rows = False
        with open_lines(path) as lines:
            for line in filter(bytes.strip, lines):  # datasets skips lines without text
                parse_row(path, lines.number, decode(line, str(path), lines.number - 1))
                has_rows = True
        if not has_rows:
            raise InputError("has no rows; write one JSON object a line", path=path)


def _named_files(card: Path) -> Iterator[str]:
    """The texts below `configs` in the card of a dataset, where datasets finds the names of files. A card that is not YAML has none."""
    read_bytes(card, YAML_LIMIT)  # raises for a larger one
    try:
        configs = (metadata_load(card) or {}).get("configs")
    except (yaml.YAMLError, ValueError, RecursionError):  # datasets raises its own error
        return
    pending, known = [configs], set[int]()
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list) and id(value) not in known:  # references may repeat it
            known.add(id(value))
            pending += value.values() if isinstance(value, dict) else value
