"""Put a submission's predictions to the rows of other files of the same tasks."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.files import write_json, write_text
from mtl.base.typed import typed
from mtl.settings.schema import SubmissionConfig
from mtl.submissions.check import read_entry, read_submission, submitted_rows
from mtl.submissions.entry import PREDICTION, Figures, RowFile, data_files, file_name, fill_entry, measure
from mtl.submissions.files import rows_name
from mtl.submissions.format import Checked
from mtl.submissions.rows import data_remarks
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import Target
from mtl.tasks.task import Task

MOST_PROBLEMS = 3  # of one file that are listed

Prediction = tuple[Any, Target]
"""As it stands in a file, and what it means."""


def rejoin(
    path: Path, suite: Suite, tasks: Sequence[Task], data_dir: Path, out: Path, name: str | None = None
) -> Checked:
    """Write to `out` the submission in `path` with the rows of `data_dir`'s files, unless there are problems.

    A row gets the prediction of the row that has the same texts and, if the task has ids (`Submission.ids`), the same id. It may stand in
    another split's file of the submission: there, dev may be a part of the official test. A file with the same rows in the same order gets
    their predictions one by one. A row without such a prediction, or with several different ones, is a problem.

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
    contents, _ = read_submission(path, suite)
    entry_name, entry = read_entry(path, contents)
    texts: dict[str, str] = {}
    figures: Figures = {}
    data: list[dict[str, RowFile]] = []
    problems: list[str] = []
    lacking: list[str] = []
    for task in tasks:
        if not (ours := submitted_rows(task, contents, path)):
            continue
        if not (files := data_files(task, data_dir)):
            lacking.append(task.id)
            continue
        data.append(files)
        figures[task.id] = {}
        for split, file in files.items():
            joined, wrong = joined_predictions(suite, split, ours, file)
            if wrong:
                problems += [f"{file.name}{problem}" for problem in wrong]
                continue
            texts[rows_name(task, split)] = file.with_predictions([value for value, _ in joined])
            figures[task.id][split] = measure(suite, split, file, [target for _, target in joined])
    if not data:
        raise InputError(f"has no task of suite {suite.name} that {data_dir} has, too", path=path)
    if not problems:
        for file_path, text in texts.items():
            write_text(out / file_path, text)
        entry_name = entry_name if name is None else file_name(name)
        write_json(out / entry_name, fill_entry(entry, suite, {"name": name}, figures))
    remarks = [f"left out, since {data_dir} has no dev or test file of them: {', '.join(lacking)}"] if lacking else []
    return Checked(problems, remarks + data_remarks(data, data_dir))


def joined_predictions(
    suite: Suite, split: str, ours: Mapping[str, RowFile], file: RowFile
) -> tuple[list[Prediction], list[str]]:
    """The submission's prediction for each row of a data file, and the problems, as ":line: message".

    Args:
        ours: the submission's files by split.

    Raises:
        InputError: for a prediction that is not valid.
    """
    rows = [row for rows_file in (file, *ours.values()) for row in rows_file.rows]
    id = next((id for id in suite.submission.ids if all(row.get(id) is not None for row in rows)), None)
    wanted, same, by_key = file.keys(id), None, dict[str, dict[str, list[Prediction]]]()
    for name, submitted in ours.items():
        keys, targets = submitted.keys(id), submitted.predictions.tolist()
        predictions = [(row[PREDICTION], target) for row, target in zip(submitted.rows, targets, strict=True)]
        same = predictions if name == split and keys == wanted else same
        by_key[name] = defaultdict(list)
        for key, prediction in zip(keys, predictions, strict=True):
            by_key[name][key].append(prediction)
    if same is not None:
        return same, []
    parts = "texts" if id is None else f"{id} and texts"
    joined, problems = [], []
    for number, key in enumerate(wanted, start=1):
        elsewhere = [match for matches in by_key.values() for match in matches.get(key, ())]
        candidates = by_key.get(split, {}).get(key) or elsewhere
        if not candidates:
            problems.append(f":{number}: no row of the submission has this row's {parts}")
        elif len({json.dumps(value) for value, _ in candidates}) > 1:
            what = f"{len(candidates)} rows of the submission have this row's {parts}, and different predictions"
            problems.append(f":{number}: {what}")
        else:
            joined.append(candidates[0])
    if (further := len(problems) - MOST_PROBLEMS) > 1:
        problems = [*problems[:MOST_PROBLEMS], f": {further} further rows of this kind"]
    return joined, problems
