"""The forms of data files, and the rows of a file of each form as a stream. A file's suffix says its form, unless the suite says another one.

- tsv: cells set apart by tabs, never quoted. A quote mark is a character of the text; an empty cell and the word "NA" are text.
- csv: cells set apart by commas and quoted as RFC 4180 says.
- jsonl: one JSON object a line; json: `mtl.data.json_rows`.
- parquet: read with pyarrow, which is optional.
- conll: `mtl.data.conll`; a row is a sentence, and each column a list.
- txt: a text a line; fasttext: labels as `__label__NAME`, then the text.

Any of them may be packed by gzip, bzip2, xz, zstd or zip. In json, jsonl and parquet, columns may be nested keys and lists (`mtl.data.columns`)."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.data.conll import conll_columns, sentences
from mtl.data.files import data_lines
from mtl.data.json_rows import json_rows, parse_row
from mtl.data.parquet import parquet_names, parquet_rows
from mtl.tasks.layout import Layout

NumberedRows = Iterator[tuple[int, dict[str, Any]]]  # rows, each with its line: objects, or cells by column
NumberedCells = Iterator[tuple[int, list[str]]]  # the rows of a table: their cells alone
MOST_COLUMNS = 10_000
SUFFIXES = {
    ".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet", ".txt": "txt",
    ".conll": "conll", ".conllu": "conll", ".bio": "conll", ".iob": "conll",
}  # fmt: skip
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
TABLES = {"tsv": ("\t", False), "csv": (",", True)}  # the separator, and whether cells are quoted
SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars"}
LABEL = "__label__"  # before a label, in files of fastText
PLAIN = Layout()


def form_of(path: Path, layout: Layout = PLAIN) -> str:
    """The form of a file. Raises InputError for a suffix that says none."""
    if layout.reading.form is not None:
        return layout.reading.form
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    if suffixes and suffixes[-1] in SUFFIXES:
        return SUFFIXES[suffixes[-1]]
    if layout.beside is not None:
        return "txt"
    raise InputError(f"unknown format; a data file's name ends in {', '.join(SUFFIXES)}", path=path)


def value_part(path: Path, layout: Layout) -> tuple[str | None, str]:
    """The column and the value that a part COLUMN=VALUE names; (None, "") without a part, and for a key of a .json file. Else raises InputError."""
    name, equals, value = (layout.part or "").partition("=")
    if layout.part is None or (not equals and form_of(path, layout) == "json"):
        return None, ""
    if not equals:
        problem = f"has no part {layout.part!r}; a part of it is COLUMN=VALUE, as in {path.name}#split=train"
        raise InputError(problem, path=path)
    return name, value


def file_rows(path: Path, layout: Layout, columns: Sequence[str] | None) -> NumberedRows:
    """The rows of the file itself, each with its line. Of parquet, these columns are decoded, or all. Raises InputError, with the file and line."""
    form = form_of(path, layout)
    if form == "parquet":
        yield from enumerate(parquet_rows(path, parquet_names(path) if columns is None else columns), start=1)
    elif form in TABLES:
        header, rows = read_table(path, layout)
        yield from ((line, dict(zip(header, cells, strict=True))) for line, cells in rows)
    elif form == "json":
        yield from _json_file_rows(path, layout)
    elif form == "jsonl":
        for line, content in enumerate(row_lines(path, layout), start=1):
            row = parse_row(path, line, content)
            _check_column_count(path, line, len(row))
            yield line, row
    elif form == "conll":
        yield from _sentence_rows(path, layout)
    elif form == "txt":
        name = layout.header[0] if layout.header else "text"
        yield from ((line, {name: content}) for line, content in enumerate(row_lines(path, layout), start=1))
    else:  # fasttext
        yield from _labelled_texts(path, layout)


def _json_file_rows(path: Path, layout: Layout) -> NumberedRows:
    """The rows of a .json file, with the columns of the layout's header; of a part that is a key, those below it."""
    content = "".join(data_lines(path, layout.reading.encoding))
    column, _ = value_part(path, layout)  # `mtl.data.rows` selects the rows of a part COLUMN=VALUE
    for line, row in json_rows(path, content, layout.part if column is None else None):
        named_row = _renamed(path, line, row, layout.header)
        _check_column_count(path, line, len(named_row))
        yield line, named_row


