"""Check a suite's data for errors, duplicates and leaks between splits, and write a report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.progress import progress
from mtl.benchmark_making.audits.fields import field_findings, question_findings
from mtl.benchmark_making.audits.findings import (
    HELD_OUT,
    Finding,
    Part,
    TaskFiles,
    absent_targets,
    located_below,
    target_findings,
    text_findings,
)
from mtl.benchmark_making.audits.report import count_tokens, render, token_findings
from mtl.benchmark_making.audits.sharing import shared_across, shared_within
from mtl.benchmark_making.init_suite.evidence import follows_from, is_long, is_source, with_counts
from mtl.benchmark_making.init_suite.kinds import joined, label_questions
from mtl.benchmark_making.init_suite.label_sets import named_labels
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable, quoted, read_table
from mtl.benchmark_making.init_suite.target import possible_targets
from mtl.data.files import changed_splits, hash_files
from mtl.data.splits import hold_out, read_split
from mtl.jobs.job import Job
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLITS, Task


@dataclass(frozen=True)
class Audit:
    """The findings, and the report on them (Markdown)."""

    findings: list[Finding]
    report: str


def audit(job: Job) -> Audit:
    """Read the suite's data as a run does, and check it. Raises InputError without data, and if the embeddings cannot be loaded."""
    config, suite, folder, tasks = job.config, job.suite, job.data_dir, job.tasks
    _check_folder(suite, tasks, folder)
    read = [read_files(suite, task, folder, config.held_out) for task in tasks]
    tokens = count_tokens(config, suite, folder, read)
    findings = {files.task.id: list(files.findings) for files in read}
    notes = [note for files in read for note in files.notes]
    for files in progress(read, "auditing", "tasks"):
        of_task = findings[files.task.id]
        of_task += [*_published(files, folder)]
        for part in files.files.values():
            of_task += [*text_findings(part), *token_findings(part, tokens, config.max_length), *target_findings(part)]
        if HELD_OUT in files.shown:
            of_task += absent_targets(files.shown[HELD_OUT])
        for part in files.files.values():
            of_task += field_findings(part, folder, suite.shown)
        of_task += [*question_findings(files.files), *label_findings(files.files), *shared_within(files.parts)]
        if files.files:
            of_columns, other_targets = column_findings(next(iter(files.files.values())), folder)
            of_task += of_columns
            notes += other_targets
    for finding in shared_across([files.parts for files in read]):
        findings[finding.task].append(finding)
    all_findings = list(chain.from_iterable(findings.values()))
    return Audit(all_findings, render(config, suite, folder, read, tokens, all_findings, notes))


def _check_folder(suite: Suite, tasks: Sequence[Task], folder: Path) -> None:
    """Raise InputError unless the folder exists and has a file of at least one of the tasks."""
    can_be_had = suite.generated or any(task.source or task.hub for task in tasks)
    how = f"; get it with: mtl data {suite.name}" if can_be_had else ""
    if not folder.is_dir():
        problem = f"no such folder; the data of suite {suite.name} should be there{how}, or set data_dir="
        raise InputError(problem, path=folder)
    paths = [path for task in tasks for split in SPLITS if (path := task.path(split, folder))]
    if not any(path.exists() for path in paths):
        raise InputError(f"has no file of {', '.join(task.id for task in tasks)} ({paths[0]}, …){how}", path=folder)


def read_files(suite: Suite, task: Task, folder: Path, share: float) -> TaskFiles:
    """Read a task's files, whose rows of train are held out by this share if there is no dev file.

    A file that cannot be read gives a finding with the reader's message.
    """
    files: dict[str, Part] = {}
    findings: list[Finding] = []
    notes = []
    paths = {split: path for split in SPLITS if (path := task.path(split, folder))}
    absent = [split for split, path in paths.items() if not path.exists()]
    if absent:
        names = ", ".join(f"{task.folder}/{task.files[split]}".lstrip("/") for split in absent)
        what = f"{'all of its files are' if len(absent) == len(paths) else 'some of its files are'} missing: {names}"
        meaning = _without_task(suite, task, len(absent) == len(paths))
        findings.append(Finding("missing", task.id, "", 1, what, meaning))
    for split, path in paths.items():
        if split in absent:
            continue
        try:
            rows = read_split(task, path, split, task.layout(split, folder))
        except InputError as error:
            meaning = "a run would stop here; the audit continues without this file"
            findings.append(Finding("unreadable", task.id, split, 1, located_below(error, folder), meaning))
            continue
        files[split] = Part(task, split, path.relative_to(folder).as_posix(), rows)
    parts = dict(files)
    if task.files["dev"] is None and "train" in files:
        train = files["train"]
        kept, held_out = hold_out(task, train.rows, share)
        if kept and held_out:
            parts["train"], parts["dev"] = replace(train, rows=kept), replace(train, split=HELD_OUT, rows=held_out)
            count = f"{len(held_out)} of its {len(train.rows)} training rows"
            notes.append(f"{task.id} has no dev file: {count} are held out as dev.")
        else:
            what = f"too few groups of rows to hold out {share:.0%} for validation"
            findings.append(train.finding("unreadable", 1, what, "a run would stop here", train.file))
    return TaskFiles(task, files, parts, findings, notes)


