"""The folds of a task's training rows: rows that belong together are in one fold, and which fold it is is random, but the same in each run."""

import zlib

import numpy as np

from mtl.data.dataset import Split
from mtl.data.held_out import smallest_connected
from mtl.tasks.task import Task

FOLDS = 5


def row_folds(task: Task, train: Split) -> np.ndarray:
    """The fold of each training row, from 0 to FOLDS - 1, int64 (rows,). Rows with a common group or text, on either side of a pair, belong together.

    Only groups and first texts count if all texts would join more than half a fold's rows, and more than groups and first texts join by themselves:
    new rows have a text that is in so many rows, too."""
    sets = _joined_rows(train, sides=train.texts.shape[1])
    sets_by_first_text = _joined_rows(train, sides=1)
    most = max(len(train) / (2 * FOLDS), _largest(sets_by_first_text))
    if _largest(sets) > most:
        sets = sets_by_first_text
    random_numbers = np.random.default_rng(zlib.crc32(task.id.encode())).permutation(sets.max(initial=-1) + 1)
    return random_numbers[sets] % FOLDS


def _largest(sets: np.ndarray) -> int:
    """The number of rows in the largest set."""
    return int(np.bincount(sets).max(initial=0))


def _joined_rows(train: Split, sides: int) -> np.ndarray:
    """The number of each row's set, int64 (rows,). Rows that share a group, or one of the first `sides` texts of an input, are in one set, as are
    those that further rows connect. Sets are in the order of the smallest number of a text in each."""
    texts = train.texts[:, :sides]
    first_texts = texts[train.starts, 0]  # of each row; its other texts, and its group, are connected with it
    first_of_input = first_texts if train.sizes is None else np.repeat(first_texts, train.sizes)
    pairs: list[tuple[int, int]] = []
    for texts_of_side in texts.T:
        pairs += zip(first_of_input.tolist(), texts_of_side.tolist(), strict=True)
    if train.groups is not None:
        first_group = texts.max(initial=-1) + 1  # groups are numbered after the texts
        groups = np.where(train.groups < 0, first_texts, first_group + train.groups)
        pairs += zip(first_texts.tolist(), groups.tolist(), strict=True)
    smallest = smallest_connected((node for pair in pairs for node in pair), pairs)
    smallest_of_rows = [smallest[text] for text in first_texts.tolist()]
    return np.unique(smallest_of_rows, return_inverse=True)[1].ravel()
