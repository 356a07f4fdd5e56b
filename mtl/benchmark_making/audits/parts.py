"""What audits read and what they find: the rows of a task's files, split by split, and findings about them."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from mtl.base.errors import InputError
from mtl.data.examples import Example
from mtl.data.held_out import hold_out
from mtl.data.splits import read_split
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import Target
from mtl.tasks.task import SPLITS, Task

HELD_OUT = "dev (held out)"  # the split of rows of train that are used as dev
SHOWN = 3  # line numbers, or pairs of rows, that a finding names
EXCERPT = 40  # characters of a text that a finding quotes

Key = tuple[str, ...]  # the texts of a row, in a form for comparison


def is_wrapped(cell: str) -> bool:
    """Whether the cell begins and ends with a quotation mark."""
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def is_quoted(cell: str) -> bool:
    """Whether the cell looks like the output of a CSV writer, which turns 'a "b" c' into '"a ""b"" c"': wrapped, with inner quotation marks that are
    all doubled. A wrapped cell without inner marks may be an ordinary quotation."""
    inner = cell[1:-1]
    return is_wrapped(cell) and '"' in inner and '"' not in inner.replace('""', "")


def plain(cell: str) -> str:
    """The text in a form for comparison: without CSV quoting, with single spaces, and without whitespace at the ends."""
    text = cell[1:-1].replace('""', '"') if is_quoted(cell) else cell
    return " ".join(text.split())


def excerpt(text: str) -> str:
    """The beginning of a text, in quotes."""
    shown = plain(text)
    return f"“{shown if len(shown) <= EXCERPT else shown[:EXCERPT].rstrip() + '…'}”"


def file_lines(file: str, lines: Sequence[str], separator: str = ", ") -> str:
    """The first lines of a finding: `file:2, 5, 9, …`."""
    return f"{file}:{separator.join([*lines[:SHOWN], *(['…'] if len(lines) > SHOWN else [])])}"


@dataclass(frozen=True)
class Finding:
    """A problem in the data that may affect a score, and its consequence."""

    kind: str  # a fixed name, for scripts
    task: str
    split: str
    count: int  # the number of rows, or 1 if it is not about rows
    what: str
    meaning: str
    where: str = ""  # `file:line` of the first rows

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        return f"**{' '.join(filter(None, (self.task, self.split)))}**: {self.what}{where}; {self.meaning}."


@dataclass(frozen=True)
class Part:
    """The rows of one split."""

    task: Task
    split: str
    file: str  # that the rows come from, a path relative to the data folder
    rows: list[Example]

    @cached_property
    def keys(self) -> list[Key]:
        """The key of each row; the empty tuple for rows with a blank text, which are a finding of their own."""
        keys = [tuple(plain(text) for text in row.texts) for row in self.rows]
        return [key if all(key) else () for key in keys]

    @cached_property
    def rows_by_key(self) -> dict[Key, list[Example]]:
        """The rows by their key, without rows that have a blank text."""
        by_key: dict[Key, list[Example]] = defaultdict(list)
        for key, row in zip(self.keys, self.rows, strict=True):
            if key:
                by_key[key].append(row)
        return by_key

    @cached_property
    def equal_rows(self) -> list[list[Example]]:
        """The rows with the same texts and spans together, without rows that have a blank text."""
        groups: dict[object, list[Example]] = defaultdict(list)
        for key, rows in self.rows_by_key.items():
            for row in rows:
                groups[key, row.spans].append(row)
        return list(groups.values())

    def marked(self, row: Example) -> list[str]:
        """The marked words, in the order of the alphabet: the same texts ask another question where another word is marked."""
        spans = zip(self.task.marked, row.spans, strict=True)
        return sorted(row.texts[side][start:stop].casefold() for (side, _), (start, stop) in spans)

    def answer(self, row: Example) -> Target | None:
        """The row's target; of a choice the right candidate's text, which does not depend on the candidates' order."""
        if self.task.candidates is None or row.target is None:
            return row.target
        return plain(row.inputs[int(row.target)][-1])

    def where(self, rows: Iterable[Example]) -> str:
        """`file:line, line, …` of the first of these rows."""
        return file_lines(self.file, [str(row.line) for row in islice(rows, SHOWN + 1)])

    def finding(self, kind: str, count: int, what: str, meaning: str, where: str = "") -> Finding:
        """A finding in these rows."""
        return Finding(kind, self.task.id, self.split, count, what, meaning, where)

    def rows_text(self, count: int, many: str, single: str) -> str:
        """The subject and verb of a message: "3 of 40 rows have", "1 of 40 rows has"."""
        return f"{count} of {len(self.rows)} rows {single if count == 1 else many}"

    def rows_finding(self, kind: str, rows: Sequence[Example], what: str, meaning: str) -> Iterator[Finding]:
        """The finding that some rows have something, if there are any."""
        if rows:
            have = self.rows_text(len(rows), "have", "has")
            yield self.finding(kind, len(rows), f"{have} {what}", meaning, self.where(rows))


