"""How a data file is to be read, from its name and its first lines: its form, separator, quotes and encoding, and whether it has a header."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.evidence import LONG
from mtl.benchmark_making.init_suite.names import TEXT_WORDS
from mtl.benchmark_making.init_suite.tables import NUMBER, quoted
from mtl.benchmark_making.init_suite.target import LABEL_NAMES
from mtl.data.files import declared_encoding, part_files, unpacked_lines
from mtl.data.rows import form_of, member_of
from mtl.tasks.task import Layout, Reading

HEAD = 2**18  # the bytes at the beginning of a file that are read
LINES = 3000  # the most lines of these bytes
TABLES = ("tsv", "csv")
SEPARATORS = {"tsv": "\t,;|", "csv": ",;\t|"}  # possible separators by the file's suffix, the usual one first
SEPARATOR_NAMES = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
# Encodings that are tried for a file that is not UTF-8.
CODE_PAGES = ("cp1252", "cp1250", "cp1251", "gb18030", "shift_jis", "euc_kr")


@dataclass(frozen=True)
class Sniffed:
    """How a file is read, why, and the question where two ways are possible.

    Args:
        rows: of a table, the cells of its first rows.
        has_quotes: whether its first bytes have quotation marks. A file without them reads the same with and without quoting.
        is_ascii: whether its first bytes are ASCII. Such a file reads the same in other encodings.
    """

    layout: Layout
    why: str = ""
    question: str | None = None
    rows: Sequence[Sequence[str]] = ()
    has_quotes: bool = True
    is_ascii: bool = False


def sniff(path: Path, layout: Layout = Layout()) -> Sniffed:  # noqa: B008 - a frozen value
    """How a file is read. Raises InputError for an unknown suffix and a file that cannot be read."""
    if layout.has_folders:
        return _sniff_documents(path, layout)
    form = form_of(path, layout)
    if form == "parquet":
        return Sniffed(layout)
    head = _first_bytes(path, HEAD, member_of(path, layout)[0])
    encoding, question = _encoding(head, path)
    lines = _lines(head, encoding or declared_encoding(head))
    reasons = [] if encoding is None else [f"not UTF-8: {encoding}, one of several that are possible"]
    made = None
    if form in ("txt", "tsv") and is_annotated(lines):
        made, form = "conll", ""
        reasons.append("a token on each line, and an empty line between sentences")
    elif form == "txt":
        made = _text_form(lines) if layout.beside is None else None
        form = made or form
        if made == "label_text":
            question = question or f"reading: is the first word of each line of {path.name} its label? Else: form: txt"
    reading = Reading(form=made, encoding=encoding)
    if form not in TABLES or not lines:
        return Sniffed(replace(layout, reading=reading), "; ".join(reasons), question)
    table = _sniff_table(path, form, lines, replace(layout, reading=reading))
    why = "; ".join(filter(None, [*reasons, table.why]))
    quotes, is_ascii = b'"' in head, head.isascii()
    return replace(table, why=why, question=question or table.question, has_quotes=quotes, is_ascii=is_ascii)


def _sniff_documents(path: Path, layout: Layout) -> Sniffed:
    """How files of one text each are read: in the encoding of the first that is not UTF-8. Raises InputError."""
    encodings = (_encoding(_first_bytes(file, HEAD, None), file) for file in part_files(path, layout.part))
    encoding, question = next((found for found in encodings if found != (None, None)), (None, None))
    why = "each file is a text, and its folder's name is the label"
    return Sniffed(replace(layout, reading=Reading(form="document", encoding=encoding)), why, question)


def _sniff_table(path: Path, form: str, lines: Sequence[str], layout: Layout) -> Sniffed:
    """How the cells of a table of this form, tsv or csv, are read, and the cells. Raises InputError."""
    reading = layout.reading
    try:
        separator, further = _separator(lines, SEPARATORS[form])
        quoted_cells = _is_quoted(lines, separator)
        rows = _cells(lines, separator, quoted_cells)
    except csv.Error as error:
        raise InputError(f"cannot be read as a table: {str(error).split(' - ')[0]}", path=path) from None
    form_read = "tsv" if separator == "\t" and form == "csv" else reading.form
    declared = None if separator in ("\t", SEPARATORS[form][0]) else separator
    is_default = quoted_cells == (form == "csv" and separator != "\t")
    reading = replace(reading, form=form_read, separator=declared, quoted=None if is_default else quoted_cells)
    question = f"reading: the cells are set apart by {separator!r} or {further[0]!r}?" if further else None
    reasons = []
    if form_read or declared:
        reasons.append(f"its cells are set apart by {SEPARATOR_NAMES[separator]}")
    if reading.quoted:
        reasons.append("its cells stand in quotes")
    return Sniffed(replace(layout, reading=reading), "; ".join(reasons), question, rows)


def _first_bytes(path: Path, size: int, member: str | None) -> bytes:
    """About the first `size` bytes of a data file, unpacked: whole lines, unless the first one is longer. Raises InputError."""
    head = bytearray()
    for line in unpacked_lines(path, member):
        head += line
        if len(head) >= size:
            break
    return bytes(head[:size])


def _encoding(head: bytes, path: Path) -> tuple[str | None, str | None]:
    """The encoding to declare, None for what the file itself says, and the question where it is a guess."""
    known = declared_encoding(head)
    for cut in range(4):  # the head may end within a character
        try:
            head[: len(head) - cut].decode(known)
        except UnicodeDecodeError as error:
            if error.end < len(head) - cut - 4:
                break
        else:
            return None, None
    possible = [name for name in CODE_PAGES if _decodes(head, name)]
    if not possible:
        raise InputError("is neither UTF-8 nor in a usual code page; save it as UTF-8", path=path)
    return possible[0], f"reading: {path.name} is not UTF-8; its encoding may be {', '.join(possible)}"


def _decodes(head: bytes, name: str) -> bool:
    """Whether the bytes are text without control characters in this encoding. A full head may end within a character."""
    try:
        text = head.decode(name, "strict" if len(head) < HEAD else "ignore")
    except UnicodeDecodeError:
        return False
    return not re.search("[\x00-\x08\x0e-\x1f\x80-\x9f]", text)


def _lines(head: bytes, encoding: str) -> list[str]:
    """The whole lines of the head, at most `LINES`, without empty ones at the end."""
    text = head.decode(encoding, "replace").removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").split("\n")[:LINES]
    if len(head) >= HEAD and len(lines) < LINES:
        lines = lines[:-1] or lines  # the head may end within the last one
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _separator(lines: Sequence[str], possible: str) -> tuple[str, list[str]]:
    """The separator of a table's cells, and further ones that fit as well.

    A separator fits if the first line has it and if it gives at least 9 of 10 rows the same number of cells. Separators that give
    all rows the same number come first. The usual one of the suffix wins if it is among them, or if none fits.
    """
    fits: dict[str, float] = {}
    for separator in possible:
        widths = Counter(len(cells) for cells in _cells(lines, separator, separator != "\t"))
        most, rows = widths.most_common(1)[0]
        if most > 1 and separator in lines[0] and rows >= 0.9 * widths.total():
            fits[separator] = rows / widths.total()
    best = [separator for separator, share in fits.items() if share == 1] or list(fits)
    return (possible[0], []) if not best or possible[0] in best else (best[0], best[1:])


def _cells(lines: Sequence[str], separator: str, quoted_cells: bool) -> list[list[str]]:
    if not quoted_cells:
        return [line.split(separator) for line in lines]
    # An opening quote that is never closed takes all the rest into its cell.
    csv.field_size_limit(max(csv.field_size_limit(), HEAD))
    rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=separator))
    return [row or [""] for row in rows] or [[""]]


def _is_quoted(lines: Sequence[str], separator: str) -> bool:
    """Whether cells stand in quotes, as a CSV writer puts them. With another separator than tabs, quotes are always read that way.

    Between tabs, quotes may be part of the texts. If a cell seems to be cut at a line end, cells count as quoted if all rows then
    have the same number of cells. Else every cell with a quote must be quoted as a whole, and there must be one in at least half of
    the rows, or a doubled quote within one.
    """
    if separator != "\t":
        return True
    widths = {len(line.split(separator)) for line in lines}
    if len(widths) > 1 and '"' in "".join(lines):
        return len({len(row) for row in _cells(lines, separator, True)[:-1]}) == 1
    marked = [cell for line in lines for cell in line.split(separator) if '"' in cell]
    if not marked or not all(re.fullmatch('"([^"]|"")*"', cell) for cell in marked):
        return False
    return len(marked) * 2 >= len(lines) or any('""' in cell[1:-1] for cell in marked)


def is_annotated(lines: Sequence[str]) -> bool:
    """Whether lines are in the form of CoNLL: a token with its labels on each line, and empty lines between sentences."""
    rows = [line.split("\t" if "\t" in line else None) for line in lines if line.strip() and line[0] not in "#"]
    breaks = sum(not line.strip() for line in lines)
    if len(rows) < 10 or not 2 <= breaks <= len(rows):
        return False
    width, usual = Counter(map(len, rows)).most_common(1)[0]
    words = sum(" " not in row[0].strip() for row in rows)
    return width > 1 and usual >= 0.9 * len(rows) and words >= 0.9 * len(rows)


def _text_form(lines: Sequence[str]) -> str | None:
    """The form of a .txt file: fastText's, cells with tabs, or a label before each text; None: a text on each line."""
    if lines and sum(line.startswith("__label__") for line in lines) * 10 >= 9 * len(lines):
        return "fasttext"
    if len(widths := {line.count("\t") for line in lines}) == 1 and widths != {0}:
        return "tsv"
    firsts = Counter(line.split(maxsplit=1)[0] for line in lines if len(line.split()) > 2)
    is_labelled = len(lines) >= 20 and 1 < len(firsts) <= len(lines) / 5 and firsts.total() == len(lines)
    return "label_text" if is_labelled else None


