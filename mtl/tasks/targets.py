"""The registry of target kinds; `mtl.tasks.target_kind` describes what each of them has."""

from mtl.base.errors import InputError
from mtl.base.wings import Registry
from mtl.tasks.kinds.choice import Choice
from mtl.tasks.kinds.labels import Labels
from mtl.tasks.kinds.number import Number
from mtl.tasks.kinds.text import Text, Word
from mtl.tasks.target_kind import TargetKind
from mtl.tasks.task import Task

# By the value of `kind` in a suite file.
_CORE = {"labels": Labels, "number": Number, "choice": Choice, "word": Word, "text": Text}
TARGET_KINDS: Registry[type[TargetKind]] = Registry(_CORE, "target_kinds")


def target_kind(task: Task) -> TargetKind:
    """The targets of the task. The task must have been checked, as `mtl.tasks.suite.load_suite` does."""
    return TARGET_KINDS[task.kind](task)


def one_label_kind(task: Task, what: str) -> Labels:
    """The targets of a task with one label for each example. Raises InputError for another task: it does not have `what`."""
    if not isinstance(kind := target_kind(task), Labels):
        raise InputError(f"only tasks with one label for each example have {what}", key="task", value=task.id)
    return kind


def names_of_kind(name: str) -> list[str]:
    """The name of a kind and of those that it is derived from."""
    base = TARGET_KINDS[name].derived_from
    return [name] if base is None else [name, *names_of_kind(base)]


def first_kind(name: str) -> str:
    """The name of the kind that a kind is derived from in the end: what its targets are; the name itself if it is derived from none."""
    return names_of_kind(name)[-1]
