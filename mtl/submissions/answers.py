"""What the answers of language models mean: for each task, a map from the spelling of an answer, whose white space at both ends and letter case do
not count, to a label. A label means itself, in any letter case, and an index of a choice as it is written, unless the map says otherwise."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.errors import InputError, locating
from mtl.base.untrusted_yaml import read_yaml_texts
from mtl.data.columns import text
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import Target, is_unknown
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MOST_SPELLINGS = 5000  # of all tasks

Labels = dict[str, dict[str, str]]  # the cell of the label that an answer means, by task id and spelling


def read_labels(path: Path, suite: Suite) -> Labels:
    """The content of a YAML file with a section for each task, in which yes and 1 are texts. Raises InputError as `check_labels` does."""
    with locating(path=path):
        return check_labels(read_yaml_texts(path, MOST_SPELLINGS), suite, "")


def check_labels(labels: Mapping[str, Any], suite: Suite, section: str = "labels.") -> Labels:
    """The map with its spellings in the form in which answers are compared. Raises InputError, which names the key after `section`, for an unknown
    task or label, a task whose answers mean themselves, and two spellings that differ in letter case alone and mean different labels."""
    checked: Labels = {}
    for id, spellings in labels.items():
        key = f"{section}{id}"
        if id not in suite.tasks:
            raise InputError(f"suite {suite.name} has no such task; it has {', '.join(suite.tasks)}", key=key)
        task = suite.tasks[id]
        if target_kind(task).wrong(None) is None:
            raise InputError(f"an answer of kind {task.kind} means itself; leave the task out", key=key)
        if not isinstance(spellings, Mapping):
            raise InputError('must map spellings to labels, as in {"yes": 1, "no": 0}', key=key)
        checked[id] = _checked_spellings(task, spellings, key)
    if sum(map(len, checked.values())) > MOST_SPELLINGS:
        raise InputError(f"has more than {MOST_SPELLINGS:,} spellings", key=section.strip("."))
    return checked


def _checked_spellings(task: Task, spellings: Mapping[Any, Any], key: str) -> dict[str, str]:
    """The cells of the labels of a task by spelling. Raises InputError, which names the spelling after `key`."""
    cells: dict[str, str] = {}
    for spelling, label in spellings.items():
        try:
            cell = _label_cell(task, spelling, label)
            if cells.setdefault(_folded(str(spelling)), cell) != cell:
                raise ValueError("stands twice, with different labels; letter case does not count")
        except ValueError as error:
            printable = spelling if str(spelling).isprintable() else ascii(spelling)
            raise InputError(str(error), key=f"{key}.{printable}") from None
    return cells


def _label_cell(task: Task, spelling: Any, label: Any) -> str:
    """The cell of a label. Raises ValueError for what is no spelling or no label."""
    if isinstance(spelling, bool) or not isinstance(spelling, str | int):
        raise ValueError("a spelling is a text; put it in quotes")
    if not str(spelling).isprintable() or "${" in str(spelling):
        raise ValueError("a spelling has only printable characters, and no '${'")
    kind = target_kind(task)
    return kind.format(kind.parse(text(label)))


def _folded(answer: str) -> str:
    return answer.strip().casefold()


def answer_targets(
    task: Task, spellings: Mapping[str, str], answers: Sequence[str], gold: np.ndarray, candidates: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """The targets (rows,) that answers mean by the task's `spellings` (`check_labels`), and how many answers fit no label (then `TargetKind.wrong`).
    `gold`, (rows,), has NaN or None where it is not known; `candidates`, int64 (rows,), has the number of candidates of each row of a choice."""
    kind, labels = target_kind(task), task.labels or []
    # Of labels that differ in letter case alone, only the exact spelling counts.
    label_counts = Counter(map(_folded, labels))
    meanings = {_folded(label): label for label in labels if label_counts[_folded(label)] == 1} | dict(spellings)
    targets, unfit = list[Target | None](), 0
    for row, answer in enumerate(answers):
        row_candidates = None if candidates is None else int(candidates[row])
        try:
            targets.append(kind.parse(meanings.get(_folded(answer), answer.strip()), row_candidates))
        except ValueError:  # it fits no label
            unfit += 1
            targets.append(kind.wrong(None if is_unknown(gold[row]) else gold[row], row_candidates))
    return np.array(targets, dtype=kind.dtype), unfit
