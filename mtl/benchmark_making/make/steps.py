"""The steps of recipes: each a dataclass of its options, whose `run` makes a table of one or more tables."""

from typing import Any

from mtl.benchmark_making.make import filtering, labels, pairs, splitting

# The steps by name, in the order of docs/how-to/making-tasks.md.
STEPS: dict[str, type[Any]] = {
    "keep": filtering.Keep,
    "duplicates": filtering.Duplicates,
    "sample": filtering.SampleRows,
    "top": filtering.Top,
    "explode": filtering.Explode,
    "stack": filtering.Stack,
    "shuffle": filtering.Shuffle,
    "entities": labels.Entities,
    "only_item": labels.OnlyItem,
    "map": labels.Map,
    "set": labels.Set,
    "number": labels.Number,
    "pairs": pairs.PairRows,
    "similarity": pairs.Similarity,
    "cut": pairs.Cut,
    "split": splitting.SplitRows,
}

# The number of tables that a step takes, where it is not one; None: two or more.
TABLES = {"stack": None, "pairs": 2}
