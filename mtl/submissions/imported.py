"""Predictions that another system made, as a method: its runs stand in tables, reports, tests and submissions as those that mtl trained."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.clock import now
from mtl.base.errors import InputError
from mtl.base.version import VERSION
from mtl.data.dataset import Dataset
from mtl.data.files import sha256, split_lines
from mtl.data.sampled import sample_text
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.runs.predictions import FILE, read_files
from mtl.submissions.answers import Answers, Labels, check_labels
from mtl.submissions.check import file_problems as row_problems
from mtl.submissions.check import is_entry, rows_name, submitted_rows
from mtl.submissions.entry import SPLITS, prediction_target, read_row_file
from mtl.submissions.glue import HEADER, glue_name, plain_lines
from mtl.submissions.lines import DataRows, read_json_lines, read_tsv
from mtl.submissions.rejoin import joined_rows
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

UNKNOWN = "not stated"
JSON_LINES = "{split}_pred_{task}.jsonl"

Rows = Mapping[str, Mapping[str, DataRows]]
"""By task id and split."""

Unfit = dict[str, dict[str, int]]
"""By task id and split, how many answers fit no label. Only of tasks whose predictions are read as answers."""


def predicted_tasks(path: Path, suite: Suite) -> dict[str, set[str]]:
    """By task id, the splits that a zip or a folder has predictions for. No file is read but the list of the zip.

    Raises:
        InputError: for a file that is none of the suite's, and if there are no predictions.
    """
    places = prediction_names(suite)
    _, others = read_files(path, lambda name: False)
    splits: dict[str, set[str]] = {}
    for name in others:
        if name in places:
            id, split = places[name]
            splits.setdefault(id, set()).add(split)
        elif not is_entry(name):
            forms = [form.format(split="dev", task="TASK") for form in (FILE, JSON_LINES)]
            raise InputError(
                f"is no file of predictions of suite {suite.name}; such files are called {', '.join(forms)}"
                " or TASK/dev.jsonl, for dev or test, and TASK is one of " + ", ".join(suite.tasks),
                path=f"{path}/{name}",
            )
    if not splits:
        raise InputError(f"has no predictions of suite {suite.name}", path=path)
    return splits


def prediction_names(suite: Suite) -> dict[str, tuple[str, str]]:
    """The names that files of predictions may have, each with the task's id and the split."""
    return {
        name: (task.id, split)
        for task in suite.tasks.values()
        for split in SPLITS
        for name in _names(suite, task, split)
    }


def _names(suite: Suite, task: Task, split: str) -> list[str]:
    """The names that a file of predictions may have: of plain lines, of lines with an index, of JSON Lines, of the data's rows."""
    indexed = [glue_name(task)] if suite.submission.format == "glue" and split == "test" else []
    plain = [form.format(split=split, task=task.id) for form in (FILE, JSON_LINES)]
    return [*plain, *indexed, rows_name(task, split)]


def data_rows(dataset: Dataset, data_dir: Path) -> Rows:
    """The dev and test rows of a dataset's tasks."""
    rows: dict[str, dict[str, DataRows]] = {}
    for task in dataset.tasks:
        rows[task.id] = {}
        for split, part in dataset.splits[task.id].items():
            held_out = dataset.held_out.get(task.id) if split == "dev" else None
            file = task.path("train" if held_out else split, data_dir)
            if split in SPLITS and file is not None:
                sample = dataset.samples.get(task.id) if split == task.scored_split else None
                lines = held_out if sample is None else sample.lines
                rows[task.id][split] = DataRows(file, part.targets, part.sizes, lines, sample)
    return rows


def read_predictions(path: Path, suite: Suite, rows: Rows, labels: Labels) -> tuple[dict[str, Predictions], Unfit]:
    """The predictions in a zip or a folder for these rows, by task id and split, as far as it has them; and the answers that fit no label.

    Args:
        labels: as `mtl.submissions.answers.check_labels` returns them. Predictions of their tasks are read as answers.

    Raises:
        InputError: which names the file and the line, for predictions that are not those of the rows.
    """
    wanted = {name for id in rows for split in SPLITS for name in _names(suite, suite.tasks[id], split)}
    contents, _ = read_files(path, wanted.__contains__)
    predicted: dict[str, Predictions] = {id: {} for id in rows}
    unfit: Unfit = {id: {} for id in rows if id in labels}
    for id, splits in rows.items():
        task = suite.tasks[id]
        answers = Answers(task, labels[id]) if id in labels else None
        for split, own in splits.items():
            forms = _names(suite, task, split)
            if task.files.get(split) is None:
                forms.remove(rows_name(task, split))  # a file of rows has none that are held out
            names = [name for name in forms if name in contents]
            if len(names) > 1:
                raise InputError(
                    f"{names[1]} has predictions of the same rows; leave one out", path=f"{path}/{names[0]}"
                )
            if not names:
                continue
            name = f"{path}/{names[0]}"
            if names[0] == rows_name(task, split):
                if answers is not None:
                    other = JSON_LINES.format(split=split, task=id)
                    raise InputError(f"labels map answers in {other}, not in files of rows", path=name, key=id)
                predicted[id][split] = _from_rows(suite, task, split, contents, path, own)
                continue
            targets, count = read_lines(suite, task, contents[names[0]], name, own, answers)
            predicted[id][split] = targets
            if answers is not None:
                unfit[id][split] = count
    return predicted, unfit


