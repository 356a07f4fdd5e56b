"""The keys of tasks that the user states, and that need no guess: `tasks.TASK.KEY=VALUE` in the command line, or a dictionary in Python."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from mtl.base.errors import InputError
from mtl.base.typed import typed
from mtl.benchmark_making.init_suite.document import KEYS
from mtl.tasks.suite import suite_from
from mtl.tasks.task import Task

KeysByTask = Mapping[str, Mapping[str, Any]]  # by task id, keys of the suite file
LISTS = ("text", "labels", "candidates", "indices", "also")  # keys with a list, for which one text may stand
ANSWER = re.compile(rf"tasks\.(.+?)\.((?:reading|files)\..+|(?:{'|'.join(KEYS)}))")  # an id may have dots


def known_answers(answers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The keys of tasks that answers such as `tasks.d.target=stance` name, by task id. Raises InputError for another form."""
    known: dict[str, dict[str, Any]] = {}
    for answer in answers:
        name, equals, text = answer.partition("=")
        match = ANSWER.fullmatch(name) or re.fullmatch(r"tasks\.([^.]+)\.(.+)", name)  # else an unknown key
        if not (equals and match):
            raise InputError(f"{answer}: is no answer; write tasks.TASK.KEY=VALUE, as in tasks.reviews.target=stars")
        try:
            value = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):  # PyYAML raises all of these
            raise InputError("is no value as in YAML", key=name, value=text) from None
        id, key = match.groups()
        section, _, inner_key = key.partition(".")
        keys = known.setdefault(id, {})
        if inner_key:
            before = keys.get(section)
            value = {**(before if isinstance(before, dict) else {}), inner_key: value}
        keys[section] = value
    return known


def checked_keys(known: KeysByTask, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The known keys of the tasks with these ids, a list of one text for a text where a suite file has a list. Raises InputError for keys of other
    tasks, for keys that no suite file has, and for values that have another type there."""
    by_task: dict[str, dict[str, Any]] = {}
    for id, keys in known.items():
        if id not in ids:
            raise InputError(f"no such task; there are {', '.join(ids)}", key=f"tasks.{id}")
        for key, value in keys.items():
            if key not in KEYS or key in ("rows", "hub"):
                raise InputError("not a key that is known here", key=f"tasks.{id}.{key}")
            if key in LISTS and value is None:
                raise InputError("must be a list", key=f"tasks.{id}.{key}")
        by_task[id] = {
            key: [value] if key in LISTS and isinstance(value, str) else value for key, value in keys.items()
        }
        # `header: true` answers that there is a header line; a suite file has the names of columns there.
        declared = {key: value for key, value in by_task[id].items() if not (key == "header" and value is True)}
        task = typed(Task, {"text": [], "target": "", "metric": "accuracy", **declared}, f"tasks.{id}")
        if task.reading is not None and task.reading.problem:
            raise InputError(task.reading.problem, key=f"tasks.{id}.reading")
    return by_task


def check_tasks(document: str, path: Path, known: KeysByTask, problems: Mapping[str, str]) -> None:
    """Raise InputError if a task with known keys has a problem, for which it cannot be declared, or a fault in the suite file with this content."""
    if not known:
        return
    for id in known:
        if id in problems:
            raise InputError(problems[id], key=f"tasks.{id}")
    suite = yaml.safe_load(document)
    for task in suite["tasks"].values():
        task.pop("decide", None)  # there may be further questions
    try:
        suite_from(suite, path)
    except InputError as error:
        if any(f"tasks.{id}." in str(error) for id in known):  # else it is about another task
            raise error.located(path="") from None
