"""The files of a task as tables: how they are read, and whether they have a header."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.base.untrusted import is_inside
from mtl.benchmark_making.init_suite.evidence import LABEL_NAMES, LONG
from mtl.benchmark_making.init_suite.guess import GIVEN, Guess
from mtl.benchmark_making.init_suite.names import TEXT_WORDS
from mtl.benchmark_making.init_suite.sniffing import Sniffed, sniff
from mtl.benchmark_making.init_suite.tables import NUMBER, SplitTables, read_table
from mtl.benchmark_making.init_suite.wording import count, quoted
from mtl.data.rows import TABLES, form_of
from mtl.tasks.task import BESIDE, Reading, Task


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
        cells = {split: sniffed[split].rows for split in tabular if sniffed[split].rows}
        headers = _numbered_columns(guess, cells)
    elif known["header"] is not True:
        guess.declare(GIVEN, header=known["header"])
        headers = dict.fromkeys(paths, known["header"])
    tables = SplitTables()
    for split in [split for split in paths if guess.files[split] is not None]:
        tables[split] = read_table(paths[split], replace(layouts[split], header=headers.get(split)))
    if headers and "header" not in known:
        lines = f"the first line of {', '.join(str(guess.files[split]) for split in headers)}"
        why = f"{lines} looks like a row, so the names are made up; give the columns names"
        guess.declare(why, header=next(iter(headers.values())))
    guess.rows = {split: table.rows for split, table in tables.items()}
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    if isinstance(value, str):
        return "${" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return all(map(is_writable, value.values()))
    return not isinstance(value, list) or all(map(is_writable, value))


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
    questions = dict.fromkeys(chain.from_iterable(file.questions for file in sniffed.values()))
    guess.questions += [question for question in questions if question not in guess.questions]
    if keys := _declared(reading):
        guess.declare(next(filter(None, (file.why for file in sniffed.values())), ""), reading=keys)
    return reading


def _declared(reading: Reading) -> dict[str, Any]:
    """How files are read, as a suite file says it."""
    return {key: value for key, value in vars(reading).items() if value is not None}


def _numbered_columns(guess: Guess, cells: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, list[str]]:
    """The names column_1, column_2 and so on, for each table without a header.

    Questions are added to the guess, and it leaves out tables with fewer or more columns than the first one without a header.

    Args:
        guess: the guess of the task.
        cells: by split, the cells of the first rows of its table.

    Returns:
        The names by split, without the tables that have a header.

    Raises:
        InputError: if some of the tables have a header and others have none.
    """
    headers: dict[str, list[str]] = {}
    # Files whose lines have as many cells are looked at together: those with a header have the same one.
    for width in dict.fromkeys(len(rows[0]) for rows in cells.values()):
        splits = [split for split, rows in cells.items() if len(rows[0]) == width]
        headed, question = _has_header({str(guess.files[split]): cells[split] for split in splits})
        if headers and not headed:  # all tables without a header have the same names
            first, header = next(iter(headers.items()))
            for split in splits:
                other = f"{guess.files[first]} has {len(header)}, and neither has a header"
                problem = f"{guess.files[split]} has {count(width, 'cell')} a line, {other}"
                guess.questions.append(f"files.{split}: not used: {problem}")
                guess.files[split] = None
            continue
        guess.questions += [question] if question else []
        if not headed:
            headers = {split: [f"column_{number + 1}" for number in range(width)] for split in splits}
    if headers:
        lacking = ", ".join(str(guess.files[split]) for split in headers)
        if others := [str(guess.files[split]) for split in cells if split not in headers and guess.files[split]]:
            remedy = "answer header=[NAME, …] with a name for each column, those that the header has among them"
            raise InputError(f"of {lacking}, not all have a header, as {', '.join(others)} has; {remedy}")
    return headers


def _has_header(heads: Mapping[str, Sequence[Sequence[str]]]) -> tuple[bool, str | None]:
    """Whether the tables of a task have a header line, and the question if that is not certain.

    Args:
        heads: by file name, the cells of the first rows of the table.
    """
    first_lines = [tuple(rows[0]) for rows in heads.values()]
    name = next(iter(heads))
    line = first_lines[0]
    full_rows = [row for row in heads[name] if len(row) == len(line)]
    columns = list(zip(*full_rows, strict=True))
    # A value that occurs again in its column is hardly the column's name, and neither is a number.
    recurring = {cells[0] for cells in columns if cells.count(cells[0]) > 1}
    has_numbers = any(all(map(NUMBER.fullmatch, cells)) for cells in columns)
    are_equal = len(set(first_lines)) == 1
    if len(first_lines) > 1 and are_equal and not has_numbers:  # files with a header have the same one
        return True, None
    longer = [cells for cells in columns if len(cells) > 2 and not NUMBER.fullmatch(cells[0])]
    in_all_files = set[str]() if are_equal else set.intersection(*map(set, first_lines)) - recurring
    usual_names = {*LABEL_NAMES, *TEXT_WORDS} & {word.strip().lower() for word in line}
    is_named = bool(in_all_files or usual_names or any(all(map(NUMBER.fullmatch, cells[1:])) for cells in longer))
    if is_named != has_numbers and (is_named or len(set(first_lines)) == len(first_lines)):
        return is_named, None
    if recurring and not are_equal and not is_named:
        return False, None
    could_be_names = all(cell.strip() and len(cell.split()) <= LONG for cell in line) and len(set(line)) == len(line)
    if could_be_names and not recurring and not has_numbers:
        return True, None
    cells = ", ".join(map(quoted, sorted(recurring) or line))
    return False, f"header: {cells} in the first line of {name}: is this line a header, or a row?"