def read_lines(
    suite: Suite, task: Task, content: bytes, name: str, rows: DataRows, answers: Answers | None = None
) -> tuple[np.ndarray, int]:
    """The predictions (rows,) in a file with one on each line, and how many of them are answers that fit no label.

    Args:
        name: the path of the file.
        answers: what answers mean; None: a line is a prediction as it stands.

    Raises:
        InputError: which names the file and the line, for predictions that are not those of the rows.
    """
    if name.endswith(".jsonl"):
        return read_json_lines(task, content, name, rows, suite.submission.ids, answers)
    lines = split_lines(content, name)
    if content.startswith(HEADER.encode()):
        lines = plain_lines(name, lines)
    return read_tsv(task, lines, name, rows, answers)


def _from_rows(
    suite: Suite, task: Task, split: str, contents: Mapping[str, bytes], path: Path, own: DataRows
) -> np.ndarray:
    """The predictions (rows,) in a file of rows. A file with other rows too, as where the data here is a part of the official one, gives
    those of the rows that are here."""
    ours, data = submitted_rows(task, contents, path)[split], read_row_file(task, split, own.file)
    rows, problems = ours.rows, list[str]()
    if len(rows) == len(data.rows):
        problems = row_problems(ours, data)
    else:
        rows, problems = joined_rows(suite, split, {split: ours}, data)
    if problems:
        raise InputError(f"{ours.name}{problems[0]}")
    targets = np.array([prediction_target(task, row) for row in rows], dtype=target_kind(task).cells.dtype)
    return targets[list(own.positions(len(targets)))]


class Imported(Method):
    """`mtl.methods.method.Method` of predictions in files: for each seed a zip or a folder, in the forms that mtl writes."""

    def __init__(self, request: BuildRequest) -> None:
        """Reads all predictions, so that nothing is written if a file is wrong. Raises InputError."""
        config, suite, system = request.config, request.suite, request.config.imported
        self.dataset, self.system = request.dataset, system
        labels = check_labels(system.labels, suite)
        rows = data_rows(request.dataset, request.data_dir)
        self._predictions: dict[int, dict[str, Predictions]] = {}
        self.fingerprints: dict[str, str] = {}
        unfit: dict[int, Unfit] = {}
        sums = []
        for seed, path in zip(config.seeds, map(Path, system.predictions), strict=True):
            self._predictions[seed], unfit[seed] = read_predictions(path, suite, rows, labels)
            self._check_scored(seed, path)
            self.fingerprints[f"predictions of seed {seed}"] = digest = _fingerprint(path)
            sums.append(f"{path.resolve().name} ({digest})")
        about = {"training text": system.text, "link": system.link, "licence": system.license}
        self.facts: dict[str, Any] = {
            "notes": [
                *(system.notes or ()),
                *_notes_of_samples(self.dataset),
                f"Imported on {now():%Y-%m-%d}, not trained by mtl, from predictions with these SHA-256 sums: {'; '.join(sums)}.",
                "; ".join(f"{what}: {value or UNKNOWN}" for what, value in about.items()) + ".",
                *_notes_of_answers(rows, unfit, system.labels_sha256),
            ],
            "machine": [system.hardware or UNKNOWN],
            "versions": [{"mtl": VERSION}],
        }

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.tasks:
            yield task, self._predictions[seed][task.id]

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """What is said of the system; None where nothing is."""
        return {
            "parameters": self.system.parameters,
            "parameters_without_embeddings": None,
            "pretrain_seconds": None,
            "finetune_seconds": self.system.seconds,
            "peak_memory": None,
            "sentences_per_second": None,
        }

    def _check_scored(self, seed: int, path: Path) -> None:
        """Raise InputError unless each task has predictions for the split that scores it."""
        for task in self.dataset.tasks:
            if task.scored_split not in self._predictions[seed][task.id]:
                raise InputError(
                    f"has no predictions of task {task.id} for {task.scored_split}, which scores it; name other tasks with tasks=",
                    path=path,
                )


def _notes_of_samples(dataset: Dataset) -> list[str]:
    """Which tasks are scored on a sample of their rows; empty if none are."""
    splits = {task.id: task.scored_split for task in dataset.tasks}
    sizes = sample_text(dataset.samples, splits)
    return [f"Scored on a sample of the rows alone: {sizes}."] if sizes else []


def _notes_of_answers(rows: Rows, unfit: Mapping[int, Unfit], labels_sha256: str | None) -> list[str]:
    """How predictions were read as answers, and how many answers fit no label; empty if none were. unfit: by seed."""
    tasks = list(next(iter(unfit.values())))
    if not tasks:
        return []
    counted: dict[bool, list[str]] = {True: [], False: []}  # by whether the rows have gold targets
    for id in tasks:
        for split, own in rows[id].items():
            counts = {seed: found[id][split] for seed, found in unfit.items() if split in found[id]}
            if any(counts.values()):
                seeds = f" (seeds {', '.join(map(str, counts))})" if len(unfit) > 1 else ""
                shares = ", ".join(f"{count:,}" for count in counts.values())
                known = not any(target is None or target != target for target in own.targets)
                counted[known].append(f"{id} {split} {shares} of {len(own):,}{seeds}")
    file = f", from a file with the SHA-256 sum {labels_sha256}" if labels_sha256 else ""
    notes = [
        f"Answers were read as labels by the spellings in config.yaml (imported.labels){file}: {', '.join(tasks)}.",
        f"Answers that fit no label, counted as wrong: {'; '.join(counted[True]) or 'none'}.",
    ]
    if counted[False]:
        notes.append(
            "Answers that fit no label, on rows whose targets are not known here, where the first label stands for them: "
            f"{'; '.join(counted[False])}."
        )
    return notes


def _fingerprint(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of the files in a folder."""
    if path.is_file():
        return sha256(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    listed = "".join(f"{sha256(file)}  {file.relative_to(path).as_posix()}\n" for file in files)
    return hashlib.sha256(listed.encode()).hexdigest()
