"""What is wrong with the rows of one split: plain functions, rows in, findings out."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest

import numpy as np

from mtl.audit.cells import (
    control_character,
    damage,
    escape,
    is_blank,
    is_half_quoted,
    is_quoted,
    is_wrapped,
    plain,
    spreadsheet_error,
)
from mtl.data.examples import Example
from mtl.tasks.targets import Target, target_kind
from mtl.tasks.task import Task

SHOWN = 3  # places that a finding names: enough to look the matter up
EXCERPT = 40  # characters of a text that a finding quotes
# A column of quotations is rare, and a writer that quotes every cell leaves no inner mark where the text has none.
WRAPPED_SHARE = 0.5


@dataclass(frozen=True)
class Finding:
    """Something that a careful author would want to know before believing a score.

    kind: a word for scripts. count: how many rows, or 1 where it is not about rows. where: `file:line` of the first ones.
    """

    kind: str
    task: str
    split: str
    count: int
    what: str
    meaning: str
    where: str = ""

    def __str__(self) -> str:
        where = f" ({self.where})" if self.where else ""
        return f"**{' '.join(filter(None, (self.task, self.split)))}**: {self.what}{where}; {self.meaning}."


@dataclass(frozen=True)
class Part:
    """The rows of one split and the file that they stand in, named below the data folder."""

    task: Task
    split: str
    file: str
    rows: list[Example]

    @cached_property
    def keys(self) -> list[tuple[str, ...]]:
        """Each row's texts for comparing; the empty tuple where one of them is blank: such rows are found as blank."""
        keys = [tuple(plain(text) for text in row.texts) for row in self.rows]
        return [key if all(key) else () for key in keys]

    @cached_property
    def lines(self) -> dict[tuple[str, ...], list[Example]]:
        """The rows by their texts, without blank ones."""
        by_key: dict[tuple[str, ...], list[Example]] = defaultdict(list)
        for key, row in zip(self.keys, self.rows, strict=True):
            if key:
                by_key[key].append(row)
        return by_key

    def where(self, rows: Iterable[Example]) -> str:
        """`file:line, line, …` of the first of these rows."""
        return places(self.file, [str(row.line) for row in islice(rows, SHOWN + 1)])

    def finding(self, kind: str, count: int, what: str, meaning: str, where: str = "") -> Finding:
        return Finding(kind, self.task.id, self.split, count, what, meaning, where)

    def of(self, count: int, many: str, one: str) -> str:
        """ "3 of 40 rows hold", "1 of 40 rows holds" """
        return f"{count} of {len(self.rows)} rows {one if count == 1 else many}"


def places(file: str, lines: Sequence[str], separator: str = ", ") -> str:
    """`file:2, 5, 9, …`."""
    return f"{file}:{separator.join([*lines[:SHOWN], *(['…'] if len(lines) > SHOWN else [])])}"


def excerpt(text: str) -> str:
    """The beginning of a text, in quotes."""
    shown = plain(text)
    return f"“{shown if len(shown) <= EXCERPT else shown[:EXCERPT].rstrip() + '…'}”"


def text_findings(part: Part) -> list[Finding]:
    """What the texts alone show."""
    found = [blank(part), quoting(part), half_quoting(part), *foreign(part), *constant_columns(part)]
    return [finding for finding in found if finding]


def target_findings(part: Part) -> list[Finding]:
    """What the texts show together with their targets; in a test file, what repeats."""
    found = [duplicates(part), conflicts(part), *targets(part)]
    return [finding for finding in found if finding]


def blank(part: Part) -> Finding | None:
    rows = [row for row in part.rows if any(map(is_blank, row.texts))]
    if not rows:
        return None
    what = part.of(len(rows), "have an empty text", "has an empty text") + ", or one of whitespace alone"
    return part.finding("blank", len(rows), what, "there is nothing to predict a target from", part.where(rows))


def quoting(part: Part) -> Finding | None:
    """Rows that a quoting CSV writer left its marks on."""
    columns = list(
        zip_longest(*(row.texts for row in part.rows), fillvalue="")
    )  # rows of a choice may differ in length
    all_quoted = [sum(map(is_wrapped, column)) > max(1, WRAPPED_SHARE * len(column)) for column in columns]

    def marks(row: Example) -> int:
        return sum(is_quoted(t) or (all_quoted[i] and is_wrapped(t)) for i, t in enumerate(row.texts))

    rows = [row for row in part.rows if marks(row)]
    if not rows:
        return None
    count, marked = sum(map(marks, rows)), sum('"' in cell for column in columns for cell in column)
    cells = f"{count} cell is" if count == 1 else f"{count} cells are"
    share = "as is every cell that has one" if count == marked else f"of {marked} cells that have one"
    what = (
        f"{part.of(len(rows), 'carry', 'carries')} the marks of a quoting CSV writer:"
        f" {cells} wrapped in quote marks, inner ones doubled, {share}"
    )
    meaning = "the added marks are read as part of the text"
    return part.finding("quoting", len(rows), what, meaning, part.where(rows))


def half_quoting(part: Part) -> Finding | None:
    rows = [row for row in part.rows if any(map(is_half_quoted, row.texts))]
    if not rows:
        return None
    what = (
        f"{part.of(len(rows), 'have', 'has')} a cell with doubled quote marks inside and one more at one end only,"
        " as if a quoted cell was torn apart"
    )
    return part.finding("half-quoting", len(rows), what, "part of the text may be lost", part.where(rows))


