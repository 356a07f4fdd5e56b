"""The form of Superlim's documentation sheets (template v1.1): headings, fields, and how a file is read and written.

A sheet is a UTF-8 file with two cells a line, set apart by a tab: a field and its value. A value continues in lines with an empty
first cell. Fields with a star are obligatory. A sheet may add fields of its own under the last heading only.

Blank cells carry no meaning: a spreadsheet pads lines with them, and some published sheets put a further line of a value into the
third cell. So a line has the wrong number of cells if more than one cell after the first has text, or if it has no tab at all.
"""

import codecs
import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.untrusted import read_bytes
from mtl.benchmark_making.audits.findings import control_character, damage

VERSION = "v1.1"
TO_COMPLETE = "[to be completed]"

SHEET_LIMIT = 2**24  # bytes of a sheet
SHOWN = 40  # characters of an unknown field's name that a message quotes

UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

LAST_HEADING = "VI. OTHER"
# The fields of the template by heading.
TEMPLATE: dict[str, tuple[str, ...]] = {
    "I. IDENTIFYING INFORMATION": (
        *("Title*", "Subtitle", "Created by*", "Publisher(s)*", "Link(s) / permanent identifier(s)*", "License(s)*"),
        *("Abstract*", "Funded by*", "Cite as", "Related datasets"),
    ),
    "II. USAGE": (
        *("Key applications", "Intended task(s)/usage(s)", "Recommended evaluation measures", "Dataset function(s)"),
        "Recommended split(s)",
    ),
    "III. DATA": (
        *("Primary data*", "Language*", "Dataset in numbers*", "Nature of the content*", "Format*", "Data source(s)*"),
        *("Data collection method(s)*", "Data selection and filtering*", "Data preprocessing*", "Data labeling*"),
        "Annotator characteristics",
    ),
    "IV. ETHICS AND CAVEATS": ("Ethical considerations", "Things to watch out for"),
    "V. ABOUT DOCUMENTATION": (
        *("Data last updated*", "Which changes have been made, compared to the previous version*"),
        *("Access to previous versions", "This document created*", "This document last updated*"),
        *("Where to look for further details", "Documentation template version*"),
    ),
    LAST_HEADING: ("Related projects", "References"),
}

ORDER = [name for heading, fields in TEMPLATE.items() for name in (heading, *fields)]


@dataclass(frozen=True)
class SheetEntry:
    """A heading or a field: the line that it starts on, its name, and the lines of its value with their numbers."""

    line: int
    name: str
    values: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Problem:
    """What is wrong with a sheet, and the line that it is about."""

    line: int
    message: str


@dataclass(frozen=True)
class Sheet:
    """The entries of a sheet in their order, and the problems of its lines."""

    entries: list[SheetEntry]
    problems: list[Problem]


def is_obligatory(name: str) -> bool:
    """Whether a sheet must have this heading or field."""
    return name in TEMPLATE or name.endswith("*")


def write_sheet(values: Mapping[str, Sequence[str]]) -> str:
    """A sheet with these values, each with its lines, by field. Obligatory fields without a value are marked as to be completed."""
    lines: list[str] = []
    for heading, fields in TEMPLATE.items():
        lines += [*(["\t"] if lines else []), f"{heading}\t"]
        for name in fields:
            cells = values.get(name) or [TO_COMPLETE if is_obligatory(name) else ""]
            lines += [f"{'' if number else name}\t{' '.join(cell.split())}" for number, cell in enumerate(cells)]
    return "".join(f"{line}\n" for line in lines)


def read_sheet(path: Path) -> Sheet:
    """Read a sheet, also one with errors. Raises InputError for a file that has no heading and no field of the template."""
    try:
        content = read_bytes(path, SHEET_LIMIT)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    entries: list[SheetEntry] = []
    problems: list[Problem] = []
    for number, raw in enumerate(content.split(b"\n"), start=1):
        text, problem = _decoded(raw.removesuffix(b"\r"), number)
        name, *cells = (cell.strip() for cell in text.split("\t"))
        value = " ".join(filter(None, cells))  # further cells with text are joined to the value
        if problem is None:
            problem = _line_problem(text, entries)
        if problem is not None:
            problems.append(Problem(number, problem))
        if name and ("\t" in text or name in ORDER):
            entries.append(SheetEntry(number, name))
        if value and entries:
            entries[-1].values.append((number, value))
    if not any(entry.name in ORDER for entry in entries):
        hint = "; it looks like UTF-16: save it as UTF-8" if content[:4].count(0) == 2 or content[:2] in UTF_16 else ""
        problem = f"no documentation sheet: it has none of its headings ({ORDER[0]}, …) and none of its fields{hint}"
        raise InputError(problem, path=path)
    return Sheet(entries, problems)


