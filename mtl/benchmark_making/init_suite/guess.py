"""A task as `mtl init-suite` guesses it."""

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from mtl.tasks.task import BESIDE, PART

WHY_ID = "an id"  # why a column is not read
WHY_GIVEN = "as given"  # why a key that the user names is taken


@dataclass
class Guess:
    """A task as the suite file will declare it."""

    id: str
    folder: str  # of its files, below the data folder
    files: dict[str, str | None]  # by split, as in "texts.txt + labels.txt" or "all.json#dev"; None: no such split
    rows: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    keys: dict[str, Any] = field(default_factory=dict)  # the other keys of the suite file
    why: dict[str, str] = field(default_factory=dict)  # by key, what the guess is based on
    questions: list[str] = field(default_factory=list)  # to decide before the suite runs, as "key: message"
    notes: list[str] = field(default_factory=list)  # what the user should know
    unread: dict[str, str] = field(default_factory=dict)  # by the name of a column that is not read, why
    problem: str | None = None  # why the task cannot be declared yet; a task with a problem becomes a comment

    @property
    def paths(self) -> set[str]:
        """The files as paths below the data folder; of numbered files the first."""
        names = [name.partition(PART)[0] for names in self.files.values() if names for name in names.split(BESIDE)]
        return {PurePosixPath(self.folder, name).as_posix() for name in names}

    @property
    def scored(self) -> str:
        """The split that is scored; without a dev file, dev is held out of train."""
        return str(self.keys.get("scored", "dev"))

    def declare(self, why: str, **keys: Any) -> None:
        """Set keys, and what all of them are based on."""
        self.keys |= keys
        self.why |= dict.fromkeys(keys, why)
