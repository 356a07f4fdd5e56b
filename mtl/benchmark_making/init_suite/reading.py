"""How the data files of a task are read: all in one way, and tables with a header line in each, or with the same columns."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.base.untrusted import inside, is_inside
from mtl.benchmark_making.init_suite.file_column import NUMBER
from mtl.benchmark_making.init_suite.guess import GIVEN, Guess, quoted, quoted_names
from mtl.benchmark_making.init_suite.sniffing import Rows, Sniffed, sniff
from mtl.benchmark_making.init_suite.tables import MADE_UP, SplitTables, read_table
from mtl.tasks.layout import Reading
from mtl.tasks.task import BESIDE, Task

LONGEST_NAME = 6  # words of a column's name


def read_tables(guess: Guess, data_dir: Path, known: Mapping[str, Any]) -> SplitTables:
    """Read the task's files, by split. In the guess, declare `reading` and `header` if the files need them, set `rows` and why, and add questions.
    Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    for name in [guess.folder, *guess.files.values()]:
        if name and not (is_writable(name) and all(map(is_inside, name.split(BESIDE)))):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    known_reading = typed(Reading, known.get("reading") or {})
    task = Task(guess.id, folder=guess.folder, text=[], target="", metric="", files=guess.files, reading=known_reading)
    paths = {split: inside(data_dir, task.relative_paths(split)[0]) for split in guess.files if task.file_names(split)}
    if not paths:
        raise InputError("files: no file is left; name one, as in files.train=FILE")
    sniffed = {split: sniff(path, task.layout(split, data_dir)) for split, path in paths.items()}
    guess.questions += dict.fromkeys(question for file in sniffed.values() for question in file.questions)
    reading = _keys(_common_reading(guess.files, sniffed)) | _keys(known_reading)
    if reading:
        guess.declare(GIVEN if reading == _keys(known_reading) else "as the first lines show", reading=reading)
    if "header" not in known:
        _declare_made_up_header(guess, sniffed)
    elif known["header"] not in (None, True):
        guess.declare(GIVEN, header=known["header"])
    task = replace(task, reading=Reading(**reading), header=guess.keys.get("header"))
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


def _common_reading(files: Mapping[str, str | None], sniffed: Mapping[str, Sniffed]) -> Reading:
    """How all files of a task are read. Raises InputError if they are read in several ways."""
    quoting = next((file.reading.quoted for file in sniffed.values() if file.reading.quoted is not None), None)
    ways: dict[Reading, str] = {}
    for split, file in sniffed.items():  # without quotes a file reads the same with any quoting
        way = file.reading if file.has_quotes else replace(file.reading, quoted=quoting)
        keys = [f"{key} {value!r}" for key, value in _keys(file.reading).items()]
        ways.setdefault(way, f"{files[split]}: {', '.join(keys) or 'as its suffix says'}")
    if len(ways) > 1:
        remedy = "convert them to one, leave one out, as with files.test=null, or answer how to read all, as with reading.quoted=true"
        raise InputError(f"the files of the task are read in several ways ({'; '.join(ways.values())}); {remedy}")
    return ways.popitem()[0]


def _declare_made_up_header(guess: Guess, sniffed: Mapping[str, Sniffed]) -> None:
    """Number the columns of tables that seem to lack a header line, and ask if they do. Tables have one if it holds only names, or is that of another
    file. Raises InputError if only some tables lack one, or if they differ in width."""
    tables = {split: file.first_rows for split, file in sniffed.items() if file.first_rows}
    unlike_names = {split: _unlike_names(rows) for split, rows in tables.items()}
    headers = [rows[0] for split, rows in tables.items() if not unlike_names[split]]
    lacking = [split for split, rows in tables.items() if rows[0] not in headers]
    if not lacking:
        return
    file, width = guess.files[lacking[0]], len(tables[lacking[0]][0])
    cells = f"{quoted_names(unlike_names[lacking[0]])} in the first line of {file}"
    for split, rows in tables.items():
        if split not in lacking or len(rows[0]) != width:
            difference = f"{guess.files[split]} has {'another width' if split in lacking else 'a header'}"
            answers = "header=true if all files have one, header=[NAME, …] with the names of a header among them"
            raise InputError(f"header: {cells} may be a row, but {difference}; answer {answers}, or files.{split}=null")
    guess.questions.append(f"header: {cells}: is this line a header, or a row?")
    names = [f"{MADE_UP}{number}" for number in range(1, width + 1)]
    guess.declare(f"made up, as the first line of {file} may be a row; give the columns names", header=names)


def _unlike_names(rows: Rows) -> list[str]:
    """The cells of a table's first line that may be no names. Above numbers one may be empty: pandas writes `,text,label` above `0,a text,good`."""
    unlike: list[str] = []
    for cell, *below in zip(*(row for row in rows if len(row) == len(rows[0])), strict=True):
        is_value = len(cell.split()) > LONGEST_NAME or NUMBER.fullmatch(cell.strip())
        lacks_name = not cell.strip() and not (len(below) > 1 and all(map(NUMBER.fullmatch, below)))
        is_repeated = rows[0].count(cell) > 1 or cell in below
        if is_value or lacks_name or is_repeated:
            unlike.append(cell)
    return unlike
