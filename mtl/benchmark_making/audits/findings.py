"""Findings about the rows of one split: texts that are repeated or damaged, repeated ids, and conflicting or missing targets."""

import html
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mtl.base.wording import counted
from mtl.benchmark_making.audits.parts import EXCERPT, Finding, Part, excerpt, file_lines, is_quoted, is_wrapped
from mtl.data.examples import Example
from mtl.data.records import Value, column_names, read_records
from mtl.submissions.lines import ID
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind

# UTF-8 text that was read in an older European encoding: 'ł' looks like 'Ĺ‚' (cp1250) or 'Å‚' (cp1252). Only frequent letters
# and signs are searched for: other pairs of non-ASCII characters can be valid UTF-8 by chance, such as 'ÓŁ' in 'OGÓŁEM'.
COMMON = "ąćęłńóśźżĄĆĘŁŃÓŚŹŻäöüßÄÖÜåÅæøéèêëáàâíîïñçúôőűčďěňřšťůýžČŘŠŽ–—‘’‚“”„…•€\xa0«»°§"
OLD_ENCODINGS = ("cp1250", "cp1252", "iso8859-1", "iso8859-2")
READINGS = [(sign.encode(), encoding) for sign in COMMON for encoding in OLD_ENCODINGS]
MISREAD = {form for encoded, encoding in READINGS if len(form := encoded.decode(encoding, "ignore")) == len(encoded)}


class Conversion(NamedTuple):
    """What a wrong conversion leaves in a text, and what findings of this kind say; {} stands for the word."""

    kind: str
    pattern: str  # that is searched for; its first group, if it has one, is what is shown
    what: str
    meaning: str


# The first characters alone rule most places out, which is faster.
MISREAD_SIGN = f"(?=[{''.join({form[0] for form in MISREAD})}])(?:{'|'.join(sorted(MISREAD, key=len, reverse=True))})"
SPREADSHEET_ERROR = r"\A\s*(#(?:NAME\?|REF!|VALUE!|DIV/0!|N/A|NUM!|NULL!))\s*\Z"
MISSING_VALUE = r"\A\s*(nan|NaN|<NA>)\s*\Z"
ESCAPE = r"""\\(?:[nr"']|u[0-9a-fA-F]{4})|&(?:#[0-9]+|#x[0-9a-fA-F]+|[A-Za-z]{2,8});"""
LOST_SIGN = "a letter or a sign is lost, often since the text was read in a wrong encoding"
LOST_TEXT = "a program that wrote the file lost the text"
NOT_KNOWN, READ_AS_WORDS = "no embeddings know such words", "a run reads them as words or parts of words"
CONVERSIONS = (
    Conversion("control", "[\x00-\x1f\x7f-\x9f\ufeff]", "a control character, such as {}", LOST_SIGN),
    Conversion("replacement", "\ufffd", "the sign for a lost character, such as {}", "the word around it is lost"),
    Conversion("encoding", MISREAD_SIGN, "UTF-8 that was read in another encoding, such as {}", NOT_KNOWN),
    Conversion("spreadsheet", SPREADSHEET_ERROR, "a spreadsheet's error instead of a text, {}", "the text is lost"),
    Conversion("nan", MISSING_VALUE, "the sign for a missing value instead of a text, {}", LOST_TEXT),
    Conversion("escapes", ESCAPE, "escapes of another format, such as {}", READ_AS_WORDS),
)
WRAPPED_SHARE = 0.5  # of a column's cells: if more are wrapped, all count as quoted; columns of quotations are rare


def text_findings(part: Part) -> list[Finding]:
    """The findings about the texts alone."""
    rows = [row for row in part.rows if not all(map(str.strip, row.texts))]
    what = "an empty text, or one with only whitespace"
    blank = part.rows_finding("blank", rows, what, "a model has nothing to predict the target from")
    return [*blank, *_quoting(part), *_damaged_texts(part)]


def target_findings(part: Part) -> list[Finding]:
    """The findings about the texts together with their targets; without targets, only repeated texts."""
    return [*_duplicates(part), *_conflicts(part), *absent_targets(part)]


def _quoting(part: Part) -> Iterator[Finding]:
    """Rows whose texts still have the quotation marks that a CSV writer added."""
    columns = list(zip_longest(*(row.texts for row in part.rows), fillvalue=""))  # rows of a choice differ in length
    mostly_wrapped = [sum(map(is_wrapped, column)) > max(1, WRAPPED_SHARE * len(column)) for column in columns]

    def quoted_cells(row: Example) -> int:
        sides = zip(row.texts, mostly_wrapped, strict=False)
        return sum(is_wrapped(cell) if all_wrapped else is_quoted(cell) for cell, all_wrapped in sides)

    rows = [row for row in part.rows if quoted_cells(row)]
    count, with_marks = sum(map(quoted_cells, rows)), sum('"' in cell for column in columns for cell in column)
    cells = f"{count} of the {counted(with_marks, 'cell')} with quotation marks"
    what = f"the quotation marks of a CSV writer: {cells} are wrapped in them, with inner ones doubled"
    return part.rows_finding("quoting", rows, what, "a run reads the added marks as part of the text")


