"""What may be wrong with the declaration of one task in a suite file. The first error is reported: a rule may rely on those before it."""

import re

from mtl.base.names import is_file_name, meant
from mtl.base.untrusted import is_inside
from mtl.tasks.metrics import MEAN, METRICS, is_metric, metric_named
from mtl.tasks.targets import TARGET_KINDS, names_of_kind
from mtl.tasks.task import BESIDE, DEV_OR_TEST, SPAN_ENDS, SPLITS, UNSCORED, Task, span_ends


def task_problem(task: Task, average: str) -> str | None:
    """The error in the declaration of a task whose kind is set, as "key: message", or None. No task may have the id `average`."""
    if not is_file_name(task.id):
        return "id: a task's id names files; use letters, digits, '.', '_' and '-'"
    if task.id == average:
        return f"id: {average!r} names the average of all tasks; choose another id"
    problem = _kind_problem(task) or _column_problem(task) or _span_problem(task) or _metric_problem(task, "metric")
    return problem or _further_problem(task) or _rows_problem(task) or _path_problem(task)


def _kind_problem(task: Task) -> str | None:
    """The error in the kind and the keys that only some kinds have, as "key: message", or None."""
    if not task.kind or sum(value is not None for value in (task.labels, task.range, task.candidates)) > 1:
        return "labels: exactly one of labels (classification), range (regression) and candidates (choice) must be given, or kind: word or text"
    if task.kind not in TARGET_KINDS:
        return f"kind: unknown kind {task.kind!r}, expected one of {', '.join(TARGET_KINDS)}"
    kind = TARGET_KINDS[task.kind]
    for key in ("labels", "range", "candidates"):
        if getattr(task, key) is not None and key != kind.declared_by:
            return f"{key}: a task of kind {task.kind} has no {key}"
    if problem := kind.problem(task):
        return problem
    if task.starts is not None and task.kind != "answer":
        return "starts: is of a task of kind answer"
    if task.indices is not None and not kind.has_indices:
        return f"indices: a task of kind {task.kind} has none"
    if not kind.has_parts and (len(task.target_columns) > 1 or task.label_separator is not None):
        key = "target" if len(task.target_columns) > 1 else "label_separator"
        return f"{key}: a task of kind {task.kind} has one value in one column, whose name has no '{BESIDE}'"
    return None


def _column_problem(task: Task) -> str | None:
    """The error in the columns of texts and of a file without a header, as "key: message", or None."""
    columns = {column.removesuffix("[]") for column in (*task.text_columns, *task.target_columns)}
    if task.header is not None and not columns <= set(task.header):
        return "header: names the columns of a file without a header, among them those of text and target"
    if task.header is not None and len(set(task.header)) < len(task.header):
        return "header: names a column twice"
    if any(column.endswith("[]") for column in task.text) and not TARGET_KINDS[task.kind].by_unit:
        return "text: a column with lists of texts can only be one of candidates, or of tokens with a label each"
    if task.sides == 0 or (task.sides > 2 and task.level == "text"):
        return "text: names one column, or two for a pair"
    return None


def _metric_problem(task: Task, key: str) -> str | None:
    """The error in the declaration of the task's metric, which the key names."""
    if not is_metric(task.metric):
        kinds = set(names_of_kind(task.kind))
        fitting = [name for name, metric in METRICS.items() if kinds & set(metric.kinds)]
        parts = [part for part in task.metric.split(MEAN) if part not in METRICS] or [task.metric]
        if names := meant(parts[0].lower().replace("-", "_"), fitting):
            return f"{key}: unknown metric {parts[0]!r}; did you mean {' or '.join(names)}?"
        expected = f"targets of kind {task.kind} have {', '.join(fitting)}, or the mean of several, as in accuracy+f1"
        return f"{key}: unknown metric {task.metric!r}; {expected}"
    metric = metric_named(task.metric)
    if not set(names_of_kind(task.kind)) & set(metric.kinds):
        return f"{key}: {task.metric} is for targets of kind {' or '.join(metric.kinds)}, not {task.kind}"
    return metric.problem(task)


