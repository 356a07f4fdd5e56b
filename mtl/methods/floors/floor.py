"""Floors: guesses, and models without an encoder. Every other model should score higher."""

import logging
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.errors import InputError
from mtl.base.files import write_json
from mtl.base.memory import peak_memory
from mtl.base.progress import progress
from mtl.base.untrusted import read_json
from mtl.data.dataset import Split, last_texts
from mtl.data.text import tokenized
from mtl.methods.floors.estimators import (
    ESTIMATORS,
    YesOrNo,
    check_grid,
    grid_settings,
    new_estimator,
    numbers,
    quiet_fit,
)
from mtl.methods.floors.features import (
    COMPARES_PAIRS,
    VECTORIZERS,
    Matrix,
    RowFeatures,
    documents_of,
    training_inputs,
    unit_inputs,
)
from mtl.methods.floors.guesses import guess_for, guessed
from mtl.methods.floors.kept import KEEPABLE, Kept, TrainedFloor, decided, kept_file, new_features, write_kept
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.throughput import sentences_per_second
from mtl.runs.folder import Chosen, chosen_file
from mtl.tasks.metrics import TIE, score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

logger = logging.getLogger("mtl")

MOST_KEPT = 5_000_000  # numbers (of 8 bytes) of a model that is kept without being asked
VECTORIZER = "vectorizer"  # the setting, beside those of the estimator, that is chosen for joined texts


