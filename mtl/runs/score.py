"""Score prediction files against files with gold targets."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mtl.data.examples import read_examples
from mtl.errors import InputError
from mtl.runs.formats.check import read_submission, submitted_rows
from mtl.runs.formats.rejoin import row_keys
from mtl.runs.formats.row_file import RowFile, data_files, read_row_file
from mtl.runs.predictions import gold_and_predictions, scored_rows
from mtl.tasks.metrics import further_scores, score
from mtl.tasks.scored import ScoredRows
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


def score_predictions(path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out: float) -> str:
    """A Markdown table of the metrics of the predictions in a zip or folder, as the suite shows scores, and their average.

    A task's further metrics are below its metric; the average does not include them. Below the average, a line for each task with
    predicted numbers outside its range. path: prediction files, or a submission of rows.
    Raises InputError as `mtl.runs.predictions.gold_and_predictions` does, and for rows that are not those of the gold file.
    """
    pairs = _of_rows(path, suite, tasks, gold_dir) or gold_and_predictions(path, suite, tasks, gold_dir, held_out)
    show = suite.shown.show
    lines, scores, remarks = ["| task | split | metric | rows | score |", "|---|---|---|--:|--:|"], {}, []
    for id, (split, predictions, rows) in pairs.items():
        task = suite.tasks[id]
        scores[id] = score(task, predictions, rows)
        lines.append(f"| {task.title} | {split} | {task.metric} | {len(predictions)} | {show(scores[id])} |")
        further = further_scores(task, predictions, rows)
        lines += [f"| | | {name} | | {show(value)} |" for name, value in further.items()]
        if (remark := target_kind(task).remark(predictions)) is not None:
            remarks.append(f"{id}, {split}: {remark}")
    absent, average = suite.lacking(scores), suite.mean(scores)
    if average is None:
        return "\n".join([*lines, f"average: none, without {', '.join(absent)}", *remarks])
    of = len(suite.averaged)
    partial = f" (of {of - len(absent)} of {of} tasks; not scored: {', '.join(absent)})" if absent else ""
    return "\n".join([*lines, f"average{partial}: {show(average)}", *remarks])


def _of_rows(
    path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path
) -> dict[str, tuple[str, np.ndarray, ScoredRows]]:
    """`gold_and_predictions` of a submission of rows; empty if the suite has no such submissions, or this is none."""
    if suite.submission.format != "rows":
        return {}
    found, _ = read_submission(path, suite)
    pairs = {}
    for task in tasks:
        ours, paths = submitted_rows(task, found, path), data_files(task, gold_dir)
        for split in ("test", "dev"):
            gold = read_row_file(task, split, paths[split]) if split in ours and split in paths else None
            if gold is not None and gold.labelled:
                pairs[task.id] = (split, *_scored(task, ours[split], gold))
                break
    return pairs


def _scored(task: Task, file: RowFile, gold: RowFile) -> tuple[np.ndarray, ScoredRows]:
    """The predictions of a file of rows, and the gold file's rows. Raises InputError unless both have the same texts in the same order."""
    predictions = file.predictions()
    if row_keys(file, None) != row_keys(gold, None):
        raise InputError(f"{file.name}: its rows are not those of {gold.name}; mtl rejoin puts predictions to its rows")
    rows = scored_rows(task, read_examples(replace(task, breakdown=None, group=None), Path(gold.name)))
    assert rows is not None
    return predictions, rows
