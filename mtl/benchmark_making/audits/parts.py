"""What audits check and what they find: the rows of one split, and a finding about them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from mtl.benchmark_making.audits.cells import plain
from mtl.data.examples import Example
from mtl.tasks.target_kind import Target
from mtl.tasks.task import Task

MOST_NAMED = 3  # line numbers, or pairs of rows, that a finding names

Key = tuple[str, ...]  # the texts of a row, in a form for comparison


def file_lines(file: str, lines: Sequence[str], separator: str = ", ") -> str:
    """A file with the first of the lines that a finding is about: `file:2, 5, 9, …`."""
    more = ["…"] if len(lines) > MOST_NAMED else []
    return f"{file}:{separator.join([*lines[:MOST_NAMED], *more])}"


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
        subject = f"{self.task} {self.split}".rstrip()
        where = f" ({self.where})" if self.where else ""
        return f"**{subject}**: {self.what}{where}; {self.meaning}."


@dataclass(frozen=True)
class Part:
    """The rows of one split of a task that come from one file, and the findings about them."""

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

    def first_lines(self, rows: Iterable[Example]) -> str:
        """`file:line, line, …` of the first of these rows."""
        return file_lines(self.file, [str(row.line) for row in islice(rows, MOST_NAMED + 1)])

    def new_finding(self, kind: str, count: int, what: str, meaning: str, where: str = "") -> Finding:
        return Finding(kind, self.task.id, self.split, count, what, meaning, where)

    def count_with_verb(self, count: int, plural: str, singular: str) -> str:
        """The subject and verb of a message: "3 of 40 rows have", "1 of 40 rows has"."""
        return f"{count} of {len(self.rows)} rows {singular if count == 1 else plural}"

    def finding_if_any(self, kind: str, rows: Sequence[Example], what: str, meaning: str) -> Iterator[Finding]:
        if rows:
            have = self.count_with_verb(len(rows), "have", "has")
            yield self.new_finding(kind, len(rows), f"{have} {what}", meaning, self.first_lines(rows))
