"""How one data file is read, from its name and first lines: form, separator, quotes and encoding."""

import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.table_cells import REGULAR, TableCells, table_cells
from mtl.data.files import declared_encoding, unpacked_lines
from mtl.data.forms import SEPARATORS, TABLES, form_of
from mtl.tasks.task import Layout, Reading

HEAD = 2**18  # the bytes at the beginning of a file that are read
LINES = 3000  # the most lines of these bytes
LEAST_TOKENS = 10  # in the form of CoNLL: fewer lines may have as many cells by chance
POSSIBLE = {"tsv": "\t,;|", "csv": ",;\t|"}  # separators by the file's suffix, the usual one first
CODE_PAGES = ("cp1252", "cp1250", "cp1251", "gb18030", "shift_jis", "euc_kr")  # tried for a file that is not UTF-8


@dataclass(frozen=True)
class Sniffed:
    """How a file is read, why, and the questions where two ways are possible."""

    reading: Reading
    reasons: Sequence[str] = ()
    questions: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()  # of a table, the cells of its first rows
    has_quotes: bool = True  # whether its first bytes have quotation marks: else quoting changes nothing
    is_ascii: bool = False  # whether its first bytes are ASCII: then it reads the same in other encodings

    @property
    def why(self) -> str:
        """The reasons as one text; empty if the file is read as its suffix says."""
        return "; ".join(self.reasons)


def sniff(path: Path, layout: Layout = Layout()) -> Sniffed:  # noqa: B008 - a frozen value
    """How a file is read. Raises InputError for an unknown suffix and a file that cannot be read."""
    suffix_form = form_of(path, layout)
    if suffix_form == "parquet":
        return Sniffed(Reading())
    head = _first_bytes(path)
    encoding, encoding_questions = _encoding(head, path)
    lines = _lines(head, encoding or declared_encoding(head))
    reasons = [f"not UTF-8: {encoding}, one of several that are possible"] if encoding else []
    form: str | None = None  # None: what the suffix says
    if suffix_form in ("txt", "tsv") and _is_annotated(lines):
        form = "conll"
        reasons.append("a token on each line, and an empty line between sentences")
    elif suffix_form == "txt" and layout.beside is None:
        form = _text_form(lines)
    sniffed = Sniffed(Reading(form=form, encoding=encoding), reasons, encoding_questions)
    table_form = form or suffix_form
    if table_form not in TABLES or not lines:
        return sniffed
    cells = table_cells(lines, POSSIBLE[table_form], path)
    return replace(_with_cells(sniffed, table_form, cells), has_quotes=b'"' in head, is_ascii=head.isascii())


def _with_cells(sniffed: Sniffed, form: str, cells: TableCells) -> Sniffed:
    """What is known of a table in this form, with how its cells stand in its lines, as far as this is not what the form says."""
    separator, is_quoted = cells.separators[0], cells.is_quoted
    stated_form = sniffed.reading.form
    if form == "csv" and separator == "\t":
        form = stated_form = "tsv"
    usual_separator, usual_quoting = TABLES[form]
    reading = replace(
        sniffed.reading,
        form=stated_form,
        separator=None if separator == usual_separator else separator,
        quoted=None if is_quoted == usual_quoting else is_quoted,
    )
    reasons, questions = list(sniffed.reasons), list(sniffed.questions)
    if stated_form or reading.separator:
        reasons.append(f"its cells are set apart by {SEPARATORS[separator]}")
    if is_quoted and separator == "\t":
        reasons.append("its cells stand in quotes")
    if len(cells.separators) > 1:
        questions.append(f"reading.separator: the cells are set apart by {separator!r} or {cells.separators[1]!r}?")
    return replace(sniffed, reading=reading, reasons=reasons, questions=questions, rows=cells.rows)


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
