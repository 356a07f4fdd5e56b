"""The steps of recipes: each a function of its options and of one or more tables that returns a table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mtl.benchmark_making.make import filtering, labels, pairs, splitting
from mtl.benchmark_making.make.table import Table


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
"""By name, in the order of docs/how-to/making-tasks.md."""
