"""The fits of a task's linear model, and its outputs for training rows: each from a model that was trained on other folds of the rows."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from mtl.base.progress import Progress
from mtl.data.dataset import Split
from mtl.methods.floors.estimators import new_estimator, quiet_fit
from mtl.methods.floors.features import Matrix
from mtl.tasks.head_targets import HeadTargets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

FOLDS = 5
METHOD = "logistic"  # of the floors, whose features and estimators linear models have
PENALTIES = {
    "classifier": [{"C": c} for c in (0.1, 1.0, 10.0, 100.0)],
    "regressor": [{"alpha": a} for a in (0.1, 1.0, 10.0)],
}


def fit_count(task: Task) -> int:
    """How many estimators are trained: for the first fold, on the others, one with each penalty; for each other fold one; and one on all rows."""
    return len(PENALTIES[target_kind(task).estimator_type]) + FOLDS


@dataclass(frozen=True)
class Fitting:
    """The training rows of one task, at least one, to which estimators are fitted."""

    task: Task
    head: HeadTargets  # whose loss weights rows and chooses the penalty
    train: Split
    matrix: Matrix  # (inputs, features)
    targets: np.ndarray  # (inputs,)

    def fit(self, penalty: Mapping[str, Any], inputs: np.ndarray) -> Any:
        """An estimator that is trained on the inputs with these numbers."""
        estimator = new_estimator(METHOD, self.task, penalty, seed=0, threads=1)
        weights = self.head.row_weights(self.train.targets)
        input_weights = None if weights is None else weights[inputs]
        return quiet_fit(estimator, self.matrix[inputs], self.targets[inputs], input_weights)

    def out_of_fold(self, bar: Progress) -> tuple[np.ndarray, Mapping[str, float]]:
        """The outputs for the training rows, float32 (inputs, outputs), and the penalty of the estimators. The outputs for a fold (`row_folds`) are
        those of an estimator that was fitted to the other folds. The penalty has the smallest loss on the first fold, so that dev chooses nothing."""
        folds = row_folds(self.task, self.train)
        input_folds = folds if self.train.sizes is None else np.repeat(folds, self.train.sizes)
        is_in_first = input_folds == 0
        penalties = PENALTIES[target_kind(self.task).estimator_type]
        trials = [self._fold_outputs(is_in_first, penalty, bar) for penalty in penalties]
        best = self._best(trials, np.flatnonzero(folds == 0))
        outputs = np.zeros((len(input_folds), self.head.outputs([])), dtype=np.float32)
        outputs[is_in_first] = trials[best]
        for fold in range(1, FOLDS):
            outputs[input_folds == fold] = self._fold_outputs(input_folds == fold, penalties[best], bar)
        return outputs, penalties[best]

    def _fold_outputs(self, is_in_fold: np.ndarray, penalty: Mapping[str, float], bar: Progress) -> np.ndarray:
        """The outputs for the inputs of a fold, by an estimator that is fitted to the others; 0 if there are no inputs, or if it cannot learn from
        the others, as a classifier cannot from one target alone. The estimator, which is large, is freed before the next one is fitted."""
        kind = target_kind(self.task)
        inputs, others = np.flatnonzero(is_in_fold), np.flatnonzero(~is_in_fold)
        outputs = np.zeros((len(inputs), self.head.outputs([])), dtype=np.float32)
        fewest_targets = 2 if kind.estimator_type == "classifier" else 1  # that an estimator can learn from
        if len(inputs) > 0 and len(np.unique(self.targets[others])) >= fewest_targets:
            outputs = kind.estimator_outputs(self.fit(penalty, others), self.matrix[inputs], self.head, [])
        bar.advance(1)
        return outputs

    def _best(self, trials: list[np.ndarray], rows: np.ndarray) -> int:
        """The number of the trial whose outputs, for the inputs of the rows with these numbers, have the smallest loss; the first without rows."""
        if len(rows) == 0:
            return 0
        codes = torch.from_numpy(self.train.targets[rows]).float()
        sizes = None if self.train.sizes is None else torch.from_numpy(self.train.sizes[rows])
        losses = [float(self.head.loss(torch.from_numpy(outputs), codes, sizes)) for outputs in trials]
        return int(np.argmin(losses))


def row_folds(task: Task, train: Split) -> np.ndarray:
    """The fold of each training row, from 0 to FOLDS - 1, int64 (rows,): random, but the same in each run, and one for rows that belong
    together. Rows with a common group or text, on either side of a pair, belong together.

    Only groups and first texts count if all texts would join more than half a fold's rows, and more than groups and first texts join by themselves:
    new rows have a text that is in so many rows, too."""
    sets = _joined_rows(train, sides=train.texts.shape[1])
    sets_by_first_text = _joined_rows(train, sides=1)
    largest, half_a_fold = np.bincount(sets).max(), len(train) / FOLDS / 2
    if largest > half_a_fold and largest > np.bincount(sets_by_first_text).max():
        sets = sets_by_first_text
    random_numbers = np.random.default_rng(zlib.crc32(task.id.encode())).permutation(sets.max() + 1)
    return random_numbers[sets] % FOLDS


def _joined_rows(train: Split, sides: int) -> np.ndarray:
    """The number of each row's set, int64 (rows,). Rows are in one set if they share a key: a group, or one of the first `sides` texts of an input.
    So are rows that others connect: if row 1 shares a text with row 2, and row 2 a group with row 3, all three are in one set."""
    texts = train.texts[:, :sides]
    keys, first_group = texts.ravel(), int(texts.max()) + 1  # groups are numbered after the texts
    key_counts = sides if train.sizes is None else sides * train.sizes
    rows = np.repeat(np.arange(len(train)), key_counts)  # the row of each key
    if train.groups is not None:
        grouped = np.flatnonzero(train.groups >= 0)
        rows = np.concatenate([rows, grouped])
        keys = np.concatenate([keys, first_group + train.groups[grouped]])
    # The sets are the connected parts of a graph: its nodes are the keys and, numbered after them, the rows; an edge joins a key to its row.
    first_row = int(keys.max()) + 1
    nodes = first_row + len(train)
    edges = csr_matrix((np.ones(len(keys), dtype=np.int8), (keys, first_row + rows)), shape=(nodes, nodes))
    part_count, parts = connected_components(edges, directed=False)
    # The folds depend on the order of the sets, and scipy promises none: they are ordered by the smallest number of a text in each.
    smallest_texts = np.full(part_count, first_group)
    np.minimum.at(smallest_texts, parts[:first_group], np.arange(first_group))
    return np.unique(smallest_texts[parts[first_row:]], return_inverse=True)[1].ravel()
