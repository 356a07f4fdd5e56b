"""Floors: guesses, and models without an encoder. Every other model should score higher."""

import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.arrays import write_checkpoint
from mtl.base.errors import InputError
from mtl.base.files import write_json
from mtl.base.log import logger
from mtl.base.memory import peak_memory
from mtl.base.progress import progress
from mtl.base.untrusted import read_json
from mtl.data.dataset import last_texts
from mtl.methods.costs import sentences_per_second
from mtl.methods.floors import estimators
from mtl.methods.floors.features import VECTORIZERS, Matrix, RowFeatures
from mtl.methods.floors.guesses import guess_for, guessed
from mtl.methods.floors.inputs import TaskInputs
from mtl.methods.floors.model_file import KEEPABLE, TaskModel, model_file
from mtl.methods.floors.trained import TrainedFloor, predicted_targets
from mtl.methods.method import BuildRequest, Method, Predictions, SeedCost
from mtl.runs.folder import chosen_file
from mtl.runs.records import Chosen
from mtl.tasks.metrics import TIE, score
from mtl.tasks.scale import Scale
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

COMPARES_PAIRS = ("overlap", "static", "fasttext")  # methods that compare the texts of a pair, and never join them
MOST_KEPT = 5_000_000  # numbers (of 8 bytes) of a model that is kept without being asked
VECTORIZER = "vectorizer"  # the setting, beside those of the estimator, that is chosen for joined texts

Settings = dict[str, Any]  # of an estimator, and of the VECTORIZER if texts are joined


class Floor(Method):
    """A method without an encoder: it guesses, or trains an estimator on features of the texts."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for settings that the method or its estimators do not have."""
        super().__init__(request)
        self._check_settings()
        self.embedding_parameters = 0  # those of the word vectors that features are made of
        self._models: dict[str, TaskModel] = {}  # of the last seed, by task
        if self.config.method in estimators.ESTIMATORS:
            self.dataset = self.inputs.dataset
            guessed_at = [task.id for task in self.dataset.tasks if guess_for(self.config.method, task)]
            if guessed_at:  # by the method overlap
                note = "Tasks of single texts have no overlap and get the best constant answer"
                self.facts["notes"] = [f"{note}: {', '.join(guessed_at)}."]

    @cached_property
    def inputs(self) -> TaskInputs:
        """What estimators read. A method that only guesses does without."""
        return TaskInputs(self.config, self.dataset, self.suite.language, self.new_features)

    def _check_settings(self) -> None:
        method, floor = self.config.method, self.config.floor
        if floor.keep and method not in KEEPABLE:
            raise InputError(f"method {method} keeps no model; drop it", key="floor.keep", value="true")
        if method not in estimators.ESTIMATORS:
            return
        estimators.check_grid(method, floor.grid)
        if floor.features == "joined" and method in COMPARES_PAIRS:
            message = f"method {method} compares the texts of a pair; drop it"
            raise InputError(message, key="floor.features", value="joined")
        if unknown := set(floor.train_rows) - set(self.suite.tasks):
            known = f"suite {self.suite.name} has no such task; it has {', '.join(self.suite.tasks)}"
            raise InputError(f"floor.train_rows.{min(unknown)}: {known}")

    def new_features(self, task: Task, vectorizer: str | None) -> RowFeatures:
        """The features of a task's rows, before they are fitted. Arguments: as in `mtl.methods.floors.estimators.new_features`."""
        return estimators.new_features(self.config.method, self.config.floor, task, vectorizer)

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.trained_tasks:
            guess = guess_for(self.config.method, task)
            model = None if guess else self._learn(task, seed, folder)
            for answered in self.dataset.answered(task):
                if guess:
                    yield answered, self._guesses(guess, task, answered, seed)
                if model is not None:
                    splits = self.to_predict(answered)
                    yield answered, {name: predicted_split(self.inputs, model, task, answered, name) for name in splits}

    def _guesses(self, guess: str, task: Task, answered: Task, seed: int) -> Predictions:
        """The guesses at the targets of `answered`, by the training rows of `task`."""
        train, texts = self.dataset.splits[task.id]["train"], self.dataset.texts
        rng = np.random.default_rng([seed, zlib.crc32(answered.id.encode())])
        return {name: guessed(guess, task, train, rows, rng, texts) for name, rows in self.to_predict(answered).items()}

    def _learn(self, task: Task, seed: int, folder: Path) -> TaskModel:
        """The model of a task. It is written if `floor.keep` says so; with null, if its method keeps models and it is small."""
        search = Search(self.inputs, task, seed, self.suite.shown)
        model = self._models[task.id] = search.best_model(chosen_file(folder, task.id))
        keep = self.config.floor.keep
        if keep is None:
            keep = self.config.method in KEEPABLE and model.parameters <= MOST_KEPT
        if keep:
            write_checkpoint(model_file(folder, task.id), model.content())
        return model

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """Parameters are weights or nodes. A floor has no stage 1. Speed is measured on the tasks whose texts it reads."""
        records = [read_json(chosen_file(folder, id), Chosen) for id in self._models]
        parameters = sum(model.parameters for model in self._models.values())
        tasks = [task for task in self.dataset.tasks if task.id in self._models]
        trained = TrainedFloor(self.config, self.suite.language, self._models)
        seconds = sum(record["seconds"] for record in records)
        memory = max([peak_memory(), *(record.get("peak_memory", 0) for record in records)])
        speed = sentences_per_second(trained.predict, self.dataset, tasks) if records else None
        return SeedCost(parameters + self.embedding_parameters, parameters, None, seconds, memory, speed)._asdict()


@dataclass(frozen=True)
class Search:
    """The search for the model of one task and one seed: an estimator is trained with each of the settings to try; the best on dev is taken."""

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
        grid = list(estimators.grid_settings(config.method, kind.estimator_type, config.floor.grid))
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
            trial = {"settings": settings, "score": score(task, predicted, dev.scored_rows)}
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
        if target_kind(self.task).estimator_type == "classifier" and len(np.unique(targets)) == 1:
            raise InputError(f"task {self.task.id}: all its training rows have one target; leave it out with tasks=")
        trained = estimators.quiet_fit(estimator, features, targets)
        return estimators.YesOrNo(trained) if self.inputs.in_pairs(self.task) else trained


def predicted_split(inputs: TaskInputs, model: TaskModel, trained_on: Task, answered: Task, split: str) -> np.ndarray:
    """The targets (rows,) of a split of `answered` that a model predicts which was trained on another task, or on this one."""
    rows = inputs.dataset.splits[answered.id][split]
    if answered is trained_on:
        _, features_by_split = inputs.fitted(answered, model.vectorizer)
        features = features_by_split[split]
    else:
        features = model.features.transform(inputs.documents(answered, rows))
    texts = last_texts(answered, rows, inputs.dataset.texts)
    return predicted_targets(trained_on, model.estimator, features, rows, texts)
