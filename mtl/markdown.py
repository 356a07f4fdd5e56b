"""Tables in Markdown."""

import re
from collections.abc import Sequence

MISSING = "–"  # in place of a value


def markdown_table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Rows of cells as a Markdown table that also reads well as plain text; the first row is the header.

    left: how many of the columns stand at their left edge; the others, numbers, at their right.
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        escaped = [cell.replace("|", "\\|") for cell in cells]
        placed = [c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(escaped, widths, strict=True))]
        return "| " + " | ".join(placed) + " |"

    rules = ["-" * (w + 2) if i < left else "-" * (w + 1) + ":" for i, w in enumerate(widths)]
    return "\n".join([line(rows[0]), f"|{'|'.join(rules)}|", *map(line, rows[1:])])


def inert(text: str) -> str:
    """Text in which Markdown sees no HTML, link, picture or code, in one line; paths and names stay readable in a terminal."""
    return re.sub(r"[\\`\[<]", r"\\\g<0>", " ".join(text.split()))


def escaped(text: str) -> str:
    """Text with Markdown's special characters escaped, in one line."""
    shown = " ".join(text.split())
    for character in "\\`*_[]<>":
        shown = shown.replace(character, "\\" + character)
    return shown
