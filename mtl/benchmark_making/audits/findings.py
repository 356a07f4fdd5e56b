"""Findings about the rows of one split: damaged or repeated texts, repeated ids, conflicting or missing targets.

A cell can be damaged by CSV quoting, a spreadsheet, a wrong encoding, escapes, or characters that are not text.
"""

import html
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.wording import counted
from mtl.data.examples import Example
from mtl.data.records import Value, column_names, read_records
from mtl.submissions.lines import ID
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

# UTF-8 text that was read in an older European encoding: 'ł' looks like 'Ĺ‚' (cp1250) or 'Å‚' (cp1252). Only frequent letters
# and signs are searched for: other pairs of non-ASCII characters can be valid UTF-8 by chance, such as 'ÓŁ' in 'OGÓŁEM'.
COMMON = "ąćęłńóśźżĄĆĘŁŃÓŚŹŻäöüßÄÖÜåÅæøéèêëáàâíîïñçúôőűčďěňřšťůýžČŘŠŽ–—‘’‚“”„…•€\xa0«»°§"
OLD_ENCODINGS = ("cp1250", "cp1252", "iso8859-1", "iso8859-2")
DAMAGED = {
    form
    for sign in COMMON
    for encoding in OLD_ENCODINGS
    if len(form := sign.encode().decode(encoding, "ignore")) == len(sign.encode())
}
LOST = "a letter or a sign is lost, often since the text was read in a wrong encoding"
# What a wrong conversion leaves in a text: the kind of the finding, what is searched for (the first group, if there is one), and what is said.
OLD = f"(?=[{''.join({form[0] for form in DAMAGED})}])(?:{'|'.join(sorted(DAMAGED, key=len, reverse=True))})"
ERROR = r"\A\s*(#(?:NAME\?|REF!|VALUE!|DIV/0!|N/A|NUM!|NULL!))\s*\Z"
NAN = r"\A\s*(nan|NaN|<NA>)\s*\Z"
ESCAPE = r"""\\(?:[nr"']|u[0-9a-fA-F]{4})|&(?:#[0-9]+|#x[0-9a-fA-F]+|[A-Za-z]{2,8});"""
CONVERSIONS = (
    ("control", "[\x00-\x1f\x7f-\x9f\ufeff]", "a control character, such as {}", LOST),
    ("replacement", "\ufffd", "the sign for a lost character, such as {}", "the word around it is lost"),
    ("encoding", OLD, "UTF-8 that was read in another encoding, such as {}", "no embeddings know such words"),
    ("spreadsheet", ERROR, "a spreadsheet's error instead of a text, {}", "the text is lost"),
    ("nan", NAN, "the sign for a missing value instead of a text, {}", "a program that wrote the file lost the text"),
    ("escapes", ESCAPE, "escapes of another format, such as {}", "a run reads them as words or parts of words"),
)
HELD_OUT = "dev (held out)"  # the split of rows of train that no dev file has
SHOWN = 3  # line numbers that a finding names
EXCERPT = 40  # characters of a text that a finding quotes
WRAPPED_SHARE = (
    0.5  # of a column's cells: if more are wrapped, all of them count as quoted, since a column of quotations is rare
)


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
    """The rows of one split and the file that they come from (a path relative to the data folder)."""

    task: Task
    split: str
    file: str
    rows: list[Example]

    @cached_property
    def keys(self) -> list[tuple[str, ...]]:
        """Each row's texts in a form for comparison; the empty tuple for rows with a blank text, which are a finding of their own."""
        keys = [tuple(plain(text) for text in row.texts) for row in self.rows]
        return [key if all(key) else () for key in keys]

    @cached_property
    def lines(self) -> dict[tuple[str, ...], list[Example]]:
        """The rows by their key, without rows that have a blank text."""
        by_key: dict[tuple[str, ...], list[Example]] = defaultdict(list)
        for key, row in zip(self.keys, self.rows, strict=True):
            if key:
                by_key[key].append(row)
        return by_key

    @cached_property
    def groups(self) -> list[list[Example]]:
        """The rows by their texts and spans, without rows that have a blank text."""
        groups: dict[object, list[Example]] = defaultdict(list)
        for key, rows in self.lines.items():
            for row in rows:
                groups[key, row.spans].append(row)
        return list(groups.values())

    def marked(self, row: Example) -> list[str]:
        """The marked words, in the order of the alphabet: the same texts ask another question where another word is marked."""
        spans = zip(self.task.marked, row.spans, strict=True)
        return sorted(row.texts[side][start:stop].casefold() for (side, _), (start, stop) in spans)

    def where(self, rows: Iterable[Example]) -> str:
        """`file:line, line, …` of the first of these rows."""
        return places(self.file, [str(row.line) for row in islice(rows, SHOWN + 1)])

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
    """The readable files of a task by split, the rows of each split that training uses ("dev" may be held-out rows), and findings about files
    that are missing or cannot be read."""

    task: Task
    files: dict[str, Part]
    parts: dict[str, Part]
    findings: list[Finding]

    @property
    def shown(self) -> dict[str, Part]:
        """The files, and the rows that are held out as dev, in the order of a report."""
        parts = self.files | ({HELD_OUT: self.parts["dev"]} if "dev" in self.parts.keys() - self.files.keys() else {})
        return {split: parts[split] for split in ("train", "dev", HELD_OUT, "test") if split in parts}


