"""How a data file is to be read, from its name and its first lines: its form, separator, quotes and encoding, and whether it has a header."""

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.evidence import LONG
from mtl.benchmark_making.init_suite.tables import NUMBER, FileColumn, quoted
from mtl.data.files import declared_encoding, first_bytes
from mtl.data.rows import form_of, member_of
from mtl.tasks.task import Layout, Reading

HEAD = 2**18  # bytes of a file that are looked at
LINES = 200  # of them
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
        first: the cells of its first row, of a table.
        is_plain: whether it has neither quotes nor characters beyond ASCII, so that it can be read as the other files of its task are.
    """

    layout: Layout
    why: str = ""
    question: str | None = None
    first: tuple[str, ...] = ()
    is_plain: bool = False


def sniff(path: Path, layout: Layout = Layout()) -> Sniffed:  # noqa: B008 - a frozen value
    """How a file is read. Raises InputError for an unknown suffix and a file that cannot be read."""
    form = form_of(path, layout)
    if form == "parquet":
        return Sniffed(layout)
    head = first_bytes(path, HEAD, member_of(path, layout)[0])
    encoding, question = _encoding(head, path)
    lines = _lines(head, encoding or declared_encoding(head))
    reading = Reading(encoding=encoding)
    why = "" if encoding is None else f"not UTF-8: {encoding}, one of several that are possible"
    if form == "txt":
        return Sniffed(
            replace(layout, reading=_text_form(lines, reading) if layout.beside is None else reading), why, question
        )
    if form not in TABLES or not lines:
        return Sniffed(replace(layout, reading=reading), why, question)
    separator, others = _separator(lines, SEPARATORS[form])
    quoted_cells = _is_quoted(lines, separator, form)
    form_read = "tsv" if separator == "\t" and form == "csv" else None
    declared = None if separator in ("\t", SEPARATORS[form][0]) else separator
    is_default = quoted_cells == (form == "csv" and separator != "\t")
    reading = replace(reading, form=form_read, separator=declared, quoted=None if is_default else quoted_cells)
    if others:
        question = question or f"reading: the cells are set apart by {separator!r} or {others[0]!r}?"
    said = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
    whys = [why, f"its cells are set apart by {said[separator]}" if form_read or declared else ""]
    whys.append("its cells stand in quotes" if reading.quoted else "")
    first = tuple(_cells(lines, separator, quoted_cells)[0])
    is_plain = head.isascii() and b'"' not in head
    return Sniffed(replace(layout, reading=reading), "; ".join(filter(None, whys)), question, first, is_plain)


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
    lines = text.splitlines()[:LINES] if "\r\n" in text else text.split("\n")[:LINES]
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
    rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=separator))
    return [row or [""] for row in rows] or [[""]]


def _is_quoted(lines: Sequence[str], separator: str, form: str) -> bool:
    """Whether quotes surround cells. A csv file is quoted; of another file, cells begin with a quote that ends at a separator or a line's end,
    where it would not be read otherwise."""
    if separator != "\t":
        return True
    plain = Counter(line.count(separator) for line in lines)
    opening = sum(cell.startswith('"') for line in lines for cell in line.split(separator))
    if not opening:
        return False
    whole = sum(
        len(cell) > 1 and cell.startswith('"') and cell.endswith('"')
        for line in lines
        for cell in line.split(separator)
    )
    doubled = any(re.search(r'[^"\t]""[^"\t]|""\w', line) for line in lines)
    uneven = len(plain) > 1 and len({len(row) for row in _cells(lines, separator, True)[:-1]}) == 1
    return uneven or (doubled and whole > 0) or whole == opening


def _text_form(lines: Sequence[str], reading: Reading) -> Reading:
    """The form of a .txt file: fastText's, cells with tabs, or a text a line."""
    if lines and sum(line.startswith("__label__") for line in lines) * 10 >= 9 * len(lines):
        return replace(reading, form="fasttext")
    widths = Counter(line.count("\t") for line in lines)
    if widths and widths.most_common(1)[0][0] > 0 and len(widths) == 1:
        return replace(reading, form="tsv")
    firsts = Counter(line.split(maxsplit=1)[0] for line in lines if len(line.split()) > 2)
    if len(lines) >= 20 and 1 < len(firsts) <= len(lines) / 5 and firsts.total() == len(lines):
        return replace(reading, form="label_text")
    return reading


def has_header(
    firsts: Mapping[str, Sequence[str]], columns: Mapping[str, Sequence[FileColumn]]
) -> tuple[bool, str | None]:
    """Whether the tables of a task have a header line, and the question where that is not certain.

    Args:
        firsts: by file name, the cells of its first line.
        columns: by file name, its columns as if it had no header, the first line included.
    """
    lines = [tuple(cells) for cells in firsts.values()]
    name, line = next(iter(firsts)), lines[0]
    if list(line) == [str(number) for number in range(len(line))] and len(line) > 1:
        return (
            True,
            f"header: {name} begins with {', '.join(line)}: names that pandas gives to columns without one, or a row?",
        )
    rest = next(iter(columns.values()))
    recurring = {column.texts[0] for column in rest if column.counts[column.texts[0]] > 1}
    is_plain = all(cell.strip() and not NUMBER.fullmatch(cell) and len(cell.split()) <= LONG for cell in line)
    if is_plain and len(lines) > 1 and (len(set(lines)) == 1 or set.intersection(*map(set, lines)) - recurring):
        return True, None
    are_names = is_plain and len({cell.lower() for cell in line}) == len(line)
    if not are_names or any(column.numbers for column in rest):
        return False, None
    if not recurring:
        return True, None
    if len(lines) > 1:  # files with a header have the same one
        return False, None
    cells = ", ".join(map(quoted, sorted(recurring)))
    return (
        False,
        f"header: {cells} in the first line of {name} stands in further rows: is this line a header, or a row?",
    )
