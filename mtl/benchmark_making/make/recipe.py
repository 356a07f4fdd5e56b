"""Recipes: how tasks are made from raw data, read from a YAML file and checked before any data is read."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.audits.sheets.form import ORDER, TEMPLATE
from mtl.benchmark_making.make import filtering, labels, pairs, splitting
from mtl.benchmark_making.make.sources import RecipeSource, TokenColumns
from mtl.benchmark_making.make.table import Table
from mtl.data.records import FORMATS
from mtl.settings.bounds import check_known, one_of, typed_settings
from mtl.tasks.suite import suite_from
from mtl.tasks.task import SPLITS

Options = TypeVar("Options")

WRITTEN = sorted(set(FORMATS) - {".parquet"})  # the bytes of a parquet file depend on the version of pyarrow


@dataclass(frozen=True)
class Step:
    """
    Args:
        run: the step's work, its options and its tables -> the new table.
        options: a dataclass of the options, with its bounds and its own `check`.
        tables: how many tables it takes; None: two or more.
    """

    run: Callable[..., Table]
    options: type[Any]
    tables: int | None = 1


# By name, in the order of docs/how-to/making-tasks.md.
STEPS = {
    "keep": Step(filtering.keep, filtering.Keep),
    "duplicates": Step(filtering.duplicates, filtering.Duplicates),
    "sample": Step(filtering.sample, filtering.SampleOptions),
    "top": Step(filtering.top, filtering.Top),
    "explode": Step(filtering.explode, filtering.Explode),
    "stack": Step(filtering.stack, filtering.Nothing, tables=None),
    "shuffle": Step(filtering.shuffle, filtering.Nothing),
    "entities": Step(labels.entities, labels.Entities),
    "only_item": Step(labels.only_item, labels.OnlyItem),
    "map": Step(labels.map_values, labels.Map),
    "set": Step(labels.set_values, labels.Set),
    "rename": Step(labels.rename, labels.Rename),
    "number": Step(labels.number, labels.Number),
    "pairs": Step(pairs.pairs, pairs.PairOptions, tables=2),
    "similarity": Step(pairs.similarity, pairs.Similarity),
    "cut": Step(pairs.cut, pairs.Cut),
    "split": Step(splitting.split, splitting.SplitOptions),
    "split_by_value": Step(splitting.split_by_value, splitting.SplitByValue),
}


@dataclass
class Form:
    """The keys of a recipe, but for steps and tasks, which are checked one by one.

    Args:
        name: of the suite, and of what it is made of.
        title: the suite's name in tables; default: its name.
        language: of the tokenizer, as in a suite file.
        seed: all random choices follow from it.
        sample: the embedded corpora whose files are the sources, where data_dir= names no others.
        suite: further keys of the suite file.
    """

    name: str = MISSING
    title: str = ""
    language: str = "en"
    seed: int = 1
    sample: str | None = None
    sources: dict[str, Any] = MISSING
    steps: list[Any] = field(default_factory=list)
    tasks: dict[str, Any] = MISSING
    suite: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Use:
    """A step as a recipe uses it, with its options as the recipe has them (`raw`), the tables that it takes, and the one that it returns."""

    number: int
    name: str
    step: Step
    options: Any
    raw: Mapping[str, Any]
    tables: list[str]
    into: str


@dataclass
class Written:
    """What a task's files hold: the rows of a table, whose column `split` says which file each of them is in, and by column of the file, the
    table's column; else those that the task names, under the same names."""

    table: str = MISSING
    columns: dict[str, str] = field(default_factory=dict)
    format: str = one_of(*(suffix.removeprefix(".") for suffix in WRITTEN), default="tsv")


