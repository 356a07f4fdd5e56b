"""The data of a run: the distinct texts of its tasks, and the rows of each task as indices into them, with targets."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.data.examples import Example, Row, span_texts
from mtl.data.hashes import HashedFile, changed_splits, hash_files
from mtl.data.sampled import RowSample, divide_dev, take_sample
from mtl.data.splits import CHOOSING, TaskExamples, check_present, missing_tasks, read_task
from mtl.tasks.suite import Suite
from mtl.tasks.targets import TARGET_KINDS, target_kind
from mtl.tasks.task import ScoredRows, Task

INPUT_ARRAYS = ("overlap", "base")  # the arrays of a split, (inputs, …), that heads read beside texts


@dataclass(frozen=True)
class Split:
    """The rows of one task in one split. A row has one model input; in a choice, it has one for each candidate. An array is None where the task
    has no such thing, or no head reads it."""

    texts: np.ndarray  # int64 (inputs, sides), indices into the dataset's texts; 1 side, or 2 for a pair
    targets: np.ndarray  # (rows,), see `mtl.tasks.target_kind`; NaN or None where they are not known
    sizes: np.ndarray | None = None  # int64 (rows,), inputs of each row, which are adjacent in `texts`; None: one each
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)  # `further_columns`, by name, a string per row
    groups: np.ndarray | None = None  # int64 (rows,), equal for the rows of an `Example.group`, -1 for a row without
    # float32 (inputs, features), how much a pair's texts overlap (`mtl.methods.overlap`).
    overlap: np.ndarray | None = None
    # float32 (inputs, outputs) of a linear model, to which those of a head are added (`mtl.methods.lstm.linear`).
    base: np.ndarray | None = None
    spans: np.ndarray | None = None  # int64 (rows, spans, 2), in characters of their texts, as in `Task.marked`
    token_spans: np.ndarray | None = None  # the same in tokens of what a model reads (`mtl.data.spans`)
    units: np.ndarray | None = None  # int64 (rows,), how many units each row has, if targets depend on it
    # int64 (rows, most units): the first token of each unit that a model reads (`mtl.data.spans`).
    steps: np.ndarray | None = None

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.targets)

    @property
    def scored(self) -> ScoredRows:
        """The rows as a metric takes them."""
        return ScoredRows(self.targets, self.units if self.sizes is None else self.sizes, self.columns)

    def inputs(self, rows: np.ndarray) -> np.ndarray:
        """The indices in `texts` of the inputs of rows with these numbers, row after row, int64 (inputs,)."""
        if self.sizes is None:
            return rows
        starts = np.cumsum(self.sizes) - self.sizes
        return np.concatenate([np.empty(0, np.int64), *(np.arange(self.sizes[row]) + starts[row] for row in rows)])

    def take(self, rows: np.ndarray) -> "Split":
        """The split with the rows of these numbers, int64 (rows,), alone."""
        inputs = self.inputs(rows)
        columns = {name: [values[row] for row in rows] if values else [] for name, values in self.columns.items()}
        by_row = self.arrays(("targets", "sizes", "groups", "spans", "token_spans", "units", "steps"), rows)
        return replace(self, columns=columns, **by_row, **self.arrays(("texts", *INPUT_ARRAYS), inputs))

    def arrays(self, names: Sequence[str], numbers: np.ndarray) -> dict[str, Any]:
        """Those of the arrays with these names that are there, by name, each with these of its elements alone."""
        return {name: array[numbers] for name in names if (array := getattr(self, name)) is not None}


def first_equal(texts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """For each model input of a choice, the number of the first input of its row with the same texts, int64 (inputs,). Arguments are as in
    `Split`. Equal candidates have equal outputs up to rounding, which must not decide between them."""
    keyed = np.column_stack([np.repeat(np.arange(len(sizes)), sizes), texts])
    _, first, inverse = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
    firsts: np.ndarray = first[inverse.ravel()]
    return firsts


def first_choices(codes: np.ndarray, texts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Predicted candidates (rows,), each replaced by the first of its row with the same texts. Arguments are as in `Split`."""
    starts = np.cumsum(sizes) - sizes
    return (first_equal(texts, sizes)[starts + codes.astype(np.int64)] - starts).astype(np.float64)


