"""The keys of tasks that the user states, and that need no guess: `tasks.TASK.KEY=VALUE` in the command line, or a dictionary in Python."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from mtl.base.errors import InputError
from mtl.base.settings.layers import merge, nested
from mtl.base.typed import check_known, typed
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.guess import KEYS, Guess, TaskKeys
from mtl.benchmark_making.init_suite.suite_guess import SuiteGuess
from mtl.benchmark_making.init_suite.tables import FileTable
from mtl.benchmark_making.init_suite.wording import quoted, quoted_names
from mtl.jobs.job import parse_settings
from mtl.tasks.layout import Reading
from mtl.tasks.suite import suite_from
from mtl.tasks.task import SPLITS, Task

KeysByTask = Mapping[str, TaskKeys]  # by task id, keys of the suite file
LISTS = ("text", "labels", "candidates", "indices", "also")  # keys with a list, for which one text may stand
READ_FROM_FILES = ("rows", "hub")  # keys that no answer sets: the files and their place on the Hub say them
MOST_IDS = 20  # of tasks in a message
SECTIONS = {"files": SPLITS, "reading": [field.name for field in fields(Reading)]}
INNER_KEYS = "|".join(rf"{section}\.{key}" for section, keys in SECTIONS.items() for key in keys)
ANSWER_NAME = re.compile(rf"tasks\.(.+?)\.({INNER_KEYS}|[^.]+)")  # an id may have dots


def parse_answers(answers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The keys of tasks that answers such as `tasks.d.target=stance` name, by task id. Raises InputError for another form."""
    known_by_task: dict[str, dict[str, Any]] = {}
    for name, value in parse_settings(answers).items():
        match = ANSWER_NAME.fullmatch(name)
        if match is None:
            raise InputError(f"{name}: is no answer; write tasks.TASK.KEY=VALUE, as in tasks.reviews.target=stars")
        id, key = match.groups()
        merge(known_by_task.setdefault(id, {}), nested(key, value))
    return known_by_task


def checked_keys(known_by_task: KeysByTask, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The known keys of the tasks with these ids, with a list for one text where a suite file has a list. Raises InputError for bad ids and keys."""
    if unknown := known_by_task.keys() - set(ids):
        raise InputError(f"no such task; there are {listed(ids, MOST_IDS)}", key=f"tasks.{min(unknown)}")
    return {id: _checked_task_keys(id, keys) for id, keys in known_by_task.items()}


def _checked_task_keys(id: str, keys: TaskKeys) -> dict[str, Any]:
    for key, value in keys.items():
        if key not in KEYS or key in READ_FROM_FILES:
            raise InputError("not a key that is known here", key=f"tasks.{id}.{key}")
        if key in LISTS and value is None:
            raise InputError("must be a list", key=f"tasks.{id}.{key}")
    checked = {key: [value] if key in LISTS and isinstance(value, str) else value for key, value in keys.items()}
    # `header: true` answers that there is a header line; a suite file has the names of columns there.
    declared = {key: value for key, value in checked.items() if not (key == "header" and value is True)}
    # This task only raises the errors of the known values. Placeholders stand for keys that are still to be guessed.
    task = typed(Task, {"text": [], "target": "", "metric": "accuracy", **declared}, f"tasks.{id}")
    check_known(task.files, SPLITS, f"tasks.{id}.files.")
    if task.reading is not None and task.reading.problem:
        raise InputError(task.reading.problem, key=f"tasks.{id}.reading")
    return checked


def check_columns(known: TaskKeys, guess: Guess, main: FileTable) -> None:
    """Raise InputError, which lists what there is, for known columns that the file lacks, and for a text that is the target."""
    # These columns are taken as they are; those of the target and the texts were looked up where they were guessed.
    for name in [known.get("group"), *(known.get("candidates") or ()), known.get("starts")]:
        if name is not None:
            main.readable_column(name)
    if guess.keys["target"] in guess.keys["text"]:
        raise InputError(f"text: {quoted(guess.keys['target'])} is the target: {main.listed}")


def check_labels(known: TaskKeys, guess: Guess, main: FileTable) -> None:
    """Raise InputError, which lists what there is, if the labels lack one of the file, or a known positive label."""
    target = main.columns[guess.keys["target"]]
    if guess.kind != "labels" or target.labels:  # a target with names of labels holds numbers, which stand for these
        return
    labels = [str(label) for label in guess.keys["labels"]]
    if lacking := [label for label in target.counts if label not in labels]:
        in_file = quoted_names(sorted(target.counts))
        raise InputError(f"labels: {quoted(lacking[0])} is not among them; {quoted(target.name)} has {in_file}")
    if known.get("positive") is not None and str(known["positive"]) not in labels:
        raise InputError(f"positive: must be one of {quoted_names(labels)}")


def check_tasks(suite: SuiteGuess, known_by_task: KeysByTask) -> None:
    """Raise InputError if a task with known keys has a problem, for which it cannot be declared, or a fault as a task of a suite file."""
    tasks = {task.id: task for task in suite.tasks}
    for id in known_by_task:
        task = tasks[id]
        if task.problem is not None:
            raise InputError(task.problem, key=f"tasks.{id}")
        answering = tasks.get(task.keys.get("answered_by") or "")
        # Without the answering task, the suite would have another fault: no such task.
        declared = [task] if answering is None or answering.problem is not None else [task, answering]
        try:
            suite_from({"name": suite.name, "tasks": {task.id: task.values for task in declared}}, suite.path)
        except InputError as error:
            raise error.located(path="") from None  # the suite file is not yet written
