"""How the data files of a task are read, from their names and first lines: form, separator, quotes, encoding and header."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
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


def read_tables(guess: Guess, data_dir: Path, known: Mapping[str, Any]) -> SplitTables:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    for name in (guess.folder, *filter(None, guess.files.values())):
        if not is_writable(name) or not all(map(is_inside, name.split(BESIDE))):
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
    """By split, the names column_1, column_2 and so on of each table without a header, which the guess declares, with questions. Tables with fewer or
    more columns than the first one without a header are left out. Raises InputError if some of the tables have a header and others have none."""
    headers: dict[str, list[str]] = {}
    # Files whose lines have as many cells are looked at together: those with a header have the same one.
    for width in dict.fromkeys(len(rows[0]) for rows in heads.values()):
        splits = [split for split, rows in heads.items() if len(rows[0]) == width]
        headed, questions = _has_header({str(guess.files[split]): heads[split] for split in splits})
        if headers and not headed:  # all tables without a header have the same names
            first, header = next(iter(headers.items()))
            for split in splits:
                problem = f"{guess.files[split]} has {count(width, 'cell')} a line, {guess.files[first]} has {len(header)}, and neither has a header"
                guess.questions.append(f"files.{split}: not used: {problem}")
                guess.files[split] = None
            continue
        guess.questions += questions
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


def _has_header(heads: Mapping[str, Sequence[Sequence[str]]]) -> tuple[bool, list[str]]:
    """Whether the tables with these first rows, by file name, have a header line, and a question if that is not certain."""
    first_lines = [tuple(rows[0]) for rows in heads.values()]
    are_equal = len(set(first_lines)) == 1
    are_different = len(set(first_lines)) == len(first_lines)
    name, rows = next(iter(heads.items()))
    columns = list(zip(*(row for row in rows if len(row) == len(rows[0])), strict=True))
    # A value that occurs again in its column is hardly the column's name, and neither is a number.
    recurring = {cells[0] for cells in columns if cells.count(cells[0]) > 1}
    has_numbers = any(all(map(NUMBER.fullmatch, cells)) for cells in columns)
    in_all_files = set.intersection(*map(set, first_lines)) - recurring  # cells of the first lines
    has_names = (not are_equal and bool(in_all_files)) or _begin_with_names(columns)
    is_like_header = (are_equal and len(heads) > 1) or has_names or (_may_be_names(rows[0]) and not recurring)
    if is_like_header and not has_numbers:
        return True, []
    is_like_row = (has_numbers and are_different) or (recurring and not are_equal)
    if is_like_row and not has_names:
        return False, []
    quoted_cells = ", ".join(map(quoted, sorted(recurring) or rows[0]))
    return False, [f"header: {quoted_cells} in the first line of {name}: is this line a header, or a row?"]


def _begin_with_names(columns: Sequence[Sequence[str]]) -> bool:
    """Whether one of the columns begins with a usual name of a column, or with a word above two numbers or more."""
    usual_names = {*LABEL_NAMES, *TEXT_WORDS} & {cells[0].strip().lower() for cells in columns}
    below_words = [cells[1:] for cells in columns if len(cells) > 2 and not NUMBER.fullmatch(cells[0])]
    return bool(usual_names) or any(all(map(NUMBER.fullmatch, cells)) for cells in below_words)


def _may_be_names(line: Sequence[str]) -> bool:
    """Whether the cells of a line may be the names of columns: short, and each once."""
    return all(cell.strip() and len(cell.split()) <= LONG for cell in line) and len(set(line)) == len(line)