def with_one_wrong(split: Split, rng: np.random.Generator) -> Split:
    """The rows of a choice, all with targets, with their right candidate and a random wrong one, if there is one, in their order in the row."""
    assert split.sizes is not None
    starts = np.cumsum(split.sizes) - split.sizes
    right = split.targets.astype(np.int64)
    wrong = rng.integers(np.maximum(split.sizes - 1, 1))
    wrong += wrong >= right
    inputs = np.sort(np.stack([starts + right, starts + wrong], axis=1), axis=1)
    exists = np.stack([np.ones_like(right), split.sizes > 1], axis=1).astype(bool)
    sizes = np.minimum(split.sizes, 2)
    targets = (right > wrong) * (sizes - 1.0)
    return replace(split, targets=targets, sizes=sizes, **split.arrays(("texts", *INPUT_ARRAYS), inputs[exists]))


@dataclass(frozen=True)
class Dataset:
    """The tasks of a run and their distinct texts. Mappings are by task id, but for `fingerprints`."""

    tasks: list[Task]
    texts: list[str]
    splits: dict[str, dict[str, Split]]  # by split name
    held_out: dict[str, list[int]]  # the lines of the train file that are used as dev rows
    # The words that the outputs of a head mean (`mtl.tasks.target_kind`), for tasks that have them.
    answers: dict[str, list[str]] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)  # as `fingerprints` returns
    changed: dict[str, list[str]] = field(default_factory=dict)  # splits whose files have another checksum
    scored_rows: dict[str, dict[str, Any]] = field(default_factory=dict)  # `describe_rows`; `lines` of `samples`
    samples: dict[str, RowSample] = field(default_factory=dict)  # of tasks whose scored split has no other rows
    choosing: dict[str, np.ndarray] = field(default_factory=dict)  # numbers of rows that choose (`mtl.data.repeats`)

    @property
    def trained_tasks(self) -> list[Task]:
        """The tasks with training rows; the others are answered by the head of one of them."""
        return [task for task in self.tasks if task.answered_by is None]

    def answered(self, task: Task) -> list[Task]:
        """The tasks that the head of a trained task answers: itself, and those that have no training rows of their own."""
        return [answered for answered in self.tasks if task.id in (answered.id, answered.answered_by)]

    @property
    def scored_tasks(self) -> list[Task]:
        """The tasks whose predictions are compared with targets."""
        return [task for task in self.tasks if task.is_scored]

    def scored(self, task: Task) -> Split:
        """The rows that the task is scored on."""
        return self.splits[task.id][task.scored_split]

    def choosing_split(self, task: Task) -> str:
        """The split of a trained task whose rows choose: CHOOSING or dev."""
        return CHOOSING if CHOOSING in self.splits[task.id] else "dev"

    def choosing_rows(self, task: Task) -> np.ndarray:
        """The numbers of the rows of this split that choose, int64 (rows,)."""
        return self.choosing.get(task.id, np.arange(len(self.splits[task.id][self.choosing_split(task)])))

    def distinct_texts(self, split: str) -> np.ndarray:
        """The indices of the texts that occur in this split of any task, int64 (texts,), in ascending order."""
        parts = [splits[split] for splits in self.splits.values() if split in splits]
        return np.unique(np.concatenate([part.texts.ravel() for part in parts]))

    def rows(self) -> dict[str, dict[str, int]]:
        """The number of rows by task and split, as the files have them: held-out rows count as train."""
        counts = {}
        for task in self.tasks:
            sizes = {split: len(part) for split, part in self.splits[task.id].items()}
            if CHOOSING in sizes:
                sizes["dev"] += sizes.pop(CHOOSING)
            if held_out := len(self.held_out.get(task.id, ())):
                sizes["train"] += held_out
                del sizes["dev"]
            counts[task.id] = sizes
        return counts


