"""Rows of data files. A file's suffix says its format: .tsv, .csv, .jsonl or .parquet.

- tsv: tab-separated and never quoted. A quote mark is a character of the text; an empty cell and the word "NA" are text.
- csv: comma-separated and quoted as RFC 4180 says.
- jsonl: one JSON object a line.
- parquet: read with pyarrow, which is optional.

Column names of jsonl and parquet may name nested keys and lists of texts, see `mtl.data.columns`."""

import csv
import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from mtl.base.errors import InputError
from mtl.base.untrusted import JSON_DEPTH, is_deep
from mtl.data.columns import (
    LIST,
    Value,
    copy_parquet,
    listed,
    names_in,
    nested,
    optional_value,
    parquet_names,
    parquet_rows,
    text,
    value_of,
    write_parquet,
)
from mtl.data.files import first_lines, read_bytes, read_lines, read_text

FIRST_ROWS = 100  # of a jsonl file are read for its columns' names

Lookup = Callable[[object, str], Any]  # a nested row, a column's name -> its value in the row; raises ValueError
Header = Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Record:
    """One row: where it stands in its file, and the values of the columns asked for, in that order.

    `line` is the line in a text file, where the header of a tsv or csv file is line 1 and a row of a csv file may go on
    over further lines. In a parquet file it is the number of the row, from 1.
    """

    line: int
    values: tuple[Value, ...]


def read_records(
    path: Path, columns: Sequence[str], optional: Sequence[str] = (), header: Header = None
) -> list[Record]:
    """All rows of a file, none dropped, with the values of these columns, and then those of optional columns.

    Args:
        header: the columns of a tsv or csv file whose first line names none of them: it has no header, and this line is a row.
        optional: further columns that the file has; the value is None where a row of a jsonl or parquet file has no
            text or number there.

    Raises:
        InputError: which names the file and the line: for an unknown suffix, a file that cannot be read or is damaged,
            a missing column or value, a row with too few or too many cells, and a file with no rows.
    """
    may_lack = set(optional) - set(columns)

    def lookup(row: object, column: str) -> Any:
        return optional_value(row, column) if column in may_lack else value_of(row, column)

    return _read(path, [*columns, *optional], lookup if may_lack else value_of, header)


def read_fields(path: Path, header: Header = None) -> dict[str, list[Value | None]]:
    """The values of each column that holds texts or numbers, by the column's name; None where a row has no such value.

    Lists are left out, and columns that share a name. The header is as in `read_records`, and so are the errors, except for missing
    values.
    """
    names = column_names(path, header)
    columns = [name for name in names if not name.endswith(LIST) and names.count(name) == 1]
    records = _read(path, columns, optional_value, header)
    return {name: [record.values[number] for record in records] for number, name in enumerate(columns)}


def is_typed(path: Path) -> bool:
    """Whether values in a file of this format have a type. Otherwise each of them is a text. Raises InputError for an unknown suffix."""
    return _format(path).rule is None


def column_names(path: Path, header: Header = None) -> list[str]:
    """The names of a file's columns in their order. The header and the errors are as in `read_records`.

    A jsonl file has the columns of its first 100 rows, without those that are null in all of them.
    """
    form = _format(path)
    if form.names is not None:
        return form.names(path)
    _, first = next(iter(form.rows(path, ())), (1, []))
    return list(_header(first, header)[0])


