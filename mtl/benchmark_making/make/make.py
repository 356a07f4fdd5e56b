"""`mtl make`: run a recipe, from its sources to a folder with data, suite file, dropped rows and provenance."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from mtl.benchmark_making.make.recipe import Sources, StepUse, TaskRecipe, load_recipe
from mtl.benchmark_making.make.table import SPLIT, Dropped, Origin, SourceRow, Table, Work
from mtl.data.columns import LIST, Value, printable_names
from mtl.data.examples import read_examples
from mtl.data.sample import CORPORA, unpack_embedded
from mtl.tasks.suite import Suite
from mtl.tasks.task import SPLITS, Task

DROPPED, PROVENANCE = "dropped.jsonl", "provenance.json"
MOST_WRITTEN = 2**30  # characters of a task's files

BySplit = dict[str, list[SourceRow]]


@dataclass(frozen=True)
class StepRecord:
    use: StepUse
    rows_in: Mapping[str, int]  # by table
    rows_out: int
    dropped: Sequence[Dropped]
    facts: Mapping[str, Any]  # what the step notes

    def __str__(self) -> str:
        use = self.use
        options = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in use.options.items())
        step = f"{use.name} ({options})" if options else use.name
        taken = " and ".join(f"{rows} rows of {name}" for name, rows in self.rows_in.items())
        return f"{use.number}. {step}: {taken} → {self.rows_out} rows of {use.into}"

    @property
    def content(self) -> dict[str, Any]:
        """What provenance.json says of the step."""
        use, facts = self.use, {"facts": self.facts} if self.facts else {}
        rows = {"rows_in": self.rows_in, "into": use.into, "rows_out": self.rows_out, "dropped": len(self.dropped)}
        return {"step": use.name, "options": use.options, **rows, **facts}


class WrittenTasks(NamedTuple):
    suite: Suite
    content: dict[str, Any]  # by task, what the provenance says of it
    used: set[Origin]  # the rows of sources that the files are made of


def make(name: str, out: Path, data_dir: Path | None = None) -> str:
    """Make the tasks of the recipe with this path or shipped name, and return what was done and can be done next, for people. The same recipe and
    sources (`data_dir`, else `_default_sources`) give the same bytes. The new folder `out` appears when all of its files are complete."""
    recipe = load_recipe(find_yaml("recipe", name, shipped("configs") / "recipe"))
    check_new_folder(out)
    source_dir = _default_sources(recipe) if data_dir is None else data_dir
    sources = {table: source.read(table, source_dir) for table, source in recipe.keys.sources.items()}
    try:
        tables, records = _run_steps(recipe, sources)
        with new_folder(out) as partial:
            tasks = _write_tasks(recipe, tables, partial)
            _write_provenance(recipe, sources, records, tasks, partial)
    except InputError as error:
        # Rows know the names of their files below the data folder; people see the paths.
        if error.path in {source.file for source in sources.values()}:
            raise error.located(path=source_dir / str(error.path)) from None
        raise
    lines = [*map(str, records)]
    for id, task in tasks.suite.tasks.items():
        lines.append(f"{id}: {', '.join(f'{rows} rows {split}' for split, rows in task.rows.items())}")
    suite = out / "suite.yaml"
    return "\n".join([*lines, f"{suite}; check the data: mtl audit suite={suite}, and with --artefacts"])


def _default_sources(recipe: TaskRecipe) -> Path:
    """The folder of the sources if none is named: the recipe's, or data/NAME for embedded corpora, which are written here."""
    sample = recipe.keys.sample
    if sample is None:
        return recipe.path.parent
    if sample not in CORPORA:
        raise InputError(f"must be {', '.join(CORPORA)}", path=recipe.path, key="sample", value=sample)
    folder = Path("data", sample)
    unpack_embedded(sample, folder)
    return folder


