"""Data files as other people make them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], separator: str = "\t") -> Path:
    """A file with a header, its cells as they are given: tab-separated, or comma-separated without quotes."""
    return write_lines(path, [separator.join(map(str, cells)) for cells in [header, *rows]])


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    return write_lines(path, [json.dumps(row, ensure_ascii=False) for row in rows])


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path


def write_rows(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    """Rows of columns in the form that the suffix names: .tsv, .csv, .jsonl or .parquet."""
    objects = [dict(zip(columns, row, strict=True)) for row in rows]
    if path.suffix == ".jsonl":
        return write_jsonl(path, objects)
    if path.suffix == ".parquet":
        parquet.write_table(pyarrow.Table.from_pylist(objects), path)
        return path
    return write_table(path, columns, rows, "\t" if path.suffix == ".tsv" else ",")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_column(path: Path) -> list[str]:
    """The values in a file of one column, below its header."""
    return path.read_text(encoding="utf-8").splitlines()[1:]


def sentences(count: int, of: str = "a text") -> list[str]:
    """Texts of several words, all different."""
    return [f"this is {of} with the number {i}" for i in range(count)]
