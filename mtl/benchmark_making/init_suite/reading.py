"""How the data files of a task are read, from their names and first lines: form, separator, quotes, encoding and header."""

import csv
import json
import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.base.untrusted import is_inside
from mtl.benchmark_making.init_suite.file_column import LABEL_NAMES, LONG, NUMBER, TEXT_WORDS
from mtl.benchmark_making.init_suite.guess import GIVEN, Guess, count, quoted
from mtl.benchmark_making.init_suite.tables import SplitTables, read_table
from mtl.data.files import declared_encoding, unpacked_lines
from mtl.data.forms import SEPARATORS, TABLES, form_of
from mtl.tasks.task import BESIDE, Layout, Reading, Task

HEAD = 2**18  # the bytes at the beginning of a file that are read
LINES = 3000  # the most lines of these bytes
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


def read_tables(guess: Guess, data_dir: Path, known: Mapping[str, Any]) -> SplitTables:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    for name in (guess.folder, *filter(None, guess.files.values())):
        if not is_writable(name) or not all(map(is_inside, name.split(BESIDE))):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    task = Task(id=guess.id, folder=guess.folder, text=[], target="", metric="", files=guess.files)
    paths = {split: path for split in guess.files if (path := task.path(split, data_dir))}
    sniffed = {split: sniff(path, task.layout(split, data_dir)) for split, path in paths.items()}
    reading = _common_reading(guess, sniffed, known)
    layouts = {split: replace(task.layout(split, data_dir), reading=reading) for split in paths}
    headers: dict[str, list[str]] = {}
    if "header" not in known:
        tabular = [split for split in paths if form_of(paths[split], layouts[split]) in TABLES]
        headers = _made_up_headers(guess, {split: sniffed[split].rows for split in tabular if sniffed[split].rows})
    elif known["header"] is not True:
        guess.declare(GIVEN, header=known["header"])
        headers = dict.fromkeys(paths, known["header"])
    tables = SplitTables()
    for split in [split for split in paths if guess.files[split] is not None]:
        tables[split] = read_table(paths[split], replace(layouts[split], header=headers.get(split)))
    guess.rows = {split: table.rows for split, table in tables.items()}
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return "${" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _common_reading(guess: Guess, sniffed: Mapping[str, Sniffed], known: Mapping[str, Any]) -> Reading:
    """How all files of a task are read, which the guess declares, with questions. Raises InputError if they are read in several ways."""
    readings = [file.reading for file in sniffed.values()]
    quoted_cells = next((reading.quoted for reading in readings if reading.quoted is not None), None)
    encoding = next((reading.encoding for reading in readings if reading.encoding is not None), None)
    distinct = set()
    for file in sniffed.values():
        reading = file.reading if file.has_quotes else replace(file.reading, quoted=quoted_cells)
        distinct.add(replace(reading, encoding=encoding) if file.is_ascii else reading)
    if len(distinct) > 1:
        ways = ", ".join(f"{guess.files[split]}: {file.why or 'as its suffix says'}" for split, file in sniffed.items())
        remedy = "convert them to one, or leave one out, as with files.test=null"
        raise InputError(f"the files of the task are read in several ways ({ways}); {remedy}")
    reading = typed(Reading, {**_declared(distinct.pop()), **(known.get("reading") or {})})
    guess.questions = list(dict.fromkeys(chain(guess.questions, *(file.questions for file in sniffed.values()))))
    if keys := _declared(reading):
        guess.declare(next(filter(None, (file.why for file in sniffed.values())), ""), reading=keys)
    return reading


def _declared(reading: Reading) -> dict[str, Any]:
    """How files are read, as a suite file says it."""
    return {key: value for key, value in vars(reading).items() if value is not None}


