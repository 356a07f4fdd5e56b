"""Data files that mtl writes are read back as they were."""

from pathlib import Path
from typing import Any

import pytest
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.benchmark_making.data_files import write_records
from mtl.data.records import column_names, read_records


def values(path: Path, *columns: str) -> list[tuple[Any, ...]]:
    return [record.values for record in read_records(path, columns)]


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_written_rows_read_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    rows = [("Zażółć", "\"a\", 'b' \\n", "\u2028"), ("", "NA", "null")]
    assert write_records(path, ["a", "b", "c"], rows) == 0
    assert values(path, "a", "b", "c") == rows


def test_tsv_cannot_hold_tabs_and_line_ends(tmp_path: Path) -> None:
    rows = [("a\tb", 1), ("c\r\nd\n\ne\r", 2.5), ("f", True)]
    assert write_records(tmp_path / "x.tsv", ["t", "n"], rows) == 2
    assert values(tmp_path / "x.tsv", "t", "n") == [("a b", "1"), ("c d  e ", "2.5"), ("f", "true")]
    assert write_records(tmp_path / "x.csv", ["t"], [row[:1] for row in rows]) == 0
    assert values(tmp_path / "x.csv", "t") == [row[:1] for row in rows]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_nested_columns_are_written_nested(tmp_path: Path, suffix: str) -> None:
    path, columns, rows = tmp_path / f"x{suffix}", ["a.b", "c[]", "a.d.e"], [(1, ["x", "y"], 0.5), (2, ["z"], 1.5)]
    write_records(path, columns, rows)
    assert values(path, *columns) == rows
    assert column_names(path) == ["a.b", "a.d.e", "c[]"]
    for clash in (["a", "a.b"], ["a.b", "a"], ["a.b", "a.b.c"], ["a", "a.b.c"]):
        with raises_input_error():
            write_records(path, clash, [("x", "y")])


@pytest.mark.parametrize(
    ("suffix", "rows", "expected"),
    [
        (".tsv", [(["a"],)], "cannot be written: a text or a number is expected here, not a list"),
        (".csv", [(["a"],)], "cannot be written: a text or a number is expected here, not a list"),
        (".parquet", [("a",), (1,)], "cannot be written: .*; give each column values of one type"),
        (".txt", [("a",)], "unknown format"),
    ],
)
def test_values_that_a_format_cannot_hold(tmp_path: Path, suffix: str, rows: list[Any], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        write_records(tmp_path / f"x{suffix}", ["c"], rows)