def write_records(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> int:
    """Write rows of these columns' values to a file, in the format that its suffix names.

    Returns the number of values that were changed: in a tsv file, each tab and each line end becomes a space.
    Raises InputError for an unknown suffix, and for a list in a tsv or csv file.
    """
    try:
        return _format(path).write(path, columns, rows)
    except ValueError as error:
        raise InputError(f"cannot be written: {error}", path=path) from None


def copy_rows(path: Path, copy: Path, lines: Sequence[int], left_out: Container[int]) -> None:
    """Copy a file without some of its rows. All others keep their bytes, but for those of a parquet file, which is written anew.

    Raises InputError for an unknown suffix and a file that cannot be read.

    Args:
        lines: where the rows of the file begin, as `Record.line` says, in their order.
        left_out: those of the rows that are left out.
    """
    if _format(path) is FORMATS[".parquet"]:
        copy_parquet(path, copy, [line - 1 for line in lines if line not in left_out])
        return
    content = BytesIO(read_bytes(path)).readlines()  # a line feed ends a line, and nothing else
    ends = [*lines[1:], len(content) + 1]
    kept = [content[line - 1 : end - 1] for line, end in zip(lines, ends, strict=True) if line not in left_out]
    copy.write_bytes(b"".join([*content[: lines[0] - 1], *chain.from_iterable(kept)]))


def _read(path: Path, columns: Sequence[str], lookup: Lookup, header: Header) -> list[Record]:
    form = _format(path)
    rows = form.rows(path, columns)
    return (
        _records(path, rows, columns, lookup) if form.rule is None else _table(path, rows, columns, header, form.rule)
    )


def _tsv_rows(path: Path, columns: Sequence[str]) -> Iterable[tuple[int, list[str]]]:
    return enumerate((line.split("\t") for line in read_lines(path)), start=1)


def _write_tsv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> int:
    cells = [[text(value) for value in values] for values in rows]
    kept = [[re.sub("\r\n|[\t\r\n]", " ", cell) for cell in row] for row in cells]
    path.write_text("".join("\t".join(row) + "\n" for row in [columns, *kept]), encoding="utf-8", newline="")
    return sum(
        old != new for before, after in zip(cells, kept, strict=True) for old, new in zip(before, after, strict=True)
    )


def _write_csv(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> int:
    cells = [[text(value) for value in values] for values in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *cells])
    return 0


def _csv_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row of a csv file, with the line that the row starts on."""
    content = read_text(path)
    lines = [f"{line}\n" for line in content.removesuffix("\n").split("\n")] if content else []
    longest = csv.field_size_limit(max(len(content), csv.field_size_limit()))
    reader = csv.reader(lines, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells or [""]
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{str(error).split(' - ')[0]}; a cell that holds a quote mark stands in quotes, with the mark doubled",
            path=path,
            line=line,
        ) from None
    finally:
        csv.field_size_limit(longest)


def _table(
    path: Path, rows: Iterable[tuple[int, list[str]]], columns: Sequence[str], names: Header, rule: str
) -> list[Record]:
    """The records of a file whose first row names the columns, unless it names none of `names`: then these are the columns."""
    remaining = iter(rows)
    line, first = next(remaining, (1, []))
    header, is_row = _header(first, names)
    if is_row:
        remaining = chain([(line, first)], remaining)
    for column in columns:
        if column not in header:
            raise InputError(f"no column {column!r} in the header; it has {listed(list(header))}", path=path, line=1)
        if header.count(column) > 1:
            raise InputError(
                f"column {column!r} stands more than once in the header; rename the others", path=path, line=1
            )
    positions = [header.index(column) for column in columns]
    width = len(header)
    records = []
    for line, cells in remaining:
        if len(cells) != width:
            raise InputError(f"{len(cells)} cells where the header has {width}; {rule}", path=path, line=line)
        records.append(Record(line, tuple([cells[position] for position in positions])))
    if not records:
        raise InputError("no rows after the header", path=path)
    return records


def _header(first: Sequence[str], names: Header) -> tuple[Sequence[str], bool]:
    """The names of the columns of a file with this first row, and whether this row is a row of data."""
    is_row = bool(names) and bool(first) and not set(first) & set(names or ())
    return (names or (), True) if is_row else (first, False)


def _jsonl_rows(path: Path, columns: Sequence[str]) -> Iterable[tuple[int, dict[str, Any]]]:
    return ((number, parse_row(path, number, line)) for number, line in enumerate(read_lines(path), 1))


def _jsonl_names(path: Path) -> list[str]:
    rows = (parse_row(path, number, line) for number, line in enumerate(first_lines(path, FIRST_ROWS), 1))
    return list(dict.fromkeys(name for row in rows for name in names_in(row)))


def _write_jsonl(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> int:
    lines = [json.dumps(nested(columns, values), ensure_ascii=False) + "\n" for values in rows]
    path.write_text("".join(lines), encoding="utf-8", newline="")
    return 0


def parse_row(path: Path | str, number: int, line: str) -> dict[str, Any]:
    """The object on one line of a jsonl file. Raises InputError, which names the file and the line, if it is none."""
    try:
        row = json.loads(line, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
        if re.search(r"\\u[dD]", line):
            json.dumps(row, ensure_ascii=False).encode()  # refuses half a surrogate pair, which no file can hold
        if line.count("[") + line.count("{") > JSON_DEPTH and is_deep(row):
            raise RecursionError
    except json.JSONDecodeError as error:
        problem = (
            f"{error.msg.removesuffix(' at')} at character {error.pos + 1}" if line.strip() else "the line is empty"
        )
    except RecursionError:
        problem = "too deeply nested"
    except UnicodeEncodeError:
        problem = "half of a surrogate pair (\\ud800 to \\udfff)"
    except ValueError as error:
        problem = str(error).split("; ")[0]
    else:
        if isinstance(row, dict):
            return row
        problem = "a JSON value that is no object"
    raise InputError(f"not a row: {problem}; one JSON object a line", path=path, line=number)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} stands twice")
    return row


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _parquet_rows(path: Path, columns: Sequence[str]) -> Iterable[tuple[int, dict[str, Any]]]:
    return enumerate(parquet_rows(path, columns), 1)


def _write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Value]]) -> int:
    write_parquet(path, [nested(columns, values) for values in rows])
    return 0


def _records(
    path: Path, rows: Iterable[tuple[int, dict[str, Any]]], columns: Sequence[str], lookup: Lookup
) -> list[Record]:
    """The records of a file whose rows are objects."""
    records = []
    for line, row in rows:
        try:
            records.append(Record(line, tuple([lookup(row, column) for column in columns])))
        except ValueError as error:
            raise InputError(str(error), path=path, line=line) from None
    if not records:
        raise InputError("no rows", path=path)
    return records


@dataclass(frozen=True)
class DataFormat:
    """How files of a format are read and written.

    Args:
        rows: a path and columns -> the rows, each with its line: cells, or an object with at least these columns.
        rule: of rows of cells, for messages; None for rows of objects, whose values have types.
        names: the names of the columns of rows of objects; cells have them in their first row.
    """

    rows: Callable[[Path, Sequence[str]], Iterable[tuple[int, Any]]]
    write: Callable[[Path, Sequence[str], Sequence[Sequence[Value]]], int]
    rule: str | None = None
    names: Callable[[Path], list[str]] | None = None


FORMATS = {  # by suffix
    ".tsv": DataFormat(_tsv_rows, _write_tsv, "one row a line, cells set apart by tabs"),
    ".csv": DataFormat(_csv_rows, _write_csv, "a cell that holds a comma stands in quotes"),
    ".jsonl": DataFormat(_jsonl_rows, _write_jsonl, names=_jsonl_names),
    ".parquet": DataFormat(_parquet_rows, _write_parquet, names=parquet_names),
}


def _format(path: Path) -> DataFormat:
    if (form := FORMATS.get(path.suffix.lower())) is None:
        raise InputError(f"unknown format; a data file's name ends in {', '.join(FORMATS)}", path=path)
    return form
