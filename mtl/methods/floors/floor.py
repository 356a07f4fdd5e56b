"""Floors: guesses, and models without an encoder. Every other model should score higher."""

import logging
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.files import write_json
from mtl.base.memory import peak_memory
from mtl.base.progress import progress
from mtl.base.untrusted import read_json
from mtl.data.dataset import Dataset, Split, last_texts
from mtl.data.text import tokenized
from mtl.methods.costs import sentences_per_second
from mtl.methods.floors.estimators import ESTIMATORS, YesOrNo, check_grid, grid_settings, new_estimator, quiet_fit
from mtl.methods.floors.features import COMPARES_PAIRS, VECTORIZERS, Matrix, RowFeatures, new_features
from mtl.methods.floors.guesses import guess_for, guessed
from mtl.methods.floors.inputs import documents_of, training_inputs, unit_inputs
from mtl.methods.floors.model_file import KEEPABLE, TaskModel, model_file
from mtl.methods.floors.trained import TrainedFloor, predicted_targets
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.runs.folder import chosen_file
from mtl.runs.records import Chosen
from mtl.tasks.metrics import TIE, score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_KEPT = 5_000_000  # numbers (of 8 bytes) of a model that is kept without being asked
VECTORIZER = "vectorizer"  # the setting, beside those of the estimator, that is chosen for joined texts

logger = logging.getLogger("mtl")


class _FittedFeatures(NamedTuple):
    """Features that have learned from a task's training rows, and the features of its inputs by split; of train, those of the inputs to train on."""

    features: RowFeatures
    by_split: dict[str, Matrix]