def _damaged_texts(part: Part) -> Iterator[Finding]:
    """Rows whose texts contain characters that come from a wrong conversion, not from an author."""
    for kind, pattern, what, meaning in CONVERSIONS:
        hits = [(row, text, hit) for row in part.rows for text in row.texts if (hit := _first_hit(pattern, text))]
        if hits:
            rows = list(dict.fromkeys(row for row, _, _ in hits))
            contain = part.rows_text(len(rows), "contain", "contains")
            _, text, hit = hits[0]
            yield part.finding(kind, len(rows), f"{contain} {what.format(_word(text, hit))}", meaning, part.where(rows))


def _first_hit(pattern: str, text: str) -> str | None:
    """The first place that fits a pattern, but for what looks like an entity of HTML and is none."""
    hits = (match[match.lastindex or 0] for match in re.finditer(pattern, text))
    return next((hit for hit in hits if hit[0] != "&" or html.unescape(hit) != hit), None)


def _word(text: str, hit: str) -> str:
    """The word that contains the hit, in quotes, with unprintable characters escaped; of a long word, the part around the hit."""
    start = text.index(hit)
    before, after = text[:start].rpartition(" ")[2], text[start + len(hit) :].partition(" ")[0]
    word = f"{before[-EXCERPT // 2 :]}{hit}{after[: EXCERPT // 2]}"
    return f"“{''.join(c if c.isprintable() else ascii(c)[1:-1] for c in word)}”"


def _duplicates(part: Part) -> Iterator[Finding]:
    """Rows that repeat an earlier row: the same texts and, if there are targets, the same target."""
    repeated: list[tuple[Example, Example]] = []  # a row, and the first that is like it
    for rows in part.equal_rows:
        seen: dict[Target | None, Example] = {}
        for row in rows:
            if (first := seen.setdefault(row.target, row)) is not row:
                repeated.append((row, first))
    if repeated:
        repeated.sort(key=lambda pair: pair[0].line)
        example = repeated[0][0]
        alike = "texts and target" if example.target is not None else "texts"
        repeat = part.rows_text(len(repeated), "repeat", "repeats")
        what = f"{repeat} an earlier row ({alike}), such as {excerpt(example.texts[0])}"
        meaning = f"repeated rows count twice in {'training' if part.split == 'train' else 'the score'}"
        pairs = [f"{row.line} = {first.line}" for row, first in repeated]
        yield part.finding("duplicates", len(repeated), what, meaning, file_lines(part.file, pairs))


def _conflicts(part: Part) -> Iterator[Finding]:
    """The same texts with different targets."""
    groups = [rows for rows in part.equal_rows if len({row.target for row in rows}) > 1]
    if not groups:
        return
    count, kind = sum(map(len, groups)), target_kind(part.task)
    texts = "text has" if len(groups) == 1 else "texts have"
    example = excerpt(groups[0][0].texts[0])
    what = f"{len(groups)} {texts} different targets, in {count} of {len(part.rows)} rows, such as {example}"
    lines = []
    for rows in groups:
        first_by_target = {row.target: row for row in reversed(rows)}  # reversed: of equal targets, the first row stays
        firsts = sorted(first_by_target.values(), key=lambda row: row.line)
        lines.append(", ".join(f"{row.line} {'' if row.target is None else kind.show(row.target)}" for row in firsts))
    meaning = "no prediction is right for all of these rows"
    yield part.finding("conflicts", count, what, meaning, file_lines(part.file, lines, "; "))


def id_findings(part: Part, data_dir: Path, ids: Sequence[str]) -> Iterator[Finding]:
    """Rows of dev or test with the id of an earlier row. Ids are in the first of the columns `ids` and `ID` that is not the task's `group`."""
    if part.split == "train":
        return
    path, layout = data_dir / part.file, part.task.layout(part.split, data_dir)
    names = column_names(path, layout)
    column = next((name for name in (*ids, ID) if name in names and name != part.task.group), None)
    if column is None:
        return
    first: dict[Value, int] = {}  # by id, the line of the first row with it
    repeated = []
    for record in read_records(path, [], [column], layout=layout):
        (id,) = record.values
        if id is not None and (line := first.setdefault(id, record.line)) != record.line:
            repeated.append((id, f"{record.line} = {line}"))
    if repeated:
        have, example = part.rows_text(len(repeated), "have", "has"), excerpt(str(repeated[0][0]))
        what = f"{have} the id of an earlier row, such as {column} {example}"
        meaning = "mtl import cannot put predictions to these rows by their ids; give each row its own"
        yield part.finding("ids", len(repeated), what, meaning, file_lines(part.file, [lines for _, lines in repeated]))


def absent_targets(part: Part) -> Iterator[Finding]:
    """Labels that never occur, and targets that are all the same."""
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
