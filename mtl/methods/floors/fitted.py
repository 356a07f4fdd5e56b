"""The features of a run's tasks for estimators, fitted to training rows once for all seeds."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mtl.base.errors import InputError
from mtl.base.settings.schema import Config
from mtl.data.dataset import Dataset, Split
from mtl.data.text import tokenized
from mtl.methods.floors.inputs import documents_of, training_inputs, unit_inputs
from mtl.methods.floors.row_features import Matrix, RowFeatures
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

logger = logging.getLogger("mtl")


class FittedFeatures(NamedTuple):
    """Features that have learned from a task's training rows, and the features of its inputs by split; of train, those of the inputs to train on."""

    features: RowFeatures
    by_split: dict[str, Matrix]


class TaskInputs:
    """What estimators read of a dataset's tasks, each unit of a task with units as an input.

    Args:
        new_features: returns the features of a task's rows, before they are fitted, for a vectorizer of joined texts (None: they are not joined).
    """

    def __init__(
        self, config: Config, dataset: Dataset, language: str, new_features: Callable[[Task, str | None], RowFeatures]
    ) -> None:
        splits = {
            task.id: {name: unit_inputs(task, split, dataset.texts) for name, split in dataset.splits[task.id].items()}
            for task in dataset.tasks
        }
        self.config, self.dataset, self._new_features = config, replace(dataset, splits=splits), new_features
        self.joined = config.floor.features == "joined"
        if not self.joined:  # then features are made of tokens
            self.texts = tokenized(dataset.texts, language, config.max_length, Path(config.cache_dir))
        self._fitted: dict[tuple[str, str | None], FittedFeatures] = {}  # by task and vectorizer

    def in_pairs(self, task: Task) -> bool:
        """Whether the estimator learns which pairs of a text and a candidate are right, from one wrong candidate of each row."""
        return task.candidates is not None and self.config.floor.choice == "pairs"

    def training(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the inputs to train on, and their targets."""
        train = self.dataset.splits[task.id]["train"]
        return training_inputs(task, train, self.config.floor.train_rows.get(task.id), self.in_pairs(task))

    def documents(self, task: Task, split: Split, inputs: np.ndarray | None = None) -> Any:
        """The documents of a split's inputs, as `documents_of` returns them: with tokens, unless texts are joined."""
        return documents_of(task, split, self.dataset.texts, None if self.joined else self.texts.words, inputs)

    def fitted(self, task: Task, vectorizer: str | None) -> FittedFeatures:
        """The features of a task. Raises InputError if its training rows have nothing to learn from."""
        if (task.id, vectorizer) not in self._fitted:
            self._fitted[task.id, vectorizer] = self._fit(task, vectorizer)
        return self._fitted[task.id, vectorizer]

    def _fit(self, task: Task, vectorizer: str | None) -> FittedFeatures:
        features, splits = self._new_features(task, vectorizer), self.dataset.splits[task.id]
        inputs, _ = self.training(task)
        if target_kind(task).by_unit and len(inputs) < len(splits["train"].texts):
            logger.warning(
                "task %s: learns from %d of %d words, those of rows that are evenly spread over the training rows; floor.train_rows.%s sets"
                " the number of rows",
                *(task.id, len(inputs), len(splits["train"].texts), task.id),
            )
        try:
            by_split = {"train": features.fit(self.documents(task, splits["train"], inputs))}
        except ValueError:
            raise InputError(f"task {task.id}: {features.problem}") from None
        for name, split in splits.items():
            if name != "train":
                by_split[name] = features.transform(self.documents(task, split))
        return FittedFeatures(features, by_split)
