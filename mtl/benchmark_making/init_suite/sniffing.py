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
from mtl.data.files import declared_encoding, unpacked_lines
from mtl.data.rows import form_of, member_of
from mtl.tasks.task import Layout, Reading

HEAD = 2**18  # bytes of a file that are looked at
LINES = 3000  # of them
SEPARATORS = {"tsv": "\t,;|", "csv": ",;\t|"}  # that a table may have, the one of its suffix first
CODE_PAGES = (
    "cp1252",
    "cp1250",
    "cp1251",
    "gb18030",
    "shift_jis",
    "euc_kr",
)  # of files that are not UTF-8, as candidates
TABLES = ("tsv", "csv")


@dataclass(frozen=True)
class Sniffed:
    """How a file is read, why, and the question where two ways are possible.

    Args:
        rows: the cells of its first rows, of a table.
        has_quotes: whether its first lines have any; without them it can be read as quoted, too.
        is_ascii: whether its first lines are ASCII, so that it can be read in other encodings, too.
    """

    layout: Layout
    why: str = ""
    question: str | None = None
    rows: Sequence[Sequence[str]] = ()
    has_quotes: bool = True
    is_ascii: bool = False


def sniff(path: Path, layout: Layout = Layout()) -> Sniffed:  # noqa: B008 - a frozen value
    """How a file is read. Raises InputError for an unknown suffix and a file that cannot be read."""
    form = form_of(path, layout)
    if form == "parquet":
        return Sniffed(layout)
    head = _first_bytes(path, HEAD, member_of(path, layout)[0])
    encoding, question = _encoding(head, path)
    lines = _lines(head, encoding or declared_encoding(head))
    reading = Reading(encoding=encoding)
    why = "" if encoding is None else f"not UTF-8: {encoding}, one of several that are possible"
    if form in ("txt", "tsv") and is_annotated(lines):
        why = "; ".join(filter(None, (why, "a token on each line, and an empty line between sentences")))
        return Sniffed(replace(layout, reading=replace(reading, form="conll")), why, question)
    text_form = _text_form(lines) if form == "txt" and layout.beside is None else None
    if text_form == "tsv":
        form, reading = "tsv", replace(reading, form="tsv")
    elif form == "txt":
        if text_form == "label_text":
            question = question or f"reading: is the first word of each line of {path.name} its label? Else: form: txt"
        return Sniffed(replace(layout, reading=replace(reading, form=text_form)), why, question)
    if form not in TABLES or not lines:
        return Sniffed(replace(layout, reading=reading), why, question)
    try:
        separator, others = _separator(lines, SEPARATORS[form])
        quoted_cells = _is_quoted(lines, separator)
        rows = _cells(lines, separator, quoted_cells)
    except csv.Error as error:
        raise InputError(f"cannot be read as a table: {str(error).split(' - ')[0]}", path=path) from None
    form_read = "tsv" if separator == "\t" and form == "csv" else reading.form
    declared = None if separator in ("\t", SEPARATORS[form][0]) else separator
    is_default = quoted_cells == (form == "csv" and separator != "\t")
    reading = replace(reading, form=form_read, separator=declared, quoted=None if is_default else quoted_cells)
    if others:
        question = question or f"reading: the cells are set apart by {separator!r} or {others[0]!r}?"
    said = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
    whys = [why, f"its cells are set apart by {said[separator]}" if form_read or declared else ""]
    whys.append("its cells stand in quotes" if reading.quoted else "")
    marks = b'"' in head, head.isascii()
    return Sniffed(replace(layout, reading=reading), "; ".join(filter(None, whys)), question, rows, *marks)


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
    try:
        text = head.decode(name, "strict" if len(head) < HEAD else "ignore")
    except UnicodeDecodeError:
        return False
    return not re.search("[\x00-\x08\x0e-\x1f\x80-\x9f]", text)


