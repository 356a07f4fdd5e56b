"""Recipes: how tasks are made from raw data, read from a YAML file and checked before any data is read. Their sources become tables."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mtl.base.errors import InputError, locating
from mtl.base.files import sha256
from mtl.base.names import advice
from mtl.base.typed import typed
from mtl.base.untrusted import inside, is_inside
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.make import columns, pairs, rows, splitting
from mtl.benchmark_making.make.table import TOKENS, Origin, SourceRow, Table, Values
from mtl.data.records import column_names, read_records
from mtl.tasks.layout import Layout, Reading
from mtl.tasks.suite import Suite, suite_from
from mtl.tasks.task import PART, SPLITS

STEPS: dict[str, type[Any]] = {  # by name, in the order of docs/how-to/making-tasks.md
    "keep": rows.Keep,
    "duplicates": rows.Duplicates,
    "sample": rows.SampleRows,
    "top": rows.Top,
    "explode": rows.Explode,
    "stack": rows.Stack,
    "shuffle": rows.Shuffle,
    "entities": columns.Entities,
    "only_item": columns.OnlyItem,
    "map": columns.Map,
    "set": columns.Set,
    "number": columns.Number,
    "pairs": pairs.PairRows,
    "similarity": pairs.Similarity,
    "cut": pairs.Cut,
    "split": splitting.SplitRows,
}

TABLE_COUNTS = {"stack": None, "pairs": 2}  # how many a step takes, where it does not take one; None: two or more
TEXT = "text"  # the column of a sentence's text, in a file of tokens


class SourceTable(NamedTuple):
    file: str  # as the recipe names it
    table: Table
    sha256: str  # of the file


Sources = Mapping[str, SourceTable]  # by table


@dataclass
class RecipeSource:
    """A data file that a recipe reads."""

    file: str  # its path below the data folder
    header: list[str] | None = None  # the columns of a file without a header line, or of a file of tokens
    reading: Reading | None = None  # how the file is read, where its name does not say so, as in a suite file

    def check(self) -> None:
        """Raise InputError for a path outside the data folder."""
        if not is_inside(self.file):
            raise InputError("must be a path below the data folder, without '..'", key="file", value=self.file)
        if self.reading is not None and (problem := self.reading.problem):
            raise InputError(problem, key="reading")

    def read(self, name: str, data_dir: Path) -> SourceTable:
        """The rows of the source with all of its columns, those of lists included, as a table with this name. A row may lack values. A sentence whose
        text no comment says has its tokens with spaces between them. Raises InputError as `read_records` does, and for a link out of the folder."""
        file, _, part = self.file.partition(PART)
        path, layout = inside(data_dir, file), Layout(self.header, self.reading or Reading(), part or None)
        names = column_names(path, layout)
        table = Table(name, list(dict.fromkeys([*([TEXT] if TOKENS in names else []), *names])), [])
        for record in read_records(path, [], names, layout):
            values: Values = dict(zip(names, record.values, strict=True))
            if isinstance(tokens := values.get(TOKENS), list) and values.get(TEXT) is None:
                values = {**values, TEXT: " ".join(tokens)}
            table.rows.append(SourceRow(values, (Origin(self.file, record.line),)))
        return SourceTable(self.file, table, sha256(path))


@dataclass
class RecipeKeys:
    """The keys of a recipe, but for steps and tasks, which are checked one by one."""

    name: str
    title: str = ""
    language: str = "en"
    seed: int = 1  # of all random choices
    sample: str | None = None  # the embedded corpora whose files are the sources, where data_dir= names no others
    sources: dict[str, RecipeSource] = field(kw_only=True)
    steps: list[Any] = field(default_factory=list)
    tasks: dict[str, dict[str, Any]] = field(kw_only=True)


@dataclass(frozen=True)
class StepUse:
    number: int
    name: str
    step: Any  # an instance of its class in `STEPS`
    options: Mapping[str, Any]  # as the recipe has them
    tables: list[str]  # the names of the tables that it takes
    into: str  # the name of the table that it returns


@dataclass
class TaskFiles:
    """What the files of a task hold, and in which format."""

    table: str  # its rows; their column `split` says which file each of them is in
    columns: dict[str, str] = field(default_factory=dict)  # by column, the table's; default: those that the task names
    format: Literal["csv", "jsonl", "tsv"] = "tsv"  # the bytes of a parquet file depend on the version of pyarrow


@dataclass(frozen=True)
class TaskRecipe:
    """A recipe whose keys are checked."""

    path: Path
    keys: RecipeKeys  # whose tasks have what their declarations in the suite file have, but for their files
    uses: list[StepUse]
    written: dict[str, TaskFiles]  # by task

    def suite(self, counts: Mapping[str, Mapping[str, int]]) -> tuple[dict[str, Any], Suite]:
        """The content of the suite file, and its suite. `counts`: by task and split, of rows. Raises InputError, with the recipe's path."""
        tasks = {}
        for id, declared in self.keys.tasks.items():
            names = {name: f"{name}.{self.written[id].format}" if name in counts[id] else None for name in SPLITS}
            tasks[id] = {"folder": id, **declared, "files": names, "rows": dict(counts[id])}
        head = {"name": self.keys.name, "title": self.keys.title or self.keys.name, "language": self.keys.language}
        content = {**head, "data": "data", "tasks": tasks}
        return content, suite_from(content, self.path)

    def is_read(self, table: str, after: int) -> bool:
        """Whether a step after this number of steps, or a task, reads the table of this name."""
        is_in_task = any(files.table == table for files in self.written.values())
        return is_in_task or any(table in use.tables for use in self.uses[after:])


