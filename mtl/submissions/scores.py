"""Scores of predictions against gold targets, as `mtl score` prints them."""

from collections.abc import Sequence
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
from mtl.runs.rows import read_scored_rows, scored_rows
from mtl.submissions.data_rows import DataRows, labelled_file
from mtl.submissions.files import SubmissionFiles, prediction_names, read_files
from mtl.submissions.row_predictions import read_sources, row_targets
from mtl.tasks.metrics import further_scores, score
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

SCORING_ORDER = ("test", "dev")  # the first split that has predictions and gold targets is scored


class Match(NamedTuple):
    """The predictions of a task, and the gold rows that they are for."""

    split: str
    predictions: np.ndarray  # (rows,)
    gold: ScoredRows


def score_predictions(path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out_share: float) -> str:
    """A Markdown table of the scores of predictions, their average, and what is odd about them. `gold_dir` is a data folder or a run's `gold` folder;
    `held_out_share` of training rows stand for a dev file. Raises InputError for missing folders, and predictions that fit no gold."""
    show = suite.shown.show
    table = ["| task | split | metric | rows | score |", "|---|---|---|--:|--:|"]
    scores, remarks = dict[str, float](), list[str]()
    for id, match in _match_tasks(path, suite, tasks, gold_dir, held_out_share).items():
        task, predictions = suite.tasks[id], match.predictions
        scores[id] = score(task, predictions, match.gold)
        title = task.title.replace("|", "\\|")
        table.append(f"| {title} | {match.split} | {task.metric} | {len(predictions)} | {show(scores[id])} |")
        for name, value in further_scores(task, predictions, match.gold).items():
            table.append(f"| | | {name} | | {show(value)} |")
        if (remark := target_kind(task).remark(predictions)) is not None:
            remarks.append(f"{id}, {match.split}: {remark}")
    average, count = suite.mean(scores), len(suite.averaged)
    absent = suite.lacking(scores)
    without = ", ".join(absent)
    partial = f" (of {count - len(absent)} of {count} tasks; not scored: {without})" if absent else ""
    last_line = f"average: none, without {without}" if average is None else f"average{partial}: {show(average)}"
    return "\n".join([*table, "", last_line, *remarks])  # without the empty line, these would be rows of the table


def _match_tasks(path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, share: float) -> dict[str, Match]:
    """The predictions of tasks with their gold rows, by task id. Raises InputError if no task has both."""
    if not gold_dir.is_dir():
        raise InputError("no such folder; --gold names a data folder with targets", path=gold_dir)
    names = prediction_names(suite)
    files = read_files(path, lambda name: name in names)
    if unread := [name for name in files.unread if Path(name).suffix in (".csv", ".jsonl", ".tsv")]:
        logger.warning("%s: not read, since no predictions have such names: %s", path, listed(unread, 5))
    predicted = {names[name] for name in files.contents}
    matches: dict[str, Match] = {}
    for task in tasks:
        splits = [split for split in SCORING_ORDER if (task.id, split) in predicted]
        if (match := _first_match(files, suite, task, splits, gold_dir, share)) is not None:
            matches[task.id] = match
    if left_out := [f"{id} {split}" for id, split in predicted if id in matches and matches[id].split != split]:
        logger.info("%s: one split of a task is scored; not scored: %s", path, ", ".join(sorted(left_out)))
    if not matches:
        raise _nothing_scored(path, suite, tasks[0], gold_dir)
    return matches


def _first_match(
    files: SubmissionFiles, suite: Suite, task: Task, splits: Sequence[str], gold_dir: Path, share: float
) -> Match | None:
    """The predictions for the first of these splits that has gold targets for them; None if none has."""
    without_breakdown = replace(task, breakdown=None)  # a score needs no columns of a breakdown
    for split in splits:
        if (gold_rows := _gold_rows(without_breakdown, split, gold_dir, share)) is not None:
            data, gold = gold_rows
            sources = read_sources(files, suite, {task.id: {split: data}})
            if sources:  # a file of rows has none of the rows that are held out of train
                predictions, _ = row_targets(data, sources[task.id, split], suite.submission.ids)
                return Match(split, predictions, gold)
    return None


def _nothing_scored(path: Path, suite: Suite, task: Task, gold_dir: Path) -> InputError:
    """The error if nothing is scored, with the names of files that would be, as those of this task."""
    problem = f"no predictions of suite {suite.name} with gold targets in {gold_dir}"
    example = f"{FILE.format(split='test', task='TASK')} or dev_pred_… (in a run: seed-1/predictions)"
    gold_file = Path(task.folder, task.files["test"] or "test.tsv")
    gold_places = f"in files like {gold_file}, with a column {task.target!r} in every row, or in a run's gold folder"
    return InputError(f"{problem}; files are called {example}, gold targets are {gold_places}", path=path)


def _gold_rows(task: Task, split: str, gold_dir: Path, share: float) -> tuple[DataRows, ScoredRows] | None:
    """The rows of a split with gold targets, for predictions and for metrics: a run's, else a data file's, else those that are held out of train."""
    recorded = gold_dir / f"{split}_{task.id}.tsv"
    if recorded.is_file() and recorded != task.path(split, gold_dir):  # a data file may have such a name, too
        gold = read_scored_rows(task, recorded, RunFolder(gold_dir.parent).scored_rows)
        plain = replace(task, header=None, reading=None)  # these say how the data is read, not a run's file
        return DataRows(plain, split, recorded, plain.plain_layout, gold.targets, gold.candidates), gold
    if (labelled := labelled_file(task, split, gold_dir)) is not None:
        file, layout = labelled  # its column `group` only says what is held out, and may be absent
        gold = scored_rows(task, read_examples(replace(task, group=None), file, True, layout))
        return DataRows(task, split, file, layout, gold.targets, gold.candidates), gold
    train = task.path("train", gold_dir) if split == "dev" and task.files["dev"] is None else None
    if train is not None and train.is_file():
        part = read_task(replace(task, files={**task.files, "test": None}), gold_dir, share)  # without test
        gold, layout = scored_rows(task, part.rows["dev"]), task.layout("train", gold_dir)
        return DataRows(task, split, train, layout, gold.targets, gold.candidates, lines=part.held_out), gold
    return None
