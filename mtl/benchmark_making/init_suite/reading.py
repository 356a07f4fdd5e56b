"""The files of a task and how they are read: what a task's guess begins with."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.base.untrusted import inside, is_inside
from mtl.benchmark_making.init_suite import names
from mtl.benchmark_making.init_suite.names import GIVEN, NO_SPLIT, WORD, FoundFiles, Guess, first_part, task_id
from mtl.benchmark_making.init_suite.sniffing import Sniffed, has_header, sniff
from mtl.benchmark_making.init_suite.tables import SplitTables, read_table
from mtl.benchmark_making.init_suite.wording import count, quoted
from mtl.data.files import data_lines
from mtl.data.json_rows import parse_object
from mtl.data.rows import TABLES, form_of
from mtl.tasks.task import BESIDE, SPLIT_OF, Layout, Reading, Task

MOST_PARTS = 20  # keys of an object with words of splits; more of them are the ids of rows
SPLIT_COLUMNS = ("split", "set", "partition", "fold", "subset")


def files_of_tasks(data_dir: Path) -> FoundFiles:
    """The tasks below a folder: files named after splits, and files that hold the splits as keys, or in a column.

    The only data file of all, if it is neither, holds training rows, if the user agrees.
    """
    found = names.find_tasks(data_dir)
    tasks, unused = [*found.tasks], list[str]()
    for name in found.unused:
        if not (parts := _splits_within(data_dir, name)):
            unused.append(name)
            continue
        folder, _, file = name.rpartition("/")
        guess = Guess(_id_after(name, tasks), folder, {split: f"{file}#{keys[0]}" for split, keys in parts.items()})
        several = {split: " or ".join(keys) for split, keys in parts.items() if keys[1:]}
        guess.questions += [f"files.{split}: may be {keys} of {file}" for split, keys in several.items()]
        tasks.append(guess)
    if all(
        task.problem for task in tasks
    ):  # nothing names a split: a task of each file, and of all that differ in their number alone
        families, groups = dict[str, list[str]](), list[list[str]]()
        for name in unused:
            families.setdefault(re.sub(r"\d+(?=(\.[A-Za-z]+)*$)", "", name), []).append(name)
        for family in families.values():
            groups += [family] if first_part(family) else [[name] for name in family]
        for group in groups if len(groups) <= names.MOST_STEMS else ():
            folder, _, file = str(first_part(group)).rpartition("/")
            tasks.append(Guess(_id_after(group[0], tasks), folder, {"train": file}, questions=[NO_SPLIT]))
            unused = []
    return replace(found, tasks=tasks, unused=unused)


def _id_after(name: str, tasks: Sequence[Guess]) -> str:
    """An id after the name of a file, other than those of these tasks."""
    stem = PurePosixPath(name).name
    return task_id(stem.removesuffix(names.suffix_of(stem)), [task.id for task in tasks])


def _splits_within(data_dir: Path, name: str) -> dict[str, list[str]]:
    """The parts of a file that are splits, by split: keys of a JSON object whose values may hold rows, or values of a column."""
    parts: dict[str, list[str]] = {}
    try:
        path = inside(data_dir, name)
        if form_of(path, Layout()) == "json":
            text = "".join(data_lines(path, None, None))
            keys = [key for key, rows in (parse_object(path, text) or {}).items() if isinstance(rows, list | dict)]
            for key in sorted(keys, key=len):
                if len(splits := {SPLIT_OF[word] for word in WORD.findall(key.lower())}) == 1:
                    parts.setdefault(splits.pop(), []).append(key)
        if 0 < sum(map(len, parts.values())) <= MOST_PARTS:
            return parts
        parts, table = {}, read_table(path, Layout(reading=sniff(path).reading))
    except InputError:
        return {}
    for column in table.columns.values():
        if column.name.lower() in SPLIT_COLUMNS and {value.lower() for value in column.counts} <= set(SPLIT_OF):
            for value in column.counts:
                parts.setdefault(SPLIT_OF[value.lower()], []).append(f"{column.name}={value}")
            return parts
    return {}


def read_tables(guess: Guess, data_dir: Path, known: Mapping[str, Any]) -> SplitTables:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    for name in (guess.folder, *filter(None, guess.files.values())):
        if not is_writable(name) or not all(map(is_inside, name.split(BESIDE))):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    task = Task(id=guess.id, folder=guess.folder, text=[], target="", metric="", files=guess.files)
    paths = {split: path for split in guess.files if (path := task.path(split, data_dir))}
    sniffed = {split: sniff(path, task.layout(split, data_dir)) for split, path in paths.items()}
    reading = _reading(guess, sniffed, known)
    layouts = {split: replace(task.layout(split, data_dir), reading=reading) for split in paths}
    if known.get("header", True) is not True:
        guess.declare(GIVEN, header=known["header"])
        headers = dict.fromkeys(paths, known["header"])
    else:
        cells = {s: sniffed[s].rows for s in paths if form_of(paths[s], layouts[s]) in TABLES and sniffed[s].rows}
        headers = _numbered_columns(guess, cells) if "header" not in known else {}
    tables = SplitTables()
    for split in [split for split in paths if guess.files[split] is not None]:
        tables[split] = read_table(paths[split], replace(layouts[split], header=headers.get(split)))
    if headers and "header" not in known:
        numbered, header = next(iter(headers.values())), _header_with_names_of_texts(tables, headers)
        for split in headers if header != numbered else ():
            tables[split] = read_table(paths[split], replace(layouts[split], header=header))
        lines = f"the first line of {', '.join(str(guess.files[split]) for split in headers)}"
        guess.declare(f"{lines} looks like a row, so the names are made up; give the columns names", header=header)
    guess.rows = {split: table.rows for split, table in tables.items()}
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def _reading(guess: Guess, sniffed: Mapping[str, Sniffed], known: Mapping[str, Any]) -> Reading:
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
    """The names column_1 and so on for each table without a header, from the cells of the first rows of each table, with questions in the guess,
    which leaves out tables with fewer or more columns than the first one."""
    headers: dict[str, list[str]] = {}
    # Files whose lines have as many cells are looked at together: those with a header have the same one.
    for width in dict.fromkeys(len(rows[0]) for rows in cells.values()):
        splits = [split for split, rows in cells.items() if len(rows[0]) == width]
        headed, question = has_header({str(guess.files[split]): cells[split] for split in splits})
        if headers and not headed:  # all that lack a header get the same one
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
    return headers


def _header_with_names_of_texts(tables: SplitTables, headers: Mapping[str, list[str]]) -> list[str]:
    """The header for the tables that lack one: columns of texts have the names that they have in a file with a header, if both have as many."""
    first, header = next(iter(headers.items()))
    headed = next((table for split, table in tables.items() if split not in headers), None)
    if headed is None:
        return header
    numbered, names = (
        [column.name for column in table.columns.values() if 2 * column.several_words > column.rows]
        for table in (tables[first], headed)
    )
    renamed = dict(zip(numbered, names, strict=True)) if len(numbered) == len(names) else {}
    return [renamed.get(name, name) for name in header]


def is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    if isinstance(value, str):
        return "${" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return all(map(is_writable, value.values()))
    return all(map(is_writable, value)) if isinstance(value, list) else True