def _decoded(raw: bytes, number: int) -> tuple[str, str | None]:
    """A line as text, and what is wrong with its characters."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return raw.decode("utf-8", "replace"), f"not UTF-8 (byte {raw[error.start]:#04x}); save the sheet as UTF-8"
    if number == 1 and text.startswith("\ufeff"):
        return text.removeprefix("\ufeff"), "begins with a byte order mark; save the sheet as UTF-8 without one"
    if "\ufffd" in text:
        return text, "has the sign for a lost character; save the original as UTF-8"
    if (fault := damage(text)) is not None:
        return text, f"has UTF-8 that was read in another encoding, such as “{fault}”"
    if (character := control_character(text.replace("\t", ""))) is not None:
        return text, f"has the control character {ascii(character)[1:-1]}"
    return text, None


def _line_problem(text: str, entries: Sequence[SheetEntry]) -> str | None:
    """What is wrong with the cells of a line after these entries."""
    if not text.strip():
        return None
    name, *cells = text.split("\t")
    filled = sum(bool(cell.strip()) for cell in cells)
    if not cells:
        return "1 cell; a line has two, a field and its value, set apart by a tab"
    if filled > 1:
        return f"{1 + filled} cells with text; a line has two, a field and its value, and a value has no tab"
    if not name.strip() and (not entries or entries[-1].name in TEMPLATE):
        return "a value without a field"
    if name.strip() in TEMPLATE and filled:
        return f"heading {name.strip()!r} has a value; put it into a field"
    return None


def form_problems(sheet: Sheet) -> list[Problem]:
    """What the sheet lacks of the template's form: headings, obligatory fields and their values, and the order."""
    entries = [entry for entry in sheet.entries if entry.name in ORDER]
    problems = [*sheet.problems, *_missing(entries), *_misplaced(entries), *_unknown(sheet.entries)]
    for entry in sheet.entries:
        open_lines = [line for line, value in entry.values if TO_COMPLETE in value]
        if open_lines:
            problems.append(Problem(open_lines[0], f"field {entry.name!r} is still to be completed"))
        elif entry.name in ORDER and entry.name not in TEMPLATE and is_obligatory(entry.name) and not entry.values:
            problems.append(Problem(entry.line, f"obligatory field {entry.name!r} has no value"))
    return problems


def _missing(entries: Sequence[SheetEntry]) -> Iterator[Problem]:
    """Headings and obligatory fields that are not there; the line is that of the last entry before the gap."""
    names = {entry.name for entry in entries}
    for number, name in enumerate(ORDER):
        if is_obligatory(name) and name not in names:
            before = [entry.line for entry in entries if ORDER.index(entry.name) < number]
            what = f"no heading {name!r}" if name in TEMPLATE else f"no field {name!r}, which is obligatory"
            where = f"; it stands after {ORDER[number - 1]!r}" if number else "; it is the first line"
            yield Problem(max(before, default=1), what + where)


def _misplaced(entries: Sequence[SheetEntry]) -> Iterator[Problem]:
    """Entries that occur twice, and the fewest entries that must move so that all are in order."""
    first: dict[str, SheetEntry] = {}
    for entry in entries:
        if entry.name in first:
            what = f"{entry.name!r} is a second time in the sheet, first in line {first[entry.name].line}"
            yield Problem(entry.line, what)
        first.setdefault(entry.name, entry)
    longest: dict[int, list[int]] = {}  # by place in the template: the longest list of places in order that ends there
    for position in (ORDER.index(name) for name in first):
        before = (positions for last, positions in longest.items() if last < position)
        longest[position] = [*max(before, key=len, default=[]), position]
    kept = {ORDER[position] for position in max(longest.values(), key=len, default=[])}
    for name, entry in first.items():
        if name not in kept:
            position = ORDER.index(name)
            where = f"after {ORDER[position - 1]!r}" if position else "first"
            yield Problem(entry.line, f"{name!r} is out of order; it stands {where}")


def _unknown(entries: Sequence[SheetEntry]) -> Iterator[Problem]:
    """Fields that the template does not have, except under the last heading."""
    heading = ""
    for entry in entries:
        heading = entry.name if entry.name in TEMPLATE else heading
        if entry.name not in ORDER and heading != LAST_HEADING:
            near = difflib.get_close_matches(entry.name, ORDER, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"only {LAST_HEADING!r} may have fields of its own"
            yield Problem(entry.line, f"unknown field {entry.name[:SHOWN]!r}; {advice}")