def _run_steps(recipe: TaskRecipe, sources: Sources) -> tuple[dict[str, Table], list[StepRecord]]:
    """Do all steps. Returns the tables of the sources and of the steps, by name, and what was done."""
    tables = {name: source.table for name, source in sources.items()}
    records: list[StepRecord] = []
    added = 0
    for use in recipe.uses:
        work = Work(recipe.path, use.number, use.name, recipe.keys.seed, added)
        table = use.step.run(work, *(tables[name] for name in use.tables))
        added = work.added
        rows_in = {name: len(tables[name].rows) for name in use.tables}
        if not table.rows:
            before = " and ".join(f"{counted(count, 'row')} of {name}" for name, count in rows_in.items())
            raise work.error(f"no row is left of {before}; give other options, or check the step before")
        tables[use.into] = Table(use.into, table.columns, table.rows)
        # Rows that a step does not choose for a new table are dropped only if nothing reads the table that it took later.
        stays = len(use.tables) == 1 and use.into not in use.tables and recipe.is_read(use.tables[0], after=use.number)
        records.append(StepRecord(use, rows_in, len(table.rows), [] if stays else work.dropped, work.facts))
    return tables, records


def _write_tasks(recipe: TaskRecipe, tables: Mapping[str, Table], folder: Path) -> WrittenTasks:
    """Write the suite file, and the data files of its tasks, each read back as a run reads it. Raises InputError for tables that lack something."""
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
    rows = (row for part in splits.values() for row in part)
    size = sum(len(str(row.values.get(column))) for row in rows for column in columns.values())
    if size > MOST_WRITTEN:
        problem = f"would have {size:,} characters, more than {MOST_WRITTEN:,}; drop rows, or cut their texts"
        raise InputError(problem, path=recipe.path, key=f"tasks.{id}")


def _write_splits(recipe: TaskRecipe, task: Task, columns: Mapping[str, str], splits: BySplit, folder: Path) -> int:
    """Write a file for each split; return how many cells differ from the values. Raises InputError for rows or targets that no run could read."""
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


def _write_provenance(
    recipe: TaskRecipe, sources: Sources, records: Sequence[StepRecord], tasks: WrittenTasks, folder: Path
) -> None:
    """Write dropped.jsonl and then provenance.json, which lists all files that the folder has before it."""
    lines = _dropped_lines(records, sources, tasks.used)
    write_text(folder / DROPPED, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    used_by_file = Counter(origin.file for origin in tasks.used)
    about_sources = {
        name: {"file": file, "rows": len(table.rows), "sha256": digest, "rows_used": used_by_file[file]}
        for name, (file, table, digest) in sources.items()
    }
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    content = {
        "mtl": VERSION,
        "recipe": {"file": recipe.path.name, "sha256": sha256(recipe.path)},
        "seed": recipe.keys.seed,
        "sources": about_sources,
        "steps": [record.content for record in records],
        "tasks": tasks.content,
        "files": {path.relative_to(folder).as_posix(): sha256(path) for path in files},
    }
    write_json(folder / PROVENANCE, content)


def _dropped_lines(records: Sequence[StepRecord], sources: Sources, used: set[Origin]) -> Iterator[dict[str, Any]]:
    """What dropped.jsonl says of each row that a step dropped, and of the rows of sources that no step chose for a file of a task (`used`)."""
    known = set(used)
    for record in records:
        step = {"step": record.use.number, "name": record.use.name, "table": record.use.into}
        for row, reason in record.dropped:
            known.update(row.origins)
            yield {**step, **_dropped_row(row, reason, used)}
    no_step: dict[str, Any] = dict.fromkeys(("step", "name", "table"))
    for row in (row for source in sources.values() for row in source.table.rows):
        if known.isdisjoint(row.origins):
            yield {**no_step, **_dropped_row(row, "no step chose it for a table of a task", used)}


def _dropped_row(row: SourceRow, reason: str, used: set[Origin]) -> dict[str, Any]:
    """What dropped.jsonl says of a row, whichever step dropped it."""
    values = {column: value for column, value in row.values.items() if not column.endswith(LIST)}
    is_used = used.issuperset(row.origins)
    return {"sources": list(map(str, row.origins)), "reason": reason, "used": is_used, "row": values}