@dataclass(frozen=True)
class TaskRecipe:
    """A recipe whose keys are checked: by task, its declaration in the suite file but for its files, what its files hold, and the fields of
    its documentation sheet that the recipe fills."""

    path: Path
    form: Form
    sources: dict[str, RecipeSource]
    uses: list[Use]
    keys: dict[str, dict[str, Any]]
    written: dict[str, Written]
    sheets: dict[str, dict[str, str]]

    def suite(self, files: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
        """The content of the suite file whose tasks have these numbers of rows, by task and split."""
        tasks = {}
        for id, keys in self.keys.items():
            names = {name: f"{name}.{self.written[id].format}" if name in files[id] else None for name in SPLITS}
            tasks[id] = {"folder": id, **keys, "files": names, "rows": dict(files[id])}
        head = {"name": self.form.name, "title": self.form.title or self.form.name, "language": self.form.language}
        return {**head, "data": "data", **self.form.suite, "tasks": tasks}


def load_recipe(path: Path) -> TaskRecipe:
    """Read and check a recipe, which is not trusted. Raises InputError that names the file and the key."""
    content = read_yaml(path)
    try:
        form = typed_settings(Form, content)
        if not form.sources or not form.tasks:
            raise InputError("must name at least one", key="sources" if not form.sources else "tasks")
        sources = {str(name): _source(str(name), raw) for name, raw in form.sources.items()}
        uses = _uses(form, list(sources))
        tasks = {str(id): _section(raw, f"tasks.{id}") for id, raw in form.tasks.items()}
        last = uses[-1].into if uses else next(iter(sources))
        written = {}
        for id, keys in tasks.items():
            section = f"tasks.{id}.data"
            data = {"table": last, **_section(keys.get("data", {}), section)}
            written[id] = _typed(Written, data, f"{section}.")
        sheets = {id: _sheet(id, keys.get("sheet", {})) for id, keys in tasks.items()}
        _check_tables(sources, uses, written)
    except InputError as error:
        raise error.located(path=path) from None
    keys = {
        id: {key: value for key, value in task.items() if key not in ("data", "sheet")} for id, task in tasks.items()
    }
    for id, task in keys.items():
        if fixed := sorted({"files", "rows", "folder", "source", "hub"} & set(task)):
            raise InputError("is written by mtl make; leave it out", path=path, key=f"tasks.{id}.{fixed[0]}")
    recipe = TaskRecipe(path, form, sources, uses, keys, written, sheets)
    suite_from(recipe.suite(dict.fromkeys(keys, dict.fromkeys(SPLITS, 0))), path)  # raises what a suite file would
    return recipe


def _typed(kind: type[Options], raw: Mapping[str, Any], section: str) -> Options:
    """An instance of a dataclass of options. Raises InputError as `typed_settings` does, also for options of a step that has none."""
    if raw and not fields(kind):  # type: ignore[arg-type]
        raise InputError("this step has no such option", key=f"{section}{next(iter(raw))}")
    try:
        return typed_settings(kind, raw, section)
    except InputError as error:
        if error.key is None or error.key.startswith(section):
            raise
        raise error.located(key=f"{section}{error.key}") from None  # of the dataclass's `check`


def _section(raw: Any, key: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise InputError("must hold keys and values", key=key)
    return raw


def _source(name: str, raw: Any) -> RecipeSource:
    source = _typed(RecipeSource, _section(raw, f"sources.{name}"), f"sources.{name}.")
    if source.tokens is not None:
        source.tokens = _typed(
            TokenColumns, _section(source.tokens, f"sources.{name}.tokens"), f"sources.{name}.tokens."
        )
    return source


def _uses(form: Form, tables: list[str]) -> list[Use]:
    """The steps, whose options are checked, of a recipe with sources of these names."""
    uses, known = list[Use](), list(tables)
    for number, step_content in enumerate(form.steps, start=1):
        key = f"steps.{number}"
        raw = dict(_section(step_content, key))
        name = str(raw.pop("step", None))
        if name not in STEPS:
            close = difflib.get_close_matches(name, STEPS, 1)
            advice = f"did you mean {close[0]}?" if close else f"there are {', '.join(STEPS)}"
            raise InputError(f"no step {name!r}; {advice}", key=f"{key}.step")
        step, section = STEPS[name], f"{key}.{name}."
        last = uses[-1].into if uses else tables[0]
        inputs = _inputs(raw, step, last, section, bool(uses) or len(tables) == 1)
        if unknown := [table for table in inputs if table not in known]:
            raise InputError(f"no table {unknown[0]!r} yet; there are {', '.join(known)}", key=f"{section}table")
        into = str(raw.pop("into_table", inputs[0] if len(inputs) == 1 else ""))
        if not into:
            raise InputError("several tables become one: name it", key=f"{section}into_table")
        _refuse_truth_values(raw, section)
        options = _typed(step.options, raw, section)
        uses.append(Use(number, name, step, options, raw, inputs, into))
        known.append(into)
    return uses


def _inputs(raw: dict[str, Any], step: Step, last: str, section: str, has_last: bool) -> list[str]:
    """The tables that a step takes, which its key `table` or `tables` names; else the last one, of the step before."""
    if step.tables == 1:
        if "table" not in raw and not has_last:
            raise InputError("there are several sources: name the table", key=f"{section}table")
        return [str(raw.pop("table", last))]
    named = raw.pop("tables", None)
    if not isinstance(named, list) or len(named) != (step.tables or max(2, len(named))):
        raise InputError(f"must be a list of {'two' if step.tables else 'at least two'} tables", key=f"{section}tables")
    return [str(name) for name in named]


def _refuse_truth_values(raw: Mapping[str, Any], section: str) -> None:
    """Raise InputError for a truth value inside a list or a section, where a text is meant."""
    for key, value in raw.items():
        parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
        if any(isinstance(part, bool) for part in parts):
            problem = "YAML reads yes, no, on and off as truth values; put them in quotes"
            raise InputError(problem, key=f"{section}{key}")
        if isinstance(value, dict):
            _refuse_truth_values({f"{key}.{name}": part for name, part in value.items()}, section)


def _sheet(id: str, raw: Any) -> dict[str, str]:
    fields = _section(raw, f"tasks.{id}.sheet")
    starred = {str(name): f"{name}*" if f"{name}*" in ORDER else str(name) for name in fields}
    check_known(starred.values(), set(ORDER) - set(TEMPLATE), f"tasks.{id}.sheet.")
    if len(set(starred.values())) < len(starred):
        raise InputError("names a field twice, with and without the star", key=f"tasks.{id}.sheet")
    return {starred[str(name)]: str(value) for name, value in fields.items()}


def _check_tables(sources: Mapping[str, RecipeSource], uses: list[Use], written: Mapping[str, Written]) -> None:
    """Raise InputError for a table of a task that does not exist, and for one that nothing reads."""
    made: dict[str, str] = {name: f"sources.{name}" for name in sources}
    unread = set(sources)
    for use in uses:
        key = f"steps.{use.number}.{use.name}"
        unread -= set(use.tables)
        if use.into in unread:
            raise InputError(f"replaces table {use.into!r}, which nothing has read", key=key)
        made[use.into] = key
        unread.add(use.into)
    for id, task in written.items():
        if task.table not in made:
            raise InputError(f"no table {task.table!r}; there are {', '.join(made)}", key=f"tasks.{id}.data.table")
    if unread := unread - {task.table for task in written.values()}:
        name = min(unread)
        raise InputError(f"makes table {name!r}, which nothing reads; use it, or leave this out", key=made[name])
