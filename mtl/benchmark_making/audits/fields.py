"""Fields of a file that are no input of a model and predict the target, such as a part of speech or a source."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mtl.base.errors import InputError
from mtl.benchmark_making.audits.parts import Finding, Part
from mtl.benchmark_making.audits.task_files import located_below
from mtl.data.records import Value, read_fields
from mtl.runs.rows import scored_rows
from mtl.tasks.metrics import metric_named, score
from mtl.tasks.scale import Scale
from mtl.tasks.target_kind import TargetKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

LEAST_REMOVED = 0.2  # of a constant answer's errors; on SweWiC, most published transformers remove less than a third
STANDARD_ERRORS = 3.0  # that the gain must be above 0: of the fields that an audit tries, one in 700 passes by chance
MOST_VALUES = 0.5  # distinct ones of a field, as a share of its rows; above it, a value occurs less than twice on average, as in a column of ids
FOLDS = 5

Field = Sequence[Value | None]  # its values, (rows,)


class FieldGuess(NamedTuple):
    targets: np.ndarray  # guessed for all rows, (rows,)
    removed: float  # the share of a constant answer's errors that the guesses remove


def field_findings(part: Part, data_dir: Path, scale: Scale) -> list[Finding]:
    """The finding that names all fields of the part's file from which the target can be guessed far better than by a constant answer."""
    task = part.task
    if any(row.target is None for row in part.rows) or len(part.rows) < 2 * FOLDS or target_kind(task).by_unit:
        return []  # a field of a row says nothing of single units
    try:
        fields = read_fields(data_dir / part.file, task.layout(part.split, data_dir))
    except InputError as error:  # a parquet file can be too large with all columns
        what = f"its further columns cannot be read: {located_below(error, data_dir)}"
        return [part.new_finding("unreadable", 1, what, "the audit cannot tell whether they predict the target")]
    targets, groups = scored_rows(task, part.rows).targets, [row.group for row in part.rows]
    guesses: dict[str, FieldGuess] = {}
    for name in non_inputs(task, list(fields)):
        if (guess := field_guess(task, fields[name], targets, groups)) is not None:
            guesses[name] = guess
    return [_fields_finding(part, guesses, scale)] if guesses else []


def _fields_finding(part: Part, guesses: Mapping[str, FieldGuess], scale: Scale) -> Finding:
    """The finding about the fields that predict the target, given by their names, with the score of each."""
    task, kind, rows = part.task, target_kind(part.task), scored_rows(part.task, part.rows)

    def show(answers: np.ndarray) -> str:
        return scale.show(score(task, answers, rows))

    constant = show(kind.repeat(kind.constants(rows.targets)[0], len(part.rows), rows.candidates))
    several = f"{len(guesses)} fields that are no input predict"
    subject = several if len(guesses) > 1 else "a field that is no input predicts"
    measure = f"{metric_named(task.metric).title}, and the share of a constant answer's errors that the field removes"
    best_first = sorted(guesses, key=lambda name: -guesses[name].removed)
    scores = ", ".join(f"{name} {show(guesses[name].targets)} ({guesses[name].removed:.0%})" for name in best_first)
    what = f"{subject} the target ({measure}): {scores}; a constant answer has {constant}"
    meaning = "a model must not read such a field, and one that infers it from the text need not solve the task"
    return part.new_finding("fields", len(guesses), what, meaning, part.file)


def non_inputs(task: Task, columns: Sequence[str]) -> list[str]:
    """The columns that hold neither a text of the task nor a marked span nor the target."""
    return [name for name in columns if name not in (*task.text_columns, *task.span_columns, *task.target_columns)]


def field_guess(task: Task, values: Field, targets: np.ndarray, groups: Sequence[str | None]) -> FieldGuess | None:
    """What a field tells of the targets. None if it is constant, has almost as many values as rows, or is hardly better than a constant answer."""
    if not 1 < len(set(values)) <= MOST_VALUES * len(values):
        return None
    kind = target_kind(task)
    guesses = _guesses_by_value(kind, values, targets, _folds(groups))
    # The constant answer knows all rows, so that the gain is not overstated where labels are equally frequent.
    errors = _errors(kind, np.full_like(targets, kind.constants(targets)[0]), targets)
    gains = errors - _errors(kind, guesses, targets)
    removed = gains.sum() / errors.sum() if errors.any() else 0.0
    if removed < LEAST_REMOVED or gains.mean() < STANDARD_ERRORS * gains.std() / np.sqrt(len(gains)):
        return None
    return FieldGuess(guesses, float(removed))


def _guesses_by_value(kind: TargetKind, values: Field, targets: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """A guess for each row, (rows,): the best constant answer of the rows of the other folds that have the same value, or of all their rows."""
    guesses = np.empty_like(targets)
    for fold in range(FOLDS):
        rows_by_value: dict[Value | None, list[int]] = defaultdict(list)
        for row in np.flatnonzero(folds != fold).tolist():
            rows_by_value[values[row]].append(row)
        overall = kind.constants(targets[folds != fold])[0]
        answers = {value: kind.constants(targets[rows])[0] for value, rows in rows_by_value.items()}
        for row in np.flatnonzero(folds == fold).tolist():
            guesses[row] = answers.get(values[row], overall)
    return guesses


def _errors(kind: TargetKind, answers: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The error of each answer, (rows,): the squared distance of numbers, or else whether it is wrong."""
    return (answers - targets) ** 2 if kind.estimator_type == "regressor" else (answers != targets).astype(np.float64)


def _folds(groups: Sequence[str | None]) -> np.ndarray:
    """The fold of each row, int64 (rows,). Groups, and rows without one, are dealt out at random: a group's rows share more than new rows would."""
    units = [row if group is None else group for row, group in enumerate(groups)]
    distinct = sorted(dict.fromkeys(units), key=lambda unit: isinstance(unit, int))  # rows without a group last
    folds = dict(zip(distinct, np.random.default_rng(0).permutation(len(distinct)) % FOLDS, strict=True))
    return np.array([folds[unit] for unit in units])