class Floor(Method):
    """A method without an encoder: it guesses, or trains an estimator on features of the texts."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for settings that the method or its estimators do not have."""
        super().__init__(request)
        config, dataset = request.config, request.dataset
        self.embedding_parameters = 0  # those of the word vectors that features are made of
        # Whether the texts of a row are joined to one text, from which a vectorizer makes the features; else `texts` has their tokens.
        self.joined = config.floor.features == "joined"
        self._check_settings()
        if config.method in ESTIMATORS:
            self.dataset = _with_unit_inputs(dataset)
            if not self.joined:
                self.texts = tokenized(dataset.texts, self.suite.language, config.max_length, Path(config.cache_dir))
            if single := [task.id for task in dataset.tasks if guess_for(config.method, task)]:
                note = f"Tasks of single texts have no overlap and get the best constant answer: {', '.join(single)}."
                self.facts["notes"] = [note]
        # By task and vectorizer (None: texts are not joined), for all seeds.
        self._features: dict[tuple[str, str | None], _FittedFeatures] = {}
        self._models: dict[str, TaskModel] = {}  # of the last seed, by task

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.trained_tasks:
            if guess := guess_for(self.config.method, task):
                for answered in self.dataset.answered(task):
                    yield answered, self._guesses(guess, task, answered, seed)
            else:
                model = self._learn(task, seed, folder)
                for answered in self.dataset.answered(task):
                    splits = self.to_predict(answered)
                    yield answered, {split: self._predicted(model, task, answered, split) for split in splits}

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """Parameters are weights or nodes. A floor has no stage 1. Speed is measured on the tasks whose texts it reads."""
        records = [read_json(chosen_file(folder, task), Chosen) for task in self._models]
        parameters = sum(model.parameters for model in self._models.values())
        tasks = [task for task in self.dataset.tasks if task.id in self._models]
        trained = TrainedFloor(self.config, self.suite.language, self._models)
        return {
            "parameters": parameters + self.embedding_parameters,
            "parameters_without_embeddings": parameters,
            "pretrain_seconds": None,
            "finetune_seconds": sum(record["seconds"] for record in records),
            "peak_memory": max([peak_memory(), *(record.get("peak_memory", 0) for record in records)]),
            "sentences_per_second": sentences_per_second(trained.predict, self.dataset, tasks) if records else None,
        }

    def new_features(self, task: Task, vectorizer: str | None) -> RowFeatures:
        """The features of a task's rows, before they are fitted. Arguments: as in `mtl.methods.floors.features.new_features`."""
        return new_features(self.config.method, self.config.floor, task, vectorizer)

    def fit_estimator(self, task: Task, settings: dict[str, Any], seed: int, features: Matrix) -> Any:
        """An estimator that is trained on the features of the inputs to train on. Raises InputError if all have one target."""
        estimator = new_estimator(self.config.method, task, settings, seed, torch.get_num_threads())
        _, targets = self._training_inputs(task)
        if target_kind(task).estimator == "classifier" and len(np.unique(targets)) == 1:
            raise InputError(f"task {task.id}: all its training rows have one target; leave it out with tasks=")
        trained = quiet_fit(estimator, features, targets)
        return YesOrNo(trained) if self._in_pairs(task) else trained

    def _check_settings(self) -> None:
        """Raise InputError for settings that the method or its estimators do not have."""
        method, floor = self.config.method, self.config.floor
        if floor.keep and method not in KEEPABLE:
            raise InputError(f"method {method} keeps no model; drop it", key="floor.keep", value="true")
        if method not in ESTIMATORS:
            return
        check_grid(method, floor.grid)
        if self.joined and method in COMPARES_PAIRS:
            message = f"method {method} compares the texts of a pair; drop it"
            raise InputError(message, key="floor.features", value="joined")
        if unknown := set(floor.train_rows) - set(self.suite.tasks):
            known = f"suite {self.suite.name} has no such task; it has {', '.join(self.suite.tasks)}"
            raise InputError(f"floor.train_rows.{min(unknown)}: {known}")

    def _guesses(self, guess: str, task: Task, answered: Task, seed: int) -> Predictions:
        """The guesses at the targets of `answered`, by the training rows of `task`."""
        train = self.dataset.splits[task.id]["train"]
        rng = np.random.default_rng([seed, zlib.crc32(answered.id.encode())])
        splits = self.to_predict(answered)
        return {name: guessed(guess, task, train, split, rng, self.dataset.texts) for name, split in splits.items()}

    def _learn(self, task: Task, seed: int, folder: Path) -> TaskModel:
        """The model with the settings that are best on dev, or that an earlier run has chosen. It is written if `floor.keep` says so."""
        start, record = time.monotonic(), chosen_file(folder, task.id)
        candidates = self._candidates(task)
        # Before the trials, since n-grams have their own progress bars.
        self._fitted_features(task, candidates[0].get(VECTORIZER))
        if record.exists():
            settings = read_json(record, Chosen)["settings"]
            if settings not in candidates:
                raise InputError("are none of those to try; delete it, and run this again", path=record, key="settings")
            model = self._trained_with(task, settings, seed)
        else:
            model, best, trials = self._best_trial(task, candidates, seed)
            seconds = time.monotonic() - start
            write_json(record, {**best, "seconds": seconds, "peak_memory": peak_memory(), "trials": trials})
            chosen = ", ".join(f"{key}={value}" for key, value in best["settings"].items()) or "the defaults"
            logger.info("seed %d · %s · %s on dev with %s", seed, task.id, self.suite.shown.show(best["score"]), chosen)
        self._models[task.id] = model
        keep = self.config.floor.keep
        if keep is None:
            keep = self.config.method in KEEPABLE and model.parameters <= MOST_KEPT
        if keep:
            model.write(model_file(folder, task.id))
        return model

    def _candidates(self, task: Task) -> list[dict[str, Any]]:
        """The combinations of settings to try: those of the estimator, and that of the vectorizer if texts are joined."""
        kind = target_kind(task)
        vectorizers = [{VECTORIZER: name} for name in VECTORIZERS] if self.joined and not kind.by_unit else [{}]
        estimators = list(grid_settings(self.config.method, kind.estimator, self.config.floor.grid))
        return [{**vectorizer, **estimator} for vectorizer in vectorizers for estimator in estimators]

    def _best_trial(
        self, task: Task, candidates: Sequence[dict[str, Any]], seed: int
    ) -> tuple[TaskModel, dict[str, Any], list[dict[str, Any]]]:
        """The best model, its trial, and all trials: "settings" and their "score" on dev. The other models do not stay in memory."""
        split, rows = self.dataset.choosing_split(task), self.dataset.choosing_rows(task)
        dev = self.dataset.splits[task.id][split].take(rows)
        best: tuple[TaskModel, dict[str, Any]] | None = None
        trials: list[dict[str, Any]] = []
        for settings in progress(candidates, f"seed {seed} · {task.id} · {self.config.method}", "settings"):
            model = self._trained_with(task, settings, seed)
            predicted = self._predicted(model, task, task, split)[rows]
            trial = {"settings": settings, "score": score(task, predicted, dev.scored)}
            trials.append(trial)
            if best is None or trial["score"] > best[1]["score"] + TIE:
                best = model, trial
        assert best is not None
        return *best, trials

    def _trained_with(self, task: Task, settings: Mapping[str, Any], seed: int) -> TaskModel:
        """The model that is trained with these settings, as `_candidates` has them."""
        vectorizer = settings.get(VECTORIZER)
        features, by_split = self._fitted_features(task, vectorizer)
        of_estimator = {key: value for key, value in settings.items() if key != VECTORIZER}
        return TaskModel(self.fit_estimator(task, of_estimator, seed, by_split["train"]), features, vectorizer)

    def _in_pairs(self, task: Task) -> bool:
        """Whether the estimator learns which pairs of a text and a candidate are right, from one wrong candidate of each row."""
        return task.candidates is not None and self.config.floor.choice == "pairs"

    def _training_inputs(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the inputs to train on, and their targets."""
        train = self.dataset.splits[task.id]["train"]
        return training_inputs(task, train, self.config.floor.train_rows.get(task.id), self._in_pairs(task))

    def _predicted(self, model: TaskModel, trained_on: Task, answered: Task, split: str) -> np.ndarray:
        """The targets (rows,) of a split of `answered` that the model predicts."""
        rows = self.dataset.splits[answered.id][split]
        if answered is trained_on:
            features = self._fitted_features(answered, model.vectorizer).by_split[split]
        else:
            features = model.features.transform(self._documents(answered, rows))
        texts = last_texts(answered, rows, self.dataset.texts)
        return predicted_targets(trained_on, model.estimator, features, rows, texts)

    def _fitted_features(self, task: Task, vectorizer: str | None) -> _FittedFeatures:
        """The features of a task, fitted once for all seeds."""
        if (task.id, vectorizer) not in self._features:
            self._features[task.id, vectorizer] = self._fit_features(task, vectorizer)
        return self._features[task.id, vectorizer]

    def _fit_features(self, task: Task, vectorizer: str | None) -> _FittedFeatures:
        features, splits = self.new_features(task, vectorizer), self.dataset.splits[task.id]
        inputs, _ = self._training_inputs(task)
        if target_kind(task).by_unit and len(inputs) < len(splits["train"].texts):
            logger.warning(
                "task %s: learns from %d of %d words, those of rows that are evenly spread over the training rows; floor.train_rows.%s sets"
                " the number of rows",
                *(task.id, len(inputs), len(splits["train"].texts), task.id),
            )
        try:
            by_split = {"train": features.fit(self._documents(task, splits["train"], inputs))}
        except ValueError:
            raise InputError(f"task {task.id}: {features.problem}") from None
        for name, split in splits.items():
            if name != "train":
                by_split[name] = features.transform(self._documents(task, split))
        return _FittedFeatures(features, by_split)

    def _documents(self, task: Task, split: Split, inputs: np.ndarray | None = None) -> Any:
        return documents_of(task, split, self.dataset.texts, None if self.joined else self.texts.words, inputs)


def _with_unit_inputs(dataset: Dataset) -> Dataset:
    """The dataset in which each unit of a task with units is an input."""
    splits = {
        task.id: {name: unit_inputs(task, split, dataset.texts) for name, split in dataset.splits[task.id].items()}
        for task in dataset.tasks
    }
    return replace(dataset, splits=splits)
