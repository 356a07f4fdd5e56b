"""How the data files of a task are read, from their names and first lines: form, separator, quotes, encoding and header."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.base.untrusted import is_inside
from mtl.benchmark_making.init_suite.guess import GIVEN, Guess, quoted
from mtl.benchmark_making.init_suite.headers import Rows, made_up_headers
from mtl.benchmark_making.init_suite.sniffing import Sniffed, sniff
from mtl.benchmark_making.init_suite.tables import SplitTables, read_table
from mtl.data.forms import TABLES, form_of
from mtl.tasks.task import BESIDE, Reading, Task


def read_tables(guess: Guess, data_dir: Path, known: Mapping[str, Any]) -> SplitTables:
    """Read the task's files, by split, and declare how they are read and how many rows they have. Raises InputError for a file that cannot be read,
    for files that are read in several ways, and for a name that a suite file cannot hold."""
    for name in [guess.folder, *guess.files.values()]:
        if name and not (is_writable(name) and all(map(is_inside, name.split(BESIDE)))):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    task = Task(id=guess.id, folder=guess.folder, text=[], target="", metric="", files=guess.files)
    paths = {split: path for split in guess.files if (path := task.path(split, data_dir))}
    if not paths:
        raise InputError("files: no file is left; name one, as in files.train=FILE")
    layouts = {split: task.layout(split, data_dir) for split in paths}
    sniffed = {split: sniff(path, layouts[split]) for split, path in paths.items()}
    reading = _declared_reading(guess, sniffed, known)
    layouts = {split: replace(layout, reading=reading) for split, layout in layouts.items()}
    tabular = [split for split, path in paths.items() if form_of(path, layouts[split]) in TABLES]
    rows = {split: sniffed[split].rows for split in tabular if sniffed[split].rows}
    headers = _headers(guess, paths, rows, known)
    tables = SplitTables()
    for split, path in paths.items():
        if guess.files[split] is not None:  # a table without a header may be left out
            tables[split] = read_table(path, replace(layouts[split], header=headers.get(split)))
    guess.rows = {split: table.rows for split, table in tables.items()}
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return "${" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _declared_reading(guess: Guess, sniffed: Mapping[str, Sniffed], known: Mapping[str, Any]) -> Reading:
    """Declare how all files of a task are read, with questions, and return it. What the user states replaces what is guessed. Raises InputError if
    they are read in several ways."""
    quoting = _first_stated(file.reading.quoted for file in sniffed.values())
    encoding = _first_stated(file.reading.encoding for file in sniffed.values())
    ways: set[Reading] = set()
    for file in sniffed.values():
        reading = file.reading
        if not file.has_quotes:  # it reads the same with the quoting of the rest
            reading = replace(reading, quoted=quoting)
        if file.is_ascii:  # and in the encoding of the rest
            reading = replace(reading, encoding=encoding)
        ways.add(reading)
    if len(ways) > 1:
        reasons = [f"{guess.files[split]}: {file.why or 'as its suffix says'}" for split, file in sniffed.items()]
        remedy = "convert them to one, or leave one out, as with files.test=null"
        raise InputError(f"the files of the task are read in several ways ({', '.join(reasons)}); {remedy}")
    reading = typed(Reading, {**_stated_keys(ways.pop()), **(known.get("reading") or {})})
    for file in sniffed.values():
        guess.questions += [question for question in file.questions if question not in guess.questions]
    if keys := _stated_keys(reading):
        guess.declare(_first_stated(file.why or None for file in sniffed.values()) or "", reading=keys)
    return reading


def _first_stated(values: Iterable[Any]) -> Any:
    """The first value that is not None; None if there is none."""
    return next((value for value in values if value is not None), None)


def _stated_keys(reading: Reading) -> dict[str, Any]:
    """How files are read, as a suite file says it."""
    return {key: value for key, value in vars(reading).items() if value is not None}


def _headers(
    guess: Guess, splits: Iterable[str], rows: Mapping[str, Rows], known: Mapping[str, Any]
) -> dict[str, list[str]]:
    """By split, the columns of files without a header line: as the user says, else made up for those of the tables, with these first rows, that lack
    one."""
    if "header" not in known:
        return made_up_headers(guess, rows)
    if known["header"] is True:  # each file has one
        return {}
    guess.declare(GIVEN, header=known["header"])
    return dict.fromkeys(splits, known["header"])