def load_dataset(
    suite: Suite,
    tasks: Sequence[Task],
    data_dir: Path,
    held_out: float,
    lines: Mapping[str, Sequence[int]] | None = None,
    choosing_share: float | None = None,
) -> Dataset:
    """Read these tasks of the suite. Raises InputError for files that are missing or not valid.

    Args:
        held_out: the share of the training rows to hold out where a task has no dev file.
        lines: by task id, the lines of the rows to score the task on; None, or a task that is not named: all rows.
        choosing_share: the share of the dev rows that choose, where dev rows are scored; None: all choose, and all are scored.
    """
    check_present(suite, tasks, data_dir)
    parts = [read_task(task, data_dir, held_out) for task in tasks]
    samples: dict[str, RowSample] = {}
    for number, part in enumerate(parts):
        if lines and (id := part.task.id) in lines:
            parts[number], samples[id] = take_sample(part, lines[id])
        elif choosing_share is not None and "train" in part.rows and part.task.scored_split == "dev":
            parts[number], samples[part.task.id] = divide_dev(part, choosing_share)
    dataset = build_dataset(parts)
    for id, sample in samples.items():
        dataset.scored_rows[id]["lines"] = list(sample.lines)
    files = hash_files(tasks, data_dir)
    marks = fingerprints(suite, tasks, data_dir, files)
    return replace(dataset, samples=samples, fingerprints=marks, changed=changed_splits(files))


def present_tasks(suite: Suite, data_dir: Path) -> list[Task]:
    """The tasks of the suite that have all their files."""
    missing = missing_tasks(suite, data_dir)
    return [task for id, task in suite.tasks.items() if id not in missing]


def training_texts(suite: Suite, data_dir: Path, held_out: float, tasks: Sequence[Task] | None = None) -> list[str]:
    """The distinct texts of the training rows of these tasks, or of all tasks that have their files, without held-out rows. Raises InputError for
    files that are missing or not valid, and if no task has training rows."""
    if tasks is None:
        tasks = present_tasks(suite, data_dir)
    dataset = load_dataset(suite, tasks or list(suite.tasks.values()), data_dir, held_out)
    if not dataset.trained_tasks:
        problem = f"has no training rows of suite {suite.name}; get the data with: mtl data {suite.name}"
        raise InputError(problem, path=data_dir)
    return [dataset.texts[number] for number in dataset.distinct_texts("train").tolist()]


def fingerprints(
    suite: Suite, tasks: Sequence[Task], data_dir: Path, files: Sequence[HashedFile] | None = None
) -> dict[str, str]:
    """What results depend on, by name: the suite's language, the tasks that its score is the mean of if it names them, and SHA-256 of
    each of these tasks' declarations and of each of their files that exists. The files may be hashed already."""
    files = hash_files(tasks, data_dir) if files is None else files
    marks = {"language": suite.language, **{f"tasks.{task.id}": task.fingerprint() for task in tasks}}
    if suite.average is not None:
        marks["average"] = suite.average_text
    return {**marks, **{file.name: file.sha256 for file in files}}


def build_dataset(parts: Sequence[TaskExamples]) -> Dataset:
    """Index the rows of all tasks by their distinct texts."""
    rows = [row for part in parts for rows in part.rows.values() for row in rows]
    index = {text: number for number, text in enumerate(dict.fromkeys(text for row in rows for text in row.texts))}
    splits: dict[str, dict[str, Split]] = {}
    answers: dict[str, list[str]] = {}
    for part in parts:
        splits[part.task.id] = {name: make_split(part.task, rows, index) for name, rows in part.rows.items()}
        if "train" in part.rows and TARGET_KINDS[part.task.kind].head_type is not None:
            words = target_kind(part.task).head.answers(splits[part.task.id]["train"].targets)
            answers |= {part.task.id: words} if words else {}
    held_out = {part.task.id: part.held_out for part in parts if part.held_out}
    scored = [(part.task, part.rows[part.task.scored_split]) for part in parts if part.task.is_scored]
    scored_rows = {task.id: describe_rows(task, rows) for task, rows in scored}
    return Dataset([part.task for part in parts], list(index), splits, held_out, answers, scored_rows=scored_rows)


