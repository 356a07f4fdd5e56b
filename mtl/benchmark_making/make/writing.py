"""What a recipe makes, as files: data, suite file, documentation sheets, dropped rows and provenance."""

import json
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mtl.base.errors import InputError
from mtl.base.files import sha256, write_json, write_text
from mtl.base.version import VERSION
from mtl.benchmark_making.audits.sheets.draft import draft_sheet
from mtl.benchmark_making.audits.sheets.form import TO_COMPLETE
from mtl.benchmark_making.make.recipe import TaskRecipe, Use, suite_of
from mtl.benchmark_making.make.table import SPLIT, Dropped, Origin, SourceRow, Table
from mtl.data.columns import LIST, Value, listed
from mtl.data.examples import read_examples
from mtl.data.records import write_records
from mtl.jobs.job import load_job
from mtl.tasks.suite import Suite
from mtl.tasks.task import SPLITS

FORMAT = 1  # of provenance.json
SHOWN = 200  # characters of a dropped row's value
DROPPED = "dropped.jsonl"
PROVENANCE = "provenance.json"


@dataclass(frozen=True)
class Done:
    """A step that was done.

    Args:
        taken: by table that it took, its rows.
        rows: of the table that it returned.
        facts: what it noted.
    """

    use: Use
    taken: dict[str, int]
    rows: int
    dropped: list[Dropped]
    facts: dict[str, Any]

    @property
    def line(self) -> str:
        """The step in one line, for people."""
        options = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in self.use.given.items())
        taken = " and ".join(f"{rows} rows of {name}" for name, rows in self.taken.items())
        return f"{self.use.number}. {self.use.name}{f' ({options})' if options else ''}: {taken} → {self.rows} rows of {self.use.into}"


