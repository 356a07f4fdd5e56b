"""How one data file is read, as its name and first lines show: form, separator and quotes."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError
from mtl.data.forms import LABEL, PLAIN, SEPARATORS, TABLES, form_of, quoted_rows, row_lines
from mtl.tasks.layout import Layout, Reading

MOST_LINES = 3000  # that are read, at the beginning of a file
MOST_CHARACTERS = 2**18  # of these lines, about
REGULAR = 0.9  # in the form of CoNLL, the least share of lines with the usual number of cells: single ones may be odd
LEAST_TOKENS = 10  # in the form of CoNLL: fewer lines may have as many cells by chance
QUOTING_QUESTION = "reading.quoted: all quotation marks stand around cells: do they quote them, or are they text?"

Rows = Sequence[Sequence[str]]  # of a table: the cells of each row


@dataclass(frozen=True)
class Sniffed:
    """How a file is read where its suffix does not say so, and the questions where two ways are possible."""

    reading: Reading
    questions: Sequence[str] = ()
    first_rows: Rows = ()  # of a table
    has_quotes: bool = True  # whether a table has quotation marks: else quoting changes nothing


def sniff(path: Path, layout: Layout = PLAIN) -> Sniffed:
    """How a file is read. What the layout says is not sniffed. Raises InputError for an unknown suffix and a file that cannot be read."""
    form, known = form_of(path, layout), layout.reading
    if form == "parquet":
        return Sniffed(Reading())
    lines = _first_lines(path, known.encoding)
    if known.encoding is not None:
        _check_encoding(path, known.encoding, lines)
    shown_form = form if known.form else _shown_form(form, lines, is_alone=layout.beside is None)
    if shown_form not in TABLES or not lines:
        return Sniffed(Reading(form=None if shown_form == form else shown_form))
    if lines[0].startswith("sep="):
        raise InputError("delete this line, which only Excel reads", path=path, line=1)
    return _sniffed_table(lines, known, form, shown_form)


def _first_lines(path: Path, encoding: str | None) -> list[str]:
    """The first lines of a data file. Raises InputError for a file that cannot be read, or that is not in the encoding."""
    lines: list[str] = []
    size = 0
    for line in row_lines(path, Layout(reading=Reading(encoding=encoding))):
        lines.append(line)
        size += len(line)
        if len(lines) == MOST_LINES or size > MOST_CHARACTERS:
            break
    return lines


def _check_encoding(path: Path, encoding: str, lines: Sequence[str]) -> None:
    """Raise InputError for a file that is UTF-8, and not in the encoding that the user names for all files of the task."""
    utf8 = lines
    with suppress(InputError):  # the usual case: a file in another encoding cannot be read as UTF-8
        utf8 = _first_lines(path, None)
    if utf8 != lines and not "".join(utf8).isascii():
        raise InputError(f"is not {encoding}, but UTF-8; convert all files of the task to one encoding", path=path)


def _shown_form(form: str, lines: Sequence[str], is_alone: bool) -> str:
    """The form of a file: .txt and .tsv files may have that of CoNLL, and .txt files that of fastText, or cells with tabs."""
    if form in ("txt", "tsv") and _is_annotated(lines):
        return "conll"
    if form != "txt" or not is_alone:
        return form
    if any(line.startswith(LABEL) for line in lines):
        return "fasttext"
    tabs = {line.count("\t") for line in lines}
    return "tsv" if len(tabs) == 1 and tabs != {0} else "txt"


def _is_annotated(lines: Sequence[str]) -> bool:
    """Whether lines are in the form of CoNLL: a token with its labels on each line, and empty lines between sentences."""
    rows = [line.split("\t" if "\t" in line else None) for line in lines if line.strip() and not line.startswith("#")]
    if len(rows) < LEAST_TOKENS or not 2 <= sum(not line.strip() for line in lines) <= len(rows):
        return False
    width, usual = Counter(map(len, rows)).most_common(1)[0]
    single_tokens = sum(" " not in row[0].strip() for row in rows)
    return width > 1 and min(usual, single_tokens) >= REGULAR * len(rows)


def _sniffed_table(lines: Sequence[str], known: Reading, form: str, shown_form: str) -> Sniffed:
    """How a table is read whose form its lines show. Only what is not as the form or the user says is a part of its reading."""
    separator, *others = [known.separator] if known.separator else _separators(lines, TABLES[shown_form][0])
    is_tsv = separator == "\t" and not (known.form or known.separator)
    table_form = "tsv" if is_tsv else shown_form
    are_quoted = _are_quoted(lines, separator) if known.quoted is None else known.quoted
    usual_separator, are_usually_quoted = TABLES[table_form]
    own_form = None if table_form == form else table_form
    own_separator = None if separator in (known.separator, usual_separator) else separator
    own_quoting = None if are_quoted in (known.quoted, are_usually_quoted) else are_quoted
    questions = [QUOTING_QUESTION] if are_quoted is None else []
    if others:
        ways = f"{json.dumps(separator)} or {json.dumps(others[0])}"
        questions.insert(0, f"reading.separator: the cells are set apart by {ways}?")
    rows = _rows(lines, separator, are_quoted is True)
    return Sniffed(Reading(own_form, own_separator, own_quoting), questions, rows, has_quotes='"' in "".join(lines))


def _separators(lines: Sequence[str], usual: str) -> list[str]:
    """The separators that fit all rows: the usual one of the form alone if it is among them, or if there is none."""
    fitting = [separator for separator in SEPARATORS if _is_regular(lines, separator, is_quoted=separator != "\t")]
    return [usual] if usual in fitting or not fitting else fitting


def _are_quoted(lines: Sequence[str], separator: str) -> bool | None:
    """What the quotation marks of a table do:
    - True: they quote cells: in tables without tabs; if rows have as many cells only so; or if all enclose cells, in each line or doubled in one.
    - None, uncertain: all enclose cells, as in `"a text"`, but some lines have none, and no cell has doubled ones, as in `"a ""good"" text"`.
    - False: they are a part of the texts."""
    needs_quotes = _is_regular(lines, "\t", is_quoted=True) and not _is_regular(lines, "\t", is_quoted=False)
    if separator != "\t" or needs_quotes:
        return True
    marked = [cell for line in lines for cell in line.split("\t") if '"' in cell]
    if not marked or not all(re.fullmatch('"([^"]|"")*"', cell) for cell in marked):
        return False
    are_shown_to_quote = all('"' in line for line in lines) or any('""' in cell[1:-1] for cell in marked)
    return True if are_shown_to_quote else None


def _is_regular(lines: Sequence[str], separator: str, is_quoted: bool) -> bool:
    """Whether all rows of a table have as many cells, two or more. In quotes, the lines may end within the last row."""
    rows = _rows(lines, separator, is_quoted)
    widths = set(map(len, rows[:-1] if is_quoted and len(rows) > 2 else rows))
    return separator in lines[0] and len(widths) == 1 and widths != {1}


def _rows(lines: Sequence[str], separator: str, is_quoted: bool) -> list[list[str]]:
    """The cells of each row of a table, up to a row that cannot be read."""
    if not is_quoted:
        return [line.split(separator) for line in lines]
    rows: list[list[str]] = []
    with suppress(InputError):
        rows.extend(cells for _, cells in quoted_rows("", (f"{line}\n" for line in lines), separator))
    return rows or [[""]]
