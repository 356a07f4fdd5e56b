"""Which tasks have their files, and what is scored where some are missing."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mtl.base.errors import InputError
from mtl.tasks.suite import Suite
from mtl.tasks.task import DEV_OR_TEST, SPLITS, Task


def choose_scored(suite: Suite, data_dir: Path) -> Suite:
    """The suite with its tasks on `DEV_OR_TEST` scored on dev if the dev file is there, else on test, with dev rows that are held out of train. Where
    the suite allows missing files, a task that has others, but not its test file, has no test rows. Everything that reads data takes this suite."""
    tasks = dict(suite.tasks)
    for id, task in suite.tasks.items():
        chosen = task
        if task.scored == DEV_OR_TEST and present_splits(task, data_dir, ["dev"]):
            chosen = replace(task, scored="dev")
        elif task.scored == DEV_OR_TEST:
            chosen = replace(task, scored="test", files={**task.files, "dev": None})
        if suite.allow_missing and chosen.scored_split != "test":
            present = present_splits(chosen, data_dir)
            if present and "test" not in present and chosen.file("test") is not None:
                chosen = replace(chosen, files={**chosen.files, "test": None})
        tasks[id] = chosen
    return replace(suite, tasks=tasks)


def present_splits(task: Task, data_dir: Path, splits: Sequence[str] = SPLITS) -> list[str]:
    """Those of these splits of a task whose first file is there."""
    return [split for split in splits if (path := task.path(split, data_dir)) and path.is_file()]


def missing_tasks(suite: Suite, data_dir: Path) -> dict[str, Path]:
    """The ids of the suite's tasks with a missing file, each with the path of the first missing file."""
    missing: dict[str, Path] = {}
    for id, task in suite.tasks.items():
        for split in SPLITS:
            paths = [task.path(split, data_dir), task.layout(split, data_dir).beside]
            if absent := [path for path in paths if path is not None and not path.is_file()]:
                missing.setdefault(id, absent[0])
    return missing


def check_present(suite: Suite, tasks: Sequence[Task], data_dir: Path) -> None:
    """Raise InputError, with advice, unless every file of these tasks exists."""
    missing = missing_tasks(suite, data_dir)
    lacking = [suite.tasks[task.id] for task in tasks if task.id in missing]
    if not lacking:
        return
    if all(task.withdrawn and task.hub is None for task in lacking):
        remedy = "the publisher has withdrawn this data: put it there if you have it"
    elif any(task.source or task.hub for task in lacking):
        remedy = f"fetch it with: mtl data {suite.name}"
    else:
        remedy = "put it there, set data_dir=, or, if the task has no dev or test file, write files: {dev: null} in the suite file"
    if present := [task.id for task in tasks if not {task.id, task.answered_by or task.id} & set(missing)]:
        remedy += f"; or run the tasks that have their files: tasks=[{','.join(present)}]"
    problem = f"no such file; tasks of suite {suite.name} without their files: {', '.join(task.id for task in lacking)}"
    raise InputError(f"{problem}; {remedy}", path=missing[lacking[0].id])


def present_tasks(suite: Suite, data_dir: Path) -> list[Task]:
    """The tasks of the suite that have all their files."""
    missing = missing_tasks(suite, data_dir)
    return [task for id, task in suite.tasks.items() if id not in missing]
