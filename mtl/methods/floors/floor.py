"""Floors: guesses, and models without an encoder. Every other model should score higher."""

import logging
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning

from mtl.data.dataset import Split
from mtl.data.examples import Row, make_example
from mtl.data.text import moses, tokenized
from mtl.errors import InputError
from mtl.files import read_json, write_json
from mtl.memory import peak_memory
from mtl.methods.floors.estimators import ESTIMATORS, check_grid, new_estimator, numbers, settings
from mtl.methods.floors.features import Document, Matrix, TaskFeatures
from mtl.methods.floors.guesses import guess_for
from mtl.methods.kind import BuildRequest, Predictions
from mtl.methods.throughput import sentences_per_second
from mtl.progress import progress
from mtl.tasks.metrics import TIE, score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

logger = logging.getLogger("mtl")


class Floor:
    """`mtl.methods.kind.Method` of the methods that read no embeddings."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for a setting in `floor.grid` that the method's estimators do not have."""
        config, dataset = request.config, request.dataset
        self.config = config
        self.dataset = dataset
        self.language = request.suite.language
        self.fingerprints: dict[str, str] = {}
        self.facts: dict[str, Any] = {}
        if config.method in ESTIMATORS:
            check_grid(config.method, config.floor.grid)
            self.texts = tokenized(dataset.texts, self.language, config.max_length, Path(config.cache_dir))
            if guessed := [task.id for task in dataset.tasks if guess_for(config.method, task)]:
                self.facts["notes"] = [
                    f"Tasks of single texts have no overlap and get the best constant answer: {', '.join(guessed)}."
                ]
        self._features: dict[str, tuple[TaskFeatures, dict[str, Matrix]]] = {}  # by task, for all seeds
        self._trained: dict[str, Any] = {}  # the last seed's estimators, by task

    def save(self, folder: Path) -> None:
        """Write nothing: a floor's models are not kept."""

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.trained_tasks:
            answered = [other for other in self.dataset.tasks if task.id in (other.id, other.answered_by)]
            if guess := guess_for(self.config.method, task):
                train = self.dataset.splits[task.id]["train"]
                for other in answered:
                    rng = np.random.default_rng([seed, zlib.crc32(other.id.encode())])
                    splits = self._to_predict(other)
                    yield other, {name: guess(task, train, split, rng) for name, split in splits.items()}
            else:
                estimator = self._learn(task, seed, folder)
                for other in answered:
                    yield (
                        other,
                        {name: self._predicted(other, task, estimator, name) for name in self._to_predict(other)},
                    )

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """Parameters are weights or nodes. A floor has no stage 1. Speed is measured on the tasks whose texts it reads."""
        learned = [read_json(_chosen(folder, task)) for task in self._trained]
        parameters = sum(numbers(estimator) for estimator in self._trained.values())
        read = [task for task in self.dataset.tasks if task.id in self._trained]
        return {
            "parameters": parameters,
            "parameters_without_embeddings": parameters,
            "pretrain_seconds": None,
            "finetune_seconds": sum(done["seconds"] for done in learned),
            "peak_memory": max([peak_memory(), *(done["peak_memory"] for done in learned)]),
            "sentences_per_second": sentences_per_second(self._predict, self.dataset, read) if learned else None,
        }

    def _to_predict(self, task: Task) -> dict[str, Split]:
        return {name: split for name, split in self.dataset.splits[task.id].items() if name != "train"}

    def _learn(self, task: Task, seed: int, folder: Path) -> Any:
        """Train with each combination of settings. Return the estimator that is best on dev (among equals, the first one)."""
        splits = self.dataset.splits[task.id]
        start = time.monotonic()
        _, features = self._task_features(task)
        done = _chosen(folder, task.id)
        if done.exists():
            estimator = self._fit(task, read_json(done)["settings"], seed, features["train"])
        else:
            trials: list[dict[str, Any]] = []
            best, estimator, chosen = -np.inf, None, dict[str, Any]()
            candidates = list(settings(self.config.method, target_kind(task).estimator, self.config.floor.grid))
            for candidate in progress(candidates, f"seed {seed} · {task.id} · {self.config.method}", "settings"):
                trained = self._fit(task, candidate, seed, features["train"])
                value = score(task, self._predicted(task, task, trained, "dev"), splits["dev"].scored)
                trials.append({"settings": candidate, "score": value})
                if value > best + TIE:
                    best, estimator, chosen = value, trained, {"settings": candidate, "score": value}
            seconds = time.monotonic() - start
            write_json(done, {**chosen, "seconds": seconds, "peak_memory": peak_memory(), "trials": trials})
            logger.info("seed %d · %s · %.1f with %s", seed, task.id, best, _settings_text(chosen["settings"]))
        self._trained[task.id] = estimator
        return estimator

    def _fit(self, task: Task, chosen: dict[str, Any], seed: int, features: Matrix) -> Any:
        estimator = new_estimator(self.config.method, task, chosen, seed, torch.get_num_threads())
        kind, train = target_kind(task), self.dataset.splits[task.id]["train"]
        targets = kind.fit_targets(train.targets, train.sizes)
        if kind.estimator == "classifier" and len(np.unique(targets)) == 1:
            raise InputError(f"task {task.id}: all its training rows have one target; leave it out with tasks=")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the scores on dev show it
            return estimator.fit(features, targets)

    def _predicted(self, task: Task, learned: Task, estimator: Any, split: str) -> np.ndarray:
        """Predicted targets (rows,) of a split. learned: the task that the estimator was trained on."""
        features, of_splits = self._task_features(learned)
        rows = self.dataset.splits[task.id][split]
        matrix = of_splits[split] if task is learned else features.transform(self._documents(rows.texts))
        return target_kind(learned).from_estimator(estimator, matrix, rows.sizes)

    def _task_features(self, task: Task) -> tuple[TaskFeatures, dict[str, Matrix]]:
        """The task's features by split, computed once for all seeds."""
        if task.id not in self._features:
            features = TaskFeatures(self.config.method, self.config.floor, task)
            documents = {name: self._documents(part.texts) for name, part in self.dataset.splits[task.id].items()}
            try:
                by_split = {"train": features.fit(documents.pop("train"))}
            except ValueError:
                least = self.config.floor.min_count
                raise InputError(
                    f"task {task.id}: no n-gram occurs in floor.min_count={least} training texts; set fewer"
                ) from None
            by_split |= {name: features.transform(rows) for name, rows in documents.items()}
            self._features[task.id] = features, by_split
        return self._features[task.id]

    def _documents(self, inputs: np.ndarray) -> list[list[Document]]:
        """The texts of model inputs. inputs: int64 (inputs, sides), indices into the dataset's texts."""
        numbers = np.unique(inputs).tolist()
        known = {text: Document(self.dataset.texts[text], self.texts.words(text)) for text in numbers}
        return [[known[text] for text in row] for row in inputs.tolist()]

    def _predict(self, task: Task, rows: Sequence[Row]) -> np.ndarray:
        """Predicted targets (rows,) for new rows, whose texts are tokenized here."""
        tokenize, length = moses(self.language), self.config.max_length
        inputs = [make_example(task, row).inputs for row in rows]
        documents = [
            [Document(text, tokenize(text)[:length]) for text in texts] for of_row in inputs for texts in of_row
        ]
        features = self._task_features(task)[0].transform(documents)
        sizes = None if task.candidates is None else np.array([len(of_row) for of_row in inputs])
        return target_kind(task).from_estimator(self._trained[task.id], features, sizes)


def _chosen(folder: Path, task: str) -> Path:
    """The file, in a seed's folder, of the settings that were best on dev."""
    return folder / "chosen" / f"{task}.json"


def _settings_text(chosen: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in chosen.items()) or "the defaults"
