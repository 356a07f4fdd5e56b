"""What the modules of `mtl init-suite` share: a task as it is guessed, and how messages show names and numbers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from mtl.base.wording import listed
from mtl.tasks.task import BESIDE, PART

ID = "an id"  # why a column is not read
GIVEN = "as given"  # why a key that the user names is taken
LONGEST = 40  # characters of a name or a label in a message


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


def quoted(name: str) -> str:
    """A name in quotes, cut to LONGEST characters; line ends and other characters that do not print are escaped."""
    return f'"{printable(name if len(name) <= LONGEST else name[:LONGEST] + "…")}"'


def printable(text: str) -> str:
    """The text with an escape for each character that does not print, as "\\n" for a line end."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def quoted_names(names: Iterable[str], most: int = 20) -> str:
    """Names in quotes, set apart by commas; of more than `most` names the first ones."""
    return listed(list(map(quoted, names)), most)


def count(number: int, noun: str) -> str:
    """A number and a noun, as in "15,794 rows" or "1 row"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share(part: float, total: float) -> str:
    """A share in per cent, as in "12 %"."""
    return f"{100 * part / total:.0f} %"
