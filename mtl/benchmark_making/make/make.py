"""`mtl make`: run a recipe, from its sources to a folder with data, suite file, sheets and provenance."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from mtl.base.errors import InputError
from mtl.base.files import counted, sha256
from mtl.base.folders import check_new_folder, new_folder
from mtl.base.settings.layers import find_yaml, shipped
from mtl.benchmark_making.audits.artefacts import find_artefacts
from mtl.benchmark_making.audits.artefacts_report import artefact_summary
from mtl.benchmark_making.make.recipe import TaskRecipe, load_recipe, read_source
from mtl.benchmark_making.make.table import Table, Work
from mtl.benchmark_making.make.writing import Done, write_all
from mtl.data.sample import CORPORA, write_sample
from mtl.jobs.job import load_job
from mtl.tasks.suite import Suite
from mtl.tasks.task import PART


@dataclass(frozen=True)
class Made:
    """What was made: the folder of all files, the suite as its file declares it, and the steps in their order."""

    folder: Path
    suite: Suite
    steps: list[Done]

    @property
    def summary(self) -> str:
        """The steps, the rows of each task, and what can be done next, for people."""
        lines = [each.line for each in self.steps]
        for id, task in self.suite.tasks.items():
            lines.append(f"{id}: {', '.join(f'{rows} rows {split}' for split, rows in task.rows.items())}")
        path = self.folder / "suite.yaml"
        return "\n".join([*lines, f"{path}; check the data: mtl audit suite={path}"])

    @property
    def artefacts(self) -> str:
        """What the tasks give away: the findings of `mtl audit --artefacts`, for people."""
        with TemporaryDirectory(prefix="mtl-make-") as cache:
            found = find_artefacts(load_job({"suite": str(self.folder / "suite.yaml"), "cache_dir": cache}))
        return artefact_summary(self.suite, found)


def make(name: str, out: Path, data_dir: Path | None = None) -> Made:
    """Make the tasks of a recipe. The same recipe and sources give the same bytes.

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
    folder, declared = _data_dir(recipe, data_dir), recipe.form.sources
    tables = {each: read_source(each, source, folder) for each, source in declared.items()}
    rows = [row for table in tables.values() for row in table.rows]
    sources = {
        each: {
            "file": source.file,
            "rows": len(tables[each].rows),
            "sha256": sha256(folder / source.file.partition(PART)[0]),
        }
        for each, source in declared.items()
    }
    try:
        done = _run_steps(recipe, tables)
        with new_folder(out) as partial:
            suite = write_all(recipe, tables, done, sources, rows, partial)
    except InputError as error:
        # Rows know the names of their files below the data folder; people see the paths.
        if error.path in {source.file for source in declared.values()}:
            raise error.located(path=folder / str(error.path)) from None
        raise
    return Made(out, suite, done)


def _data_dir(recipe: TaskRecipe, data_dir: Path | None) -> Path:
    """Where the sources are. Embedded corpora are written if need be."""
    if data_dir is not None or recipe.form.sample is None:
        return data_dir or recipe.path.parent
    if recipe.form.sample not in CORPORA:
        raise InputError(f"must be {', '.join(CORPORA)}", path=recipe.path, key="sample", value=recipe.form.sample)
    folder = Path("data") / recipe.form.sample
    write_sample(recipe.form.sample, folder)
    return folder


def _run_steps(recipe: TaskRecipe, tables: dict[str, Table]) -> list[Done]:
    """Do all steps; `tables` gets their tables."""
    done: list[Done] = []
    added = 0
    for place, use in enumerate(recipe.uses):
        taken = [tables[name] for name in use.tables]
        work = Work(recipe.path, use.number, use.name, recipe.form.seed, added)
        table = use.step.run(work, *taken)
        added = work.added
        rows = {name: len(tables[name].rows) for name in use.tables}
        if not table.rows:
            given = " and ".join(f"{counted(number, 'row')} of {name}" for name, number in rows.items())
            raise work.error(f"no row is left of {given}; give other options, or check the step before")
        tables[use.into] = Table(use.into, table.columns, table.rows)
        # Rows that a step does not choose for a new table are dropped only if nothing reads their own table later.
        readers = {name for later in recipe.uses[place + 1 :] for name in later.tables}
        readers |= {own.table for own in recipe.written.values()}
        stays = len(taken) == 1 and use.into not in use.tables and use.tables[0] in readers
        done.append(Done(use, rows, len(table.rows), [] if stays else work.dropped, work.facts))
    return done
