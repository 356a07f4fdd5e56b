"""The format `rows`: the leaderboard's entry, and for each task and split the rows of the data with predictions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.files import write_json, write_text
from mtl.base.untrusted import is_inside
from mtl.data.examples import read_predicted
from mtl.submissions.entry import (
    FACTS,
    LEFT_OUT,
    ROWS,
    Figures,
    file_name,
    fill_entry,
    measure,
    read_template,
    unfilled,
)
from mtl.submissions.files import SPLITS, rows_name
from mtl.submissions.format import Submitted
from mtl.submissions.row_files import RowFile, data_files, prediction_values
from mtl.tasks.metrics import METRICS, is_metric
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import Target


def rows_problem(suite: Suite) -> str | None:
    """The error in the suite's declaration, as "key: message", or None."""
    declared = suite.submission
    if declared.template is not None and not is_inside(declared.template):
        return f"template: {declared.template!r} must be a path below the data folder, without '..'"
    if declared.template_source is not None and (problem := declared.template_source.problem):
        return f"template_source.{problem}"
    for key, fact in declared.fill.items():
        if fact not in FACTS:
            return f"fill.{key}: {fact!r} must be one of {', '.join(FACTS)}"
    for name, metrics in declared.measures.items():
        if not metrics:
            return f"measures.{name}: names no metric"
        if unknown := [metric for metric in metrics if metric != ROWS and not is_metric(metric)]:
            return f"measures.{name}: {unknown[0]!r} must be {ROWS} or a metric: {', '.join(METRICS)}"
    for task in suite.tasks.values():
        for split in SPLITS:
            if (file := task.files[split]) is not None and not file.endswith(".jsonl"):
                return f"format: rows are written from .jsonl files, and {task.id} has {file}"
    return None


def write_rows(submitted: Submitted) -> list[str]:
    """Write `submission/` in the seed's folder: NAME.json and TASK/dev.jsonl, TASK/test.jsonl. Returns what its user should know. Raises
    InputError if the data has another number of rows than the predictions, or a key `prediction`."""
    suite, data_dir = submitted.suite, submitted.data_dir
    folder = submitted.folder.submission_folder(submitted.seed)
    files: dict[str, dict[str, RowFile]] = {}
    figures: Figures = {}
    for task in submitted.tasks:
        files[task.id] = data_files(task, data_dir)
        figures[task.id] = {}
        for split, file in files[task.id].items():
            path = submitted.folder.predictions(submitted.seed, split, task.id)
            targets: list[Target] = read_predicted(task, path).tolist()
            if len(targets) != len(file.lines):
                problem = f"{len(targets)} predictions for the {len(file.lines)} rows of {file.name}"
                raise InputError(problem, path=path)
            values = prediction_values(task, targets, list(files[task.id].values()))
            write_text(folder / rows_name(task, split), file.with_predictions(values))
            figures[task.id][split] = measure(suite, split, file, targets)
    template = read_template(suite, data_dir)
    entry = fill_entry(template or {}, suite, submitted.facts, figures)
    name = file_name(str(submitted.facts["name"]))
    write_json(folder / name, entry)
    remarks = data_remarks(list(files.values()), data_dir)
    if LEFT_OUT in entry:
        remarks.append(f"tasks that are left out, as {name} says under {LEFT_OUT}: {', '.join(entry[LEFT_OUT])}")
    if template is None and suite.submission.template is not None:
        missing = data_dir / suite.submission.template
        how = f"; get it with mtl data {suite.name}" if suite.submission.template_source else ""
        remarks.append(f"{missing}: no such file; {name} has only what is known of the system{how}")
    if keys := list(unfilled(entry)):
        remarks.append(f"{name}: still to be filled in by you: {', '.join(keys)}")
    return remarks


def data_remarks(tasks: Sequence[Mapping[str, RowFile]], data_dir: Path) -> list[str]:
    """What keeps files that were written from this data from being submitted, one line each; empty if they are official."""
    files = [(split, file) for splits in tasks for split, file in splits.items()]
    remarks_by_kind = {
        "rows without labels": [f"{file.task.id} {split}" for split, file in files if not file.labelled],
        "not the official numbers of rows": [
            f"{file.task.id} {split} ({len(file.lines)} of {file.task.rows[split]} rows)"
            for split, file in files
            if split in file.task.rows and not file.has_official_size(split)
        ],
        "changed, by the checksums of the suite": [
            f"{file.task.id} {split}" for split, file in files if file.changed and file.has_official_size(split)
        ],
        "no official splits, but parts of others": [
            f"{file.task.id} {split} ({len(file.lines)} rows)"
            for split, file in files
            if file.task.rows and split not in file.task.rows
        ],
    }
    remarks = [f"{what}: {', '.join(names)}" for what, names in remarks_by_kind.items() if names]
    if remarks:
        remarks.append(
            f"the leaderboard takes official rows only: before submitting, put the official files in place of those in {data_dir},"
            " with mtl rejoin"
        )
    return remarks
