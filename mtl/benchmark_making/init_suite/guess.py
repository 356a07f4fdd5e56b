"""A task as it is guessed, with its id, and the files that tasks are found in."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from mtl.tasks.suite import AVERAGE

SCHEME = "hf://"  # before the name of a data set of the Hugging Face Hub
GIVEN = "as given"  # why a key that the user names is taken


@dataclass
class Guess:
    """A task as the suite file will declare it."""

    id: str
    folder: str  # of its files, below the data folder
    # By split, the names as a suite file has them: below the folder, two files joined by " + ", a part of a file after "#"; None: no such split.
    files: dict[str, str | None]
    rows: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    keys: dict[str, Any] = field(default_factory=dict)  # the other keys of the suite file
    why: dict[str, str] = field(default_factory=dict)  # by key, what the guess is based on
    # What the user has to decide, as "key: message", with the key of the answer: the suite does not run before.
    questions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what the user should know
    unread: dict[str, str] = field(default_factory=dict)  # by the name of a column that is not read, why
    problem: str | None = None  # why the task cannot be declared yet; a task with a problem becomes a comment

    @property
    def scored(self) -> str:
        """The split that is scored; without a dev file, dev is held out of train."""
        return str(self.keys.get("scored", "dev"))

    def declare(self, why: str, **keys: Any) -> None:
        """Set keys, and what all of them are based on."""
        self.keys |= keys
        self.why |= dict.fromkeys(keys, why)


@dataclass(frozen=True)
class FoundFiles:
    """The tasks below a data folder, and what else is there."""

    tasks: list[Guess]  # with their files alone, and what is to be said about these
    unused: list[str]  # data files that are named after no split, as paths below the data folder
    unreadable: list[str]  # files with a split in their name that no form reads


def task_id(name: str, others: Sequence[str]) -> str:
    """An id after a name, other than these; it can be used in file names."""
    base = file_name(name, "task")
    base = f"{base}-task" if base == AVERAGE else base
    return next(id for id in chain([base], (f"{base}-{number}" for number in count(2))) if id not in others)


def file_name(name: str, otherwise: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; `otherwise` if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or otherwise
