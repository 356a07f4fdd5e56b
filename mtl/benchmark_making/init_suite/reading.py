"""How the data files of a task are read: all in one way, and tables with a header line in each, or with the same columns."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.base.untrusted import is_inside
from mtl.benchmark_making.init_suite.file_column import NUMBER
from mtl.benchmark_making.init_suite.guess import GIVEN, Guess, quoted, quoted_names
from mtl.benchmark_making.init_suite.sniffing import Rows, Sniffed, sniff
from mtl.benchmark_making.init_suite.tables import MADE_UP, SplitTables, read_table
from mtl.tasks.layout import Reading
from mtl.tasks.task import BESIDE, Task

LONGEST_NAME = 6  # words of a column's name


def read_tables(guess: Guess, data_dir: Path, known: Mapping[str, Any]) -> SplitTables:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    for name in [guess.folder, *guess.files.values()]:
        if name and not (is_writable(name) and all(map(is_inside, name.split(BESIDE)))):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    said = typed(Reading, known.get("reading") or {})
    task = Task(guess.id, folder=guess.folder, text=[], target="", metric="", files=guess.files, reading=said)
    paths = {split: path for split in guess.files if (path := task.path(split, data_dir))}
    if not paths:
        raise InputError("files: no file is left; name one, as in files.train=FILE")
    sniffed = {split: sniff(path, task.layout(split, data_dir)) for split, path in paths.items()}
    reading = _keys(_common_reading(guess, sniffed)) | _keys(said)
    if reading:
        guess.declare(GIVEN if reading == _keys(said) else "as the first lines show", reading=reading)
    task = replace(task, reading=Reading(**reading), header=_header(guess, sniffed, known))
    tables = SplitTables({split: read_table(path, task.layout(split, data_dir)) for split, path in paths.items()})
    guess.rows = {split: table.rows for split, table in tables.items()}
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return "${" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _keys(reading: Reading) -> dict[str, Any]:
    """How files are read, as a suite file says it."""
    return {key: value for key, value in vars(reading).items() if value is not None}


def _common_reading(guess: Guess, sniffed: Mapping[str, Sniffed]) -> Reading:
    """How all files of a task are read, with questions. Raises InputError if they are read in several ways."""
    quoting = next((file.reading.quoted for file in sniffed.values() if file.reading.quoted is not None), None)
    ways: dict[Reading, str] = {}
    for split, file in sniffed.items():  # without quotes a file reads the same with any quoting
        way = file.reading if file.has_quotes else replace(file.reading, quoted=quoting)
        keys = [f"{key} {value!r}" for key, value in _keys(file.reading).items()]
        ways.setdefault(way, f"{guess.files[split]}: {', '.join(keys) or 'as its suffix says'}")
        guess.questions += [question for question in file.questions if question not in guess.questions]
    if len(ways) > 1:
        remedy = "convert them to one, leave one out, as with files.test=null, or answer how to read all, as with reading.quoted=true"
        raise InputError(f"the files of the task are read in several ways ({'; '.join(ways.values())}); {remedy}")
    return ways.popitem()[0]


def _header(guess: Guess, sniffed: Mapping[str, Sniffed], known: Mapping[str, Any]) -> list[str] | None:
    """The names of the columns if the tables have no header: as given, or made up, with a question; None: each table has one. Raises InputError if
    the tables differ."""
    if known.get("header") not in (None, True):
        guess.declare(GIVEN, header=known["header"])
    if "header" in known:
        return guess.keys.get("header")
    tables = {split: file.first_rows for split, file in sniffed.items() if file.first_rows}
    headers = {tuple(rows[0]) for rows in tables.values() if not _unlike_names(rows)}
    lacking = [split for split, rows in tables.items() if tuple(rows[0]) not in headers]
    if not lacking:
        return None
    file, rows = guess.files[lacking[0]], tables[lacking[0]]
    cells = f"{quoted_names(_unlike_names(rows))} in the first line of {file}"
    for split in tables:
        if split not in lacking or len(tables[split][0]) != len(rows[0]):
            unlike = f"{guess.files[split]} has {'another width' if split in lacking else 'a header'}"
            answers = "header=true if all files have one, header=[NAME, …] with the names of a header among them"
            raise InputError(f"header: {cells} may be a row, but {unlike}; answer {answers}, or files.{split}=null")
    guess.questions.append(f"header: {cells}: is this line a header, or a row?")
    names = [f"{MADE_UP}{number + 1}" for number in range(len(rows[0]))]
    guess.declare(f"made up, as the first line of {file} may be a row; give the columns names", header=names)
    return names


def _unlike_names(rows: Rows) -> list[str]:
    """The cells of a table's first line that may be no names: of many words, numbers, twice in the line, again in their column, or empty. Above the
    numbers of rows, pandas leaves one empty."""
    columns = zip(*(row for row in rows if len(row) == len(rows[0])), strict=True)
    times = Counter(rows[0])
    unlike: list[str] = []
    for cell, *below in columns:
        is_like_text = len(cell.split()) > LONGEST_NAME or NUMBER.fullmatch(cell.strip())
        is_empty = not cell.strip() and not (len(below) > 1 and all(map(NUMBER.fullmatch, below)))
        if is_like_text or is_empty or times[cell] > 1 or cell in below:
            unlike.append(cell)
    return unlike