def _further_problem(task: Task) -> str | None:
    """The error in the further metrics and the breakdown of a task, as "key: message", or None."""
    metrics = [task.metric, *(task.also or ())]
    if twice := [name for index, name in enumerate(metrics) if name in metrics[:index]]:
        return f"also: names {twice[0]} twice, or it is the task's metric"
    for name in metrics[1:]:
        if problem := _metric_problem(task.measured_by(name), "also"):
            return problem
    if lists := [name for name in task.breakdown or () if name.endswith("[]")]:
        return f"breakdown: {lists[0]}: a column of lists has no single values"
    return None


def _span_problem(task: Task) -> str | None:
    """The error in the columns of spans, as "key: message", or None."""
    if task.spans is None:
        return None
    if task.candidates is not None:
        return "spans: a choice has no spans"
    columns = [column for names in task.spans.values() for column in names]
    if not all(task.spans.values()) or not columns or len(set(columns)) < len(columns):
        return "spans: names for each text one span column or more, all different, as in {text: [pronoun.location]}"
    if unknown := [name for name in task.spans if name not in task.text]:
        return f"spans: {unknown[0]!r} is not one of the text columns {', '.join(task.text)}"
    if any(len(span_ends(column)) != len(SPAN_ENDS) for column in columns):
        return "spans: a span is one column with start and stop, or two, as in start1 + end1"
    if any(column.endswith("[]") for column in columns):
        return "spans: a span column holds an object with start and stop, not a list"
    return None


def _rows_problem(task: Task) -> str | None:
    """The error in the keys about files, splits and groups of rows, as "key: message", or None."""
    if task.same_source is not None and (not task.is_pair or task.same_source not in (task.labels or ())):
        return "same_source: names a label of a task with two text columns"
    if task.same_source is not None and task.group is not None:
        return "same_source: a task has either group or same_source"
    if task.reading is not None and (problem := task.reading.problem):
        return f"reading.{problem}"
    if unknown := set(task.files) - set(SPLITS):
        return f"files: unknown split {', '.join(sorted(unknown))}, expected {', '.join(SPLITS)}"
    if task.scored == UNSCORED and (task.answered_by is None or task.files["dev"] is not None):
        return f"scored: {UNSCORED} is for a task that another one answers and that has no dev file"
    if task.scored == DEV_OR_TEST and None in (task.files["dev"], task.files["test"]):
        return f"scored: {DEV_OR_TEST} is for a task with names of a dev file and a test file"
    if task.answered_by is None and task.files["train"] is None:
        return "files: a task needs a train file, or answered_by: a task whose head predicts it"
    if task.answered_by is not None and task.files["train"] is not None:
        return "answered_by: is for a task without training rows; set files: {train: null}"
    if task.files[task.scored_split] is None and (task.scored_split == "test" or task.answered_by is not None):
        return f"scored: scores are on {task.scored_split}, but the task has no {task.scored_split} file"
    return None


def _path_problem(task: Task) -> str | None:
    """The path or address in a task's declaration that is not safe to use, as "key: message", or None."""
    for key, name in [("folder", task.folder), *((f"files.{split}", name) for split, name in task.files.items())]:
        if name is not None and not all(map(is_inside, name.split(BESIDE))):
            return f"{key}: {name!r} must be a path below the data folder, without '..'"
    if task.source is not None and (problem := task.source.problem):
        return f"source.{problem}"
    for split, checksum in task.checksums.items():
        if split not in SPLITS:
            return f"checksums: unknown split {split}, expected {', '.join(SPLITS)}"
        if not re.fullmatch("sha256:[0-9a-f]{64}|git:[0-9a-f]{40}", checksum):
            form = "sha256: and 64 hexadecimal digits, or git: and a blob id's 40"
            return f"checksums.{split}: {checksum!r} must be {form}"
    if task.checksums and (task.source is None or not task.source.single_files):
        return "checksums: are of single files; the source's url has no {file}"
    return None