@dataclass(frozen=True)
class TaskFiles:
    """The files of a task that can be read, and findings about those that cannot."""

    task: Task
    files: dict[str, Part]  # by split
    parts: dict[str, Part]  # by split, the rows that training uses: dev may be held out of train
    findings: list[Finding]

    @property
    def shown(self) -> dict[str, Part]:
        """The files, and the rows that are held out as dev, in the order of a report."""
        parts = self.files | ({HELD_OUT: self.parts["dev"]} if "dev" in self.parts.keys() - self.files.keys() else {})
        return {split: parts[split] for split in ("train", "dev", HELD_OUT, "test") if split in parts}


def read_files(suite: Suite, task: Task, data_dir: Path, share: float) -> TaskFiles:
    """Read a task's files. Files that are missing or cannot be read give findings, as does train with too few rows to hold some out. `share`: of the
    rows of train, held out as dev if the suite names no dev file."""
    paths = {split: path for split in SPLITS if (path := task.path(split, data_dir))}
    absent = [split for split, path in paths.items() if not path.exists()]
    findings = [_missing(suite, task, absent, all_absent=len(absent) == len(paths))] if absent else []
    files: dict[str, Part] = {}
    for split in (split for split in paths if split not in absent):
        try:
            rows = read_split(task, paths[split], split, task.layout(split, data_dir))
            files[split] = Part(task, split, paths[split].relative_to(data_dir).as_posix(), rows)
        except InputError as error:
            meaning = "a run would stop here; the audit continues without this file"
            findings.append(Finding("unreadable", task.id, split, 1, located_below(error, data_dir), meaning))
    parts = dict(files)
    if task.files["dev"] is None and "train" in files:
        train = files["train"]
        remaining, held_out = hold_out(task, train.rows, share)
        if remaining and held_out:
            parts["train"] = replace(train, rows=remaining)
            parts["dev"] = replace(train, split=HELD_OUT, rows=held_out)
        else:
            what = f"too few groups of rows to hold out {share:.0%} for validation"
            findings.append(train.finding("unreadable", 1, what, "a run would stop here", train.file))
    return TaskFiles(task, files, parts, findings)


def _missing(suite: Suite, task: Task, splits: Sequence[str], all_absent: bool) -> Finding:
    """The finding that a task has no files of these splits, which may be all that it names."""
    names = ", ".join(f"{task.folder}/{task.files[split]}".lstrip("/") for split in splits)
    why = "its publisher has withdrawn the data; " if task.withdrawn else ""
    consequence = "leaves the task out" if all_absent and suite.allow_missing else "must leave the task out (tasks=)"
    what = f"{'all' if all_absent else 'some'} of its files are missing: {names}"
    return Finding("missing", task.id, "", 1, what, f"{why}a run {consequence}")


def located_below(error: InputError, folder: Path) -> str:
    """The line of an error with its path relative to the data folder."""
    return str(error if error.path is None else error.located(path=os.path.relpath(error.path, folder)))