def write_all(
    recipe: TaskRecipe,
    tables: Mapping[str, Table],
    done: Sequence[Done],
    sources: Mapping[str, Any],
    rows_given: Sequence[SourceRow],
    folder: Path,
) -> Suite:
    """Write all files into a folder.

    Args:
        tables: by name.
        sources: what the provenance says of each source.
        rows_given: the rows of all sources.

    Returns:
        The suite, as read from its file.

    Raises:
        InputError: for a table without splits, a row without a value that is to be written, and a target that the task does not have.
    """
    rows = {id: _by_split(recipe, id, tables[own.table]) for id, own in recipe.written.items()}
    counts = {id: {name: len(own) for name, own in splits.items()} for id, splits in rows.items()}
    suite = suite_of(recipe, counts)
    for id, own in recipe.written.items():
        _check_columns(recipe, suite, id, tables[own.table])
    changed = {id: _write_task(recipe, suite, id, splits, folder / "data" / id) for id, splits in rows.items()}
    head = f"# Made by mtl make from {recipe.path.name}; {PROVENANCE} says how.\n"
    content = yaml.safe_dump(recipe.suite(counts), sort_keys=False, allow_unicode=True, width=120)
    write_text(folder / "suite.yaml", head + content)
    for id in recipe.written:
        _check_rows(recipe, suite, id, rows[id], folder)
        (folder / "sheets").mkdir(exist_ok=True)
        write_text(folder / "sheets" / f"{id}_documentation_sheet.tsv", _sheet(recipe, id, done, sources, folder))
    used = {origin for splits in rows.values() for own in splits.values() for row in own for origin in row.origins}
    lines = [line for each in done for line in _dropped_lines(each, used)]
    lines += _unread_lines(rows_given, used, done)
    write_text(folder / DROPPED, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    write_json(
        folder / PROVENANCE,
        {
            "format": FORMAT,
            "mtl": VERSION,
            "recipe": {"file": recipe.path.name, "sha256": sha256(recipe.path)},
            "seed": recipe.form.seed,
            "sources": {
                name: {**own, "rows_used": sum(o.file == own["file"] for o in used)} for name, own in sources.items()
            },
            "steps": [_step(each) for each in done],
            "tasks": {
                id: {"table": recipe.written[id].table, "rows": counts[id], "cells_changed": changed[id]} for id in rows
            },
            "files": {path.relative_to(folder).as_posix(): sha256(path) for path in files},
        },
    )
    return suite


def _by_split(recipe: TaskRecipe, id: str, table: Table) -> dict[str, list[SourceRow]]:
    """The rows of a task by split."""
    key = f"tasks.{id}.data.table"
    if SPLIT not in table.columns:
        problem = f"table {table.name} has no column {SPLIT!r}; divide its rows by a step split, split_by_value or set"
        raise InputError(problem, path=recipe.path, key=key)
    rows: dict[str, list[SourceRow]] = {}
    for row in table.rows:
        name = row.cell(SPLIT)
        if name not in SPLITS:
            raise row.error(f"{name!r} in column {SPLIT!r} must be {', '.join(SPLITS)}; change it by a step map")
        rows.setdefault(name, []).append(row)
    if not rows:
        raise InputError(
            f"table {table.name} has no row left; {DROPPED} would have them all", path=recipe.path, key=key
        )
    return {name: rows[name] for name in SPLITS if name in rows}


def _columns(recipe: TaskRecipe, suite: Suite, id: str) -> dict[str, str]:
    """By column of a task's files, the table's column."""
    if own := recipe.written[id].columns:
        return own
    task = suite.tasks[id]
    named = [
        *task.text_columns,
        *task.span_columns,
        *task.further_columns,
        *([task.group] if task.group else []),
        task.target,
    ]
    return {name: name for name in named}


def _check_columns(recipe: TaskRecipe, suite: Suite, id: str, table: Table) -> None:
    """Raise InputError unless the table has the columns that are to be written."""
    if absent := [column for column in _columns(recipe, suite, id).values() if column not in table.columns]:
        known = listed(table.columns)
        problem = (
            f"table {table.name} has no column {absent[0]!r}; it has {known}; data: columns: says which are written"
        )
        raise InputError(problem, path=recipe.path, key=f"tasks.{id}")


def _write_task(
    recipe: TaskRecipe, suite: Suite, id: str, splits: Mapping[str, Sequence[SourceRow]], folder: Path
) -> int:
    """Write a task's files; return how many of their cells differ from the values, since a tsv file has no tabs and line ends in cells."""
    columns = _columns(recipe, suite, id)
    changed = 0
    folder.mkdir(parents=True)
    for name, rows in splits.items():
        values = [[_value(row, column) for column in columns.values()] for row in rows]
        changed += write_records(folder / f"{name}.{recipe.written[id].format}", list(columns), values)
    return changed


def _value(row: SourceRow, column: str) -> Value:
    value = row.values.get(column)
    if value is None:
        raise row.error(f"nothing stands in column {column!r}, which is to be written; drop such rows before")
    return value


def _check_rows(
    recipe: TaskRecipe, suite: Suite, id: str, splits: Mapping[str, Sequence[SourceRow]], folder: Path
) -> None:
    """Read what was written as a run does, test targets included. Raises InputError at the source of a row that no run could read."""
    task = suite.tasks[id]
    for name, rows in splits.items():
        path = task.path(name, folder / "data")
        assert path is not None
        try:
            read_examples(task, path, True)
        except InputError as error:
            number = (error.line or 0) - (1 if path.suffix == ".jsonl" else 2)
            row = rows[number] if error.line and path.suffix != ".csv" else None
            where = f"{row.origins[0].file}:{row.origins[0].line}: " if row else ""
            raise InputError(f"{where}{error.message}", path=recipe.path, key=f"tasks.{id}") from None


def _sheet(recipe: TaskRecipe, id: str, done: Sequence[Done], sources: Mapping[str, Any], folder: Path) -> str:
    """The draft of a task's documentation sheet, with the sources and the steps of the recipe."""
    tables, steps = {recipe.written[id].table}, list[Done]()
    for each in reversed(done):
        if each.use.into in tables:
            steps.insert(0, each)
            tables |= set(each.use.tables)
    files = [
        f"{own['file']}: {own['rows']} rows, SHA-256 {own['sha256']}" for name, own in sources.items() if name in tables
    ]
    given: dict[str, Sequence[str]] = {
        "Data source(s)*": [TO_COMPLETE, *files],
        "Data selection and filtering*": [f"Made by mtl make from {recipe.path.name}:", *(each.line for each in steps)],
        **{name: value.splitlines() for name, value in recipe.sheets[id].items()},
    }
    with tempfile.TemporaryDirectory() as cache:
        job = load_job({"suite": str(folder / "suite.yaml"), "cache_dir": cache})
        return draft_sheet(job, id, given)


def _dropped_lines(done: Done, used: Container[Origin]) -> Iterator[dict[str, Any]]:
    """What dropped.jsonl says of each row that a step dropped. used: the rows of sources that files of tasks are made of."""
    step = {"step": done.use.number, "name": done.use.name, "table": done.use.into}
    for row, reason in done.dropped:
        yield _line(step, row, reason, all(origin in used for origin in row.origins))


def _unread_lines(rows: Iterable[SourceRow], used: Container[Origin], done: Iterable[Done]) -> Iterator[dict[str, Any]]:
    """The same of rows of sources that no step dropped, and that are in no file, since no step chose them for a table."""
    dropped = {origin for each in done for row, _ in each.dropped for origin in row.origins}
    for row in rows:
        if not any(origin in used or origin in dropped for origin in row.origins):
            yield _line(
                {"step": None, "name": None, "table": None}, row, "no step chose it for a table of a task", False
            )


def _line(step: Mapping[str, Any], row: SourceRow, reason: str, used: bool) -> dict[str, Any]:
    return {
        **step,
        "sources": [f"{origin.file}:{origin.line}" for origin in row.origins],
        "reason": reason,
        "used": used,
        "row": {column: _shown(value) for column, value in row.values.items() if not column.endswith(LIST)},
    }


def _shown(value: Value | None) -> Value | None:
    return value[:SHOWN] + "…" if isinstance(value, str) and len(value) > SHOWN else value


def _step(done: Done) -> dict[str, Any]:
    """What the provenance says of a step."""
    use = done.use
    rows = {"rows_in": done.taken, "into": use.into, "rows_out": done.rows, "dropped": len(done.dropped)}
    return {"step": use.name, "options": use.given, **rows, **({"facts": done.facts} if done.facts else {})}
