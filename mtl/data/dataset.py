"""A suite as arrays: every task's rows as indices into the suite's distinct texts, with their targets."""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mtl.data.reader import Example
from mtl.data.splits import TaskExamples, check_present, read_task
from mtl.data.text import Texts
from mtl.files import sha256
from mtl.tasks.suite import SPLITS, Suite, Task

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class Split:
    """Rows of one task and split.

    texts: int64 (rows, sides), indices into the suite's texts; one side, or two for a pair.
    targets: float64 (rows,), label indices or numbers; NaN in a test split.
    """

    texts: np.ndarray
    targets: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class Dataset:
    """The tasks of a run, their texts and their splits, by task id and split name."""

    tasks: list[Task]
    texts: Texts
    splits: dict[str, dict[str, Split]]
    held_out: dict[str, list[int]]  # lines of the train file that serve as dev, by task id
    fingerprints: dict[str, str] = field(default_factory=dict)  # SHA-256 by file, relative to the data folder
    dev_rows: dict[str, dict[str, Any]] = field(default_factory=dict)  # by task id, as `describe_rows` says

    def distinct_texts(self, split: str) -> np.ndarray:
        """The texts that stand in this split of any task, int64, ascending."""
        return np.unique(
            np.concatenate([parts[split].texts.ravel() for parts in self.splits.values() if split in parts])
        )

    def rows(self) -> dict[str, dict[str, int]]:
        """The number of rows by task and split, as the files have them: held-out rows count as train."""
        counts = {}
        for task in self.tasks:
            sizes = {split: len(part) for split, part in self.splits[task.id].items()}
            if held_out := len(self.held_out.get(task.id, ())):
                sizes["train"] += held_out
                del sizes["dev"]
            counts[task.id] = sizes
        return counts


def load_dataset(
    suite: Suite, tasks: Sequence[Task], data_dir: Path, max_length: int, held_out: float, cache_dir: Path | None = None
) -> Dataset:
    """Read and tokenize these tasks of the suite. Raises InputError for whatever is wrong with the files.

    cache_dir: where tokenized texts are kept. None: nowhere.
    """
    check_present(suite, tasks, data_dir)
    read = [read_task(task, data_dir, held_out) for task in tasks]
    dataset = build_dataset(read, suite.language, max_length, cache_dir)
    dataset.fingerprints.update(fingerprints(suite, tasks, data_dir))
    return dataset


def fingerprints(suite: Suite, tasks: Sequence[Task], data_dir: Path) -> dict[str, str]:
    """What the suite file says that results follow from: the language, and SHA-256 of each of these tasks' declarations and
    of each of their files that is there."""
    marks = {"language": suite.language, **{f"tasks.{task.id}": task.fingerprint() for task in tasks}}
    for task in tasks:
        for path in filter(None, (task.path(split, data_dir) for split in SPLITS)):
            if path.is_file():
                marks[path.relative_to(data_dir).as_posix()] = sha256(path)
    return marks


def build_dataset(
    read: Sequence[TaskExamples], language: str, max_length: int, cache_dir: Path | None = None
) -> Dataset:
    """Tokenize the texts of all tasks, each distinct text once, and index the rows."""
    rows = [row for part in read for rows in part.rows.values() for row in rows]
    texts = Texts([text for row in rows for text in row.texts], language, max_length, cache_dir)
    if texts.empty:
        logger.warning(
            "%d of %d distinct texts have no token; each is kept as one unknown token", texts.empty, len(texts)
        )
    if texts.cut:
        logger.info(
            "%d of %d distinct texts are longer than max_length=%d tokens and are cut",
            texts.cut,
            len(texts),
            max_length,
        )
    splits = {part.task.id: {name: index(rows, texts) for name, rows in part.rows.items()} for part in read}
    return Dataset(
        [part.task for part in read],
        texts,
        splits,
        {part.task.id: part.held_out for part in read if part.held_out},
        dev_rows={part.task.id: describe_rows(part.rows["dev"]) for part in read},
    )


def describe_rows(examples: Sequence[Example]) -> dict[str, Any]:
    """What a reader of scores on these rows must know, without the texts.

    "texts": SHA-256 of all texts, equal for tasks on the same rows. "groups": each row's group by number, in the order in which
    groups occur (a row without a group is one of its own); None where no two rows share a group.
    """
    texts = json.dumps([example.texts for example in examples])
    numbers: dict[Any, int] = {}
    groups = [
        numbers.setdefault(("row", place) if example.group is None else example.group, len(numbers))
        for place, example in enumerate(examples)
    ]
    return {
        "texts": hashlib.sha256(texts.encode()).hexdigest(),
        "groups": groups if len(numbers) < len(examples) else None,
    }


def index(examples: Sequence[Example], texts: Texts) -> Split:
    """The rows as indices into the texts."""
    return Split(
        np.array([[texts.index[text] for text in example.texts] for example in examples], dtype=np.int64),
        np.array([np.nan if example.target is None else example.target for example in examples]),
    )