class Floor(Method):
    """A method without an encoder: it guesses, or trains an estimator on features of the texts.

    Attributes:
        embedding_parameters: the parameters of the word vectors that features are made of; here, 0.
        joined: whether the texts of a row are joined to one text, from which a vectorizer makes the features.
    """

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for a setting in `floor.grid` that the method's estimators do not have."""
        super().__init__(request)
        config, dataset = request.config, request.dataset
        self.embedding_parameters = 0
        self.joined = config.floor.features == "joined"
        if config.floor.keep and config.method not in KEEPABLE:
            raise InputError(f"method {config.method} keeps no model; drop it", key="floor.keep", value="true")
        if config.method in ESTIMATORS:
            check_grid(config.method, config.floor.grid)
            if self.joined and config.method in COMPARES_PAIRS:
                message = f"method {config.method} compares the texts of a pair; drop it"
                raise InputError(message, key="floor.features", value="joined")
            if unknown := set(config.floor.train_rows) - set(tasks := self.suite.tasks):
                known = f"suite {self.suite.name} has no such task; it has {', '.join(tasks)}"
                raise InputError(f"floor.train_rows.{min(unknown)}: {known}")
            splits = {
                task.id: {
                    name: unit_inputs(task, part, dataset.texts) for name, part in dataset.splits[task.id].items()
                }
                for task in dataset.tasks
            }
            self.dataset = replace(dataset, splits=splits)
            if not self.joined:
                self.texts = tokenized(dataset.texts, self.suite.language, config.max_length, Path(config.cache_dir))
            if single := [task.id for task in dataset.tasks if guess_for(config.method, task)]:
                note = f"Tasks of single texts have no overlap and get the best constant answer: {', '.join(single)}."
                self.facts["notes"] = [note]
        # By task and vectorizer (None for features of pairs), for all seeds.
        self._features: dict[tuple[str, str | None], tuple[RowFeatures, dict[str, Matrix]]] = {}
        self._trained: dict[str, Kept] = {}  # of the last seed, by task

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.trained_tasks:
            answered = self.dataset.answered(task)
            if guess := guess_for(self.config.method, task):
                train = self.dataset.splits[task.id]["train"]
                for predicted in answered:
                    rng, texts = np.random.default_rng([seed, zlib.crc32(predicted.id.encode())]), self.dataset.texts
                    parts = self.to_predict(predicted).items()
                    yield predicted, {name: guessed(guess, task, train, part, rng, texts) for name, part in parts}
            else:
                learned = self._learn(task, seed, folder)
                for predicted in answered:
                    splits = self.to_predict(predicted)
                    yield predicted, {name: self._predicted(predicted, task, learned, name) for name in splits}

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """Parameters are weights or nodes. A floor has no stage 1. Speed is measured on the tasks whose texts it reads."""
        learned = [read_json(chosen_file(folder, task), Chosen) for task in self._trained]
        parameters = sum(numbers(trained.estimator) for trained in self._trained.values())
        tasks = [task for task in self.dataset.tasks if task.id in self._trained]
        model = TrainedFloor(self.config, self.suite.language, self._trained)
        return {
            "parameters": parameters + self.embedding_parameters,
            "parameters_without_embeddings": parameters,
            "pretrain_seconds": None,
            "finetune_seconds": sum(done["seconds"] for done in learned),
            "peak_memory": max([peak_memory(), *(done.get("peak_memory", 0) for done in learned)]),
            "sentences_per_second": sentences_per_second(model.predict, self.dataset, tasks) if learned else None,
        }

    def _learn(self, task: Task, seed: int, folder: Path) -> Kept:
        """Train with each combination of settings, unless an earlier run has chosen one. The first estimator that is best on dev."""
        start = time.monotonic()
        floor, kind = self.config.floor, target_kind(task)
        vectorizers = [{VECTORIZER: name} for name in VECTORIZERS] if self.joined and not kind.by_unit else [{}]
        estimators = list(grid_settings(self.config.method, kind.estimator, floor.grid))
        candidates = [{**vectorizer, **estimator} for vectorizer in vectorizers for estimator in estimators]
        done = chosen_file(folder, task.id)
        # Before the trials, since n-grams have their own progress bars.
        self._task_features(task, candidates[0].get(VECTORIZER))
        if done.exists():
            recorded = read_json(done, Chosen)["settings"]
            if recorded not in candidates:
                raise InputError("are none of those to try; delete it, and run this again", path=done, key="settings")
            trained = self._trained_with(task, recorded, seed)
        else:
            trained, best, trials = self._best_trial(task, candidates, seed)
            seconds = time.monotonic() - start
            write_json(done, {**best, "seconds": seconds, "peak_memory": peak_memory(), "trials": trials})
            chosen = ", ".join(f"{key}={value}" for key, value in best["settings"].items()) or "the defaults"
            logger.info("seed %d · %s · %s on dev with %s", seed, task.id, self.suite.shown.show(best["score"]), chosen)
        self._trained[task.id] = trained
        keep, method = self.config.floor.keep, self.config.method
        if keep or (keep is None and method in KEEPABLE and numbers(trained.estimator) <= MOST_KEPT):
            write_kept(kept_file(folder, task.id), trained)
        return trained

    def _best_trial(
        self, task: Task, candidates: Sequence[dict[str, Any]], seed: int
    ) -> tuple[Kept, dict[str, Any], list[dict[str, Any]]]:
        """The best trained estimator, its settings and score, and those of all trials. Of the others, no estimator stays in memory."""
        split, rows = self.dataset.choosing_split(task), self.dataset.choosing_rows(task)
        dev = self.dataset.splits[task.id][split].take(rows)
        best: tuple[Kept, dict[str, Any]] | None = None
        trials: list[dict[str, Any]] = []
        for candidate in progress(candidates, f"seed {seed} · {task.id} · {self.config.method}", "settings"):
            trained = self._trained_with(task, candidate, seed)
            value = score(task, self._predicted(task, task, trained, split)[rows], dev.scored)
            trial = {"settings": candidate, "score": value}
            trials.append(trial)
            if best is None or value > best[1]["score"] + TIE:
                best = trained, trial
        assert best is not None
        return *best, trials

    def _trained_with(self, task: Task, values: Mapping[str, Any], seed: int) -> Kept:
        """An estimator that is trained with these settings, among which that of the vectorizer may be."""
        settings = {key: value for key, value in values.items() if key != VECTORIZER}
        vectorizer = values.get(VECTORIZER)
        features, by_split = self._task_features(task, vectorizer)
        return Kept(self.fit_estimator(task, settings, seed, by_split["train"]), features, vectorizer)

    def fit_estimator(self, task: Task, values: dict[str, Any], seed: int, features: Matrix) -> Any:
        """An estimator that is trained on the features of the inputs to train on. Raises InputError if all have one target."""
        estimator = new_estimator(self.config.method, task, values, seed, torch.get_num_threads())
        _, targets = self._training(task)
        if target_kind(task).estimator == "classifier" and len(np.unique(targets)) == 1:
            raise InputError(f"task {task.id}: all its training rows have one target; leave it out with tasks=")
        trained = quiet_fit(estimator, features, targets)
        return YesOrNo(trained) if self._in_pairs(task) else trained

    def _in_pairs(self, task: Task) -> bool:
        """Whether the estimator learns which pairs of a text and a candidate are right, from one wrong candidate of each row."""
        return task.candidates is not None and self.config.floor.choice == "pairs"

    def _training(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the inputs to train on, and their targets."""
        train = self.dataset.splits[task.id]["train"]
        return training_inputs(task, train, self.config.floor.train_rows.get(task.id), self._in_pairs(task))

    def _predicted(self, task: Task, source: Task, learned: Kept, split: str) -> np.ndarray:
        """Predicted targets (rows,) of a split. The estimator was trained on `source`."""
        rows = self.dataset.splits[task.id][split]
        if task is source:
            matrix = self._task_features(source, learned.vectorizer)[1][split]
        else:
            matrix = learned.features.transform(self._documents(task, rows))
        return decided(source, learned.estimator, matrix, rows, last_texts(task, rows, self.dataset.texts))

    def _task_features(self, task: Task, vectorizer: str | None) -> tuple[RowFeatures, dict[str, Matrix]]:
        """The task's features by split, computed once for all seeds. Those of train are of the inputs to train on."""
        if (task.id, vectorizer) not in self._features:
            features = self.new_features(task, vectorizer)
            splits = self.dataset.splits[task.id]
            inputs, _ = self._training(task)
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
            documents = {name: self._documents(task, part) for name, part in splits.items() if name != "train"}
            by_split |= {name: features.transform(rows) for name, rows in documents.items()}
            self._features[task.id, vectorizer] = features, by_split
        return self._features[task.id, vectorizer]

    def new_features(self, task: Task, vectorizer: str | None) -> RowFeatures:
        """What makes features of a task's rows, before it is fitted. `vectorizer` is the one for joined texts; None: they are not joined."""
        return new_features(self.config.method, self.config.floor, task, vectorizer)

    def _documents(self, task: Task, split: Split, inputs: np.ndarray | None = None) -> Any:
        return documents_of(task, split, self.dataset.texts, None if self.joined else self.texts.words, inputs)
