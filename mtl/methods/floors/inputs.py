"""The model inputs of a run as estimators take them: their documents, which of them train an estimator, and their features. A row has one input, in a
choice one for each candidate, and in a task with units one for each unit."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.settings.schema import Config
from mtl.data.dataset import Dataset, Split, last_texts, marked_texts
from mtl.data.text import tokenized
from mtl.methods.floors.features import Document, Matrix, RowFeatures
from mtl.tasks.target_kind import UnitKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_UNITS = 2_000_000  # of training rows that linear models learn from, unless `floor.train_rows` says otherwise

Words = Callable[[int], list[str]]  # the words of the text with a number
Input = list[Document]  # the documents of a model input
# What has learned from a task's training rows, and the features of its inputs by split; of train, those of the inputs to train on.
FittedFeatures = tuple[RowFeatures, dict[str, Matrix]]


class TaskInputs:
    """What the estimators of a run read of its tasks. Features are fitted once for all seeds."""

    def __init__(
        self, config: Config, dataset: Dataset, language: str, new_features: Callable[[Task, str | None], RowFeatures]
    ) -> None:
        """`new_features` returns a task's features before they are fitted, for a vectorizer of joined texts (None: they are not joined)."""
        splits = {}
        for task in dataset.tasks:
            of_task = dataset.splits[task.id]
            splits[task.id] = {name: unit_inputs(task, split, dataset.texts) for name, split in of_task.items()}
        self.config, self.dataset, self._new_features = config, replace(dataset, splits=splits), new_features
        self.words: Words | None = None  # features of joined texts have words of their own
        if config.floor.features != "joined":
            self.words = tokenized(dataset.texts, language, config.max_length, Path(config.cache_dir)).words
        self._fitted: dict[tuple[str, str | None], FittedFeatures] = {}  # by task and vectorizer

    def in_pairs(self, task: Task) -> bool:
        """Whether the estimator learns which pairs of a text and a candidate are right, from one wrong candidate of each row."""
        return task.candidates is not None and self.config.floor.choice == "pairs"

    def training(self, task: Task) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the inputs to train on, and their targets."""
        train = self.dataset.splits[task.id]["train"]
        return training_inputs(task, train, self.config.floor.train_rows.get(task.id), self.in_pairs(task))

    def documents(self, task: Task, split: Split, inputs: np.ndarray | None = None) -> Iterable[Input]:
        """The documents of a split's inputs, as `documents_of` returns them: with words, unless texts are joined."""
        return documents_of(task, split, self.dataset.texts, self.words, inputs)

    def fitted(self, task: Task, vectorizer: str | None) -> FittedFeatures:
        """The features of a task. Raises InputError if its training rows have nothing to learn from."""
        if (task.id, vectorizer) not in self._fitted:
            self._fitted[task.id, vectorizer] = self._fit(task, vectorizer)
        return self._fitted[task.id, vectorizer]

    def _fit(self, task: Task, vectorizer: str | None) -> FittedFeatures:
        features = self._new_features(task, vectorizer)
        splits = self.dataset.splits[task.id]
        inputs, _ = self.training(task)
        if target_kind(task).by_unit and len(inputs) < len(splits["train"].texts):
            learned = f"learns from {len(inputs)} of {len(splits['train'].texts)} words"
            rows = f"those of rows that are evenly spread over the training rows; floor.train_rows.{task.id} sets the number of rows"
            logger.warning("task %s: %s, %s", task.id, learned, rows)
        try:
            by_split = {"train": features.fit(self.documents(task, splits["train"], inputs))}
        except ValueError:
            raise InputError(f"task {task.id}: {features.problem}") from None
        for name, split in splits.items():
            if name != "train":
                by_split[name] = features.transform(self.documents(task, split))
        return features, by_split


