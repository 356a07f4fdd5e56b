"""How the data files of a task are read, from their names and first lines: form, separator, quotes, encoding and header."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.base.untrusted import is_inside
from mtl.benchmark_making.init_suite.file_column import LABEL_NAMES, LONG, NUMBER, TEXT_WORDS
from mtl.benchmark_making.init_suite.guess import GIVEN, Guess, count, quoted
from mtl.benchmark_making.init_suite.sniffing import Sniffed, sniff
from mtl.benchmark_making.init_suite.tables import SplitTables, read_table
from mtl.data.forms import TABLES, form_of
from mtl.tasks.layout import Reading
from mtl.tasks.task import BESIDE, Task

Rows = Sequence[Sequence[str]]  # of a table: the cells of each of its first rows


def read_tables(guess: Guess, data_dir: Path, known: Mapping[str, Any]) -> SplitTables:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    for name in [guess.folder, *guess.files.values()]:
        if name and not (is_writable(name) and all(map(is_inside, name.split(BESIDE)))):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    task = Task(id=guess.id, folder=guess.folder, text=[], target="", metric="", files=guess.files)
    paths = {split: path for split in guess.files if (path := task.path(split, data_dir))}
    if not paths:
        raise InputError("files: no file is left; name one, as in files.train=FILE")
    sniffed = {split: sniff(path, task.layout(split, data_dir)) for split, path in paths.items()}
    reading = _common_reading(guess, sniffed, known)
    layouts = {split: replace(task.layout(split, data_dir), reading=reading) for split in paths}
    headers: dict[str, list[str]] = {}
    if "header" not in known:
        tabular = [split for split in paths if form_of(paths[split], layouts[split]) in TABLES]
        headers = _made_up_headers(guess, {split: sniffed[split].rows for split in tabular if sniffed[split].rows})
    elif known["header"] is not True:  # true: each file has one
        guess.declare(GIVEN, header=known["header"])
        headers = dict.fromkeys(paths, known["header"])
    tables = SplitTables()
    for split in [split for split in paths if guess.files[split] is not None]:  # tables may be left out for their width
        tables[split] = read_table(paths[split], replace(layouts[split], header=headers.get(split)))
    guess.rows = {split: table.rows for split, table in tables.items()}
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return "${" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _common_reading(guess: Guess, sniffed: Mapping[str, Sniffed], known: Mapping[str, Any]) -> Reading:
    """Declare how all files of a task are read, with questions, and return it. Raises InputError if they are read in several ways."""
    quoting = next((file.reading.quoted for file in sniffed.values() if file.reading.quoted is not None), None)
    encoding = next((file.reading.encoding for file in sniffed.values() if file.reading.encoding is not None), None)
    ways: set[Reading] = set()
    for file in sniffed.values():  # without quotes a file reads the same with any quoting, and as ASCII in any encoding
        reading = file.reading if file.has_quotes else replace(file.reading, quoted=quoting)
        ways.add(replace(reading, encoding=encoding) if file.is_ascii else reading)
    if len(ways) > 1:
        reasons = [f"{guess.files[split]}: {file.why or 'as its suffix says'}" for split, file in sniffed.items()]
        remedy = "convert them to one, or leave one out, as with files.test=null"
        raise InputError(f"the files of the task are read in several ways ({', '.join(reasons)}); {remedy}")
    reading = typed(Reading, {**_declared(ways.pop()), **(known.get("reading") or {})})
    for file in sniffed.values():
        guess.questions += [question for question in file.questions if question not in guess.questions]
    if keys := _declared(reading):
        guess.declare(next((file.why for file in sniffed.values() if file.why), ""), reading=keys)
    return reading


def _declared(reading: Reading) -> dict[str, Any]:
    """How files are read, as a suite file says it."""
    return {key: value for key, value in vars(reading).items() if value is not None}


def _made_up_headers(guess: Guess, rows_by_split: Mapping[str, Rows]) -> dict[str, list[str]]:
    """Declare the names column_1, column_2 and so on for tables without a header, with a question if that is not certain, and return them by split.
    Tables of another width than the first of them are left out. Raises InputError if some tables have a header and others have none."""
    files_by_width: dict[int, dict[str, Rows]] = {}  # equally wide files have the same header, or none
    for split, rows in rows_by_split.items():
        files_by_width.setdefault(len(rows[0]), {})[str(guess.files[split])] = rows
    have_header = {width: _have_header(list(files.values())) for width, files in files_by_width.items()}
    without_header = [width for width in files_by_width if not have_header[width]]
    if not without_header:
        return {}
    width, *unused_widths = without_header
    first_file, first_rows = next(iter(files_by_width[width].items()))
    if have_header[width] is None:
        cells = ", ".join(map(quoted, sorted(_recurring(first_rows)) or first_rows[0]))
        guess.questions.append(f"header: {cells} in the first line of {first_file}: is this line a header, or a row?")
    for split, rows in rows_by_split.items():
        if len(rows[0]) in unused_widths:
            widths = f"{guess.files[split]} has {count(len(rows[0]), 'cell')} a line, {first_file} has {width}"
            guess.questions.append(f"files.{split}: not used: {widths}, and neither has a header")
            guess.files[split] = None
    lacking = ", ".join(files_by_width[width])
    if headed := [file for known_width, files in files_by_width.items() if have_header[known_width] for file in files]:
        remedy = "answer header=[NAME, …] with a name for each column, those that the header has among them"
        raise InputError(f"of {lacking}, not all have a header, as {', '.join(headed)} has; {remedy}")
    names = [f"column_{number + 1}" for number in range(width)]
    why = f"the first line of {lacking} looks like a row, so the names are made up; give the columns names"
    guess.declare(why, header=names)
    return {split: names for split, rows in rows_by_split.items() if len(rows[0]) == width}


def _have_header(tables: Sequence[Rows]) -> bool | None:
    """Whether equally wide tables have a header line; None: that is not certain, as always where a number stands above numbers."""
    lines = [tuple(rows[0]) for rows in tables]
    are_equal, are_different = len(set(lines)) == 1, len(set(lines)) == len(lines)
    columns, recurring = _columns(tables[0]), _recurring(tables[0])
    has_numbers = any(all(map(NUMBER.fullmatch, cells)) for cells in columns)
    shared_cells = set.intersection(*map(set, lines)) - recurring
    has_names = (not are_equal and len(shared_cells) > 0) or any(map(_begins_with_name, columns))
    is_like_header = has_names or (are_equal and len(lines) > 1) or (_may_be_names(lines[0]) and not recurring)
    is_like_row = (has_numbers and are_different) or (recurring and not are_equal)
    if is_like_header and not has_numbers:
        return True
    return False if is_like_row and not has_names else None


def _columns(rows: Rows) -> Rows:
    """The columns of a table, without rows that are not as wide as the first."""
    return list(zip(*(row for row in rows if len(row) == len(rows[0])), strict=True))


def _recurring(rows: Rows) -> set[str]:
    """The cells of the first line that occur again in their column: they are hardly its name."""
    return {cells[0] for cells in _columns(rows) if cells[0] in cells[1:]}


def _begins_with_name(column: Sequence[str]) -> bool:
    """Whether a column begins with a usual name of a column, or with a word above two numbers or more."""
    word, below = column[0], column[1:]
    is_above_numbers = len(below) > 1 and not NUMBER.fullmatch(word) and all(map(NUMBER.fullmatch, below))
    return is_above_numbers or word.strip().lower() in {*LABEL_NAMES, *TEXT_WORDS}


def _may_be_names(line: Sequence[str]) -> bool:
    """Whether the cells of a line may be the names of columns: short, and each once."""
    return all(cell.strip() and len(cell.split()) <= LONG for cell in line) and len(set(line)) == len(line)
