"""`mtl make`: run a recipe, from its sources to a folder with data, suite file, dropped rows and provenance."""

from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.layers import find_yaml, shipped
from mtl.base.wording import counted
from mtl.benchmark_making.make.provenance import StepRecord, write_provenance
from mtl.benchmark_making.make.recipe import TaskRecipe, load_recipe
from mtl.benchmark_making.make.sources import Sources
from mtl.benchmark_making.make.table import Table, Work
from mtl.benchmark_making.make.task_files import write_tasks
from mtl.data.sample import CORPORA, write_sample


def make(name: str, out: Path, data_dir: Path | None = None) -> str:
    """Make the tasks of a recipe, and return what was done and can be done next, for people. The same recipe and sources give the same bytes.

    Args:
        name: the path of a recipe, or the name of a shipped one.
        out: a new folder. It appears when all of its files are complete.
        data_dir: where the sources are; default: the recipe's folder, or for a recipe of embedded corpora data/NAME, where they are written.

    Raises:
        InputError: for a recipe, a source or a row that is not as it should be.
    """
    recipe = load_recipe(find_yaml("recipe", name, shipped("configs") / "recipe"))
    check_new_folder(out)
    source_dir = _default_sources(recipe) if data_dir is None else data_dir
    sources = {table: source.read(table, source_dir) for table, source in recipe.keys.sources.items()}
    try:
        tables, records = _run_steps(recipe, sources)
        with new_folder(out) as partial:
            tasks = write_tasks(recipe, tables, partial)
            write_provenance(recipe, sources, records, tasks, partial)
    except InputError as error:
        # Rows know the names of their files below the data folder; people see the paths.
        if error.path in {source.file for source in sources.values()}:
            raise error.located(path=source_dir / str(error.path)) from None
        raise
    lines = [*map(str, records)]
    for id, task in tasks.suite.tasks.items():
        lines.append(f"{id}: {', '.join(f'{rows} rows {split}' for split, rows in task.rows.items())}")
    suite = out / "suite.yaml"
    lines.append(f"{suite}; check the data: mtl audit suite={suite}, and with --artefacts")
    return "\n".join(lines)


def _default_sources(recipe: TaskRecipe) -> Path:
    """The folder of the sources if none is named: the recipe's, or the one that the embedded corpora are written to here."""
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
    for number, use in enumerate(recipe.uses, start=1):
        work = Work(recipe.path, use.number, use.name, recipe.keys.seed, added)
        table = use.step.run(work, *(tables[name] for name in use.tables))
        added = work.added
        rows_in = {name: len(tables[name].rows) for name in use.tables}
        if not table.rows:
            before = " and ".join(f"{counted(count, 'row')} of {name}" for name, count in rows_in.items())
            raise work.error(f"no row is left of {before}; give other options, or check the step before")
        tables[use.into] = Table(use.into, table.columns, table.rows)
        # Rows that a step does not choose for a new table are dropped only if nothing reads the table that it took later.
        read_later = {name for later in recipe.uses[number:] for name in later.tables}
        read_later |= {files.table for files in recipe.written.values()}
        table_stays = len(use.tables) == 1 and use.into not in use.tables and use.tables[0] in read_later
        records.append(StepRecord(use, rows_in, len(table.rows), [] if table_stays else work.dropped, work.facts))
    return tables, records