def places(file: str, lines: Sequence[str], separator: str = ", ") -> str:
    """The first lines of a finding: `file:2, 5, 9, …`."""
    return f"{file}:{separator.join([*lines[:SHOWN], *(['…'] if len(lines) > SHOWN else [])])}"


def excerpt(text: str) -> str:
    """The beginning of a text, in quotes."""
    shown = plain(text)
    return f"“{shown if len(shown) <= EXCERPT else shown[:EXCERPT].rstrip() + '…'}”"


def located_below(error: InputError, folder: Path) -> str:
    """The line of an error with its path relative to the data folder."""
    return str(error if error.path is None else error.located(path=os.path.relpath(error.path, folder)))


def text_findings(part: Part) -> list[Finding]:
    """The findings about the texts alone."""
    rows = [row for row in part.rows if not all(map(str.strip, row.texts))]
    what = "an empty text, or one with only whitespace"
    blank = part.rows_finding("blank", rows, what, "a model has nothing to predict the target from")
    return [*blank, *quoting(part), *damaged_texts(part)]


def target_findings(part: Part) -> list[Finding]:
    """The findings about the texts together with their targets; without targets, only repeated texts."""
    return [*duplicates(part), *conflicts(part), *absent_targets(part)]


def quoting(part: Part) -> Iterator[Finding]:
    """Rows whose texts still have the quotation marks that a CSV writer added."""
    columns = list(zip_longest(*(row.texts for row in part.rows), fillvalue=""))  # rows of a choice differ in length
    all_quoted = [sum(map(is_wrapped, column)) > max(1, WRAPPED_SHARE * len(column)) for column in columns]

    def marks(row: Example) -> int:
        return sum(is_quoted(t) or (all_quoted[i] and is_wrapped(t)) for i, t in enumerate(row.texts))

    rows = [row for row in part.rows if marks(row)]
    count, marked = sum(map(marks, rows)), sum('"' in cell for column in columns for cell in column)
    cells = f"{count} of the {counted(marked, 'cell')} with quotation marks"
    what = f"the quotation marks of a CSV writer: {cells} are wrapped in them, with inner ones doubled"
    return part.rows_finding("quoting", rows, what, "a run reads the added marks as part of the text")


def damaged_texts(part: Part) -> Iterator[Finding]:
    """Rows whose texts contain characters that come from a wrong conversion, not from an author."""
    for kind, pattern, what, meaning in CONVERSIONS:
        hits = [(row, text, hit) for row in part.rows for text in row.texts if (hit := _first(pattern, text))]
        if rows := list(dict.fromkeys(row for row, _, _ in hits)):
            contain = part.rows_text(len(rows), "contain", "contains")
            shown = what.format(_around(*hits[0][1:]))
            yield part.finding(kind, len(rows), f"{contain} {shown}", meaning, part.where(rows))


def _first(pattern: str, text: str) -> str | None:
    """The first place that fits a pattern, but for what looks like an entity of HTML and is none."""
    hits = (match[match.lastindex or 0] for match in re.finditer(pattern, text))
    return next((hit for hit in hits if hit[0] != "&" or html.unescape(hit) != hit), None)


