"""The search for a task's model: an estimator is trained with each of the settings to try, and the one that scores best on dev is taken."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.files import write_json
from mtl.base.log import logger
from mtl.base.memory import peak_memory
from mtl.base.progress import progress
from mtl.base.untrusted import read_json
from mtl.data.dataset import last_texts
from mtl.methods.floors import estimators
from mtl.methods.floors.features import VECTORIZERS, Matrix
from mtl.methods.floors.inputs import TaskInputs
from mtl.methods.floors.model_file import TaskModel
from mtl.methods.floors.trained import predicted_targets
from mtl.runs.records import Chosen
from mtl.tasks.metrics import TIE, score
from mtl.tasks.scale import Scale
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

VECTORIZER = "vectorizer"  # the setting, beside those of the estimator, that is chosen for joined texts

Settings = dict[str, Any]  # of an estimator, and of the VECTORIZER if texts are joined


@dataclass(frozen=True)
class Search:
    """The search for the model of one task and one seed."""

    inputs: TaskInputs
    task: Task
    seed: int
    scale: Scale  # how messages show scores

    def best_model(self, record: Path) -> TaskModel:
        """The model with the settings that are best on dev, or that an earlier run has recorded in this file."""
        candidates = self._candidates()
        if not record.exists():
            return self._choose(candidates, record)
        settings = read_json(record, Chosen)["settings"]
        if settings not in candidates:
            raise InputError("are none of those to try; delete it, and run this again", path=record, key="settings")
        return self._train(settings)

    def _candidates(self) -> list[Settings]:
        """The settings to try: each combination of the grid, of joined texts with each vectorizer."""
        kind, config = target_kind(self.task), self.inputs.config
        grid = list(estimators.grid_settings(config.method, kind.estimator, config.floor.grid))
        if config.floor.features != "joined" or kind.by_unit:
            return grid
        return [{VECTORIZER: vectorizer, **settings} for vectorizer in VECTORIZERS for settings in grid]

    def _choose(self, candidates: Sequence[Settings], record: Path) -> TaskModel:
        """The model whose settings are best on dev, which are recorded. The other models do not stay in memory."""
        start = time.monotonic()
        dataset, task, method = self.inputs.dataset, self.task, self.inputs.config.method
        self.inputs.fitted(task, candidates[0].get(VECTORIZER))  # before the trials: n-grams have progress bars, too
        split, rows = dataset.choosing_split(task), dataset.choosing_rows(task)
        dev = dataset.splits[task.id][split].take(rows)
        best: tuple[TaskModel, dict[str, Any]] | None = None  # a model and its trial
        trials = []
        for settings in progress(candidates, f"seed {self.seed} · {task.id} · {method}", "settings"):
            model = self._train(settings)
            predicted = predicted_split(self.inputs, model, task, task, split)[rows]
            trial = {"settings": settings, "score": score(task, predicted, dev.scored)}
            trials.append(trial)
            if best is None or trial["score"] > best[1]["score"] + TIE:
                best = model, trial
        assert best is not None
        best_model, best_trial = best
        seconds = time.monotonic() - start
        write_json(record, {**best_trial, "seconds": seconds, "peak_memory": peak_memory(), "trials": trials})
        chosen = ", ".join(f"{key}={value}" for key, value in best_trial["settings"].items()) or "the defaults"
        shown = self.scale.show(best_trial["score"])
        logger.info("seed %d · %s · %s on dev with %s", self.seed, task.id, shown, chosen)
        return best_model

    def _train(self, settings: Settings) -> TaskModel:
        """The model with these settings."""
        vectorizer = settings.get(VECTORIZER)
        features, by_split = self.inputs.fitted(self.task, vectorizer)
        for_estimator = {key: value for key, value in settings.items() if key != VECTORIZER}
        return TaskModel(self.fit_estimator(for_estimator, by_split["train"]), features, vectorizer)

    def fit_estimator(self, settings: Settings, features: Matrix) -> Any:
        """An estimator that is trained on the features of the inputs to train on. Raises InputError if all have one target."""
        method, threads = self.inputs.config.method, torch.get_num_threads()
        estimator = estimators.new_estimator(method, self.task, settings, self.seed, threads)
        _, targets = self.inputs.training(self.task)
        if target_kind(self.task).estimator == "classifier" and len(np.unique(targets)) == 1:
            raise InputError(f"task {self.task.id}: all its training rows have one target; leave it out with tasks=")
        trained = estimators.quiet_fit(estimator, features, targets)
        return estimators.YesOrNo(trained) if self.inputs.in_pairs(self.task) else trained


def predicted_split(inputs: TaskInputs, model: TaskModel, trained_on: Task, answered: Task, split: str) -> np.ndarray:
    """The targets (rows,) of a split of `answered` that a model predicts which was trained on another task, or on this one."""
    rows = inputs.dataset.splits[answered.id][split]
    if answered is trained_on:
        features = inputs.fitted(answered, model.vectorizer).by_split[split]
    else:
        features = model.features.transform(inputs.documents(answered, rows))
    texts = last_texts(answered, rows, inputs.dataset.texts)
    return predicted_targets(trained_on, model.estimator, features, rows, texts)
