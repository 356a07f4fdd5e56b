"""Scores of predictions against gold targets, as `mtl score` prints them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.base.wording import listed
from mtl.data.examples import read_examples
from mtl.data.splits import read_task
from mtl.runs.folder import FILE, RunFolder
from mtl.runs.rows import recorded_rows, scored_rows
from mtl.submissions.data_rows import DataRows
from mtl.submissions.files import prediction_names, read_files
from mtl.submissions.row_files import labelled_file
from mtl.submissions.row_predictions import put_to_rows, read_sources
from mtl.tasks.metrics import further_scores, score
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

SCORED = ("test", "dev")  # the first split that has predictions and gold targets is scored

# What is scored, by task id: the split, the predictions (rows,) and the rows with gold targets.
Pairs = dict[str, tuple[str, np.ndarray, ScoredRows]]


def score_predictions(path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out: float) -> str:
    """A Markdown table of the scores of predictions, their average without further metrics, and what is odd about the predictions. `path` has
    prediction files or a submission of rows; `gold_dir` is a data folder whose files have the target column (a test file may be test.tsv), or the
    `gold` folder of a run. Of these tasks, those with both are scored, on the first split in SCORED that has both; the log names others. `held_out`
    is the share of training rows that stand for a dev file. Raises InputError for missing folders, and predictions that do not fit gold rows."""
    pairs = _pairs(path, suite, tasks, gold_dir, held_out)
    show = suite.shown.show
    lines = ["| task | split | metric | rows | score |", "|---|---|---|--:|--:|"]
    scores, remarks = dict[str, float](), list[str]()
    for id, (split, predictions, rows) in pairs.items():
        task = suite.tasks[id]
        scores[id] = score(task, predictions, rows)
        lines.append(f"| {task.title} | {split} | {task.metric} | {len(predictions)} | {show(scores[id])} |")
        lines += [f"| | | {key} | | {show(value)} |" for key, value in further_scores(task, predictions, rows).items()]
        if (remark := target_kind(task).remark(predictions)) is not None:
            remarks.append(f"{id}, {split}: {remark}")
    average, count, absent = suite.mean(scores), len(suite.averaged), suite.lacking(scores)
    without = ", ".join(absent)
    partial = f" (of {count - len(absent)} of {count} tasks; not scored: {without})" if absent else ""
    last_line = f"average: none, without {without}" if average is None else f"average{partial}: {show(average)}"
    return "\n".join([*lines, last_line, *remarks])


def _pairs(path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out: float) -> Pairs:
    """The predictions that have gold targets. Raises InputError if there are none."""
    if not gold_dir.is_dir():
        raise InputError("no such folder; --gold names a data folder with targets", path=gold_dir)
    names = prediction_names(suite)
    files = read_files(path, names.__contains__)
    if unread := [name for name in files.unread if Path(name).suffix in (".csv", ".jsonl", ".tsv")]:
        logger.warning("%s: not read, since no predictions have such names: %s", path, listed(unread, 5))
    predicted = {names[name] for name in files.contents}
    pairs: Pairs = {}
    for task in tasks:
        for split in SCORED:
            gold = _gold(task, split, gold_dir, held_out) if (task.id, split) in predicted else None
            if gold is None:
                continue
            data_rows, scored = gold
            rows = {task.id: {split: data_rows}}
            by_task, _ = put_to_rows(read_sources(files, suite, rows), suite, rows, labels={})
            if split in by_task[task.id]:
                pairs[task.id] = split, by_task[task.id][split], scored
                break
    if unscored := [f"{id} {split}" for id, split in predicted if id in pairs and pairs[id][0] != split]:
        logger.info("%s: one split of a task is scored; not scored: %s", path, ", ".join(sorted(unscored)))
    if not pairs:
        problem = f"no predictions of suite {suite.name} with gold targets in {gold_dir}"
        files = f"{FILE.format(split='test', task='TASK')} or dev_pred_… (in a run: seed-1/predictions)"
        gold_file = Path(tasks[0].folder, tasks[0].files["test"] or "test.tsv")
        places = f"in files like {gold_file}, with a column {tasks[0].target!r} in every row, or in a run's gold folder"
        raise InputError(f"{problem}; files are called {files}, gold targets are {places}", path=path)
    return pairs


def _gold(task: Task, split: str, gold_dir: Path, held_out: float) -> tuple[DataRows, ScoredRows] | None:
    """The rows of a split to which predictions are put, and the same rows with gold targets, or None: those that a run recorded in its `gold` folder,
    those of a data file with all targets, or for a task without a dev file, the training rows that are held out."""
    task = replace(task, breakdown=None)  # a score needs no such columns
    recorded = gold_dir / f"{split}_{task.id}.tsv"
    if recorded.is_file():
        rows = recorded_rows(task, recorded, RunFolder(gold_dir.parent).scored_rows)
        task = replace(task, header=None, reading=None)  # which say how the data is read, not what the run recorded
        return DataRows(task, split, recorded, task.plain_layout, rows.targets, rows.candidates), rows
    if labelled := labelled_file(task, split, gold_dir):
        path, layout = labelled
        rows = scored_rows(task, read_examples(replace(task, group=None), path, True, layout))
        return DataRows(task, split, path, layout, rows.targets, rows.candidates), rows
    train = task.path("train", gold_dir) if split == "dev" and task.files["dev"] is None else None
    if train is not None and train.is_file():
        part = read_task(replace(task, files={**task.files, "test": None}), gold_dir, held_out)
        rows = scored_rows(task, part.rows["dev"])
        layout = task.layout("train", gold_dir)
        return DataRows(task, split, train, layout, rows.targets, rows.candidates, part.held_out), rows
    return None
