"""The interface of a submission format."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtl.runs.folder import RunFolder
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


@dataclass(frozen=True)
class Submitted:
    """What the submission of one seed is made from: its files of predictions, the data, and what is known of the system.

    tasks: of the run. facts: by name, see `mtl.runs.formats.entry.FACTS`.
    """

    folder: RunFolder
    seed: int
    suite: Suite
    tasks: Sequence[Task]
    data_dir: Path
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Checked:
    """A submission that was compared with data, one line each: what is wrong with it, as "file:line: message"; what keeps it from being
    submitted, as rows that are not official (remarks); what its user should know beside that (notes)."""

    problems: list[str]
    remarks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SubmissionFormat:
    """One format: an entry of `mtl.runs.formats.FORMATS`.

    write: writes a seed's submission; returns what its user should know, one line each. check: compares a submission, zipped or as a
    folder, with the suite and a data folder; raises InputError for files that cannot be read. problem: the error in the suite's
    declaration, as "key: message", or None.
    """

    write: Callable[[Submitted], list[str]]
    check: Callable[[Path, Suite, Path], Checked]
    problem: Callable[[Suite], str | None] = lambda suite: None
