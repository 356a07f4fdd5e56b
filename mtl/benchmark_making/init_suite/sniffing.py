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
    stated, stated_form = layout.reading, form_of(path, layout)  # by the user, the form else by the suffix
    if stated_form == "parquet":
        return Sniffed(Reading())
    lines = _first_lines(path, stated.encoding)
    if stated.encoding is not None:
        _check_encoding(path, stated.encoding, lines)
    sniffed_form = stated_form if stated.form else _sniffed_form(lines, stated_form, is_alone=layout.beside is None)
    if sniffed_form not in TABLES or not lines:
        return Sniffed(Reading(form=None if sniffed_form == stated_form else sniffed_form))
    if lines[0].startswith("sep="):
        raise InputError("delete this line, which only Excel reads", path=path, line=1)
    return _sniffed_table(lines, stated, stated_form, sniffed_form)


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
    try:
        utf8_lines = _first_lines(path, None)
    except InputError:  # the usual case: a file in another encoding cannot be read as UTF-8
        return
    if utf8_lines != lines and not "".join(utf8_lines).isascii():
        raise InputError(f"is not {encoding}, but UTF-8; convert all files of the task to one encoding", path=path)


def _sniffed_form(lines: Sequence[str], suffix_form: str, is_alone: bool) -> str:
    """The form of a file: .txt and .tsv files may have that of CoNLL, and .txt files that of fastText, or cells with tabs."""
    if suffix_form in ("txt", "tsv") and _is_annotated(lines):
        return "conll"
    if suffix_form != "txt" or not is_alone:
        return suffix_form
    if any(line.startswith(LABEL) for line in lines):
        return "fasttext"
    tab_counts = {line.count("\t") for line in lines}
    return "tsv" if len(tab_counts) == 1 and tab_counts != {0} else "txt"


def _is_annotated(lines: Sequence[str]) -> bool:
    """Whether lines are in the form of CoNLL: a token with its labels on each line, and empty lines between sentences."""
    rows = [line.split("\t" if "\t" in line else None) for line in lines if line.strip() and not line.startswith("#")]
    if len(rows) < LEAST_TOKENS or not 2 <= sum(not line.strip() for line in lines) <= len(rows):
        return False
    usual_width, usual_rows = Counter(map(len, rows)).most_common(1)[0]
    single_tokens = sum(" " not in row[0].strip() for row in rows)
    return usual_width > 1 and min(usual_rows, single_tokens) >= REGULAR * len(rows)


def _sniffed_table(lines: Sequence[str], stated: Reading, stated_form: str, sniffed_form: str) -> Sniffed:
    """How a table is read. Only what is not as the form or the user says is a part of its reading."""
    separators = [stated.separator] if stated.separator else _possible_separators(lines, TABLES[sniffed_form][0])
    separator = separators[0]
    is_tsv = separator == "\t" and not (stated.form or stated.separator)  # a .csv with tabs is read as a .tsv
    final_form = "tsv" if is_tsv else sniffed_form
    usual_separator, usual_quoting = TABLES[final_form]
    quoting = _are_quoted(lines, separator) if stated.quoted is None else stated.quoted  # None: uncertain
    reading = Reading(
        form=None if final_form == stated_form else final_form,
        separator=None if separator in (stated.separator, usual_separator) else separator,
        quoted=None if quoting in (stated.quoted, usual_quoting) else quoting,
    )
    questions = []
    if len(separators) > 1:
        ways = f"{json.dumps(separator)} or {json.dumps(separators[1])}"
        questions.append(f"reading.separator: the cells are set apart by {ways}?")
    if quoting is None:
        questions.append(QUOTING_QUESTION)
    rows = _rows(lines, separator, is_quoted=bool(quoting))
    return Sniffed(reading, questions, rows, has_quotes=any('"' in line for line in lines))


def _possible_separators(lines: Sequence[str], usual: str) -> list[str]:
    """The separators that fit all rows: the usual one of the form alone if it is among them, or if there is none."""
    fitting = [separator for separator in SEPARATORS if _is_regular(lines, separator, is_quoted=separator != "\t")]
    return [usual] if usual in fitting or not fitting else fitting


def _are_quoted(lines: Sequence[str], separator: str) -> bool | None:
    """What the quotation marks of a table do:
    - True: they quote cells: in tables without tabs; if rows have as many cells only so; or if all enclose cells, in each line or doubled in one.
    - None, uncertain: all enclose cells, as in `"a text"`, but some lines have none, and no cell has doubled ones, as in `"a ""good"" text"`.
    - False: they are a part of the texts."""
    if separator != "\t":
        return True
    if _is_regular(lines, "\t", is_quoted=True) and not _is_regular(lines, "\t", is_quoted=False):
        return True
    cells_with_marks = [cell for line in lines for cell in line.split("\t") if '"' in cell]
    if not cells_with_marks or not all(re.fullmatch('"([^"]|"")*"', cell) for cell in cells_with_marks):
        return False
    are_shown_to_quote = all('"' in line for line in lines) or any('""' in cell[1:-1] for cell in cells_with_marks)
    return True if are_shown_to_quote else None


def _is_regular(lines: Sequence[str], separator: str, is_quoted: bool) -> bool:
    """Whether all rows of a table have as many cells, two or more."""
    rows = _rows(lines, separator, is_quoted)
    may_be_cut = is_quoted and len(rows) > 2  # a quoted cell may hold line ends, so the last line may be within a row
    widths = set(map(len, rows[:-1] if may_be_cut else rows))
    return separator in lines[0] and len(widths) == 1 and widths != {1}


def _rows(lines: Sequence[str], separator: str, is_quoted: bool) -> list[list[str]]:
    """The cells of each row of a table, up to a row that cannot be read."""
    if not is_quoted:
        return [line.split(separator) for line in lines]
    rows: list[list[str]] = []
    with suppress(InputError):
        rows.extend(cells for _, cells in quoted_rows("", (f"{line}\n" for line in lines), separator))
    return rows or [[""]]
