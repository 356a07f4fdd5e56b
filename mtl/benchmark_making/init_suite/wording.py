"""Names and numbers in messages."""

from collections.abc import Iterable

from mtl.base.wording import listed

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


def count(number: int, noun: str) -> str:
    """A number and a noun, as in "15,794 rows" or "1 row"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share(part: float, total: float) -> str:
    return f"{100 * part / total:.0f} %"
