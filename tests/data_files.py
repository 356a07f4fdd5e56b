"""Data files as other people make them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], separator: str = "\t") -> Path:
    """A file with a header, its cells as they are given: tab-separated, or comma-separated without quotes."""
    return write_lines(path, [separator.join(map(str, cells)) for cells in [header, *rows]])


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    return write_lines(path, [json.dumps(row, ensure_ascii=False) for row in rows])


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_column(path: Path) -> list[str]:
    """The values in a file of one column, below its header."""
    return path.read_text(encoding="utf-8").splitlines()[1:]


def sentences(count: int, of: str = "a text") -> list[str]:
    """Texts of several words, all different."""
    return [f"this is {of} with the number {i}" for i in range(count)]
