"""`mtl make`: run a recipe, from its sources to a folder with data, suite file, dropped rows and provenance."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.files import sha256, write_json, write_text
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.version import VERSION
from mtl.base.wording import counted
from mtl.benchmark_making.make.recipe import Sources, StepUse, TaskRecipe, load_recipe
from mtl.benchmark_making.make.table import Dropped, Origin, SourceRow, Table, Work
from mtl.benchmark_making.make.task_files import PROVENANCE, WrittenTasks, write_tasks
from mtl.data.columns import LIST
from mtl.data.sample import CORPORA, write_sample

DROPPED = "dropped.jsonl"


@dataclass(frozen=True)
class StepRecord:
    """A step that was done."""

    use: StepUse
    rows_in: Mapping[str, int]  # by table
    rows_out: int
    dropped: Sequence[Dropped]
    facts: Mapping[str, Any]  # what the step notes

    def __str__(self) -> str:
        """The step in one line, for people."""
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


def make(name: str, out: Path, data_dir: Path | None = None) -> str:
    """Make the tasks of a recipe, and return what was done and can be done next, for people. The same recipe and sources give the same bytes.
    `name` is the path of a recipe, or the name of a shipped one. `out` is a new folder, which appears when all of its files are complete.
    `data_dir` has the sources; `_default_sources` says which it is by default. Raises InputError for a bad recipe, source or row."""
    recipe = load_recipe(find_yaml("recipe", name, shipped("configs") / "recipe"))
    check_new_folder(out)
    source_dir = _default_sources(recipe) if data_dir is None else data_dir
    sources = {table: source.read(table, source_dir) for table, source in recipe.keys.sources.items()}
    try:
        tables, records = _run_steps(recipe, sources)
        with new_folder(out) as partial:
            tasks = write_tasks(recipe, tables, partial)
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
    write_sample(sample, folder)
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
