"""Scores of predictions against gold targets, as `mtl score` prints them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.wording import listed
from mtl.data.examples import read_examples
from mtl.data.splits import read_task
from mtl.runs.folder import FILE, RunFolder
from mtl.runs.rows import recorded_rows, scored_rows
from mtl.submissions.data_rows import DataRows
from mtl.submissions.files import SubmissionFiles, prediction_names, read_files
from mtl.submissions.row_files import labelled_file
from mtl.submissions.row_predictions import put, read_sources
from mtl.tasks.metrics import further_scores, score
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

SCORING_ORDER = ("test", "dev")  # the first split that has predictions and gold targets is scored


class Gold(NamedTuple):
    """The rows of a split with gold targets."""

    data: DataRows  # that predictions are put to
    rows: ScoredRows  # the same, as metrics read them


class ScoredSplit(NamedTuple):
    """What a task is scored on."""

    split: str
    predictions: np.ndarray  # (rows,)
    rows: ScoredRows  # with gold targets


def score_predictions(path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out: float) -> str:
    """A Markdown table of the scores of predictions, their average, and what is odd about them. `gold_dir` is a data folder or a run's `gold` folder;
    `held_out` is the share of training rows that stand for a dev file. Raises InputError for missing folders, and predictions that fit no gold."""
    show = suite.shown.show
    table = ["| task | split | metric | rows | score |", "|---|---|---|--:|--:|"]
    scores, remarks = dict[str, float](), list[str]()
    for id, (split, predictions, rows) in _scored_splits(path, suite, tasks, gold_dir, held_out).items():
        task = suite.tasks[id]
        scores[id] = score(task, predictions, rows)
        title = task.title.replace("|", "\\|")
        table.append(f"| {title} | {split} | {task.metric} | {len(predictions)} | {show(scores[id])} |")
        for name, value in further_scores(task, predictions, rows).items():
            table.append(f"| | | {name} | | {show(value)} |")
        remark = target_kind(task).remark(predictions)
        if remark is not None:
            remarks.append(f"{id}, {split}: {remark}")
    # Without the empty line, the lines after it would be rows of the table.
    return "\n".join([*table, "", _average_line(suite, scores), *remarks])


def _average_line(suite: Suite, scores: Mapping[str, float]) -> str:
    """The average of the scores by task id, and which tasks it lacks."""
    average, absent = suite.mean(scores), suite.lacking(scores)
    if average is None:
        return f"average: none, without {', '.join(absent)}"
    if not absent:
        return f"average: {suite.shown.show(average)}"
    present = f"{len(suite.averaged) - len(absent)} of {len(suite.averaged)} tasks"
    return f"average (of {present}; not scored: {', '.join(absent)}): {suite.shown.show(average)}"


def _scored_splits(
    path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out: float
) -> dict[str, ScoredSplit]:
    """What each task is scored on, by task id. Raises InputError if none has predictions with gold targets."""
    if not gold_dir.is_dir():
        raise InputError("no such folder; --gold names a data folder with targets", path=gold_dir)
    names = prediction_names(suite)
    files = read_files(path, names.__contains__)
    unread = [name for name in files.unread if Path(name).suffix in (".csv", ".jsonl", ".tsv")]
    if unread:
        logger.warning("%s: not read, since no predictions have such names: %s", path, listed(unread, 5))

    predicted = {names[name] for name in files.contents}
    scored: dict[str, ScoredSplit] = {}
    for task in tasks:
        splits = [split for split in SCORING_ORDER if (task.id, split) in predicted]
        scored_split = _first_scored(files, suite, task, splits, gold_dir, held_out)
        if scored_split is not None:
            scored[task.id] = scored_split
    unscored = [f"{id} {split}" for id, split in predicted if id in scored and scored[id].split != split]
    if unscored:
        logger.info("%s: one split of a task is scored; not scored: %s", path, ", ".join(sorted(unscored)))
    if not scored:
        problem = f"no predictions of suite {suite.name} with gold targets in {gold_dir}"
        example = f"{FILE.format(split='test', task='TASK')} or dev_pred_… (in a run: seed-1/predictions)"
        gold_file = Path(tasks[0].folder, tasks[0].files["test"] or "test.tsv")
        places = f"in files like {gold_file}, with a column {tasks[0].target!r} in every row, or in a run's gold folder"
        raise InputError(f"{problem}; files are called {example}, gold targets are {places}", path=path)
    return scored


def _first_scored(
    files: SubmissionFiles, suite: Suite, task: Task, splits: Sequence[str], gold_dir: Path, held_out: float
) -> ScoredSplit | None:
    """What the first of these splits with gold targets is scored on; None: none has them. The files have predictions of the splits."""
    for split in splits:
        gold = _gold(task, split, gold_dir, held_out)
        sources = {} if gold is None else read_sources(files, suite, {task.id: {split: gold.data}})
        if gold is not None and sources:
            predictions, _ = put(gold.data, sources[task.id, split], suite.submission.ids)
            return ScoredSplit(split, predictions, gold.rows)
    return None


def _gold(task: Task, split: str, gold_dir: Path, held_out: float) -> Gold | None:
    """The rows of a split with gold targets: as a run recorded them, of a data file, or held out of the training file; None: there are none."""
    task = replace(task, breakdown=None)  # a score needs no such columns
    recorded = gold_dir / f"{split}_{task.id}.tsv"
    if recorded.is_file():
        rows = recorded_rows(task, recorded, RunFolder(gold_dir.parent).scored_rows)
        plain_task = replace(task, header=None, reading=None)  # these say how the data is read, not what a run recorded
        layout = plain_task.plain_layout
        return Gold(DataRows(plain_task, split, recorded, layout, rows.targets, rows.candidates), rows)
    labelled = labelled_file(task, split, gold_dir)
    if labelled is not None:
        file, layout = labelled
        rows = scored_rows(task, read_examples(replace(task, group=None), file, True, layout))
        return Gold(DataRows(task, split, file, layout, rows.targets, rows.candidates), rows)
    train = task.path("train", gold_dir) if split == "dev" and task.files["dev"] is None else None
    if train is not None and train.is_file():
        part = read_task(replace(task, files={**task.files, "test": None}), gold_dir, held_out)
        rows, layout = scored_rows(task, part.rows["dev"]), task.layout("train", gold_dir)
        return Gold(DataRows(task, split, train, layout, rows.targets, rows.candidates, part.held_out), rows)
    return None
