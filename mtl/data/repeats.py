"""The dev rows on which a run chooses its checkpoint, thresholds and settings: without those that repeat a training row of their task.
Such rows prefer models that have memorised their training rows. With `choose_on_repeats=false`, nothing is chosen on them; they are still scored."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mtl.data.dataset import Dataset, Split
from mtl.data.sampled import sample_text
from mtl.data.splits import CHOOSING
from mtl.tasks.task import Task

LEAST_ROWS = 50  # without a repeat; fewer rows choose worse than all rows do


def without_order(task: Task, texts: Sequence[str]) -> tuple[str, ...]:
    """A row's texts, sorted where another order is a repeat: of a pair, and of a choice. In an analogy, the order says what is asked."""
    return tuple(texts) if task.candidates is None and task.sides > 2 else tuple(sorted(texts))


def without_repeats(dataset: Dataset) -> Dataset:
    """The dataset in which only dev rows that repeat no training row of their task choose; all of a task with fewer than LEAST_ROWS such rows."""
    choosing = {}
    for task in dataset.trained_tasks:
        splits = dataset.splits[task.id]
        if "dev" not in splits:
            continue
        all_rows = dataset.choosing_rows(task)
        trained = set(_keys(dataset, task, splits["train"]))
        keys = _keys(dataset, task, splits[dataset.choosing_split(task)])
        new = np.flatnonzero([key not in trained for key in keys])
        if len(new) < len(all_rows):
            choosing[task.id] = new if len(new) >= LEAST_ROWS else all_rows
    return replace(dataset, choosing=choosing)


def choosing_notes(dataset: Dataset, chooses: bool = True) -> list[str]:
    """The notes of a run on dev rows that are not scored, and, if its method `chooses` anything on dev, on those on which nothing was chosen."""
    samples = {id: sample for id, sample in dataset.samples.items() if CHOOSING in dataset.splits[id]}
    scored = sample_text(samples, dict.fromkeys(samples, "dev"))
    notes = [f"Scored on the dev rows that choose nothing (choosing_share): {scored}."] if samples else []
    if not chooses:
        return notes
    tasks = [task for task in dataset.trained_tasks if task.id in dataset.choosing]
    rows = {task.id: len(dataset.splits[task.id][dataset.choosing_split(task)]) for task in tasks}
    left_out = {id: rows[id] - len(chosen) for id, chosen in dataset.choosing.items()}
    counts = [f"{count:,} of {rows[id]:,} ({id})" for id, count in left_out.items() if count]
    few = [id for id, count in left_out.items() if not count]
    if counts:
        notes.append(f"Dev rows that repeat a training row chose nothing: {', '.join(counts)}.")
    if few:
        notes.append(f"All dev rows chose, since fewer than {LEAST_ROWS} repeat no training row: {', '.join(few)}.")
    return notes


def _keys(dataset: Dataset, task: Task, split: Split) -> list[tuple[object, ...]]:
    """What two rows have in common if one repeats the other: the texts, up to whitespace and order, and the marked spans with their texts."""

    def plain(text: str) -> str:
        return " ".join(text.split())

    keys: list[tuple[object, ...]] = []
    for row in range(len(split)):
        texts = [dataset.texts[text] for text in split.row_texts(task, row)]
        marked = []
        for (side, _), ends in zip(task.marked, split.row_spans(row), strict=True):
            marked.append((plain(texts[side]), *(len(plain(texts[side][:end])) for end in ends)))
        keys.append((without_order(task, list(map(plain, texts))), *sorted(marked)))
    return keys
