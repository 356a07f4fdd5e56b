"""How messages and tables word sizes, durations, counts and lists, and texts and tables in Markdown."""

import math
import re
from collections.abc import Sequence

MISSING = "–"  # in a table, in place of a value


def format_bytes(size: int) -> str:
    """A number of bytes with its unit: 3 MB, 1.2 GB."""
    return f"{size / 1e9:.1f} GB" if size > 999e6 else f"{math.ceil(size / 1e6)} MB"


def format_duration(seconds: float) -> str:
    """Seconds with units: 42 s, 3 min 05 s, 2 h 10 min."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02d} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60:02d} min"


def counted(number: int, noun: str) -> str:
    """A number of things: 1 run, 2 runs."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The names, joined to one text: of more than `most` names the first ones, and the number of the rest."""
    rest = len(names) - most
    return separator.join(names if rest <= 0 else [*names[:most], f"and {rest:,} more"])


def markdown_table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows of cells as a Markdown table, readable as plain text, too; the first is the header. All but the first `left` columns are aligned right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        safe = [cell.replace("|", "\\|") for cell in cells]  # a bar would end the cell
        at_left = map(str.ljust, safe[:left], widths)
        at_right = map(str.rjust, safe[left:], widths[left:])
        return "| " + " | ".join([*at_left, *at_right]) + " |"

    rules = ["-" * (width + 2) for width in widths[:left]] + ["-" * (width + 1) + ":" for width in widths[left:]]
    return "\n".join([line(rows[0]), f"|{'|'.join(rules)}|", *map(line, rows[1:])])


def inert(text: str) -> str:
    """Text in which Markdown sees no HTML, link, picture or code, in one line; paths and names stay readable in a terminal."""
    return re.sub(r"[\\`\[<]", r"\\\g<0>", " ".join(text.split()))


def escaped(text: str) -> str:
    """Text with Markdown's special characters escaped, in one line."""
    return re.sub(r"[\\`*_\[\]<>]", r"\\\g<0>", " ".join(text.split()))
