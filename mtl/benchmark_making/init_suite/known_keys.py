"""The keys of tasks that the user states, and that need no guess: `tasks.TASK.KEY=VALUE` in the command line, or a dictionary in Python."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from mtl.base.errors import InputError
from mtl.base.settings.layers import merge, nested
from mtl.base.typed import check_known, typed
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.suite_guess import KEYS, SuiteGuess, task_values
from mtl.jobs.job import parse_settings
from mtl.tasks.layout import Reading
from mtl.tasks.suite import suite_from
from mtl.tasks.task import SPLITS, Task

KeysByTask = Mapping[str, Mapping[str, Any]]  # by task id, keys of the suite file
LISTS = ("text", "labels", "candidates", "indices", "also")  # keys with a list, for which one text may stand
COUNTED = ("rows", "hub")  # keys that the files themselves say
MOST_IDS = 20  # of tasks in a message
SECTIONS = {"files": SPLITS, "reading": [field.name for field in fields(Reading)]}
INNER_KEYS = "|".join(rf"{section}\.{key}" for section, keys in SECTIONS.items() for key in keys)
ANSWER = re.compile(rf"tasks\.(.+?)\.({INNER_KEYS}|[^.]+)")  # an id may have dots


def known_answers(answers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The keys of tasks that answers such as `tasks.d.target=stance` name, by task id. Raises InputError for another form."""
    known: dict[str, dict[str, Any]] = {}
    for name, value in parse_settings(answers).items():
        match = ANSWER.fullmatch(name)
        if match is None:
            raise InputError(f"{name}: is no answer; write tasks.TASK.KEY=VALUE, as in tasks.reviews.target=stars")
        id, key = match.groups()
        merge(known.setdefault(id, {}), nested(key, value))
    return known


def checked_keys(known: KeysByTask, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The known keys of the tasks with these ids, a list of one text for a text where a suite file has a list. Raises InputError for keys of other
    tasks, for keys that no suite file has, and for values that have another type there."""
    if unknown := known.keys() - set(ids):
        raise InputError(f"no such task; there are {listed(ids, MOST_IDS)}", key=f"tasks.{min(unknown)}")
    return {id: _checked_keys(id, keys) for id, keys in known.items()}


def _checked_keys(id: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The known keys of one task, as in `checked_keys`."""
    for key, value in keys.items():
        if key not in KEYS or key in COUNTED:
            raise InputError("not a key that is known here", key=f"tasks.{id}.{key}")
        if key in LISTS and value is None:
            raise InputError("must be a list", key=f"tasks.{id}.{key}")
    checked = {key: [value] if key in LISTS and isinstance(value, str) else value for key, value in keys.items()}
    # `header: true` answers that there is a header line; a suite file has the names of columns there.
    declared = {key: value for key, value in checked.items() if not (key == "header" and value is True)}
    task = typed(Task, {"text": [], "target": "", "metric": "accuracy", **declared}, f"tasks.{id}")
    check_known(task.files, SPLITS, f"tasks.{id}.files.")
    if task.reading is not None and task.reading.problem:
        raise InputError(task.reading.problem, key=f"tasks.{id}.reading")
    return checked


def check_tasks(suite: SuiteGuess, known: KeysByTask) -> None:
    """Raise InputError if a task with known keys has a problem, for which it cannot be declared, or a fault as a task of a suite file."""
    tasks = {task.id: task for task in suite.tasks}
    for id in known:
        task = tasks[id]
        if task.problem is not None:
            raise InputError(task.problem, key=f"tasks.{id}")
        answering = tasks.get(task.keys.get("answered_by") or "")
        checked = [task] if answering is None or answering.problem is not None else [task, answering]
        try:
            suite_from({"name": suite.name, "tasks": {task.id: task_values(task) for task in checked}}, suite.path)
        except InputError as error:
            raise error.located(path="") from None
