"""The rows of a split as a stream, as its layout says: of numbered parts, with spans as tags, a second file's column, or one value of a column."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.wings import TagSpans, hook
from mtl.data.columns import LIST, TAGS, TOKENS, text, value_of
from mtl.data.forms import PLAIN, NumberedRows, file_rows, form_of, row_lines, value_part
from mtl.data.numbered import numbered_files
from mtl.tasks.layout import Layout
from mtl.tasks.task import BESIDE, NUMBERED


def stream_rows(path: Path, layout: Layout = PLAIN, columns: Sequence[str] | None = None) -> NumberedRows:
    """The rows of a file one by one, each with its line: objects as they are, rows of tables as texts by column. Memory holds one row, or the text of
    a .json file. Of a parquet file only these columns are decoded, by default all with texts or numbers. Raises InputError as `read_records`."""
    if layout.part == NUMBERED:
        return _rows_of_parts(path, layout, columns)
    part_column, part_value = value_part(path, layout)
    spans = layout.reading.spans
    stored = None  # all: `_add_lines` says which of the columns a second file has
    if columns is not None and layout.beside is None:
        stored = _stored_columns(columns, part_column, spans)
    rows = file_rows(path, layout, stored)
    if spans is not None:
        tag_spans: TagSpans | None = hook("tag_spans")
        if tag_spans is None:
            problem = "is read by a part of mtl that is missing here; install the whole of mtl"
            raise InputError(problem, key="reading.spans")
        rows = tag_spans(path, rows, spans)
    if layout.beside is not None:
        rows = _add_lines(path, layout.beside, layout, rows)
    return rows if part_column is None else _select_rows(path, rows, part_column, part_value)


def _stored_columns(columns: Sequence[str], part_column: str | None, spans: str | None) -> list[str]:
    """The columns of the file that are needed for these: the one of its parts, too, and those of spans in place of `tokens[]` and `tags[]`."""
    stored = [*columns] if part_column is None else [*columns, part_column]
    if spans is not None:
        computed = (f"{TOKENS}{LIST}", f"{TAGS}{LIST}")
        stored = [*(column for column in stored if column not in computed), *spans.split(BESIDE)]
    return list(dict.fromkeys(stored))


def _rows_of_parts(path: Path, layout: Layout, columns: Sequence[str] | None) -> NumberedRows:
    """The rows of a file in parts. Their lines are counted on from part to part."""
    lines_before = 0
    for file in numbered_files(path):
        last_line = 0
        for last_line, row in stream_rows(file, replace(layout, part=None), columns):
            yield lines_before + last_line, row
        lines_before += last_line


def _add_lines(path: Path, second: Path, layout: Layout, rows: NumberedRows) -> NumberedRows:
    """Rows with a further column: the lines of a second file. Raises InputError if one file has more rows, or if the rows have such a column."""
    header = layout.header or ()
    # A header names the column, too, if the first file has a text in each line, and thus one column.
    name = header[1] if len(header) == 2 and form_of(path, layout) == "txt" else "label"
    added_cells = row_lines(second, Layout(reading=layout.reading))
    for number, (numbered_row, cell) in enumerate(zip_longest(rows, added_cells), start=1):
        if numbered_row is None or cell is None:
            longer, shorter = (second, path) if numbered_row is None else (path, second)
            problem = f"has more rows than {shorter.name}, which ends after {number - 1:,}"
            raise InputError(problem, path=longer, line=numbered_row[0] if numbered_row else number)
        line, row = numbered_row
        if name in row:
            raise InputError(f"column {name!r} stands in {second.name}, too", path=path)
        yield line, {**row, name: cell}


def _select_rows(path: Path, rows: NumberedRows, name: str, value: str) -> NumberedRows:
    """The rows with this value in this column. Raises InputError if there is none."""
    has_rows = False
    for line, row in rows:
        try:
            cell = text(row[name] if name in row else value_of(row, name))
        except ValueError:
            continue  # no single value stands there
        if cell == value:
            has_rows = True
            yield line, row
    if not has_rows:
        raise InputError(f"no row has {value!r} in a column {name!r}", path=path)
