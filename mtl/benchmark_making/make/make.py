"""`mtl make`: run a recipe, from its sources to a folder with data, suite file, dropped rows and provenance."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mtl.base.errors import InputError
from mtl.base.files import sha256, write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.version import VERSION
from mtl.base.wording import counted
from mtl.benchmark_making.data_files import write_records
from mtl.benchmark_making.make.recipe import TaskRecipe, load_recipe
from mtl.benchmark_making.make.table import SPLIT, Dropped, Origin, SourceRow, Table, Work
from mtl.data.columns import LIST, Value, printable_names
from mtl.data.examples import read_examples
from mtl.data.sample import CORPORA, write_sample
from mtl.tasks.suite import Suite
from mtl.tasks.task import PART, SPLITS, Task

MOST_WRITTEN = 2**30  # characters of a task's files
DROPPED = "dropped.jsonl"
PROVENANCE = "provenance.json"


class StepRecord(NamedTuple):
    """What the provenance says of a step that was done, and the rows that it dropped."""

    about: dict[str, Any]
    dropped: list[Dropped]


class WrittenTasks(NamedTuple):
    """The tasks of a recipe, whose files are written."""

    suite: Suite
    about: dict[str, Any]  # by task, what the provenance says of it
    used: set[Origin]  # the rows of sources that the files are made of


def make(name: str, out: Path, data_dir: Path | None = None) -> str:
    """Make the tasks of a recipe, and return what was done and can be done next, for people. The same recipe and sources give the same bytes.

    Args:
        name: the path of a recipe, or the name of a shipped one.
        out: a new folder. It appears when all of its files are complete.
        data_dir: where the sources are; default: the recipe's folder, or for a recipe of embedded corpora data/NAME, where they are written.

    Raises:
        InputError: for a recipe, a source or a row that is not as it should be.
    """
    path = find_yaml("recipe", name, shipped("configs") / "recipe")
    recipe = load_recipe(path)
    check_new_folder(out)
    folder, sample = data_dir or path.parent, recipe.keys.sample
    if data_dir is None and sample is not None:
        if sample not in CORPORA:
            raise InputError(f"must be {', '.join(CORPORA)}", path=path, key="sample", value=sample)
        folder = Path("data", sample)
        write_sample(sample, folder)
    tables, sources = {}, {}
    for table, source in recipe.keys.sources.items():
        tables[table] = source.read(table, folder)
        digest = sha256(folder / source.file.partition(PART)[0])
        sources[table] = {"file": source.file, "rows": len(tables[table].rows), "sha256": digest}
    source_rows = [row for table in tables.values() for row in table.rows]
    try:
        records = _run_steps(recipe, tables)
        with new_folder(out) as partial:
            tasks = _write_tasks(recipe, tables, partial)
            dropped = _dropped_lines(records, source_rows, tasks.used)
            write_text(partial / DROPPED, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in dropped))
            write_json(partial / PROVENANCE, _provenance(recipe, sources, records, tasks, partial))
    except InputError as error:
        # Rows know the names of their files below the data folder; people see the paths.
        if error.path in {source["file"] for source in sources.values()}:
            raise error.located(path=folder / str(error.path)) from None
        raise
    lines = [_step_line(number, record.about) for number, record in enumerate(records, start=1)]
    for id, task in tasks.suite.tasks.items():
        lines.append(f"{id}: {', '.join(f'{rows} rows {split}' for split, rows in task.rows.items())}")
    suite = out / "suite.yaml"
    lines.append(f"{suite}; check the data: mtl audit suite={suite}, and with --artefacts")
    return "\n".join(lines)


def _step_line(number: int, about: Mapping[str, Any]) -> str:
    """A step in one line, for people."""
    options = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in about["options"].items())
    step = f"{about['step']} ({options})" if options else about["step"]
    taken = " and ".join(f"{rows} rows of {name}" for name, rows in about["rows_in"].items())
    return f"{number}. {step}: {taken} → {about['rows_out']} rows of {about['into']}"


def _run_steps(recipe: TaskRecipe, tables: dict[str, Table]) -> list[StepRecord]:
    """Do all steps. `tables` holds the tables of the sources, and receives those of the steps."""
    records: list[StepRecord] = []
    added = 0
    for number, use in enumerate(recipe.uses, start=1):
        work = Work(recipe.path, use.number, use.name, recipe.keys.seed, added)
        table = use.step.run(work, *(tables[name] for name in use.tables))
        added = work.added
        rows = {name: len(tables[name].rows) for name in use.tables}
        if not table.rows:
            before = " and ".join(f"{counted(count, 'row')} of {name}" for name, count in rows.items())
            raise work.error(f"no row is left of {before}; give other options, or check the step before")
        tables[use.into] = Table(use.into, table.columns, table.rows)
        # Rows that a step does not choose for a new table are dropped only if nothing reads the table that it took later.
        read_later = {name for later in recipe.uses[number:] for name in later.tables}
        read_later |= {files.table for files in recipe.written.values()}
        table_stays = len(use.tables) == 1 and use.into not in use.tables and use.tables[0] in read_later
        dropped = [] if table_stays else work.dropped
        about: dict[str, Any] = {"step": use.name, "options": use.options, "rows_in": rows, "into": use.into}
        about |= {"rows_out": len(table.rows), "dropped": len(dropped)}
        if work.facts:
            about["facts"] = work.facts
        records.append(StepRecord(about, dropped))
    return records


def _write_tasks(recipe: TaskRecipe, tables: dict[str, Table], folder: Path) -> WrittenTasks:
    """Write the suite file and the files of its tasks."""
    splits = {id: _by_split(recipe, id, tables[files.table]) for id, files in recipe.written.items()}
    counts = {id: {name: len(rows) for name, rows in by_split.items()} for id, by_split in splits.items()}
    content, suite = recipe.suite(counts)
    about: dict[str, Any] = {}
    for id, files in recipe.written.items():
        changed = _write_task(recipe, suite.tasks[id], tables[files.table], splits[id], folder)
        about[id] = {"table": files.table, "rows": counts[id], "cells_changed": changed}
    head = f"# Made by mtl make from {recipe.path.name}; {PROVENANCE} says how.\n"
    write_text(folder / "suite.yaml", head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120))
    written = [row for by_split in splits.values() for rows in by_split.values() for row in rows]
    return WrittenTasks(suite, about, {origin for row in written for origin in row.origins})


def _provenance(
    recipe: TaskRecipe, sources: dict[str, Any], records: list[StepRecord], tasks: WrittenTasks, folder: Path
) -> dict[str, Any]:
    """The content of provenance.json, which lists the files that the folder has before it."""
    used_by_file = Counter(origin.file for origin in tasks.used)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        "mtl": VERSION,
        "recipe": {"file": recipe.path.name, "sha256": sha256(recipe.path)},
        "seed": recipe.keys.seed,
        "sources": {name: {**about, "rows_used": used_by_file[about["file"]]} for name, about in sources.items()},
        "steps": [record.about for record in records],
        "tasks": tasks.about,
        "files": {path.relative_to(folder).as_posix(): sha256(path) for path in files},
    }


def _by_split(recipe: TaskRecipe, id: str, table: Table) -> dict[str, list[SourceRow]]:
    """The rows of a task by split."""
    if SPLIT not in table.columns:
        problem = f"table {table.name} has no column {SPLIT!r}; divide its rows by a step split or set"
        raise InputError(problem, path=recipe.path, key=f"tasks.{id}.data.table")
    rows: dict[str, list[SourceRow]] = {name: [] for name in SPLITS}
    for row in table.rows:
        if (name := row.cell(SPLIT)) not in SPLITS:
            raise row.error(f"{name!r} in column {SPLIT!r} must be {', '.join(SPLITS)}; change it by a step map")
        rows[name].append(row)
    return {name: rows[name] for name in SPLITS if rows[name]}


def _write_task(
    recipe: TaskRecipe, task: Task, table: Table, splits: Mapping[str, Sequence[SourceRow]], folder: Path
) -> int:
    """Write a task's files; return how many of their cells differ from the values, since a tsv file has no tabs and line ends in cells. What is
    written is read as a run does, test targets included. Raises InputError at the source of a row that no run could read."""
    group = [task.group] if task.group else []
    declared = [*task.text_columns, *task.span_columns, *task.further_columns, *group, *task.target_columns]
    columns = recipe.written[task.id].columns or {name: name for name in declared}  # by column of a file, the table's
    key = f"tasks.{task.id}"
    if absent := [column for column in columns.values() if column not in table.columns]:
        lacks = f"table {table.name} has no column {absent[0]!r}; it has {printable_names(table.columns)}"
        raise InputError(f"{lacks}; data: columns: says which are written", path=recipe.path, key=key)
    written = [row for rows in splits.values() for row in rows]
    size = sum(len(str(row.values.get(column))) for row in written for column in columns.values())
    if size > MOST_WRITTEN:
        problem = f"would have {size:,} characters, more than {MOST_WRITTEN:,}; drop rows, or cut their texts"
        raise InputError(problem, path=recipe.path, key=key)
    changed = 0
    for name, rows in splits.items():
        path = folder / "data" / task.folder / f"{name}.{recipe.written[task.id].format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        cells = [[_value(row, column) for column in columns.values()] for row in rows]
        changed += write_records(path, list(columns), cells)
        try:
            read_examples(task, path, True)
        except InputError as error:
            number = (error.line or 0) - (1 if path.suffix == ".jsonl" else 2)
            where = f"{rows[number].origins[0]}: " if error.line and path.suffix != ".csv" else ""
            raise InputError(f"{where}{error.message}", path=recipe.path, key=key) from None
    return changed


def _value(row: SourceRow, column: str) -> Value:
    """A value that is to be written. Raises InputError, which names the source's line, where there is none."""
    if (value := row.values.get(column)) is None:
        raise row.error(f"nothing stands in column {column!r}, which is to be written; drop such rows before")
    return value


def _dropped_lines(
    records: Sequence[StepRecord], source_rows: Sequence[SourceRow], used: set[Origin]
) -> Iterator[dict[str, Any]]:
    """What dropped.jsonl says of each row that a step dropped, and of rows of sources that no step chose for a table of a task. `used`: the
    rows of sources that files of tasks are made of."""

    def line(step: dict[str, Any], row: SourceRow, reason: str) -> dict[str, Any]:
        values = {column: value for column, value in row.values.items() if not column.endswith(LIST)}
        about = {"sources": list(map(str, row.origins)), "reason": reason, "used": used.issuperset(row.origins)}
        return {**step, **about, "row": values}

    known = set(used)
    for number, record in enumerate(records, start=1):
        step = {"step": number, "name": record.about["step"], "table": record.about["into"]}
        for row, reason in record.dropped:
            known.update(row.origins)
            yield line(step, row, reason)
    no_step: dict[str, Any] = dict.fromkeys(("step", "name", "table"))
    for row in source_rows:
        if known.isdisjoint(row.origins):
            yield line(no_step, row, "no step chose it for a table of a task")
