"""A task as `mtl init-suite` guesses it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from mtl.tasks.task import BESIDE, PART

KEYS = (  # of a task, in the order in which they are written
    "reading", "header", "text", "spans", "candidates", "indices", "kind", "target", "starts", "labels", "label_separator", "range",
    "metric", "also", "positive", "group", "scored", "answered_by", "files", "rows", "license", "hub",
)  # fmt: skip
# Kinds of targets, as in a suite file.
MULTI_LABEL = "multi_label"  # several labels of a row
TOKEN_LABELS = "token_labels"  # a tag for each token of a text
ANSWER = "answer"  # answers that stand in a passage
WHY_ID = "an id"  # why a column is not read
WHY_GIVEN = "as given"  # why a key that the user names is taken

TaskKeys = Mapping[str, Any]  # keys of a task as a suite file has them, as those that the user states


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
        names = [name for files in self.files.values() if files for name in files.split(BESIDE)]
        return {PurePosixPath(self.folder, name.partition(PART)[0]).as_posix() for name in names}

    @property
    def scored(self) -> str:
        """The split that is scored; without a dev file, dev is held out of train."""
        return str(self.keys.get("scored", "dev"))

    @property
    def values(self) -> dict[str, Any]:
        """The values of the task by the keys of a suite file, in the order in which they are written."""
        declared = {"folder": self.folder, **self.keys, "files": self.files, "rows": self.rows}
        return {key: declared[key] for key in ("folder", *KEYS) if declared.get(key, "") != ""}

    def declare(self, why: str, **keys: Any) -> None:
        """Set keys, and what all of them are based on."""
        self.keys |= keys
        self.why |= dict.fromkeys(keys, why)