def _labelled_texts(path: Path, layout: Layout) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a file in the form of fastText, one a line. Raises InputError for a line that does not begin with a label."""
    for line, content in enumerate(row_lines(path, layout), start=1):
        labels, rest = [], content.strip()
        while rest.startswith(LABEL):
            label, _, rest = rest.partition(" ")
            labels.append(label.removeprefix(LABEL))
            rest = rest.lstrip()
        if not labels:
            raise InputError("no label before the text", path=path, line=line)
        yield line, {"label": " ".join(labels), "text": rest}


def row_lines(path: Path, layout: Layout) -> Iterator[str]:
    """The lines of a file without their ends, and without empty ones after the last row."""
    empty_lines = 0  # before this one
    for line in data_lines(path, layout.reading.encoding):
        if content := _without_end(line):
            yield from [""] * empty_lines
            empty_lines = 0
            yield content
        else:
            empty_lines += 1


def _without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _sentence_rows(path: Path, layout: Layout) -> NumberedRows:
    """The rows of a file of annotated tokens: a list for each column, and the document and the text of the sentence if the file says them."""
    lines = map(_without_end, data_lines(path, layout.reading.encoding))
    for sentence in sentences(path, lines, len(layout.header) if layout.header else None):
        names = conll_columns(len(sentence.rows[0]), layout.header)
        columns = dict(zip(names, map(list, zip(*sentence.rows, strict=True)), strict=True))
        stated = {"document": sentence.document, "text": sentence.text}
        yield sentence.line, {**{name: value for name, value in stated.items() if value}, **columns}


def _renamed(path: Path, line: int, row: dict[str, Any], header: Sequence[str] | None) -> dict[str, Any]:
    """The row with the names of the header, if it is a list of cells, which `json_rows` names column_1, column_2, …; else as it is."""
    if header is None or list(row) != [f"column_{number}" for number in range(1, len(row) + 1)]:
        return row
    if len(row) != len(header):
        raise InputError(f"{len(row)} cells where header: names {len(header)}", path=path, line=line)
    return dict(zip(header, row.values(), strict=True))


def _check_column_count(path: Path, line: int, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise InputError(f"{columns:,} columns; mtl reads at most {MOST_COLUMNS:,}", path=path, line=line)


def read_table(path: Path, layout: Layout) -> tuple[Sequence[str], NumberedCells]:
    """The names of a table's columns, and its rows, each with a cell for every column. The first row names the columns, unless it has none of the
    names of the layout's header: then the header names them, and the first row is one of the rows."""
    separator, is_quoted = separator_of(path, layout)
    lines = data_lines(path, layout.reading.encoding)
    if is_quoted:
        rows = quoted_rows(path, lines, separator)
    else:
        rows = ((number, _without_end(line).split(separator)) for number, line in enumerate(lines, start=1))
    line, first = next(rows, (1, list[str]()))
    _check_column_count(path, 1, len(first))
    stated_names = layout.header or first
    has_header_row = not first or not set(first).isdisjoint(stated_names)
    names = first if has_header_row else stated_names
    rows = rows if has_header_row else chain([(line, first)], rows)
    return names, _checked_rows(path, rows, len(names), separator, is_quoted)


def separator_of(path: Path, layout: Layout) -> tuple[str, bool]:
    """The separator of a table's cells, and whether they may be quoted."""
    separator, is_quoted = TABLES[form_of(path, layout)]
    reading = layout.reading
    return reading.separator or separator, is_quoted if reading.quoted is None else reading.quoted


def _checked_rows(path: Path, rows: NumberedCells, width: int, separator: str, is_quoted: bool) -> NumberedCells:
    """The rows, but for empty lines after the last one. Raises InputError for a row with another number of cells than `width`."""
    empty_line: int | None = None  # the first of the empty lines directly before this one
    for line, cells in rows:
        if cells == [""] and width > 1:
            empty_line = empty_line or line
            continue
        if empty_line:
            raise InputError(f"an empty line between rows of {width} cells; delete it", path=path, line=empty_line)
        if len(cells) != width:
            names = SEPARATORS.get(separator, repr(separator))
            rule = f"one row a line, cells set apart by {names}"
            if is_quoted:
                rule = f"a cell that holds a {names.removesuffix('s')} or a quote mark stands in quotes"
            elif any(cell.startswith('"') for cell in cells):
                rule += "; if quotes surround the cells, write reading: {quoted: true}"
            raise InputError(f"{len(cells)} cells where the header has {width}; {rule}", path=path, line=line)
        yield line, cells


def quoted_rows(path: Path | str, lines: Iterable[str], separator: str = ",") -> NumberedCells:
    """The cells of each row of a table with quotes, with the line that the row starts on. Raises InputError, which names the path and the line.
    While rows are read, cells of any length are allowed, in all of Python's csv readers (`csv.field_size_limit`)."""
    limit_before = csv.field_size_limit(2**31 - 1)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells or [""]
            line = reader.line_num + 1
    except csv.Error as error:
        rule = "a cell that holds a quote mark stands in quotes, with the mark doubled"
        raise InputError(f"{str(error).split(' - ')[0]}; {rule}", path=path, line=line) from None
    finally:
        csv.field_size_limit(limit_before)
