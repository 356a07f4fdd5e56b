"""How one data file is read, from its name and first lines: form, separator, quotes and encoding."""

import csv
import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError
from mtl.data.files import declared_encoding, unpacked_lines
from mtl.data.forms import SEPARATORS, TABLES, form_of
from mtl.tasks.layout import Layout, Reading

HEAD = 2**18  # the bytes at the beginning of a file that are read
LINES = 3000  # the most lines of these bytes
REGULAR = 0.9  # the least share of the lines of a form, or with the usual number of cells: texts may break single ones
LEAST_TOKENS = 10  # in the form of CoNLL: fewer lines may have as many cells by chance
POSSIBLE = {"tsv": "\t,;|", "csv": ",;\t|"}  # separators by the file's suffix, the usual one first
CODE_PAGES = ("cp1252", "cp1250", "cp1251", "gb18030", "shift_jis", "euc_kr")  # tried for a file that is not UTF-8


@dataclass(frozen=True)
class Sniffed:
    """How a file is read, why, and the questions where two ways are possible."""

    reading: Reading
    why: str = ""
    questions: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()  # of a table, the cells of its first rows
    has_quotes: bool = True  # whether its first bytes have quotation marks: else quoting changes nothing
    is_ascii: bool = False  # whether its first bytes are ASCII: then it reads the same in other encodings


def sniff(path: Path, layout: Layout = Layout()) -> Sniffed:  # noqa: B008 - a frozen value
    """How a file is read. Raises InputError for an unknown suffix and a file that cannot be read."""
    form = form_of(path, layout)
    if form == "parquet":
        return Sniffed(Reading())
    head = _first_bytes(path)
    encoding, questions = _encoding(head, path)
    reasons = [] if encoding is None else [f"not UTF-8: {encoding}, one of several that are possible"]
    lines = _lines(head, encoding or declared_encoding(head))
    declared_form = None  # where the suffix does not say the form
    if form in ("txt", "tsv") and _is_annotated(lines):
        declared_form = "conll"
        reasons.append("a token on each line, and an empty line between sentences")
    elif form == "txt" and layout.beside is None:
        declared_form = _text_form(lines)
    form = declared_form or form
    if form not in TABLES or not lines:
        return Sniffed(Reading(form=declared_form, encoding=encoding), "; ".join(reasons), questions)
    separators, is_quoted, rows = _table(lines, POSSIBLE[form], path)
    separator = separators[0]
    if len(separators) > 1:
        questions.append(f"reading.separator: the cells are set apart by {separator!r} or {separators[1]!r}?")
    if separator == "\t" and form == "csv":
        form = declared_form = "tsv"
    unusual_separator = None if separator == POSSIBLE[form][0] else separator  # None: as the form says
    unusual_quoting = None if is_quoted == (form == "csv") else is_quoted
    if declared_form or unusual_separator:
        reasons.append(f"its cells are set apart by {SEPARATORS[separator]}")
    if is_quoted and separator == "\t":
        reasons.append("its cells stand in quotes")
    reading = Reading(form=declared_form, encoding=encoding, separator=unusual_separator, quoted=unusual_quoting)
    return Sniffed(reading, "; ".join(reasons), questions, rows, has_quotes=b'"' in head, is_ascii=head.isascii())


def _first_bytes(path: Path) -> bytes:
    """About the first HEAD bytes of a data file, unpacked: whole lines, unless the first one is longer. Raises InputError."""
    head = bytearray()
    for line in unpacked_lines(path):
        head += line
        if len(head) >= HEAD:
            break
    return bytes(head[:HEAD])


def _encoding(head: bytes, path: Path) -> tuple[str | None, list[str]]:
    """The encoding to declare, None for what the file itself says, and the question where it is a guess."""
    if _decoded(head, declared_encoding(head)) is not None:
        return None, []
    texts = {name: _decoded(head, name) for name in CODE_PAGES}
    possible = [name for name, text in texts.items() if text and not re.search("[\x00-\x08\x0e-\x1f\x80-\x9f]", text)]
    if not possible:
        raise InputError("is neither UTF-8 nor in a usual code page; save it as UTF-8", path=path)
    return possible[0], [f"reading.encoding: {path.name} is not UTF-8; it may be {', '.join(possible)}"]


def _decoded(head: bytes, encoding: str) -> str | None:
    """The text of the first bytes of a file, of which a full head may end within a character; None if they are none in this encoding."""
    try:
        return getincrementaldecoder(encoding)().decode(head, final=len(head) < HEAD)
    except UnicodeDecodeError:
        return None


