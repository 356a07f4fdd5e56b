"""Findings about single texts of a split: texts that are blank, quoted by a CSV writer, or damaged by a wrong conversion."""

import html
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from mtl.base.wording import counted
from mtl.benchmark_making.audits.cells import EXCERPT, is_quoted, is_wrapped
from mtl.benchmark_making.audits.parts import Finding, Part
from mtl.data.examples import Example

# UTF-8 text that was read in an older European encoding: 'ł' looks like 'Ĺ‚' (cp1250) or 'Å‚' (cp1252). Only frequent letters
# and signs are searched for: other pairs of non-ASCII characters can be valid UTF-8 by chance, such as 'ÓŁ' in 'OGÓŁEM'.
COMMON = "ąćęłńóśźżĄĆĘŁŃÓŚŹŻäöüßÄÖÜåÅæøéèêëáàâíîïñçúôőűčďěňřšťůýžČŘŠŽ–—‘’‚“”„…•€\xa0«»°§"
OLD_ENCODINGS = ("cp1250", "cp1252", "iso8859-1", "iso8859-2")
READINGS = [(sign.encode(), sign.encode().decode(encoding, "ignore")) for sign in COMMON for encoding in OLD_ENCODINGS]
MISREAD = {reading for encoded, reading in READINGS if len(reading) == len(encoded)}  # else a byte means nothing there
FIRST_SIGNS = "".join({reading[0] for reading in MISREAD})  # they alone rule most places out, which is faster
MISREAD_SIGN = f"(?=[{FIRST_SIGNS}])(?:{'|'.join(sorted(MISREAD, key=len, reverse=True))})"
SPREADSHEET_ERROR = r"\A\s*(#(?:NAME\?|REF!|VALUE!|DIV/0!|N/A|NUM!|NULL!))\s*\Z"
MISSING_VALUE = r"\A\s*(nan|NaN|<NA>)\s*\Z"
ESCAPE = r"""\\(?:[nr"']|u[0-9a-fA-F]{4})|&(?:#[0-9]+|#x[0-9a-fA-F]+|[A-Za-z]{2,8});"""
LOST_SIGN = "a letter or a sign is lost, often since the text was read in a wrong encoding"
WRAPPED_SHARE = 0.5  # of a column's cells: if more are wrapped, all count as quoted; columns of quotations are rare


class Conversion(NamedTuple):
    """What a wrong conversion leaves in a text, and what findings of this kind say."""

    kind: str
    pattern: str  # that is searched for; its first group, if it has one, is what is shown
    what: str  # with {} in place of the word
    meaning: str


CONVERSIONS = (
    Conversion("control", "[\x00-\x1f\x7f-\x9f\ufeff]", "a control character, such as {}", LOST_SIGN),
    Conversion("replacement", "\ufffd", "the sign for a lost character, such as {}", "the word around it is lost"),
    Conversion("encoding", MISREAD_SIGN, "UTF-8 that was read in another encoding, such as {}", "no embeddings know such words"),
    Conversion("spreadsheet", SPREADSHEET_ERROR, "a spreadsheet's error instead of a text, {}", "the text is lost"),
    Conversion("nan", MISSING_VALUE, "the sign for a missing value instead of a text, {}", "a program that wrote the file lost the text"),
    Conversion("escapes", ESCAPE, "escapes of another format, such as {}", "a run reads them as words or parts of words"),
)  # fmt: skip


def text_findings(part: Part) -> list[Finding]:
    rows = [row for row in part.rows if not all(text.strip() for text in row.texts)]
    what = "an empty text, or one with only whitespace"
    blank = part.finding_if_any("blank", rows, what, "a model has nothing to predict the target from")
    return [*blank, *_quoting(part), *_damaged_texts(part)]


def _quoting(part: Part) -> Iterator[Finding]:
    """Rows whose texts still have the quotation marks that a CSV writer added."""
    columns = list(zip_longest(*(row.texts for row in part.rows), fillvalue=""))  # rows of a choice differ in length
    mostly_wrapped = [sum(map(is_wrapped, column)) > max(1, WRAPPED_SHARE * len(column)) for column in columns]
    rows, quoted_cells = [], 0
    for row in part.rows:
        cells = zip(row.texts, mostly_wrapped, strict=False)
        quoted = sum(is_wrapped(cell) if all_wrapped else is_quoted(cell) for cell, all_wrapped in cells)
        if quoted:
            rows.append(row)
            quoted_cells += quoted
    with_marks = sum('"' in text for row in part.rows for text in row.texts)
    cells_text = f"{quoted_cells} of the {counted(with_marks, 'cell')} with quotation marks"
    what = f"the quotation marks of a CSV writer: {cells_text} are wrapped in them, with inner ones doubled"
    return part.finding_if_any("quoting", rows, what, "a run reads the added marks as part of the text")


def _damaged_texts(part: Part) -> Iterator[Finding]:
    """Rows whose texts contain characters that come from a wrong conversion, not from an author."""
    for conversion in CONVERSIONS:
        damaged: dict[Example, str] = {}  # by row, the first word that shows the damage
        for row in part.rows:
            for text in row.texts:
                if (word := _damaged_word(conversion.pattern, text)) is not None:
                    damaged.setdefault(row, word)
        if damaged:
            rows, shown = list(damaged), next(iter(damaged.values()))
            what = f"{part.count_with_verb(len(rows), 'contain', 'contains')} {conversion.what.format(shown)}"
            yield part.new_finding(conversion.kind, len(rows), what, conversion.meaning, part.first_lines(rows))


def _damaged_word(pattern: str, text: str) -> str | None:
    """The word with the first place that fits a pattern, of a long one the part there, in quotes. An entity that HTML does not have is no damage."""
    for match in re.finditer(pattern, text):
        group = match.lastindex or 0
        damage, start, stop = match[group], match.start(group), match.end(group)
        if damage[0] != "&" or html.unescape(damage) != damage:
            before, after = text[:start].rpartition(" ")[2], text[stop:].partition(" ")[0]
            word = f"{before[-EXCERPT // 2 :]}{damage}{after[: EXCERPT // 2]}"
            return f"“{''.join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in word)}”"
    return None
