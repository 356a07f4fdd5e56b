"""Tables, steps and recipes for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from mtl.base.typed import typed
from mtl.benchmark_making.make.recipe import STEPS
from mtl.benchmark_making.make.table import Origin, SourceRow, Table, Work


def table_of(name: str = "corpus", **columns: Sequence[Any]) -> Table:
    """A table with these columns, whose rows come from corpus.tsv, from line 2 on."""
    values = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return Table(
        name, list(columns), [SourceRow(own, (Origin("corpus.tsv", line),)) for line, own in enumerate(values, 2)]
    )


def do(step: str, *tables: Table, **options: Any) -> Table:
    """What a step returns."""
    return work_of(step, *tables, **options)[0]


def work_of(step: str, *tables: Table, **options: Any) -> tuple[Table, Work]:
    """What a step returns, and its work: what it dropped and noted."""
    work = Work(Path("recipe.yaml"), 1, step, 1)
    return typed(STEPS[step], options, f"steps.1.{step}.").run(work, *tables), work


def column(table: Table, name: str) -> list[Any]:
    """The values of a column."""
    return [row.values.get(name) for row in table.rows]


TASK = {"text": ["sentence"], "target": "label", "labels": ["x", "y"], "metric": "accuracy"}
SPLIT = {"step": "split", "shares": {"train": 0.6, "dev": 0.2, "test": 0.2}}


def recipe_of(**keys: Any) -> dict[str, Any]:
    """A small recipe with these keys in place of its own."""
    own = {"name": "small", "sources": {"corpus": {"file": "corpus.tsv"}}, "steps": [SPLIT], "tasks": {"t": TASK}}
    return {**own, **keys}


def write_recipe(folder: Path, recipe: Mapping[str, Any], rows: int = 20) -> Path:
    """Write a recipe and its source, with the columns sentence, label and author. Returns the recipe's path."""
    lines = [f"sentence number {row}\t{'xy'[row % 2]}\tauthor {row // 2}\n" for row in range(rows)]
    (folder / "corpus.tsv").write_text("sentence\tlabel\tauthor\n" + "".join(lines), encoding="utf-8")
    path = folder / "recipe.yaml"
    path.write_text(yaml.safe_dump(dict(recipe), sort_keys=False), encoding="utf-8")
    return path
