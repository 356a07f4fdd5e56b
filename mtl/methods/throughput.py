"""How fast a trained method predicts."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits

from mtl.data.dataset import Dataset

ROWS = 16  # of each task, predicted together
SECONDS = 1.0  # of measuring at least, in whole rounds over the tasks


def sentences_per_second(predict: Callable[[str, Sequence[Sequence[str]]], object], dataset: Dataset) -> float:
    """Texts a second on one core, from text to prediction: a batch of evenly chosen dev rows of each task in turn.

    predict: a task's id and rows of one or two texts; what its first call for a task loads is not counted.
    """
    texts = list(dataset.texts.index)
    read, seconds = 0, 0.0
    with one_core():
        while seconds < SECONDS:
            for task in dataset.tasks:
                split = dataset.splits[task.id]["dev"].texts
                rows = [tuple(texts[text] for text in row) for row in split[:: -(-len(split) // ROWS)]]
                predict(task.id, rows[:1])
                start = time.perf_counter()
                predict(task.id, rows)
                seconds += time.perf_counter() - start
                read += len(rows) * len(task.text)
    return read / seconds


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