def _without_task(suite: Suite, task: Task, has_no_file: bool) -> str:
    """What missing files mean for a run."""
    left_out = has_no_file and suite.allow_missing
    what = "a run leaves the task out" if left_out else "a run must leave the task out (tasks=)"
    average = ", and its average is partial" if task.id in suite.averaged else "; the average does not count it"
    return f"{'its publisher has withdrawn the data; ' if task.withdrawn else ''}{what}{average}"


def _published(files: TaskFiles, folder: Path) -> Iterator[Finding]:
    """The files that differ from the published ones: in their number of rows, or else in the checksum that the suite names."""
    changed = changed_splits(hash_files([files.task], folder)).get(files.task.id, ())
    for split, part in files.files.items():
        rows, published = len(part.rows), files.task.rows.get(split)
        if published not in (None, rows):
            what = f"{rows} rows, {'fewer' if rows < published else 'more'} than the {published} published"
            lost = "rows were left out, or a program lost them by reading quotation marks as CSV quoting"
            why = lost if rows < published else "another version of the data"
            meaning = f"{why}; scores cannot be compared with published ones"
            yield part.finding("row count", abs(rows - published), what, meaning, part.file)
        elif split in changed:
            what = "the file differs from the one whose checksum the suite names"
            meaning = "tables mark the task as changed; scores cannot be compared with published ones"
            yield part.finding("checksum", 1, what, meaning, part.file)


def label_findings(parts: Mapping[str, Part]) -> list[Finding]:
    """The findings about the labels of a task's files, by split."""
    by_split = {split: column for split, part in parts.items() if (column := _labels(part)) is not None}
    if not by_split:
        return []
    part, column = parts[next(iter(by_split))], joined(list(by_split.values()))
    texts = [text.removeprefix("labels: ") for text in label_questions(by_split[part.split], column, by_split)]
    meaning = "a score counts each of them as an answer of its own"
    return [Finding("label names", part.task.id, "", 1, text, meaning) for text in texts]


def _labels(part: Part) -> FileColumn | None:
    """The labels of all rows, as they stand in the file; None for a task without labels, and a split without targets."""
    if part.task.labels is None:
        return None
    kind = target_kind(part.task)
    written = [kind.to_json(row.target) for row in part.rows if row.target is not None]
    labels = [str(label) for value in written for label in (value if isinstance(value, list) else [value])]
    return FileColumn(part.task.target, labels) if labels else None


def column_findings(part: Part, folder: Path) -> tuple[list[Finding], list[str]]:
    """The findings about the columns of a file with targets, and a note on columns that could be targets, too."""
    task = part.task
    if any(row.target is None for row in part.rows):
        return [], []
    try:
        table = read_table(folder / part.file, task.layout(part.split, folder))
    except InputError:  # a file with more columns or other values than the task reads
        return [], []
    if (target := _target(task, table)) is None:
        return [], []
    used = {*task.read_columns(targets=True)}
    others = [column for column in possible_targets(table) if column.name not in used and not is_source(column)]
    note = f"{task.id}: {with_counts(others)} could be the target, too; the task reads {quoted(task.target)}."
    return list(_dependent(part, table, target)), [note] if others else []


def _target(task: Task, table: FileTable) -> FileColumn | None:
    """The targets as one column of texts; None for lists of other kinds, and for what a table cannot show."""
    known = {"target": task.target, "kind": task.kind, "label_separator": task.label_separator}
    if several := named_labels(table, {key: value for key, value in known.items() if value is not None}):
        return several.joined(table).columns.get(task.target)
    column = table.columns.get(task.target)
    return None if column is None or column.lists else column


def _dependent(part: Part, table: FileTable, target: FileColumn) -> Iterator[Finding]:
    task = part.task
    if task.labels is None and task.range is None:
        return  # the words of an analogy follow from its answer, and candidates from nothing
    used = {**dict.fromkeys(task.text_columns, "an input"), **({task.group: "the group"} if task.group else {})}
    for name, role in used.items():
        column = table.columns.get(name)
        if column is not None and not is_long(column) and follows_from(column, target):
            what = f"column {quoted(name)}, {role}, follows from the target: rows with one target have one value there"
            meaning = "it is the label's name or code, or a coarser label, and predicts the target"
            yield part.finding("dependent", 1, what, meaning, part.file)
