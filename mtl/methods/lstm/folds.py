"""The folds of training rows for outputs of linear models that have not seen the row: rows that belong together are in one fold."""

import zlib

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from mtl.data.dataset import Split
from mtl.tasks.task import Task

FOLDS = 5


def row_folds(task: Task, train: Split) -> np.ndarray:
    """The fold of each training row, from 0 to FOLDS - 1, int64 (rows,): random, and the same for rows that belong together. These are the rows of
    one of the suite's groups, and those that share a text, on either side of a pair. If this joins more rows than half a fold has, through one text
    or a chain of them, only rows with the same first text stay together: a text in so many rows is known to a model on new rows, too."""
    by_any_text, by_first_text = (_joined_rows(train, sides) for sides in (train.texts.shape[1], 1))
    most = max(len(train) / (2 * FOLDS), np.bincount(by_first_text).max(initial=0))
    sets = by_any_text if np.bincount(by_any_text).max(initial=0) <= most else by_first_text
    order = np.random.default_rng(zlib.crc32(task.id.encode())).permutation(sets.max(initial=-1) + 1)
    return order[sets] % FOLDS


def _joined_rows(train: Split, sides: int) -> np.ndarray:
    """The number of each row's set of rows that share a group or one of the first `sides` texts of an input, in order of the sets' first texts:
    int64 (rows,). The sets are the connected parts of a graph of rows, texts and groups, whose nodes have numbers in this order."""
    rows = len(train)
    row_of_input = np.arange(rows) if train.sizes is None else np.repeat(np.arange(rows), train.sizes)
    texts = train.texts[:, :sides]
    starts, ends = [np.repeat(row_of_input, sides)], [rows + texts.ravel()]
    if train.groups is not None:
        grouped = train.groups >= 0
        starts.append(np.flatnonzero(grouped))
        ends.append(rows + texts.max(initial=-1) + 1 + train.groups[grouped])
    start, end = np.concatenate(starts), np.concatenate(ends)
    size = int(end.max(initial=rows - 1)) + 1
    edges = csr_matrix((np.ones(len(end), dtype=np.int8), (start, end)), shape=(size, size))
    sets = connected_components(edges, directed=False)[1][:rows]
    first_text = np.full(size, size)  # of each set, the smallest number
    np.minimum.at(first_text, sets[row_of_input], texts.min(axis=1, initial=size))
    return np.unique(first_text[sets], return_inverse=True)[1].ravel()
