"""The speed of prediction with a trained method."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

from mtl.base.device import threads_of_torch
from mtl.data.dataset import Dataset, input_rows
from mtl.data.examples import Row
from mtl.tasks.task import Task

ROWS = 16  # the most rows of a task in one batch
SECONDS = 1.0  # the least time that is measured; each task is measured equally often


def sentences_per_second(
    predict: Callable[[Task, Sequence[Row]], object], dataset: Dataset, tasks: Sequence[Task] | None = None
) -> float:
    """Texts per second on one core, from text to prediction. Each task in turn predicts a batch of its scored rows.

    Before each measured call, it is called once with one row, so that loading a model is not measured. No tasks: all of the dataset.
    """
    read, seconds = 0, 0.0
    with one_core():
        while seconds < SECONDS:
            for task in tasks or dataset.tasks:
                split = dataset.scored(task)  # of which evenly chosen rows
                rows = input_rows(dataset, task, split, range(0, len(split), -(-len(split) // ROWS)))
                predict(task, rows[:1])
                start = time.perf_counter()
                predict(task, rows)
                seconds += time.perf_counter() - start
                read += sum(isinstance(part, str) for row in rows for part in row)
    return read / seconds


@contextmanager
def one_core() -> Iterator[None]:
    """Limit all computation within the block to one thread."""
    with threads_of_torch(1), threadpool_limits(1):
        yield
