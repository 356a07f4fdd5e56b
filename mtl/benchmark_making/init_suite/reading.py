"""How the data files of a task are read: all in one way, and tables either with a header line each, or with the same columns."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.base.untrusted import inside, is_inside
from mtl.benchmark_making.init_suite.file_column import NUMBER
from mtl.benchmark_making.init_suite.guess import WHY_GIVEN, Guess, TaskKeys
from mtl.benchmark_making.init_suite.sniffing import Rows, Sniffed, sniff
from mtl.benchmark_making.init_suite.tables import MADE_UP, SplitTables, read_table
from mtl.benchmark_making.init_suite.wording import quoted, quoted_names
from mtl.tasks.layout import Reading
from mtl.tasks.task import BESIDE, Task

LONGEST_NAME = 6  # words of a column's name


class FirstLine(NamedTuple):
    """The first line of a table, which may be a header or a row."""

    split: str
    file: str
    cells: Sequence[str]
    odd_cells: Sequence[str]  # those that may be no names of columns


def read_tables(guess: Guess, data_dir: Path, known: TaskKeys) -> SplitTables:
    """Read the files of a task, by split; the guess gets the keys `reading`, `header` and `rows`, and questions. Raises InputError for bad files."""
    _check_names(guess)
    known_reading = typed(Reading, known.get("reading") or {})
    task = Task(guess.id, folder=guess.folder, text=[], target="", metric="", files=guess.files, reading=known_reading)
    paths = {split: inside(data_dir, task.relative_paths(split)[0]) for split in guess.files if task.file_names(split)}
    if not paths:
        raise InputError("files: no file is left; name one, as in files.train=FILE")
    sniffed = {split: sniff(path, task.layout(split, data_dir)) for split, path in paths.items()}
    guess.questions += dict.fromkeys(question for file in sniffed.values() for question in file.questions)  # each once
    reading = _keys(_common_reading(guess.files, sniffed)) | _keys(known_reading)
    if reading:
        guess.declare(WHY_GIVEN if reading == _keys(known_reading) else "as the first lines show", reading=reading)
    if "header" not in known:
        _declare_made_up_header(guess, sniffed)
    elif known["header"] not in (None, True):  # both say that each table has a header line
        guess.declare(WHY_GIVEN, header=known["header"])
    task = replace(task, reading=Reading(**reading), header=guess.keys.get("header"))
    tables = SplitTables({split: read_table(path, task.layout(split, data_dir)) for split, path in paths.items()})
    guess.rows = {split: table.rows for split, table in tables.items()}
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def _check_names(guess: Guess) -> None:
    """Raise InputError for the name of a folder or a file that a suite file cannot hold, or that leads out of the data folder."""
    for name in [guess.folder, *guess.files.values()]:
        if name and not (is_writable(name) and all(map(is_inside, name.split(BESIDE)))):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")


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
    ways: dict[Reading, str] = {}  # each with the first file that is read so, and how, in words
    for split, file in sniffed.items():
        # A file without quotation marks reads the same with any quoting, so it has that of the others.
        way = file.reading if file.has_quotes else replace(file.reading, quoted=quoting)
        keys = [f"{key} {value!r}" for key, value in _keys(file.reading).items()]
        ways.setdefault(way, f"{files[split]}: {', '.join(keys) or 'as its suffix says'}")
    if len(ways) > 1:
        remedy = "convert them to one, leave one out, as with files.test=null, or answer how to read all, as with reading.quoted=true"
        raise InputError(f"the files of the task are read in several ways ({'; '.join(ways.values())}); {remedy}")
    return next(iter(ways))


def _declare_made_up_header(guess: Guess, sniffed: Mapping[str, Sniffed]) -> None:
    """Number the columns of tables that seem to lack a header line, and ask if they do. A first line is a header if it holds only names, or is that
    of another file. Raises InputError if only some tables lack one, or if they differ in width."""
    tables = {split: file.first_rows for split, file in sniffed.items() if file.first_rows}
    lines = [FirstLine(split, str(guess.files[split]), rows[0], _odd_cells(rows)) for split, rows in tables.items()]
    headers = [line.cells for line in lines if not line.odd_cells]
    lacking = [line for line in lines if line.cells not in headers]
    if not lacking:
        return
    first = lacking[0]
    odd_cells = f"{quoted_names(first.odd_cells)} in the first line of {first.file}"
    for line in lines:
        if line not in lacking or len(line.cells) != len(first.cells):
            difference = "another width" if line in lacking else "a header"
            answers = "header=true if all files have one, header=[NAME, …] with the names of a header among them"
            problem = f"header: {odd_cells} may be a row, but {line.file} has {difference}"
            raise InputError(f"{problem}; answer {answers}, or files.{line.split}=null")
    guess.questions.append(f"header: {odd_cells}: is this line a header, or a row?")
    names = [f"{MADE_UP}{number}" for number in range(1, len(first.cells) + 1)]
    guess.declare(f"made up, as the first line of {first.file} may be a row; give the columns names", header=names)


def _odd_cells(rows: Rows) -> list[str]:
    """The cells of a table's first line that may be no names of columns: numbers, texts of many words, empty cells, and values that stand in another
    cell of the line or of the column, too. An empty cell above numbers is not odd: pandas writes `,text,label` above `0,a text,good`."""
    odd_cells: list[str] = []
    for cell, *below in zip(*(row for row in rows if len(row) == len(rows[0])), strict=True):
        is_value = NUMBER.fullmatch(cell.strip()) or len(cell.split()) > LONGEST_NAME
        lacks_name = not cell.strip() and not (len(below) > 1 and all(map(NUMBER.fullmatch, below)))
        is_repeated = rows[0].count(cell) > 1 or cell in below
        if is_value or lacks_name or is_repeated:
            odd_cells.append(cell)
    return odd_cells
