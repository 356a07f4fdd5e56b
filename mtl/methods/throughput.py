"""The speed of prediction with a trained method."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from mtl.data.dataset import Dataset
from mtl.tasks.task import Task

ROWS = 16  # of each task, predicted together
SECONDS = 1.0  # of measuring at least, in whole rounds over the tasks


def sentences_per_second(
    predict: Callable[[Task, Sequence[Sequence[str]]], object], dataset: Dataset, tasks: Sequence[Task] | None = None
) -> float:
    """Texts a second on one core, from text to prediction: a batch of evenly chosen scored rows of each task in turn.

    predict: takes a task and the texts of rows; what its first call for a task loads is not counted. tasks: some of the dataset's;
    None: all.
    """
    read, seconds = 0, 0.0
    with one_core():
        while seconds < SECONDS:
            for task in tasks or dataset.tasks:
                rows = _some_rows(task, dataset)
                predict(task, rows[:1])
                start = time.perf_counter()
                predict(task, rows)
                seconds += time.perf_counter() - start
                read += sum(map(len, rows))
    return read / seconds


def _some_rows(task: Task, dataset: Dataset) -> list[tuple[str, ...]]:
    """The texts (`mtl.data.examples.Example.texts`) of evenly chosen rows that the task is scored on."""
    split = dataset.scored(task)
    rows = []
    for row in range(0, len(split), -(-len(split) // ROWS)):
        inputs = [[dataset.texts[text] for text in split.texts[place]] for place in split.inputs(np.array([row]))]
        shared = inputs[0] if task.candidates is None else inputs[0][:-1]
        rows.append((*shared, *(texts[-1] for texts in inputs if task.candidates is not None)))
    return rows


@contextmanager
def one_core() -> Iterator[None]:
    """One thread for whatever computes."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)
