"""`mtl make`: run a recipe, from its sources to a folder with data, suite file, dropped rows and provenance."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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

# What the provenance says of a step that was done, and the rows that it dropped.
Done = tuple[dict[str, Any], list[Dropped]]


def make(name: str, out: Path, data_dir: Path | None = None) -> str:
    """Make the tasks of a recipe, and return what was done and can be done next, for people. The same recipe and sources give the same bytes.

    Args:
        name: the path of a recipe, or the name of a shipped one.
        out: a new folder. It appears when all of its files are complete.
        data_dir: where the sources are; default: the recipe's folder, or for a recipe of embedded corpora data/NAME, where they are
            written.

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
        done = _run_steps(recipe, tables)
        with new_folder(out) as partial:
            suite, tasks, used = _write_tasks(recipe, tables, partial)
            dropped = [json.dumps(line, ensure_ascii=False) + "\n" for line in _dropped_lines(done, source_rows, used)]
            write_text(partial / DROPPED, "".join(dropped))
            write_json(partial / PROVENANCE, _provenance(recipe, sources, done, tasks, used, partial))
    except InputError as error:
        # Rows know the names of their files below the data folder; people see the paths.
        if error.path in {source["file"] for source in sources.values()}:
            raise error.located(path=folder / str(error.path)) from None
        raise
    lines = [_line(number, about) for number, (about, _) in enumerate(done, start=1)]
    for id, task in suite.tasks.items():
        lines.append(f"{id}: {', '.join(f'{rows} rows {split}' for split, rows in task.rows.items())}")
    path = out / "suite.yaml"
    lines.append(f"{path}; check the data: mtl audit suite={path}, and with --artefacts")
    return "\n".join(lines)


def _line(number: int, about: Mapping[str, Any]) -> str:
    """A step in one line, for people."""
    options = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in about["options"].items())
    taken = " and ".join(f"{rows} rows of {name}" for name, rows in about["rows_in"].items())
    return f"{number}. {about['step']}{f' ({options})' if options else ''}: {taken} → {about['rows_out']} rows of {about['into']}"


def _run_steps(recipe: TaskRecipe, tables: dict[str, Table]) -> list[Done]:
    """Do all steps. `tables` holds the tables of the sources, and receives those of the steps."""
    done: list[Done] = []
    added = 0
    for number, use in enumerate(recipe.uses, start=1):
        taken = [tables[name] for name in use.tables]
        work = Work(recipe.path, use.number, use.name, recipe.keys.seed, added)
        table = use.step.run(work, *taken)
        added = work.added
        rows = {name: len(tables[name].rows) for name in use.tables}
        if not table.rows:
            before = " and ".join(f"{counted(count, 'row')} of {name}" for name, count in rows.items())
            raise work.error(f"no row is left of {before}; give other options, or check the step before")
        tables[use.into] = Table(use.into, table.columns, table.rows)
        # Rows that a step does not choose for a new table are dropped only if nothing reads the table that it took later.
        readers = {name for later in recipe.uses[number:] for name in later.tables}
        readers |= {files.table for files in recipe.written.values()}
        stays = len(taken) == 1 and use.into not in use.tables and use.tables[0] in readers
        dropped = [] if stays else work.dropped
        about: dict[str, Any] = {"step": use.name, "options": use.options, "rows_in": rows, "into": use.into}
        about |= {"rows_out": len(table.rows), "dropped": len(dropped)}
        done.append((about | ({"facts": work.facts} if work.facts else {}), dropped))
    return done


def _write_tasks(
    recipe: TaskRecipe, tables: dict[str, Table], folder: Path
) -> tuple[Suite, dict[str, Any], set[Origin]]:
    """Write the suite file and the files of its tasks.

    Returns:
        The suite, what the provenance says of each task, and the rows of sources that the files are made of.
    """
    splits = {id: _by_split(recipe, id, tables[files.table]) for id, files in recipe.written.items()}
    counts = {id: {name: len(rows) for name, rows in by_split.items()} for id, by_split in splits.items()}
    content, suite = recipe.suite(counts)
    tasks: dict[str, Any] = {}
    for id, files in recipe.written.items():
        changed = _write_task(recipe, suite.tasks[id], tables[files.table], splits[id], folder)
        tasks[id] = {"table": files.table, "rows": counts[id], "cells_changed": changed}
    head = f"# Made by mtl make from {recipe.path.name}; {PROVENANCE} says how.\n"
    write_text(folder / "suite.yaml", head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120))
    written = [row for by_split in splits.values() for rows in by_split.values() for row in rows]
    return suite, tasks, {origin for row in written for origin in row.origins}


def _provenance(
    recipe: TaskRecipe,
    sources: dict[str, Any],
    done: list[Done],
    tasks: dict[str, Any],
    used: set[Origin],
    folder: Path,
) -> dict[str, Any]:
    """The content of provenance.json, which lists the files that the folder has before it. `used`: as in `_dropped_lines`."""
    used_by_file = Counter(origin.file for origin in used)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        "mtl": VERSION,
        "recipe": {"file": recipe.path.name, "sha256": sha256(recipe.path)},
        "seed": recipe.keys.seed,
        "sources": {name: {**about, "rows_used": used_by_file[about["file"]]} for name, about in sources.items()},
        "steps": [about for about, _ in done],
        "tasks": tasks,
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
    return {name: of_split for name, of_split in rows.items() if of_split}


def _write_task(
    recipe: TaskRecipe, task: Task, table: Table, splits: Mapping[str, Sequence[SourceRow]], folder: Path
) -> int:
    """Write a task's files; return how many of their cells differ from the values, since a tsv file has no tabs and line ends in cells.

    What is written is read as a run does, test targets included. Raises InputError at the source of a row that no run could read.
    """
    group = [task.group] if task.group else []
    named = [*task.text_columns, *task.span_columns, *task.further_columns, *group, *task.target_columns]
    columns = recipe.written[task.id].columns or {name: name for name in named}  # by column of a file, the table's
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


def _dropped_lines(done: Sequence[Done], rows: Sequence[SourceRow], used: set[Origin]) -> Iterator[dict[str, Any]]:
    """What dropped.jsonl says of each row that a step dropped, and of rows of sources that no step chose for a table of a task. `used`: the
    rows of sources that files of tasks are made of."""
    left: list[tuple[dict[str, Any], SourceRow, str]] = []
    for number, (about, dropped) in enumerate(done, start=1):
        step = {"step": number, "name": about["step"], "table": about["into"]}
        left += [(step, row, reason) for row, reason in dropped]
    known = used | {origin for _, row, _ in left for origin in row.origins}
    no_step = dict.fromkeys(("step", "name", "table"))
    left += [(no_step, row, "no step chose it for a table of a task") for row in rows if known.isdisjoint(row.origins)]
    for step, row, reason in left:
        shown = {column: value for column, value in row.values.items() if not column.endswith(LIST)}
        about = {"sources": list(map(str, row.origins)), "reason": reason, "used": used.issuperset(row.origins)}
        yield {**step, **about, "row": shown}