def make_split(task: Task, examples: Sequence[Example], index: Mapping[str, int]) -> Split:
    """The rows of a task as a split, with the index of each text in the dataset."""
    kind = target_kind(task)
    unknown = None if kind.dtype is object else np.nan
    targets = np.array([unknown if row.target is None else row.target for row in examples], dtype=kind.dtype)
    texts = np.array([[index[text] for text in texts] for row in examples for texts in row.inputs], dtype=np.int64)
    counts = row_sizes(task, examples)
    sizes, units = (None, counts) if task.candidates is None else (counts, None)
    names = task.further_columns
    columns = {name: [row.columns[number] for row in examples if row.columns] for number, name in enumerate(names)}
    spans = None
    if task.spans is not None:
        spans = np.array([row.spans for row in examples], dtype=np.int64).reshape(len(examples), len(task.marked), 2)
    numbers: dict[str | None, int] = {None: -1}
    by_row = [numbers.setdefault(row.group, len(numbers) - 1) for row in examples]
    groups = np.array(by_row, dtype=np.int64) if len(numbers) > 1 else None
    return Split(texts.reshape(-1, task.sides), targets, sizes, columns, groups, spans=spans, units=units)


def row_sizes(task: Task, examples: Sequence[Example]) -> np.ndarray | None:
    """The number of candidates, or of units, of each row, int64 (rows,), if targets depend on it."""
    kind = target_kind(task)
    counts = [kind.size(row.inputs) for row in examples]
    return None if None in counts else np.array(counts, dtype=np.int64)


def last_texts(task: Task, split: Split, texts: Sequence[str]) -> list[str]:
    """The last text of each row of a task with units; of other tasks, nothing. The texts are those that the split has the numbers of."""
    if not TARGET_KINDS[task.kind].by_unit:
        return []
    inputs = np.arange(len(split)) if split.sizes is None else np.cumsum(split.sizes) - split.sizes
    return [texts[number] for number in split.texts[inputs, -1].tolist()]


def input_rows(dataset: Dataset, task: Task, split: Split, rows: Iterable[int] | None = None) -> list[Row]:
    """The rows of a split with these numbers, or all, as a trained model takes new ones (`mtl.methods.method.Model.predict`)."""
    new_rows: list[Row] = []
    for row in range(len(split)) if rows is None else rows:
        inputs = [[dataset.texts[text] for text in split.texts[number]] for number in split.inputs(np.array([row]))]
        texts = inputs[0] if task.candidates is None else [*inputs[0][:-1], *(sides[-1] for sides in inputs)]
        spans = [] if split.spans is None else split.spans[row].tolist()
        new_rows.append((*texts, *spans))
    return new_rows


def marked_texts(task: Task, split: Split, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The text of each span of each row, in the order of `Task.marked`. The task must have spans; the texts are the dataset's."""
    assert split.spans is not None
    rows = zip(split.texts.tolist(), split.spans.tolist(), strict=True)
    return [span_texts(task, [texts[number] for number in numbers], spans) for numbers, spans in rows]


def describe_rows(task: Task, examples: Sequence[Example]) -> dict[str, Any]:
    """What a run records about the rows that a task is scored on. It does not include the texts.

    "texts": SHA-256 of all texts and spans, equal for tasks on the same rows. "groups": the number of each row's group, in order of first
    occurrence (a row without a group counts as a group); None if no two rows share a group. "candidates": the number of candidates
    in each row of a choice, or of units. "columns": the values of the task's `further_columns`. The last two exist only if the task has them."""
    digest = hashlib.sha256(json.dumps([example.row for example in examples]).encode()).hexdigest()
    keys = [("row", row) if example.group is None else example.group for row, example in enumerate(examples)]
    numbers: dict[Any, int] = {}
    groups = [numbers.setdefault(key, len(numbers)) for key in keys]
    described: dict[str, Any] = {"texts": digest, "groups": groups if len(numbers) < len(examples) else None}
    if (counts := row_sizes(task, examples)) is not None:
        described["candidates"] = counts.tolist()
    if task.further_columns:
        names = enumerate(task.further_columns)
        described["columns"] = {name: [example.columns[number] for example in examples] for number, name in names}
    return described