def load_recipe(path: Path) -> TaskRecipe:
    """Read and check a recipe, which is not trusted. Raises InputError, with the file and the key, for whatever is wrong before data are read."""
    with locating(path=path):
        keys = typed(RecipeKeys, read_yaml(path))
        if not keys.sources or not keys.tasks:
            raise InputError("must name at least one", key="sources" if not keys.sources else "tasks")
        tables = list(keys.sources)  # that there are so far
        last = tables[0] if len(tables) == 1 else None  # the table of the step before
        uses: list[StepUse] = []
        for number, step in enumerate(keys.steps, start=1):
            use = _read_step(number, dict(_section(step, f"steps.{number}")), tables, last)
            uses.append(use)
            tables, last = list(dict.fromkeys([*tables, use.into])), use.into
        written = {id: _take_files(id, task, tables, last) for id, task in keys.tasks.items()}
        _check_all_read(keys.sources, uses, written)
    recipe = TaskRecipe(path, keys, uses, written)
    recipe.suite(dict.fromkeys(keys.tasks, dict.fromkeys(SPLITS, 0)))  # raises InputError for what no suite file takes
    return recipe


def _section(content: Any, key: str) -> dict[str, Any]:
    """What stands under a key. Raises InputError if it is no mapping."""
    if not isinstance(content, dict):
        raise InputError("must hold keys and values", key=key)
    return content


def _read_step(number: int, keys: dict[str, Any], known: list[str], last: str | None) -> StepUse:
    """The step at this position of a recipe, from 1. It takes one of the `known` tables: the `last` one if it names none. Raises InputError."""
    name = str(keys.pop("step", None))
    if name not in STEPS:
        raise InputError(f"no step {name!r}; {advice(name, STEPS, 'steps')}", key=f"steps.{number}.step")
    section, count = f"steps.{number}.{name}.", TABLE_COUNTS.get(name, 1)
    option = "table" if count == 1 else "tables"
    if count == 1:
        named = [keys.pop(option, last)]
        if named == [None]:
            raise InputError("there are several sources: name the table", key=f"{section}{option}")
    else:
        named = keys.pop(option, None)
        if not isinstance(named, list) or len(named) < 2 or (count is not None and len(named) != count):
            raise InputError(f"must be a list of {'two' if count else 'at least two'} tables", key=f"{section}{option}")
    tables = list(map(str, named))
    if unknown := [table for table in tables if table not in known]:
        raise InputError(f"no table {unknown[0]!r} yet; there are {', '.join(known)}", key=f"{section}{option}")
    into = str(keys.pop("into_table", tables[0] if len(tables) == 1 else ""))
    if not into:
        raise InputError("several tables become one: name it", key=f"{section}into_table")
    return StepUse(number, name, typed(STEPS[name], keys, section), keys, tables, into)


def _take_files(id: str, keys: dict[str, Any], tables: Collection[str], last: str | None) -> TaskFiles:
    """What a task's files hold: takes `data` out of its keys. Raises InputError for keys that mtl make writes, and for no or an unknown table."""
    section = f"tasks.{id}"
    data = _section(keys.pop("data", {}), f"{section}.data")
    if last is None and "table" not in data:
        raise InputError("there are several sources: name the table", key=f"{section}.data.table")
    files = typed(TaskFiles, {"table": last, **data}, f"{section}.data.")
    if forbidden := sorted({"files", "rows", "folder", "source", "hub"} & set(keys)):
        raise InputError("is written by mtl make; leave it out", key=f"{section}.{forbidden[0]}")
    if files.table not in tables:
        raise InputError(f"no table {files.table!r}; there are {', '.join(tables)}", key=f"{section}.data.table")
    return files


def _check_all_read(sources: Collection[str], uses: Sequence[StepUse], written: Mapping[str, TaskFiles]) -> None:
    """Raise InputError for a table that nothing reads before another one takes its name, or at all."""
    unread = {name: f"sources.{name}" for name in sources}  # by table, the key of what makes it
    for use in uses:
        key = f"steps.{use.number}.{use.name}"
        unread = {name: maker for name, maker in unread.items() if name not in use.tables}
        if use.into in unread:
            raise InputError(f"replaces table {use.into!r}, which nothing has read", key=key)
        unread[use.into] = key
    for files in written.values():
        unread.pop(files.table, None)
    if unread:
        name = min(unread)
        raise InputError(f"makes table {name!r}, which nothing reads; use it, or leave this out", key=unread[name])
