"""Floors: guesses, and models without an encoder. Every other model should score higher."""

import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import write_checkpoint
from mtl.base.memory import peak_memory
from mtl.base.untrusted import read_json
from mtl.methods.costs import sentences_per_second
from mtl.methods.floors import estimators
from mtl.methods.floors.features import COMPARES_PAIRS, RowFeatures
from mtl.methods.floors.guesses import guess_for, guessed
from mtl.methods.floors.inputs import TaskInputs
from mtl.methods.floors.model_file import KEEPABLE, TaskModel, model_file
from mtl.methods.floors.search import Search, predicted_split
from mtl.methods.floors.trained import TrainedFloor
from mtl.methods.method import BuildRequest, Method, Predictions, seed_cost
from mtl.runs.folder import chosen_file
from mtl.runs.records import Chosen
from mtl.tasks.task import Task

MOST_KEPT = 5_000_000  # numbers (of 8 bytes) of a model that is kept without being asked


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
                note = (
                    f"Tasks of single texts have no overlap and get the best constant answer: {', '.join(guessed_at)}."
                )
                self.facts["notes"] = [note]

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
        unknown = set(floor.train_rows) - set(self.suite.tasks)
        if unknown:
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
                if model is None:
                    yield answered, self._guesses(task, answered, seed)
                else:
                    splits = self.to_predict(answered)
                    yield answered, {name: predicted_split(self.inputs, model, task, answered, name) for name in splits}

    def _guesses(self, task: Task, answered: Task, seed: int) -> Predictions:
        """The guesses at the targets of `answered`, by the training rows of `task`."""
        guess, texts = guess_for(self.config.method, task), self.dataset.texts
        train = self.dataset.splits[task.id]["train"]
        rng = np.random.default_rng([seed, zlib.crc32(answered.id.encode())])
        assert guess is not None
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
        return seed_cost(parameters + self.embedding_parameters, parameters, seconds, memory, speed)