def _around(text: str, hit: str) -> str:
    """The word that contains the hit, in quotes, with unprintable characters escaped; of a long word, the part around the hit."""
    start = text.index(hit)
    before, after = text[:start].rpartition(" ")[2], text[start + len(hit) :].partition(" ")[0]
    word = f"{before[-EXCERPT // 2 :]}{hit}{after[: EXCERPT // 2]}"
    return f"“{''.join(c if c.isprintable() else ascii(c)[1:-1] for c in word)}”"


def duplicates(part: Part) -> Iterator[Finding]:
    """Rows that repeat an earlier row: the same texts and, if there are targets, the same target."""
    repeated: list[tuple[Example, Example]] = []  # a row, and the first that is like it
    for rows in part.groups:
        seen: dict[Target | None, Example] = {}
        for row in rows:
            if (first := seen.setdefault(row.target, row)) is not row:
                repeated.append((row, first))
    if repeated:
        example = repeated[0][0]
        alike = "texts and target" if example.target is not None else "texts"
        repeat = part.rows_text(len(repeated), "repeat", "repeats")
        what = f"{repeat} an earlier row ({alike}), such as {excerpt(example.texts[0])}"
        meaning = f"repeated rows count twice in {'training' if part.split == 'train' else 'the score'}"
        pairs = [f"{row.line} = {first.line}" for row, first in sorted(repeated, key=lambda pair: pair[0].line)]
        yield part.finding("duplicates", len(repeated), what, meaning, places(part.file, pairs))


def conflicts(part: Part) -> Iterator[Finding]:
    """The same texts with different targets."""
    groups = [rows for rows in part.groups if len({row.target for row in rows}) > 1]
    if not groups:
        return
    count, kind = sum(map(len, groups)), target_kind(part.task)
    texts = "text has" if len(groups) == 1 else "texts have"
    example = excerpt(groups[0][0].texts[0])
    what = f"{len(groups)} {texts} different targets, in {count} of {len(part.rows)} rows, such as {example}"
    lines = []
    for rows in groups:  # the first row of each target
        firsts = sorted({row.target: row for row in reversed(rows)}.values(), key=lambda row: row.line)
        lines.append(", ".join(f"{row.line} {'' if row.target is None else kind.show(row.target)}" for row in firsts))
    meaning = "no prediction is right for all of these rows"
    yield part.finding("conflicts", count, what, meaning, places(part.file, lines, "; "))


def id_findings(part: Part, data_dir: Path, ids: Sequence[str]) -> Iterator[Finding]:
    """Rows of dev or test with the id of an earlier row. `ids`: the columns that may hold ids, beside `ID`; the first that the file has does."""
    path, layout = data_dir / part.file, part.task.layout(part.split, data_dir)
    names = column_names(path, layout)
    column = next((name for name in (*ids, ID) if name in names and name != part.task.group), None)
    if column is None or part.split == "train":
        return
    first: dict[Value, int] = {}
    repeated = []
    for record in read_records(path, [], [column], layout=layout):
        (value,) = record.values
        if value is not None and (line := first.setdefault(value, record.line)) != record.line:
            repeated.append((f"{record.line} = {line}", value))
    if repeated:
        what = f"{part.rows_text(len(repeated), 'have', 'has')} the id of an earlier row, such as {column} {excerpt(str(repeated[0][1]))}"
        meaning = "mtl import cannot put predictions to these rows by their ids; give each row its own"
        yield part.finding("ids", len(repeated), what, meaning, places(part.file, [pair for pair, _ in repeated]))


def absent_targets(part: Part) -> Iterator[Finding]:
    """Labels that never occur, and numbers that are all the same."""
    values = {row.target for row in part.rows} - {None}
    if not values:
        return
    kind = target_kind(part.task)
    if absent := kind.absent(np.array(list(values), dtype=kind.dtype)):
        what = f"no row has the label{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
        meaning = "the score does not measure such rows"
        if part.split == "train":
            meaning = "a model cannot learn labels that it never sees"
        yield part.finding("labels", len(absent), what, meaning)
    elif len(values) == 1 and len(part.rows) > 1:
        yield part.finding("labels", 1, "all rows have the same target", "nothing can be learned or measured")