def training_inputs(task: Task, train: Split, most_rows: int | None, in_pairs: bool) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of an estimator's training inputs, int64 (inputs,), and their targets; `in_pairs`: each row's right candidate and a wrong one."""
    rows = _rows_read(task, train, most_rows)
    inputs = _right_and_wrong(task, train, rows) if in_pairs else train.inputs(rows)
    return inputs, target_kind(task).training_targets(train.targets, train.sizes)[inputs]


def unit_inputs(task: Task, split: Split, texts: Sequence[str]) -> Split:
    """The split of a task with units, in which each unit is an input; any other split as it is. `texts` as in `documents_of`."""
    kind = target_kind(task)
    if not isinstance(kind, UnitKind):
        return split
    sizes = np.array([len(kind.units(text)) for text in last_texts(task, split, texts)], dtype=np.int64)
    return replace(split, texts=np.repeat(split.texts, sizes, axis=0), sizes=sizes)


def documents_of(
    task: Task, split: Split, texts: Sequence[str], words: Words | None, inputs: np.ndarray | None = None
) -> Iterable[Input]:
    """For each input of a split, the list of its documents: its texts with their words. Without `words`, documents have none, and marked spans
    follow. Of a task with units, the split is as `unit_inputs` returns it, and the iterable can be read once.
    `texts` are those that the split has the numbers of. `inputs` are the numbers of the inputs to return, in ascending order; None: all."""
    kind = target_kind(task)
    if isinstance(kind, UnitKind):
        return _unit_documents(kind, split, texts, inputs)
    numbers = np.unique(split.texts).tolist()
    documents = {number: Document(texts[number], words(number) if words else []) for number in numbers}
    all_inputs = [[documents[number] for number in row] for row in split.texts.tolist()]
    if not words and task.marked:
        for input_documents, spans in zip(all_inputs, marked_texts(task, split, texts), strict=True):
            input_documents += [Document(text, []) for text in spans]
    return all_inputs if inputs is None else [all_inputs[number] for number in inputs.tolist()]


def _rows_read(task: Task, train: Split, most_rows: int | None) -> np.ndarray:
    """The numbers of at most `most_rows` rows, evenly spread over the file. None: all rows; of a task with units, as many as have MOST_UNITS."""
    if most_rows is None and target_kind(task).by_unit and len(train.texts) > MOST_UNITS:
        most_rows = max(1, MOST_UNITS * len(train) // len(train.texts))
    if most_rows is None or most_rows >= len(train):
        return np.arange(len(train))
    return np.arange(most_rows) * len(train) // most_rows


def _right_and_wrong(task: Task, train: Split, rows: np.ndarray) -> np.ndarray:
    """The inputs of each row's right candidate and of one of its wrong ones, int64. They are the same with each seed, unlike those of
    `mtl.data.dataset.with_one_wrong`. A row with one candidate has no wrong one."""
    rng = np.random.default_rng(zlib.crc32(task.id.encode()))
    inputs: list[int] = []
    for row in rows.tolist():
        candidates, right = train.inputs(np.array([row])), int(train.targets[row])
        inputs.append(candidates[right])
        if len(candidates) > 1:
            inputs.append(rng.choice(np.delete(candidates, right)))
    return np.array(inputs, dtype=np.int64)


def _unit_documents(kind: UnitKind, split: Split, texts: Sequence[str], inputs: np.ndarray | None) -> Iterator[Input]:
    """Of each unit of a split, one document with its features as words, made when it is read: all at once, those of SQuAD would need 30 GB."""
    assert split.sizes is not None
    is_read = np.ones(len(split.texts), dtype=bool) if inputs is None else np.isin(np.arange(len(split.texts)), inputs)
    for start, size in zip(split.starts.tolist(), split.sizes.tolist(), strict=True):
        if units := np.flatnonzero(is_read[start : start + size]).tolist():
            features = kind.unit_features([texts[number] for number in split.texts[start].tolist()])
            for unit in units:
                yield [Document("", features[unit])]
