"""Fields of a file's rows that are no input of a model and predict the target, such as a part of speech or a source."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtl.audit.findings import Finding, Part
from mtl.data.records import Value, read_fields
from mtl.errors import InputError
from mtl.tasks.metrics import METRICS, score
from mtl.tasks.scored import ScoredRows
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

# The share of a constant answer's errors that a field must remove. A fifth is what separates good systems from poor ones on hard
# tasks: most of the published transformers on SweWiC remove less than a third.
LEAST_REMOVED = 0.2
# The gain must also be this many standard errors above 0. An audit tries dozens of fields, and at 3 one field in 700 passes by chance.
STANDARD_ERRORS = 3.0
# The values that a field may have, as a share of its rows. Above it, most values occur once, as in a column of ids.
MOST_VALUES = 0.5
FOLDS = 5


@dataclass(frozen=True)
class Guesses:
    """Cross-validated guesses from one field: targets (rows,), and the share of a constant answer's errors that they remove."""

    field: str
    targets: np.ndarray
    removed: float


def field_findings(part: Part, data_dir: Path) -> list[Finding]:
    """The fields of the part's file from which the target can be guessed far better than by a constant answer.

    One finding names all of them. A part without targets has none.
    """
    if any(row.target is None for row in part.rows) or len(part.rows) < 2 * FOLDS:
        return []
    kind = target_kind(part.task)
    targets = np.array([row.target for row in part.rows], dtype=kind.dtype)
    try:
        fields = read_fields(data_dir / part.file)
    except InputError as error:  # a parquet file can be too large with all columns
        what = f"its further columns cannot be read: {str(error).replace(f'{data_dir}/', '')}"
        return [part.finding("unreadable", 1, what, "the audit cannot tell whether they predict the target")]
    found = [
        guesses
        for name in non_inputs(part.task, list(fields))
        if (guesses := guess(part.task, name, fields[name], targets))
    ]
    return [_finding(part, targets, sorted(found, key=lambda guesses: -guesses.removed))] if found else []


def _finding(part: Part, targets: np.ndarray, found: Sequence[Guesses]) -> Finding:
    """One finding for all fields. targets: of the part's rows, (rows,)."""
    task, kind, rows = part.task, target_kind(part.task), _scored_rows(part, targets)
    constant = kind.repeat(kind.constants(targets)[0], len(targets), rows.candidates)
    subject = "a field that is no input predicts"
    if len(found) > 1:
        subject = f"{len(found)} fields that are no input predict"
    shown = ", ".join(f"{of.field} {score(task, of.targets, rows):.1f} ({of.removed:.0%})" for of in found)
    what = (
        f"{subject} the target ({METRICS[task.metric].title}, and the share of a constant answer's errors that the field removes):"
        f" {shown}; a constant answer has {score(task, constant, rows):.1f}"
    )
    meaning = "a model must not read such a field, and one that infers it from the text need not solve the task"
    return part.finding("fields", len(found), what, meaning, part.file)


def non_inputs(task: Task, columns: Sequence[str]) -> list[str]:
    """The columns that hold neither a text of the task nor a marked span nor the target."""
    return [name for name in columns if name not in (*task.text_columns, *task.span_columns, task.target)]


def guess(task: Task, field: str, values: Sequence[Value | None], targets: np.ndarray) -> Guesses | None:
    """Guess each row's target from the rows of the other folds with the same value in this field.

    The guess is the best constant answer of those rows; of all rows of the other folds if no row has the value. values: of the
    field, one per row. targets: (rows,). Returns None for a field that is constant, that has almost as many values as rows, or that
    predicts the target hardly better than the best constant answer.
    """
    if not 1 < len(set(values)) <= MOST_VALUES * len(values):
        return None
    kind = target_kind(task)
    guessed = np.empty_like(targets)
    folds = np.random.default_rng(0).permutation(len(values)) % FOLDS
    for fold in range(FOLDS):
        others: dict[Value | None, list[int]] = defaultdict(list)
        for row in np.flatnonzero(folds != fold).tolist():
            others[values[row]].append(row)
        overall = kind.constants(targets[folds != fold])[0]
        answers = {value: kind.constants(targets[rows])[0] for value, rows in others.items()}
        for row in np.flatnonzero(folds == fold).tolist():
            guessed[row] = answers.get(values[row], overall)
    # The constant answer knows all rows, so that the gain is not overstated where labels are equally frequent.
    constant = np.full_like(targets, kind.constants(targets)[0])
    before, after = _errors(task, constant, targets), _errors(task, guessed, targets)
    gains = before - after
    removed = gains.sum() / before.sum() if before.any() else 0.0
    if removed < LEAST_REMOVED or gains.mean() < STANDARD_ERRORS * gains.std() / np.sqrt(len(gains)):
        return None
    return Guesses(field, guessed, float(removed))


def _errors(task: Task, predicted: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Each row's error, float64 (rows,): squared for numbers, else 1 for a wrong answer."""
    if target_kind(task).estimator == "regressor":
        return (predicted - targets) ** 2
    return (predicted != targets).astype(np.float64)


def _scored_rows(part: Part, targets: np.ndarray) -> ScoredRows:
    candidates = None if part.task.candidates is None else np.array([len(row.inputs) for row in part.rows])
    names = part.task.columns or []
    columns = {name: [row.columns[place] for row in part.rows] for place, name in enumerate(names)}
    return ScoredRows(targets, candidates, columns)
