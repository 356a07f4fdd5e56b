"""The fits of a task's linear model, and its outputs for training rows: each from a model that was trained on other rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from mtl.base.progress import Progress
from mtl.data.dataset import Split
from mtl.methods.floors.estimators import new_estimator, quiet_fit
from mtl.methods.floors.features import Matrix
from mtl.methods.lstm.folds import FOLDS, row_folds
from mtl.tasks.head_targets import HeadTargets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

METHOD = "logistic"  # of the floors, whose features and estimators linear models have
PENALTIES = {
    "classifier": [{"C": c} for c in (0.1, 1.0, 10.0, 100.0)],
    "regressor": [{"alpha": a} for a in (0.1, 1.0, 10.0)],
}


def fit_count(task: Task) -> int:
    """How many estimators are trained: for the first fold, on the others, one with each penalty; for each other fold one; and one on all rows."""
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
        input_weights = None if weights is None else weights[inputs]
        return quiet_fit(estimator, self.matrix[inputs], self.targets[inputs], input_weights)

    def out_of_fold(self, bar: Progress) -> tuple[np.ndarray, Mapping[str, float]]:
        """The outputs for the training rows, float32 (inputs, outputs), and the penalty of the estimators. The outputs for a fold (`row_folds`) are
        those of an estimator that was fitted to the other folds. The penalty has the smallest loss on the first fold, so that dev chooses nothing; it
        is the first one if none can be tried there."""
        folds = row_folds(self.task, self.train)
        input_folds = folds if self.train.sizes is None else np.repeat(folds, self.train.sizes)
        penalties = PENALTIES[target_kind(self.task).estimator]
        trials = [self._fold_outputs(input_folds == 0, penalty, bar) for penalty in penalties]
        best = self._best(trials, np.flatnonzero(folds == 0))
        result = np.zeros((len(input_folds), self.head.outputs([])), dtype=np.float32)
        result[input_folds == 0] = trials[best]
        for fold in range(1, FOLDS):
            result[input_folds == fold] = self._fold_outputs(input_folds == fold, penalties[best], bar)
        return result, penalties[best]

    def _fold_outputs(self, is_in_fold: np.ndarray, penalty: Mapping[str, float], bar: Progress) -> np.ndarray:
        """The outputs for the inputs of a fold, by an estimator that is fitted to the others; 0 if there are no inputs, or if it cannot learn from
        the others, as a classifier cannot from one target alone. The estimator, which is large, is freed before the next one is fitted."""
        kind = target_kind(self.task)
        inputs, rest = np.flatnonzero(is_in_fold), np.flatnonzero(~is_in_fold)
        outputs = np.zeros((len(inputs), self.head.outputs([])), dtype=np.float32)
        fewest_targets = 2 if kind.estimator == "classifier" else 1  # that an estimator can learn from
        if len(inputs) > 0 and len(np.unique(self.targets[rest])) >= fewest_targets:
            outputs = kind.estimator_outputs(self.fit(penalty, rest), self.matrix[inputs], self.head, [])
        bar.advance(1)
        return outputs

    def _best(self, trials: list[np.ndarray], rows: np.ndarray) -> int:
        """The number of the trial whose outputs, for the inputs of the rows with these numbers, have the smallest loss; of equal ones the first."""
        if len(rows) == 0:
            return 0
        codes = torch.from_numpy(self.train.targets[rows]).float()
        sizes = None if self.train.sizes is None else torch.from_numpy(self.train.sizes[rows])
        return int(np.argmin([float(self.head.loss(torch.from_numpy(outputs), codes, sizes)) for outputs in trials]))