def _made_up_headers(guess: Guess, heads: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, list[str]]:
    """By split, the names column_1, column_2 and so on of each table without a header, which the guess declares, with questions. From the cells of
    the first rows of each table. Tables with fewer or more columns than the first one without a header are left out. Raises InputError if some of the
    tables have a header and others have none."""
    headers: dict[str, list[str]] = {}
    # Files whose lines have as many cells are looked at together: those with a header have the same one.
    for width in dict.fromkeys(len(rows[0]) for rows in heads.values()):
        splits = [split for split, rows in heads.items() if len(rows[0]) == width]
        headed, question = _has_header({str(guess.files[split]): heads[split] for split in splits})
        if headers and not headed:  # all tables without a header have the same names
            first, header = next(iter(headers.items()))
            for split in splits:
                problem = f"{guess.files[split]} has {count(width, 'cell')} a line, {guess.files[first]} has {len(header)}, and neither has a header"
                guess.questions.append(f"files.{split}: not used: {problem}")
                guess.files[split] = None
            continue
        guess.questions += [question] if question else []
        if not headed:
            headers = {split: [f"column_{number + 1}" for number in range(width)] for split in splits}
    if headers:
        lacking = ", ".join(str(guess.files[split]) for split in headers)
        if with_header := [str(guess.files[split]) for split in heads if split not in headers and guess.files[split]]:
            remedy = "answer header=[NAME, …] with a name for each column, those that the header has among them"
            raise InputError(f"of {lacking}, not all have a header, as {', '.join(with_header)} has; {remedy}")
        why = f"the first line of {lacking} looks like a row, so the names are made up; give the columns names"
        guess.declare(why, header=next(iter(headers.values())))
    return headers


def _has_header(heads: Mapping[str, Sequence[Sequence[str]]]) -> tuple[bool, str | None]:
    """Whether the tables with these first rows, by file name, have a header line, and the question if that is not certain."""
    first_lines = [tuple(rows[0]) for rows in heads.values()]
    name, rows = next(iter(heads.items()))
    line = first_lines[0]
    columns = list(zip(*(row for row in rows if len(row) == len(line)), strict=True))
    # A value that occurs again in its column is hardly the column's name, and neither is a number.
    recurring = {cells[0] for cells in columns if cells.count(cells[0]) > 1}
    has_numbers = any(all(map(NUMBER.fullmatch, cells)) for cells in columns)
    are_equal = len(set(first_lines)) == 1
    in_all_files = set[str]() if are_equal else set.intersection(*map(set, first_lines)) - recurring
    usual_names = {*LABEL_NAMES, *TEXT_WORDS} & {cell.strip().lower() for cell in line}
    below_words = [cells[1:] for cells in columns if len(cells) > 2 and not NUMBER.fullmatch(cells[0])]
    is_above_numbers = any(all(map(NUMBER.fullmatch, cells)) for cells in below_words)
    has_names = bool(in_all_files or usual_names) or is_above_numbers
    could_be_names = all(cell.strip() and len(cell.split()) <= LONG for cell in line) and len(set(line)) == len(line)
    # Files with a header have the same one.
    is_like_header = (are_equal and len(first_lines) > 1) or has_names or (could_be_names and not recurring)
    if is_like_header and not has_numbers:
        return True, None
    are_different = len(set(first_lines)) == len(first_lines)
    if ((has_numbers and are_different) or (recurring and not are_equal)) and not has_names:
        return False, None
    quoted_cells = ", ".join(map(quoted, sorted(recurring) or line))
    return False, f"header: {quoted_cells} in the first line of {name}: is this line a header, or a row?"


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
    if lines[0].startswith("sep="):
        raise InputError("delete this line, which only Excel reads", path=path, line=1)
    try:
        separator, *further = _separators(lines, POSSIBLE[form])
        is_quoted = separator != "\t" or _is_quoted(lines)
        rows = _cells(lines, separator, is_quoted)
    except csv.Error as error:
        raise InputError(f"cannot be read as a table: {str(error).split(' - ')[0]}", path=path) from None
    if further:
        questions.append(f"reading.separator: the cells are set apart by {separator!r} or {further[0]!r}?")
    if separator == "\t" and form == "csv":
        form = declared_form = "tsv"
    unusual = None if separator == POSSIBLE[form][0] else separator
    if declared_form or unusual:
        reasons.append(f"its cells are set apart by {SEPARATORS[separator]}")
    if is_quoted and separator == "\t":
        reasons.append("its cells stand in quotes")
    quoted_cells = None if is_quoted == (form == "csv") else is_quoted
    reading = Reading(form=declared_form, encoding=encoding, separator=unusual, quoted=quoted_cells)
    return Sniffed(reading, "; ".join(reasons), questions, rows, b'"' in head, head.isascii())


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