def has_header(heads: Mapping[str, Sequence[Sequence[str]]]) -> tuple[bool, str | None]:
    """Whether tables of a task have a header line, and the question where that is not certain.

    Args:
        heads: by file name, the cells of its first rows.
    """
    first_lines = [tuple(rows[0]) for rows in heads.values()]
    name, line = next(iter(heads)), first_lines[0]
    if list(line) == [str(number) for number in range(len(line))] and len(line) > 1:
        numbered = ", ".join(line)
        return True, f"header: {name} begins with {numbered}: names that pandas gives to columns without one, or a row?"
    columns = list(zip(*(row for row in heads[name] if len(row) == len(line)), strict=True))
    # A value that occurs again in its column is hardly the column's name, and neither is a number.
    recurring = {cells[0] for cells in columns if cells.count(cells[0]) > 1}
    has_numbers = any(all(map(NUMBER.fullmatch, cells)) for cells in columns)
    are_equal = len(set(first_lines)) == 1
    if len(first_lines) > 1 and are_equal and not has_numbers:  # files with a header have the same one
        return True, None
    longer = [cells for cells in columns if len(cells) > 2 and not NUMBER.fullmatch(cells[0])]
    is_above_numbers = any(all(map(NUMBER.fullmatch, cells[1:])) for cells in longer)
    in_all_files = set[str]() if are_equal else set.intersection(*map(set, first_lines)) - recurring
    words = {word.strip().lower() for word in line}
    is_named = bool(is_above_numbers or in_all_files or {*LABEL_NAMES, *TEXT_WORDS} & words)
    if is_named != has_numbers and (is_named or len(set(first_lines)) == len(first_lines)):
        return is_named, None
    if recurring and not are_equal and not is_named:
        return False, None
    could_be_names = all(cell.strip() and len(cell.split()) <= LONG for cell in line) and len(set(line)) == len(line)
    if could_be_names and not recurring and not has_numbers:
        return True, None
    cells = ", ".join(map(quoted, sorted(recurring) or line))
    return False, f"header: {cells} in the first line of {name}: is this line a header, or a row?"
