"""How cells stand in the lines of a table: what separates them, and whether they are in quotes."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError

REGULAR = 0.9  # the least share of the rows with the usual number of cells: texts may break single rows
LONGEST_CELL = 2**18  # an opening quote that is never closed takes all the rest of the lines into its cell


@dataclass(frozen=True)
class TableCells:
    """The cells of a table's lines."""

    separators: Sequence[str]  # those that are possible, the most probable first
    is_quoted: bool  # whether cells may stand in quotes
    rows: Sequence[Sequence[str]]


def table_cells(lines: Sequence[str], separators: str, path: Path) -> TableCells:
    """Find out how the cells of a table stand in its first lines. Raises InputError for what is no table.

    Args:
        lines: the first lines of the file, at least one.
        separators: those that the file's suffix allows, the usual one first.
        path: of the file."""
    if lines[0].startswith("sep="):
        raise InputError("delete this line, which only Excel reads", path=path, line=1)
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    try:
        possible = _possible_separators(lines, separators)
        is_quoted = possible[0] != "\t" or _has_quoted_cells(lines)
        return TableCells(possible, is_quoted, _rows(lines, possible[0], is_quoted))
    except csv.Error as error:
        raise InputError(f"cannot be read as a table: {str(error).split(' - ')[0]}", path=path) from None


def _possible_separators(lines: Sequence[str], separators: str) -> list[str]:
    """The separators that fit the lines. Of several, these rules choose:

    1. If some give all rows the same number of cells, only these fit.
    2. If the usual one of the suffix fits, it is the only one; so it is if none fits, but for `_separator_of_spreadsheets`."""
    widths = {separator: _widths(lines, separator) for separator in separators}
    fitting = [separator for separator in separators if separator in lines[0] and _are_regular(widths[separator])]
    best = [separator for separator in fitting if len(widths[separator]) == 1] or fitting
    usual = separators[0]
    if best:
        return [usual] if usual in best else best
    return [_separator_of_spreadsheets(lines) if usual == "," else usual]


def _widths(lines: Sequence[str], separator: str) -> Counter[int]:
    """How many rows have how many cells. A tab is taken for a separator without quotes."""
    return Counter(len(row) for row in _rows(lines, separator, is_quoted=separator != "\t"))


def _are_regular(widths: Counter[int]) -> bool:
    """Whether nearly all rows have the same number of cells, two or more."""
    width, rows = widths.most_common(1)[0]
    return width > 1 and rows >= REGULAR * widths.total()


def _separator_of_spreadsheets(lines: Sequence[str]) -> str:
    """The separator of a .csv file that no separator fits: many spreadsheets write semicolons, and a text of one column may have some."""
    has_semicolons_alone = ";" in lines[0] and "," not in lines[0]
    return ";" if has_semicolons_alone and len(_widths(lines, ",")) > 1 else ","


def _rows(lines: Sequence[str], separator: str, is_quoted: bool) -> list[list[str]]:
    """The cells of each row of a table."""
    if not is_quoted:
        return [line.split(separator) for line in lines]
    return [row or [""] for row in csv.reader((f"{line}\n" for line in lines), delimiter=separator)] or [[""]]


def _has_quoted_cells(lines: Sequence[str]) -> bool:
    """Whether cells between tabs stand in quotes as a CSV writer puts them: quotes may also be part of the texts."""
    cells = [cell for line in lines for cell in line.split("\t")]
    marked = [cell for cell in cells if '"' in cell]
    if marked and len({line.count("\t") for line in lines}) > 1:  # a line end within quotes may cut a cell
        rows = _rows(lines, "\t", is_quoted=True)
        return len({len(row) for row in rows[:-1]}) == 1  # the first bytes may end within the last row
    if not marked or not all(re.fullmatch('"([^"]|"")*"', cell) for cell in marked):
        return False
    has_doubled_quote = any('""' in cell[1:-1] for cell in marked)
    return has_doubled_quote or len(marked) * 2 >= len(lines)
