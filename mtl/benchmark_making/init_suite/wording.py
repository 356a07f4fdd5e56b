"""How the messages of `mtl init-suite` word names, numbers and columns. Names are untrusted."""

from collections.abc import Iterable

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.file_column import FileColumn

LONGEST = 40  # characters of a name or a label in a message


def quoted(name: str) -> str:
    """A name in quotes, cut to LONGEST characters; line ends and other characters that do not print are escaped."""
    return f'"{printable(name if len(name) <= LONGEST else name[:LONGEST] + "…")}"'


def printable(text: str) -> str:
    """The text with an escape for each character that does not print, as "\\n" for a line end."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def quoted_names(names: Iterable[str], most: int = 20) -> str:
    """Names in quotes, set apart by commas; of more than `most` names the first ones."""
    return listed(list(map(quoted, names)), most)


def quantity(number: int, noun: str) -> str:
    """A number of things, with commas between thousands, as in "15,794 rows" or "1 row"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(part: float, total: float) -> str:
    """A part as a share of the total, as in "12 %"."""
    return f"{100 * part / total:.0f} %"


def with_count(column: FileColumn) -> str:
    """A column with the number of its values, as in "acceptable" (2 values)."""
    return f"{quoted(column.name)} ({'lists' if column.lists else quantity(len(column.counts), 'value')})"


def values_in_rows(column: FileColumn) -> str:
    """How many values a column has in how many rows, as in "2 distinct values in 80 rows"."""
    return f"{quantity(len(column.counts), 'distinct value')} in {quantity(column.rows, 'row')}"
