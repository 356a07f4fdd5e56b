"""What a notebook shows: Markdown as HTML, and tables as DataFrames of pandas, which is imported when one is made."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtl.base.extras import check_installed

if TYPE_CHECKING:
    from pandas import DataFrame

EXTRA = "notebook"  # the extra with pandas and matplotlib
# A backslash with the character that it escapes; bold text; a code span.
_INLINE = re.compile(r"\\([\\`*_\[\]<>|])|\*\*((?:\\.|[^\\])+?)\*\*|`([^`]+)`")
_CELL = re.compile(r"((?:\\.|[^\\|])*)\|")  # with its end; a backslash escapes the next character


class MarkdownText(str):
    """A table and its notes as Markdown, which also reads well as plain text; a notebook shows it as HTML.

    All text is escaped: what strangers write into the files of a run is shown, and never executed.

    >>> text = MarkdownText("| run | AVG |\\n|-----|----:|\\n| **<b>** | 40.1\\\\* |")
    >>> text
    | run | AVG |
    |-----|----:|
    | **<b>** | 40.1\\* |
    >>> "<strong>&lt;b&gt;</strong>" in text._repr_html_()
    True
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        blocks = re.split(r"\n\s*\n", self.strip())
        return f'<div style="overflow-x: auto">{"".join(map(_block, blocks))}</div>'


def frame(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> "DataFrame":
    """A DataFrame of rows. Raises InputError if pandas is not installed."""
    check_installed(EXTRA, "pandas")
    import pandas

    return pandas.DataFrame(list(rows), columns=list(columns))


def grid(cells: Mapping[Any, Mapping[Any, Any]], index: str, columns: str) -> "DataFrame":
    """A DataFrame with a row for each key of `cells`. Raises InputError if pandas is not installed.

    Args:
        cells: by row, then by column.
        index, columns: what the rows and the columns are.
    """
    check_installed(EXTRA, "pandas")
    import pandas

    return pandas.DataFrame.from_dict(dict(cells), orient="index").rename_axis(index=index, columns=columns)


def _block(block: str) -> str:
    """A heading, a table, a list or a paragraph as HTML."""
    lines = block.splitlines()
    if heading := re.fullmatch(r"(#{1,4}) (.*)", block):
        level = len(heading[1]) + 2  # below the headings of the notebook
        return f"<h{level}>{_inline(heading[2])}</h{level}>"
    if len(lines) > 1 and all(line.startswith("|") for line in lines) and set(lines[1]) <= set("|-: "):
        return _table(lines)
    if all(line.startswith("- ") for line in lines):
        return f"<ul>{''.join(f'<li>{_inline(line[2:])}</li>' for line in lines)}</ul>"
    return f"<p>{_inline(block)}</p>"


def _table(lines: Sequence[str]) -> str:
    right = [rule.endswith(":") for rule in _cells(lines[1])]

    def row(line: str, tag: str) -> str:
        cells = ""
        for cell, at_right in zip(_cells(line), right, strict=False):  # a stranger's file may have rows of any length
            cells += f'<{tag} style="text-align: {"right" if at_right else "left"}">{_inline(cell)}</{tag}>'
        return f"<tr>{cells}</tr>"

    body = "".join(row(line, "td") for line in lines[2:])
    return f'<table style="font-variant-numeric: tabular-nums"><thead>{row(lines[0], "th")}</thead><tbody>{body}</tbody></table>'


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.findall(line[1:])]


def _inline(text: str) -> str:
    """Text with bold parts and code spans as HTML; everything else is escaped."""
    parts, end = [], 0
    for match in _INLINE.finditer(text):
        parts.append(html.escape(text[end : match.start()]))
        character, bold, code = match.groups()
        if bold is not None:
            parts.append(f"<strong>{_inline(bold)}</strong>")
        else:
            parts.append(html.escape(character) if code is None else f"<code>{html.escape(code)}</code>")
        end = match.end()
    return "".join([*parts, html.escape(text[end:])])
