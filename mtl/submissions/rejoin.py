"""Put a submission's predictions to the rows of other files of the same tasks, and score prediction files against gold targets."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import write_json, write_text
from mtl.base.typed import typed
from mtl.data.examples import read_examples
from mtl.runs.predictions import gold_and_predictions, scored_rows
from mtl.settings.schema import SubmissionConfig
from mtl.submissions.check import read_entry, read_submission, rows_name, submitted_rows
from mtl.submissions.entry import (
    PREDICTION,
    Figures,
    RowFile,
    data_files,
    file_name,
    fill_entry,
    measure,
    prediction_target,
    read_row_file,
)
from mtl.submissions.format import Checked
from mtl.submissions.glue import glue_name, plain_lines
from mtl.submissions.rows import data_remarks
from mtl.tasks.metrics import further_scores, score
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

MOST_PROBLEMS = 3  # of one file that are listed

Rows = list[dict[str, Any]]


def rejoin(
    path: Path, suite: Suite, tasks: Sequence[Task], data_dir: Path, out: Path, name: str | None = None
) -> Checked:
    """Write to `out` the submission in `path` with the rows of `data_dir`'s files, unless there are problems.

    A row gets the prediction of the row that has the same texts and, if the task has ids (`Submission.ids`), the same
    id. It may stand in another split's file of the submission: there, dev may be a part of the official test. A file
    with the same rows in the same order gets their predictions one by one. A row without such a prediction, or with
    several different ones, is a problem.

    Args:
        tasks: those to write, as far as the submission and the data folder have them.
        name: the name of the system; else the entry stays as it is.

    Raises:
        InputError: if `out` exists, for a name that no file can have, and for files that cannot be read.
    """
    try:
        typed(SubmissionConfig, {"header": "task", "name": name})
    except InputError as error:
        raise error.located(key="--name") from None
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("exists already; name another folder with --out", path=out)
    found, _ = read_submission(path, suite)
    former, entry = read_entry(path, found)
    texts: dict[str, str] = {}
    figures: Figures = {}
    data: list[dict[str, RowFile]] = []
    problems: list[str] = []
    lacking: list[str] = []
    for task in tasks:
        ours, paths = submitted_rows(task, found, path), data_files(task, data_dir)
        if not ours:
            continue
        if not paths:
            lacking.append(task.id)
            continue
        data.append({split: read_row_file(task, split, file) for split, file in paths.items()})
        figures[task.id] = {}
        for split, file in data[-1].items():
            rows, wrong = joined_rows(suite, split, ours, file)
            if wrong:
                problems += [f"{file.name}{problem}" for problem in wrong]
                continue
            texts[rows_name(task, split)] = file.with_predictions([row[PREDICTION] for row in rows])
            figures[task.id][split] = measure(suite, split, file, [prediction_target(task, row) for row in rows])
    if not data:
        raise InputError(f"has no task of suite {suite.name} that {data_dir} has, too", path=path)
    if not problems:
        for place, text in texts.items():
            write_text(out / place, text)
        target = former if name is None else file_name(name)
        write_json(out / target, fill_entry(entry, suite, {"name": name}, figures))
    remarks = [f"left out, since {data_dir} has no dev or test file of them: {', '.join(lacking)}"] if lacking else []
    return Checked(problems, remarks + data_remarks(data, data_dir))


def joined_rows(suite: Suite, split: str, ours: Mapping[str, RowFile], file: RowFile) -> tuple[Rows, list[str]]:
    """The submission's row for each row of a data file, and the problems, as ":line: message". ours: its files by split."""
    id = next((id for id in suite.submission.ids if all(_has(id, each) for each in (file, *ours.values()))), None)
    keys = {name: each.keys(id) for name, each in ours.items()}
    for each in ours.values():
        _ = each.predictions  # raises for one that is not valid
    wanted = file.keys(id)
    if keys.get(split) == wanted:
        return ours[split].rows, []
    same, all_rows = defaultdict[str, Rows](list), defaultdict[str, Rows](list)
    for name, each in ours.items():
        for key, row in zip(keys[name], each.rows, strict=True):
            all_rows[key].append(row)
            if name == split:
                same[key].append(row)
    by = "texts" if id is None else f"{id} and texts"
    joined, problems = [], []
    for number, key in enumerate(wanted, start=1):
        candidates = same.get(key) or all_rows.get(key, [])
        if not candidates:
            problems.append(f":{number}: no row of the submission has this row's {by}")
        elif len({json.dumps(row[PREDICTION]) for row in candidates}) > 1:
            problems.append(
                f":{number}: {len(candidates)} rows of the submission have this row's {by}, and different predictions"
            )
        else:
            joined.append(candidates[0])
    if (further := len(problems) - MOST_PROBLEMS) > 1:
        problems = [*problems[:MOST_PROBLEMS], f": {further} further rows of this kind"]
    return joined, problems


def _has(id: str, file: RowFile) -> bool:
    return all(row.get(id) is not None for row in file.rows)


def score_predictions(path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out: float) -> str:
    """A Markdown table of the metrics of the predictions in a zip or folder, as the suite shows scores, and their
    average.

    A task's further metrics are below its metric; the average does not include them. Below the average, a line for
    each task with predicted numbers outside its range.

    Args:
        path: prediction files, or a submission of rows.

    Raises:
        InputError: as `mtl.runs.predictions.gold_and_predictions` does, and for rows that are not those of the gold
            file.
    """
    submitted = {glue_name(task): task for task in tasks} if suite.submission.format == "glue" else {}
    pairs = _of_rows(path, suite, tasks, gold_dir) or gold_and_predictions(
        path, suite, tasks, gold_dir, held_out, submitted, plain_lines
    )
    show = suite.shown.show
    lines, scores, remarks = ["| task | split | metric | rows | score |", "|---|---|---|--:|--:|"], {}, []
    for id, (split, predictions, rows) in pairs.items():
        task = suite.tasks[id]
        scores[id] = score(task, predictions, rows)
        lines.append(f"| {task.title} | {split} | {task.metric} | {len(predictions)} | {show(scores[id])} |")
        further = further_scores(task, predictions, rows)
        lines += [f"| | | {name} | | {show(value)} |" for name, value in further.items()]
        if (remark := target_kind(task).cells.remark(predictions)) is not None:
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
    predictions = file.predictions
    if file.keys(None) != gold.keys(None):
        raise InputError(
            f"its rows are not those of {gold.name}; mtl rejoin puts predictions to its rows", path=file.name
        )
    rows = scored_rows(task, read_examples(replace(task, breakdown=None, group=None), Path(gold.name)))
    assert rows is not None
    return predictions, rows
