"""What a suite that was written by hand may have wrong: inputs that follow from the target, one label in several spellings, labels that stand for
none, labels of single splits, and further columns that could be the target. The evidence is that of `mtl init-suite`."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from mtl.base.errors import InputError
from mtl.benchmark_making.audits.findings import Finding, Part
from mtl.benchmark_making.init_suite.evidence import follows_from, is_long, is_source, with_counts
from mtl.benchmark_making.init_suite.kinds import joined, label_questions
from mtl.benchmark_making.init_suite.label_sets import named_labels
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable, quoted, read_table
from mtl.benchmark_making.init_suite.target import possible_targets
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


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
    kind, targets = target_kind(part.task), [row.target for row in part.rows if row.target is not None]
    if part.task.labels is None or not targets:
        return None
    written = [kind.to_json(target) for target in targets]
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
    target = _target(task, table)
    if target is None:
        return [], []
    return list(_dependent(part, table, target)), list(_others(task, table))


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
            meaning = "it is the label's name or code, or a coarser label, and gives the answer away"
            yield part.finding("dependent", 1, what, meaning, part.file)


def _others(task: Task, table: FileTable) -> Iterator[str]:
    used = {*task.read_columns(targets=True)}
    others = [column for column in possible_targets(table) if column.name not in used and not is_source(column)]
    if others:
        yield f"{task.id}: {with_counts(others)} could be the target, too; the task reads {quoted(task.target)}."