def foreign(part: Part) -> list[Finding]:
    """Rows whose texts hold what no author wrote."""
    found = [
        _holding(
            part, "control", control_character, "a control character, as {}", "a letter was lost, and its word with it"
        ),
        _holding(part, "replacement", _replacement, "the sign for a lost character, as {}", "a word is lost with each"),
        _holding(
            part, "encoding", damage, "UTF-8 that was read in another encoding, as {}", "no embeddings know such words"
        ),
        _holding(
            part, "spreadsheet", spreadsheet_error, "a spreadsheet's error in place of a text, {}", "the text is lost"
        ),
        _holding(
            part, "escapes", escape, "escapes of another format, as {}", "they are read as words, or glued to words"
        ),
    ]
    return [finding for finding in found if finding]


def _holding(part: Part, kind: str, find: Callable[[str], str | None], what: str, meaning: str) -> Finding | None:
    """Rows in one of whose texts something is found. what: with a place for the word around the first."""
    hits = [(row, text, hit) for row in part.rows for text in row.texts if (hit := find(text)) is not None]
    if not hits:
        return None
    rows = list(dict.fromkeys(row for row, _, _ in hits))
    _, text, hit = hits[0]
    holds = part.of(len(rows), "hold", "holds")
    return part.finding(kind, len(rows), f"{holds} {what.format(_around(text, hit))}", meaning, part.where(rows))


def _replacement(cell: str) -> str | None:
    return "\ufffd" if "\ufffd" in cell else None


def _around(text: str, hit: str) -> str:
    """The word that holds what was found, with what cannot be printed escaped; a long word's part around it."""
    start = text.index(hit)
    before, after = text[:start].rpartition(" ")[2], text[start + len(hit) :].partition(" ")[0]
    word = f"{before[-EXCERPT // 2 :]}{hit}{after[: EXCERPT // 2]}"
    return f"“{''.join(c if c.isprintable() else ascii(c)[1:-1] for c in word)}”"


def constant_columns(part: Part) -> list[Finding]:
    found = []
    columns = zip(*(row.texts[: len(part.task.text)] for row in part.rows), strict=True)
    for column, cells in zip(part.task.text, columns, strict=True):
        if len(cells) > 1 and len(set(cells)) == 1 and not is_blank(cells[0]):
            what = f"column {column!r} holds the same text in all {len(cells)} rows, {excerpt(cells[0])}"
            found.append(part.finding("constant", len(cells), what, "it tells the rows apart in nothing"))
    return found


def duplicates(part: Part) -> Finding | None:
    """Rows that say again what an earlier row said: the same texts and, where there are targets, the same target."""
    again, firsts = [], []
    for rows in part.lines.values():
        seen: dict[Target | None, Example] = {}
        for row in rows:
            if row.target in seen:
                again.append(row)
                firsts.append(seen[row.target])
            else:
                seen[row.target] = row
    if not again:
        return None
    same = "texts and target" if again[0].target is not None else "texts"
    what = f"{part.of(len(again), 'repeat', 'repeats')} an earlier row ({same}), as {excerpt(again[0].texts[0])}"
    meaning = f"what is said twice weighs double in {'training' if part.split == 'train' else 'the score'}"
    pairs = [
        f"{row.line} = {first.line}"
        for row, first in sorted(zip(again, firsts, strict=True), key=lambda pair: pair[0].line)
    ]
    return part.finding("duplicates", len(again), what, meaning, places(part.file, pairs))


def conflicts(part: Part) -> Finding | None:
    """Texts that stand with different targets."""
    groups = [rows for rows in part.lines.values() if len({row.target for row in rows}) > 1]
    if not groups:
        return None
    count = sum(map(len, groups))
    stand = "text stands" if len(groups) == 1 else "texts stand"
    what = f"{len(groups)} {stand} with different targets, in {count} of {len(part.rows)} rows, as {excerpt(groups[0][0].texts[0])}"
    kind = target_kind(part.task)
    if distance := kind.distance([[row.target for row in rows if row.target is not None] for rows in groups]):
        what += f"; {distance}"
    meaning = "what is right for one row is wrong for another"
    ones = [{row.target: row for row in reversed(rows)}.values() for rows in groups]  # the first of each target
    shown = [
        ", ".join(
            f"{row.line} {'' if row.target is None else kind.show(row.target)}"
            for row in sorted(rows, key=lambda row: row.line)
        )
        for rows in ones
    ]
    return part.finding("conflicts", count, what, meaning, places(part.file, shown, "; "))


def targets(part: Part) -> list[Finding]:
    """Labels that never occur, and ratings that are all the same."""
    values = {row.target for row in part.rows} - {None}
    if not values:
        return []
    kind = target_kind(part.task)
    absent = kind.absent(np.array(list(values), dtype=kind.dtype))
    if not absent:
        if len(values) > 1 or len(part.rows) < 2:
            return []
        return [part.finding("labels", 1, "all rows have the same target", "there is nothing to learn or to measure")]
    what = f"no row has the label{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
    meaning = (
        "a model cannot learn what it never sees" if part.split == "train" else "a score is silent about such rows"
    )
    if part.task.positive in absent and part.split != "train":
        meaning = "F1 is of that label, and 0 whatever a model says"
    return [part.finding("labels", len(absent), what, meaning)]
