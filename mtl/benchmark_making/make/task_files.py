"""The suite file of the tasks that a recipe makes, and their data files, each of which is read back as a run reads it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.benchmark_making.data_files import write_records
from mtl.benchmark_making.make.recipe import TaskRecipe
from mtl.benchmark_making.make.table import SPLIT, Origin, SourceRow, Table
from mtl.data.columns import Value, printable_names
from mtl.data.examples import read_examples
from mtl.tasks.suite import Suite
from mtl.tasks.task import SPLITS, Task

PROVENANCE = "provenance.json"
MOST_WRITTEN = 2**30  # characters of a task's files

BySplit = dict[str, list[SourceRow]]


class WrittenTasks(NamedTuple):
    """The tasks of a recipe, whose files are written."""

    suite: Suite
    content: dict[str, Any]  # by task, what the provenance says of it
    used: set[Origin]  # the rows of sources that the files are made of


def write_tasks(recipe: TaskRecipe, tables: Mapping[str, Table], folder: Path) -> WrittenTasks:
    """Write the suite file, and the data files of its tasks. Raises InputError for tables that have not what the tasks need."""
    rows = {id: _by_split(recipe, id, tables[files.table]) for id, files in recipe.written.items()}
    counts = {id: {name: len(part) for name, part in by_split.items()} for id, by_split in rows.items()}
    suite_content, suite = recipe.suite(counts)
    content: dict[str, Any] = {}
    for id, files in recipe.written.items():
        columns = _file_columns(recipe, suite.tasks[id], tables[files.table])
        _check_size(recipe, id, columns, rows[id])
        changed = _write_splits(recipe, suite.tasks[id], columns, rows[id], folder)
        content[id] = {"table": files.table, "rows": counts[id], "cells_changed": changed}
    text = yaml.safe_dump(suite_content, sort_keys=False, allow_unicode=True, width=120)
    write_text(folder / "suite.yaml", f"# Made by mtl make from {recipe.path.name}; {PROVENANCE} says how.\n{text}")
    written = (row for by_split in rows.values() for part in by_split.values() for row in part)
    return WrittenTasks(suite, content, {origin for row in written for origin in row.origins})


def _by_split(recipe: TaskRecipe, id: str, table: Table) -> BySplit:
    """The rows of a task by split. Raises InputError for a table without the column of splits, and for a row of no split."""
    if SPLIT not in table.columns:
        problem = f"table {table.name} has no column {SPLIT!r}; divide its rows by a step split or set"
        raise InputError(problem, path=recipe.path, key=f"tasks.{id}.data.table")
    rows: BySplit = {name: [] for name in SPLITS}
    for row in table.rows:
        if (name := row.cell(SPLIT)) not in SPLITS:
            raise row.error(f"{name!r} in column {SPLIT!r} must be {', '.join(SPLITS)}; change it by a step map")
        rows[name].append(row)
    return {name: rows[name] for name in SPLITS if rows[name]}


def _file_columns(recipe: TaskRecipe, task: Task, table: Table) -> dict[str, str]:
    """By column of a task's files, the table's column. Raises InputError for one that the table does not have."""
    group = [task.group] if task.group else []
    declared = [*task.text_columns, *task.span_columns, *task.further_columns, *group, *task.target_columns]
    columns = recipe.written[task.id].columns or {name: name for name in declared}
    if absent := [column for column in columns.values() if column not in table.columns]:
        lacks = f"table {table.name} has no column {absent[0]!r}; it has {printable_names(table.columns)}"
        raise InputError(f"{lacks}; data: columns: says which are written", path=recipe.path, key=f"tasks.{task.id}")
    return columns


def _check_size(recipe: TaskRecipe, id: str, columns: Mapping[str, str], splits: BySplit) -> None:
    """Raise InputError for a task whose files would be too large."""
    rows = (row for part in splits.values() for row in part)
    size = sum(len(str(row.values.get(column))) for row in rows for column in columns.values())
    if size > MOST_WRITTEN:
        problem = f"would have {size:,} characters, more than {MOST_WRITTEN:,}; drop rows, or cut their texts"
        raise InputError(problem, path=recipe.path, key=f"tasks.{id}")


def _write_splits(recipe: TaskRecipe, task: Task, columns: Mapping[str, str], splits: BySplit, folder: Path) -> int:
    """Write a file for each split of a task. Returns how many cells differ from the values, since a tsv file has no tabs and line ends in cells.
    Raises InputError at the source of a row that no run could read, test targets included."""
    changed = 0
    for name, rows in splits.items():
        path = folder / "data" / task.folder / f"{name}.{recipe.written[task.id].format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        cells = [[_value(row, column) for column in columns.values()] for row in rows]
        changed += write_records(path, list(columns), cells)
        try:
            read_examples(task, path, True)
        except InputError as error:
            number = (error.line or 0) - (1 if path.suffix == ".jsonl" else 2)  # of the row, from 0; less: of no row
            by_line = path.suffix != ".csv"  # whose rows may have several lines
            source = f"{rows[number].origins[0]}: " if by_line and number >= 0 else ""
            raise InputError(f"{source}{error.message}", path=recipe.path, key=f"tasks.{task.id}") from None
    return changed


def _value(row: SourceRow, column: str) -> Value:
    """A value that is to be written. Raises InputError, which names the source's line, where there is none."""
    if (value := row.values.get(column)) is None:
        raise row.error(f"nothing stands in column {column!r}, which is to be written; drop such rows before")
    return value