def _lines(head: bytes, encoding: str) -> list[str]:
    text = head.decode(encoding, "replace").removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").split("\n")[:LINES]
    if len(head) >= HEAD and len(lines) < LINES:
        lines = lines[:-1] or lines  # it may be cut
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _separator(lines: Sequence[str], possible: str) -> tuple[str, list[str]]:
    """The separator of a table's cells, and others that would do as well.

    It is in the first line, and gives all rows the same number of cells. The one of the suffix wins if it does.
    """
    fitting = []
    for separator in possible:
        widths = Counter(len(cells) for cells in _cells(lines, separator, separator != "\t"))
        most, rows = widths.most_common(1)[0]
        if most > 1 and separator in lines[0] and rows >= 0.9 * widths.total():
            fitting.append((rows == widths.total(), separator))
    whole = [separator for fits, separator in fitting if fits] or [separator for _, separator in fitting]
    if not whole or possible[0] in whole:
        return possible[0], []
    return whole[0], whole[1:]


def _cells(lines: Sequence[str], separator: str, quoted_cells: bool) -> list[list[str]]:
    if not quoted_cells:
        return [line.split(separator) for line in lines]
    csv.field_size_limit(max(csv.field_size_limit(), HEAD))  # a quote without its second takes the rest into its cell
    rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=separator))
    return [row or [""] for row in rows] or [[""]]


def _is_quoted(lines: Sequence[str], separator: str) -> bool:
    """Whether quotes surround cells. Cells set apart by tabs are quoted if quotes surround every cell that has one, in most rows, or where
    the cell would not be read otherwise: it holds a line end, or a quote that is doubled."""
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
    """Whether lines hold a token with its labels each, in the form of CoNLL, and empty lines stand between sentences."""
    rows = [line.split("\t" if "\t" in line else None) for line in lines if line.strip() and line[0] not in "#"]
    breaks = sum(not line.strip() for line in lines)
    if len(rows) < 10 or not 2 <= breaks <= len(rows):
        return False
    width, usual = Counter(map(len, rows)).most_common(1)[0]
    words = sum(" " not in row[0].strip() for row in rows)
    return width > 1 and usual >= 0.9 * len(rows) and words >= 0.9 * len(rows)


def _text_form(lines: Sequence[str]) -> str | None:
    """The form of a .txt file, if it is no text a line: fastText's, cells with tabs, or a label before the text."""
    if lines and sum(line.startswith("__label__") for line in lines) * 10 >= 9 * len(lines):
        return "fasttext"
    widths = {line.count("\t") for line in lines}
    if len(widths) == 1 and widths != {0}:
        return "tsv"
    firsts = Counter(line.split(maxsplit=1)[0] for line in lines if len(line.split()) > 2)
    is_labelled = len(lines) >= 20 and 1 < len(firsts) <= len(lines) / 5 and firsts.total() == len(lines)
    return "label_text" if is_labelled else None


def has_header(heads: Mapping[str, Sequence[Sequence[str]]]) -> tuple[bool, str | None]:
    """Whether tables of a task have a header line, and the question where that is not certain.

    Args:
        heads: by file name, the cells of its first rows.
    """
    lines = [tuple(rows[0]) for rows in heads.values()]
    name, line = next(iter(heads)), lines[0]
    if list(line) == [str(number) for number in range(len(line))] and len(line) > 1:
        listed = ", ".join(line)
        return True, f"header: {name} begins with {listed}: names that pandas gives to columns without one, or a row?"
    columns = list(zip(*(row for row in heads[name] if len(row) == len(line)), strict=True))
    recurring = {cells[0] for cells in columns if cells.count(cells[0]) > 1}
    has_numbers = any(all(map(NUMBER.fullmatch, cells)) for cells in columns)
    if len(lines) > 1 and len(set(lines)) == 1 and not has_numbers:  # files with a header have the same one
        return True, None
    above_numbers = any(
        len(cells) > 2 and not NUMBER.fullmatch(cells[0]) and all(map(NUMBER.fullmatch, cells[1:])) for cells in columns
    )
    shared = set.intersection(*map(set, lines)) - recurring if len(set(lines)) > 1 else set[str]()
    words = {word.strip().lower() for word in line}
    are_named = bool(above_numbers or shared or {*LABEL_NAMES, *TEXT_WORDS} & words)
    if are_named != has_numbers and (are_named or len(set(lines)) == len(lines)):
        return are_named, None
    if recurring and len(set(lines)) > 1 and not are_named:
        return False, None
    are_names = all(cell.strip() and len(cell.split()) <= LONG for cell in line) and len(set(line)) == len(line)
    if are_names and not recurring and not has_numbers:
        return True, None
    cells = ", ".join(map(quoted, sorted(recurring) or line))
    return False, f"header: {cells} in the first line of {name}: is this line a header, or a row?"
