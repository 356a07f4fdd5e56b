"""Whether the tables of a task begin with a header line, judged by their first rows: nothing in a file says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_column import LABEL_NAMES, LONG, NUMBER, TEXT_WORDS
from mtl.benchmark_making.init_suite.guess import Guess, count, quoted

Rows = Sequence[Sequence[str]]  # of a table: the cells of each of its first rows
FirstLine = Enum("FirstLine", ["HEADER", "ROW", "UNSURE"])  # what the first line of a table is


def made_up_headers(guess: Guess, rows_by_split: Mapping[str, Rows]) -> dict[str, list[str]]:
    """Declare the names column_1, column_2 and so on for tables without a header, with a question if that is not certain, and return them by split.
    Tables of another width than the first of them are left out. Raises InputError if some tables have a header and others have none."""
    splits_by_width: dict[int, list[str]] = {}
    for split, rows in rows_by_split.items():
        splits_by_width.setdefault(len(rows[0]), []).append(split)
    groups = [
        EquallyWideTables(splits, [rows_by_split[split] for split in splits]) for splits in splits_by_width.values()
    ]
    headless = [group for group in groups if group.first_line is not FirstLine.HEADER]
    if not headless:
        return {}
    used, *unused = headless
    names = [f"column_{number}" for number in range(1, len(used.main[0]) + 1)]
    first = guess.files[used.splits[0]]
    if used.first_line is FirstLine.UNSURE:
        cells = ", ".join(map(quoted, sorted(used.recurring) or used.main[0]))
        guess.questions.append(f"header: {cells} in the first line of {first}: is this line a header, or a row?")
    for group in unused:
        for split in group.splits:
            widths = f"{guess.files[split]} has {count(len(group.main[0]), 'cell')} a line, {first} has {len(names)}"
            guess.questions.append(f"files.{split}: not used: {widths}, and neither has a header")
            guess.files[split] = None
    lacking = ", ".join(str(guess.files[split]) for split in used.splits)
    headed = [str(guess.files[split]) for group in groups if group not in headless for split in group.splits]
    if headed:
        remedy = "answer header=[NAME, …] with a name for each column, those that the header has among them"
        raise InputError(f"of {lacking}, not all have a header, as {', '.join(headed)} has; {remedy}")
    why = f"the first line of {lacking} looks like a row, so the names are made up; give the columns names"
    guess.declare(why, header=names)
    return dict.fromkeys(used.splits, names)


@dataclass(frozen=True)
class EquallyWideTables:
    """Tables of a task whose first lines have the same number of cells. Those with a header have the same one."""

    splits: Sequence[str]
    rows: Sequence[Rows]  # of each table

    @property
    def main(self) -> Rows:
        """The rows of the first table, which show best what is a name."""
        return self.rows[0]

    @cached_property
    def columns(self) -> Rows:
        """The columns of the first table, each with its cell of the first line; rows of another width do not count."""
        return list(zip(*(row for row in self.main if len(row) == len(self.main[0])), strict=True))

    @cached_property
    def recurring(self) -> set[str]:
        """The cells of the first line that occur again in their column: they are hardly its name."""
        return {cells[0] for cells in self.columns if cells[0] in cells[1:]}

    @cached_property
    def first_line(self) -> FirstLine:
        """What the first line of these tables is. One with a number above numbers is no header for certain."""
        lines = [tuple(rows[0]) for rows in self.rows]
        are_equal, are_different = len(set(lines)) == 1, len(set(lines)) == len(lines)
        has_numbers = any(_are_numbers(cells) for cells in self.columns)
        shared_cells = set.intersection(*map(set, lines)) - self.recurring
        has_names = (not are_equal and len(shared_cells) > 0) or any(map(_begins_with_name, self.columns))
        is_like_header = has_names or (are_equal and len(lines) > 1) or (_may_be_names(lines[0]) and not self.recurring)
        is_like_row = (has_numbers and are_different) or (self.recurring and not are_equal)
        if is_like_header and not has_numbers:
            return FirstLine.HEADER
        return FirstLine.ROW if is_like_row and not has_names else FirstLine.UNSURE


def _begins_with_name(column: Sequence[str]) -> bool:
    """Whether a column begins with a usual name of a column, or with a word above two numbers or more."""
    name, below = column[0], column[1:]
    is_above_numbers = len(below) > 1 and not NUMBER.fullmatch(name) and _are_numbers(below)
    return is_above_numbers or name.strip().lower() in {*LABEL_NAMES, *TEXT_WORDS}


def _are_numbers(cells: Sequence[str]) -> bool:
    return all(map(NUMBER.fullmatch, cells))


def _may_be_names(line: Sequence[str]) -> bool:
    """Whether the cells of a line may be the names of columns: short, and each once."""
    return all(cell.strip() and len(cell.split()) <= LONG for cell in line) and len(set(line)) == len(line)