def _lines(head: bytes, encoding: str) -> list[str]:
    """The whole lines of the head, at most `LINES`, without empty ones at the end."""
    lines = head.decode(encoding, "replace").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")[:LINES]
    if len(head) >= HEAD and len(lines) < LINES:
        lines = lines[:-1] or lines  # the head may end within the last one
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _table(lines: Sequence[str], possible: str, path: Path) -> tuple[list[str], bool, list[list[str]]]:
    """The separators of a table's cells that fit, whether the cells stand in quotes, and the rows. Raises InputError for what is no table."""
    if lines[0].startswith("sep="):
        raise InputError("delete this line, which only Excel reads", path=path, line=1)
    # An opening quote that is never closed takes all the rest into its cell.
    csv.field_size_limit(max(csv.field_size_limit(), HEAD))
    try:
        separators = _separators(lines, possible)
        is_quoted = separators[0] != "\t" or _is_quoted(lines)
        return separators, is_quoted, _cells(lines, separators[0], is_quoted)
    except csv.Error as error:
        raise InputError(f"cannot be read as a table: {str(error).split(' - ')[0]}", path=path) from None


def _separators(lines: Sequence[str], possible: str) -> list[str]:
    """The separators that fit: the first line has them, and 9 of 10 rows get the same number of cells; if some give all rows the same number, these
    alone. The usual one of the suffix, the first possible one, is the only one if it is among them, or if none fits, but for spreadsheets."""
    widths = {separator: Counter(map(len, _cells(lines, separator, separator != "\t"))) for separator in possible}
    fitting: list[str] = []
    for separator in possible:
        width, rows = widths[separator].most_common(1)[0]
        if width > 1 and separator in lines[0] and rows >= REGULAR * widths[separator].total():
            fitting.append(separator)
    best = [separator for separator in fitting if len(widths[separator]) == 1] or fitting
    if best:
        return [possible[0]] if possible[0] in best else best
    # Many spreadsheets write .csv files with semicolons; but a single column of texts may have some, too.
    has_semicolons = possible[0] == "," and "," not in lines[0] and ";" in lines[0] and len(widths[","]) > 1
    return [";"] if has_semicolons else [possible[0]]


def _cells(lines: Sequence[str], separator: str, is_quoted: bool) -> list[list[str]]:
    """The cells of each row of a table."""
    if not is_quoted:
        return [line.split(separator) for line in lines]
    return [row or [""] for row in csv.reader((f"{line}\n" for line in lines), delimiter=separator)] or [[""]]


def _is_quoted(lines: Sequence[str]) -> bool:
    """Whether cells between tabs stand in quotes, as a CSV writer puts them; quotes may be part of the texts. If a cell seems to be cut at a line
    end, cells count as quoted if all rows then have the same number of cells. Else every cell with a quote must be quoted as a whole, and there must
    be one in at least half of the rows, or a doubled quote within one."""
    if len({line.count("\t") for line in lines}) > 1 and '"' in "".join(lines):
        return len({len(row) for row in _cells(lines, "\t", True)[:-1]}) == 1  # the head may end within the last row
    marked = [cell for line in lines for cell in line.split("\t") if '"' in cell]
    if not marked or not all(re.fullmatch('"([^"]|"")*"', cell) for cell in marked):
        return False
    return len(marked) * 2 >= len(lines) or any('""' in cell[1:-1] for cell in marked)


def _is_annotated(lines: Sequence[str]) -> bool:
    """Whether lines are in the form of CoNLL: a token with its labels on each line, and empty lines between sentences."""
    rows = [line.split("\t" if "\t" in line else None) for line in lines if line.strip() and not line.startswith("#")]
    if len(rows) < LEAST_TOKENS or not 2 <= sum(not line.strip() for line in lines) <= len(rows):
        return False
    width, usual = Counter(map(len, rows)).most_common(1)[0]
    single_tokens = sum(" " not in row[0].strip() for row in rows)
    return width > 1 and min(usual, single_tokens) >= REGULAR * len(rows)


def _text_form(lines: Sequence[str]) -> str | None:
    """The form of a .txt file: fastText's, or cells with tabs; None: a text on each line."""
    if lines and sum(line.startswith("__label__") for line in lines) >= REGULAR * len(lines):
        return "fasttext"
    widths = {line.count("\t") for line in lines}
    return "tsv" if len(widths) == 1 and widths != {0} else None
