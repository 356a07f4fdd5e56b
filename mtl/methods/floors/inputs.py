"""The model inputs of a dataset as estimators read them: which of them train an estimator, their documents, and their features.
A row has one input, in a choice one for each candidate, and in a task with units one for each unit."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.settings.schema import Config
from mtl.data.dataset import Dataset, Split, last_texts, marked_texts
from mtl.data.text import tokenized
from mtl.methods.floors.features import Document, Matrix, RowFeatures
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_UNITS = 2_000_000  # of training rows that linear models learn from, unless `floor.train_rows` says otherwise

Words = Callable[[int], list[str]]  # the words of the text with a number
Input = list[Document]  # the documents of a model input


def unit_inputs(task: Task, split: Split, texts: Sequence[str]) -> Split:
    """The split of a task with units, in which each unit is an input; any other split as it is. `texts` as in `documents_of`."""
    kind = target_kind(task)
    if not kind.by_unit:
        return split
    sizes = np.array([len(kind.units(text)) for text in last_texts(task, split, texts)], dtype=np.int64)
    return replace(split, texts=np.repeat(split.texts, sizes, axis=0), sizes=sizes)


def documents_of(
    task: Task, split: Split, texts: Sequence[str], words: Words | None, inputs: np.ndarray | None = None
) -> Any:
    """For each input of a split, the list of its documents; to be read once, since those of units are an iterator. They are the input's texts with
    their words; of a unit, one document with the unit's features as words. Without `words`, documents have none, and marked spans follow.
    `texts` are those that the split has the numbers of. `inputs` are the numbers of the inputs to return, in ascending order; None: all."""
    if target_kind(task).by_unit:
        return _unit_documents(task, split, texts, inputs)
    documents = {text: Document(texts[text], words(text) if words else []) for text in np.unique(split.texts).tolist()}
    rows = [[documents[text] for text in row] for row in split.texts.tolist()]
    if not words and task.marked:
        marked = marked_texts(task, split, texts)
        rows = [[*row, *(Document(text, []) for text in spans)] for row, spans in zip(rows, marked, strict=True)]
    return rows if inputs is None else [rows[number] for number in inputs.tolist()]


def _unit_documents(task: Task, split: Split, texts: Sequence[str], inputs: np.ndarray | None) -> Iterator[Input]:
    """The units of a split, made when they are read: all at once, those of SQuAD would need 30 GB."""
    assert split.sizes is not None
    is_read = np.ones(len(split.texts), dtype=bool) if inputs is None else np.isin(np.arange(len(split.texts)), inputs)
    start = 0
    for size in split.sizes.tolist():
        numbers = np.flatnonzero(is_read[start : start + size]).tolist()
        if numbers:
            units = target_kind(task).unit_features([texts[text] for text in split.texts[start].tolist()])
            yield from ([Document("", units[number])] for number in numbers)
        start += size


def training_inputs(task: Task, train: Split, most_rows: int | None, in_pairs: bool) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the inputs that an estimator is trained on, int64 (inputs,), and their targets, (inputs,). They are the inputs of `most_rows`
    rows, evenly spread over the file. None: those of all rows; in a task with units, of as many rows as have MOST_UNITS. With `in_pairs`, a choice
    has two inputs a row: its right candidate and a wrong one, which is drawn at random, the same with each seed."""
    rows = np.arange(len(train))
    if most_rows is None and target_kind(task).by_unit and train.sizes is not None:
        units = int(train.sizes.sum())
        most_rows = max(1, MOST_UNITS * len(train) // max(MOST_UNITS, units))  # all rows, if these have no more units
    if most_rows is not None and most_rows < len(train):
        rows = np.arange(most_rows) * len(train) // most_rows
    inputs = _right_and_wrong(task, train, rows) if in_pairs and train.sizes is not None else train.inputs(rows)
    return inputs, target_kind(task).fit_targets(train.targets, train.sizes)[inputs]


def _right_and_wrong(task: Task, train: Split, rows: np.ndarray) -> np.ndarray:
    """The inputs of each row's right candidate and of one of its wrong ones, int64. A row with one candidate has no wrong one."""
    rng = np.random.default_rng(zlib.crc32(task.id.encode()))
    pairs: list[int] = []
    for row in rows.tolist():
        candidates, right = train.inputs(np.array([row])), int(train.targets[row])
        pairs.append(candidates[right])
        if len(candidates) > 1:
            pairs.append(rng.choice(np.delete(candidates, right)))
    return np.array(pairs)


class FittedFeatures(NamedTuple):
    """Features that have learned from a task's training rows, and the features of its inputs by split; of train, those of the inputs to train on."""

    features: RowFeatures
    by_split: dict[str, Matrix]


class TaskInputs:
    """What the estimators of a run read of its tasks. Features are fitted once for all seeds."""

    def __init__(
        self, config: Config, dataset: Dataset, language: str, new_features: Callable[[Task, str | None], RowFeatures]
    ) -> None:
        """`new_features` returns a task's features before they are fitted, for a vectorizer of joined texts (None: they are not joined)."""
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
            share = f"learns from {len(inputs)} of {len(splits['train'].texts)} words"
            chosen = f"those of rows that are evenly spread over the training rows; floor.train_rows.{task.id} sets the number of rows"
            logger.warning("task %s: %s, %s", task.id, share, chosen)
        try:
            by_split = {"train": features.fit(self.documents(task, splits["train"], inputs))}
        except ValueError:
            raise InputError(f"task {task.id}: {features.problem}") from None
        for name, split in splits.items():
            if name != "train":
                by_split[name] = features.transform(self.documents(task, split))
        return FittedFeatures(features, by_split)
