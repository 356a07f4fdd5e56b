"""A row of a data file as values by the names of columns: what is nested has names with dots."""

import math
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.data.columns import INTEGER_LIMIT, LIST, is_list, items_of, kind_of, lists_below, text

SPAN_LIST = "a list of spans, which reading.spans reads, or kind: answer in a suite file (docs/how-to/own-suite.md)"
# The words in the names of whole numbers with which a span begins, and ends; in lists the places of these numbers.
STARTS, STOPS = {"start", "begin", "from", "0"}, {"end", "stop", "to", "1"}


class Unreadable(NamedTuple):
    """A value that no task can read."""

    kind: str  # what it is, as in "a list of objects"


def flat(row: Mapping[str, Any], is_nested: bool, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The columns of a nested row: the name of each, and its value: a text, a list of texts, None or `Unreadable`."""
    for key, value in row.items():
        name = f"{prefix}{key}"
        if is_nested and ("." in key or key.endswith(LIST)):
            yield name, Unreadable("a key with a dot or brackets, which no column's name reaches")
        elif _are_spans(value):
            yield name, Unreadable(SPAN_LIST)
        elif isinstance(value, dict):
            yield from flat(value, is_nested, f"{name}.") if value else [(name, None)]
        elif is_list(value):
            yield f"{name}{LIST}", list(map(text, value))
        elif isinstance(value, list):
            kinds = {kind_of(item).removeprefix("a ").removeprefix("an ") for item in value}
            unreadable = Unreadable(f"a list of {' and '.join(sorted(f'{kind}s' for kind in kinds))}")
            lists: dict[str, Any] = {f"{name}.{key}{LIST}": items for key, items in lists_below(value).items()}
            yield from (lists or {name: unreadable}).items()
        elif value is None or isinstance(value, str):
            yield name, value
        elif isinstance(value, int) and not -INTEGER_LIMIT <= value < INTEGER_LIMIT:
            yield name, Unreadable("an integer of more than 64 bits")
        elif isinstance(value, float) and not math.isfinite(value):
            yield name, Unreadable("a number that is not finite")
        else:
            yield name, text(value) if isinstance(value, int | float) else Unreadable(kind_of(value))


def _are_spans(value: Any) -> bool:
    """Whether the items of a list, or the objects of an object, have the whole numbers with which a span begins and ends, and a text."""
    items = value if isinstance(value, list) else items_of(value)
    if not all(isinstance(item, dict | list) for item in (value.values() if isinstance(value, dict) else items)):
        return False
    leaves = list(chain.from_iterable(map(_leaves, items)))
    words = set(chain.from_iterable(FileColumn(key, []).words for key, leaf in leaves if type(leaf) is int))
    return bool(words & STARTS and words & STOPS) and any(isinstance(leaf, str) for _, leaf in leaves)


def _leaves(item: Any) -> Iterator[tuple[str, Any]]:
    """The texts and numbers of an item, and of what is below it, each with its key, or its place in a list."""
    for key, value in item.items() if isinstance(item, dict) else enumerate(item):
        if isinstance(value, dict) or is_list(value):
            yield from _leaves(value)
        else:
            yield str(key), value
