"""The fits of a task's linear model, and its outputs for training rows: each from a model that was trained on other rows."""

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
from mtl.tasks.target_kind import HeadTargets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

FOLDS = 5
METHOD = "logistic"  # of the floors, whose features and estimators linear models have
PENALTIES = {
    "classifier": [{"C": c} for c in (0.1, 1.0, 10.0, 100.0)],
    "regressor": [{"alpha": a} for a in (0.1, 1.0, 10.0)],
}


def fit_count(task: Task) -> int:
    """How many estimators are trained: on the first fold one with each penalty, one on each other fold, and one on all rows."""
    return len(PENALTIES[target_kind(task).estimator]) + FOLDS


@dataclass(frozen=True)
class Fitting:
    """The training rows of one task, to which estimators are fitted."""

    task: Task
    head: HeadTargets  # whose loss weights rows and chooses the penalty
    train: Split
    matrix: Matrix  # (inputs, features)
    targets: np.ndarray  # (inputs,)

    def fit(self, penalty: Mapping[str, Any], inputs: np.ndarray) -> Any:
        """An estimator that is trained on the inputs with these numbers."""
        estimator = new_estimator(METHOD, self.task, penalty, seed=0, threads=1)
        weights = self.head.row_weights(self.train.targets)
        if weights is not None:
            weights = weights[inputs]
        return quiet_fit(estimator, self.matrix[inputs], self.targets[inputs], weights)

    def out_of_fold(self, bar: Progress) -> tuple[np.ndarray, Mapping[str, float]]:
        """The outputs for the training rows, float32 (inputs, outputs), and the penalty of the estimators. The outputs for a fold (`row_folds`) are
        those of an estimator that was fitted to the other folds; 0 if these have one target alone. The penalty has the smallest loss on the first
        fold: dev chooses nothing here."""
        folds = row_folds(self.task, self.train)
        input_folds = folds if self.train.sizes is None else np.repeat(folds, self.train.sizes)
        kind = target_kind(self.task)
        penalties = PENALTIES[kind.estimator]
        result = np.zeros((len(input_folds), self.head.outputs([])), dtype=np.float32)
        penalty = penalties[0]
        for fold in range(FOLDS):
            tried = penalties if fold == 0 else [penalty]
            inputs, rest = np.flatnonzero(input_folds == fold), np.flatnonzero(input_folds != fold)
            can_learn = kind.estimator == "regressor" or len(np.unique(self.targets[rest])) > 1
            if len(inputs) and len(rest) and can_learn:
                matrix = self.matrix[inputs]
                fits = (self.fit(settings, rest) for settings in tried)  # one at a time: they are large
                outputs = [kind.estimator_outputs(estimator, matrix, self.head, []) for estimator in fits]
                losses = [self._loss(values, np.flatnonzero(folds == fold)) for values in outputs]
                best = int(np.argmin(losses))
                result[inputs], penalty = outputs[best], tried[best]
            bar.advance(len(tried))
        return result, penalty

    def _loss(self, outputs: np.ndarray, rows: np.ndarray) -> float:
        """The loss of outputs for the inputs of the rows with these numbers."""
        codes = torch.from_numpy(self.train.targets[rows]).float()
        sizes = None if self.train.sizes is None else torch.from_numpy(self.train.sizes[rows])
        return float(self.head.loss(torch.from_numpy(outputs), codes, sizes))


def row_folds(task: Task, train: Split) -> np.ndarray:
    """The fold of each training row, from 0 to FOLDS - 1, int64 (rows,): random, and the same for rows that belong together.
    Rows of one of the suite's groups belong together, and rows that share a text, on either side of a pair. If one text, or a chain of them, joins
    more rows than half a fold has, and than first texts alone join, only first texts and groups count: new rows have such a text, too."""
    by_any_text = _joined_rows(train, sides=train.texts.shape[1])
    by_first_text = _joined_rows(train, sides=1)
    most = max(len(train) / (2 * FOLDS), np.bincount(by_first_text).max(initial=0))
    sets = by_any_text if np.bincount(by_any_text).max(initial=0) <= most else by_first_text
    order = np.random.default_rng(zlib.crc32(task.id.encode())).permutation(sets.max(initial=-1) + 1)
    return order[sets] % FOLDS


def _joined_rows(train: Split, sides: int) -> np.ndarray:
    """The number of each row's set, int64 (rows,), in order of the sets' first texts. Rows that share a group, or one of the first `sides` texts of
    an input, are in one set: the sets are the connected parts of a graph of rows, texts and groups."""
    rows, texts = len(train), train.texts[:, :sides]
    row_of_input = np.arange(rows) if train.sizes is None else np.repeat(np.arange(rows), train.sizes)
    # The two ends of each edge: from a row to a text of its inputs, or to its group. Numbers of texts follow those of rows, and then come groups.
    starts, ends = [np.repeat(row_of_input, sides)], [rows + texts.ravel()]
    if train.groups is not None:
        grouped = train.groups >= 0
        starts.append(np.flatnonzero(grouped))
        ends.append(rows + texts.max(initial=-1) + 1 + train.groups[grouped])
    start, end = np.concatenate(starts), np.concatenate(ends)
    nodes = int(end.max(initial=rows - 1)) + 1
    edges = csr_matrix((np.ones(len(end), dtype=np.int8), (start, end)), shape=(nodes, nodes))
    sets = connected_components(edges, directed=False)[1][:rows]
    first_text = np.full(nodes, nodes)  # of each set, the smallest number
    np.minimum.at(first_text, sets[row_of_input], texts.min(axis=1, initial=nodes))
    return np.unique(first_text[sets], return_inverse=True)[1].ravel()
