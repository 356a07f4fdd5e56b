"""Dev rows that repeat a training row. A model that has memorised its training rows answers them, so they prefer such models.

With `choose_on_repeats=false`, they choose no checkpoint, setting or threshold. They are still predicted and scored.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mtl.base.files import counted
from mtl.base.progress import remark
from mtl.data.dataset import Dataset, Split
from mtl.tasks.task import Task

LEAST = 50  # rows: fewer new ones choose worse than all rows do


def unordered(task: Task, texts: Sequence[str]) -> tuple[str, ...]:
    """A row's texts without the order that has no meaning: of the two texts of a pair, and of a choice's candidates.

    The order of three or more texts has one: in an analogy, it says what is asked.
    """
    return tuple(texts) if task.candidates is None and len(texts) > 2 else tuple(sorted(texts))


def without_repeats(dataset: Dataset) -> Dataset:
    """The dataset where those dev rows choose that repeat no training row of their task.

    Where fewer than LEAST are left, all dev rows choose.
    """
    choosing = {}
    for task in dataset.trained_tasks:
        splits = dataset.splits[task.id]
        if "dev" not in splits:
            continue
        trained = set(_keys(dataset, task, splits["train"]))
        new = np.flatnonzero([key not in trained for key in _keys(dataset, task, splits["dev"])])
        if len(new) == len(splits["dev"]):
            continue
        if len(new) >= LEAST:
            choosing[task.id] = new
        else:
            remark(f"{task.id}: only {counted(len(new), 'dev row')} repeat no training row, so all dev rows choose")
    return replace(dataset, choosing=choosing)


def choosing_notes(dataset: Dataset) -> list[str]:
    """What tables say of dev rows that did not choose."""
    repeats = [
        f"{len(dataset.splits[id]['dev']) - len(rows):,} of {len(dataset.splits[id]['dev']):,} ({id})"
        for id, rows in dataset.choosing.items()
    ]
    return [f"Dev rows that repeat a training row chose nothing: {', '.join(repeats)}."] if repeats else []


def _keys(dataset: Dataset, task: Task, split: Split) -> list[tuple[object, ...]]:
    """What two rows have in common if one repeats the other: the texts, up to whitespace and order, and the marked spans with their texts."""
    keys: list[tuple[object, ...]] = []
    sizes = np.ones(len(split), dtype=np.int64) if split.sizes is None else split.sizes
    for row, inputs in enumerate(np.split(split.texts, np.cumsum(sizes)[:-1])):
        numbers = inputs[0] if task.candidates is None else [*inputs[0, :-1], *inputs[:, -1]]
        texts = [" ".join(dataset.texts[number].split()) for number in numbers]
        marked = [] if split.spans is None else split.spans[row].tolist()
        sides = [(texts[side], *span) for (side, _), span in zip(task.marked, marked, strict=False)]
        keys.append((unordered(task, texts), *sorted(sides)))
    return keys
