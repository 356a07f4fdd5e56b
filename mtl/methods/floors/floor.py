"""What any row of a table must stand above: guesses, and models without an encoder."""

import logging
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning

from mtl.config.load import Config
from mtl.data.dataset import Dataset
from mtl.data.text import moses
from mtl.errors import InputError
from mtl.memory import peak_memory
from mtl.methods.floors.estimators import ESTIMATORS, check_grid, new_estimator, numbers, settings
from mtl.methods.floors.features import Document, Matrix, TaskFeatures
from mtl.methods.floors.guesses import guess_for
from mtl.methods.throughput import sentences_per_second
from mtl.progress import progress
from mtl.runs.folder import RunFolder, read_json, write_json
from mtl.tasks.metrics import score
from mtl.tasks.suite import Task

logger = logging.getLogger("mtl")


class Floor:
    """`mtl.methods.method.Method` of the methods that read no embeddings."""

    def __init__(self, config: Config, language: str, dataset: Dataset) -> None:
        """Raises InputError for a setting in `floor.grid` that the method's estimators do not have."""
        self.config = config
        self.dataset = dataset
        self.texts = list(dataset.texts.index)
        self.tokenize = moses(language)
        self.fingerprints: dict[str, str] = {}
        self.facts: dict[str, Any] = {}
        if config.method in ESTIMATORS:
            check_grid(config.method, config.floor.grid)
            if guessed := [task.id for task in dataset.tasks if guess_for(config.method, task)]:
                self.facts["constant_answers"] = guessed
        self._features: dict[str, tuple[TaskFeatures, dict[str, Matrix]]] = {}  # by task, for all seeds
        self._trained: dict[str, Any] = {}  # the last seed's estimators, by task

    def record(self, folder: RunFolder) -> None:
        """There is nothing but the seeds' own files."""

    def predictions(self, seed: int, folder: RunFolder) -> Iterator[tuple[Task, dict[str, np.ndarray]]]:
        for task in self.dataset.tasks:
            if guess := guess_for(self.config.method, task):
                train = self.dataset.splits[task.id]["train"]
                others = {name: part for name, part in self.dataset.splits[task.id].items() if name != "train"}
                rng = np.random.default_rng([seed, zlib.crc32(task.id.encode())])
                yield task, {name: guess(task, train.targets, len(part), rng) for name, part in others.items()}
            else:
                yield task, self._learn(task, seed, folder)

    def cost(self, seed: int, folder: RunFolder) -> dict[str, Any]:
        """Parameters are weights or nodes; a floor has no stage 1. Speed is measured on the tasks whose texts it reads."""
        learned = [read_json(folder.chosen(seed, task)) for task in self._trained]
        parameters = sum(numbers(estimator) for estimator in self._trained.values())
        read = replace(self.dataset, tasks=[task for task in self.dataset.tasks if task.id in self._trained])
        return {
            "parameters": parameters,
            "parameters_without_embeddings": parameters,
            "pretrain_seconds": None,
            "finetune_seconds": sum(done["seconds"] for done in learned),
            "peak_memory": max([peak_memory(), *(done["peak_memory"] for done in learned)]),
            "sentences_per_second": sentences_per_second(self._predict, read) if learned else None,
        }

    def _learn(self, task: Task, seed: int, folder: RunFolder) -> dict[str, np.ndarray]:
        """Train with each of the settings, keep those that are best on dev (the first of equals), and predict."""
        splits = self.dataset.splits[task.id]
        start = time.monotonic()
        _, features = self._featured(task)
        done = folder.chosen(seed, task.id)
        if done.exists():
            chosen = read_json(done)
            estimator = self._fit(task, chosen["settings"], seed, features["train"])
        else:
            trials, best, estimator = [], -np.inf, None
            candidates = list(settings(self.config.method, task.is_regression, self.config.floor.grid))
            for candidate in progress(candidates, f"seed {seed} · {task.id} · {self.config.method}", "settings"):
                trained = self._fit(task, candidate, seed, features["train"])
                predicted = _predicted(task, trained, features["dev"])
                value = score(task, torch.from_numpy(predicted), torch.from_numpy(splits["dev"].targets))
                trials.append({"settings": candidate, "score": value})
                if value > best:
                    best, estimator, chosen = value, trained, {"settings": candidate, "score": value}
            seconds = time.monotonic() - start
            write_json(done, {**chosen, "seconds": seconds, "peak_memory": peak_memory(), "trials": trials})
            logger.info("seed %d · %s · %.1f with %s", seed, task.id, best, _in_words(chosen["settings"]))
        self._trained[task.id] = estimator
        return {name: _predicted(task, estimator, features[name]) for name in splits if name != "train"}

    def _fit(self, task: Task, chosen: dict[str, Any], seed: int, features: Matrix) -> Any:
        estimator = new_estimator(self.config.method, task, chosen, seed, torch.get_num_threads())
        targets = self.dataset.splits[task.id]["train"].targets
        if not task.is_regression and len(np.unique(targets)) == 1:
            raise InputError(f"task {task.id}: all its training rows have one label; leave it out with tasks=")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # what is not converged shows on dev
            return estimator.fit(features, targets if task.is_regression else targets.astype(np.int64))

    def _featured(self, task: Task) -> tuple[TaskFeatures, dict[str, Matrix]]:
        """The task's features by split, computed once for all seeds."""
        if task.id not in self._features:
            features = TaskFeatures(self.config.method, self.config.floor, task)
            splits = self.dataset.splits[task.id]
            documents = {name: self._documents(part.texts) for name, part in splits.items()}
            try:
                by_split = {"train": features.fit(documents.pop("train"))}
            except ValueError:
                least = self.config.floor.min_count
                raise InputError(
                    f"task {task.id}: no n-gram stands in floor.min_count={least} training texts; set fewer"
                ) from None
            by_split |= {name: features.transform(rows) for name, rows in documents.items()}
            self._features[task.id] = features, by_split
        return self._features[task.id]

    def _documents(self, rows: np.ndarray) -> list[list[Document]]:
        """The texts of rows. rows: int64 (rows, sides), indices into the suite's texts."""
        known = {text: Document(self.texts[text], self.dataset.texts.words(text)) for text in np.unique(rows).tolist()}
        return [[known[text] for text in row] for row in rows.tolist()]

    def _predict(self, task: str, rows: Sequence[Sequence[str]]) -> np.ndarray:
        """New rows of texts, from their characters on."""
        known = next(one for one in self.dataset.tasks if one.id == task)
        length = self.config.max_length
        documents = [[Document(text, self.tokenize(text)[:length]) for text in row] for row in rows]
        return _predicted(known, self._trained[task], self._featured(known)[0].transform(documents))


def _predicted(task: Task, estimator: Any, features: Matrix) -> np.ndarray:
    """Predictions (rows,), float64: label indices, or numbers clipped to the task's range."""
    predicted: np.ndarray = np.asarray(estimator.predict(features), dtype=np.float64)
    return np.clip(predicted, *task.bounds) if task.is_regression else predicted


def _in_words(chosen: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in chosen.items()) or "the defaults"