def _separators(lines: Sequence[str], possible: str) -> list[str]:
    """The separators of a table's cells that fit; the usual one of the suffix, which is the first possible one, alone, if it fits or if none does. A
    separator fits if the first line has it and if it gives at least 9 of 10 rows the same number of cells. Separators that give all rows the same
    number come before others."""
    fits: dict[str, float] = {}
    for separator in possible:
        widths = Counter(len(cells) for cells in _cells(lines, separator, separator != "\t"))
        most, rows = widths.most_common(1)[0]
        if most > 1 and separator in lines[0] and rows >= 0.9 * widths.total():
            fits[separator] = rows / widths.total()
    best = [separator for separator, share in fits.items() if share == 1] or list(fits)
    if not best and possible[0] == "," and "," not in lines[0] and ";" in lines[0]:  # as many spreadsheets write them
        return [";"] if len(set(map(len, _cells(lines, ",", True)))) > 1 else [","]
    return [possible[0]] if not best or possible[0] in best else best


def _cells(lines: Sequence[str], separator: str, is_quoted: bool) -> list[list[str]]:
    """The cells of each row of a table."""
    if not is_quoted:
        return [line.split(separator) for line in lines]
    # An opening quote that is never closed takes all the rest into its cell.
    csv.field_size_limit(max(csv.field_size_limit(), HEAD))
    return [row or [""] for row in csv.reader((f"{line}\n" for line in lines), delimiter=separator)] or [[""]]


def _is_quoted(lines: Sequence[str]) -> bool:
    """Whether cells between tabs stand in quotes, as a CSV writer puts them; quotes may be part of the texts. If a cell seems to be cut at a line
    end, cells count as quoted if all rows then have the same number of cells. Else every cell with a quote must be quoted as a whole, and there must
    be one in at least half of the rows, or a doubled quote within one."""
    if len({line.count("\t") for line in lines}) > 1 and '"' in "".join(lines):
        return len({len(row) for row in _cells(lines, "\t", True)[:-1]}) == 1
    marked = [cell for line in lines for cell in line.split("\t") if '"' in cell]
    if not marked or not all(re.fullmatch('"([^"]|"")*"', cell) for cell in marked):
        return False
    return len(marked) * 2 >= len(lines) or any('""' in cell[1:-1] for cell in marked)


def _is_annotated(lines: Sequence[str]) -> bool:
    """Whether lines are in the form of CoNLL: a token with its labels on each line, and empty lines between sentences."""
    rows = [line.split("\t" if "\t" in line else None) for line in lines if line.strip() and line[0] not in "#"]
    if len(rows) < 10 or not 2 <= sum(not line.strip() for line in lines) <= len(rows):
        return False
    width, usual = Counter(map(len, rows)).most_common(1)[0]
    return width > 1 and usual >= 0.9 * len(rows) and sum(" " not in row[0].strip() for row in rows) >= 0.9 * len(rows)


def _text_form(lines: Sequence[str]) -> str | None:
    """The form of a .txt file: fastText's, or cells with tabs; None: a text on each line."""
    if lines and sum(line.startswith("__label__") for line in lines) * 10 >= 9 * len(lines):
        return "fasttext"
    widths = {line.count("\t") for line in lines}
    return "tsv" if len(widths) == 1 and widths != {0} else None
