"""Names and numbers of untrusted files in comments and messages."""

from collections.abc import Iterable

LONGEST = 40  # characters of a name or a label


def quoted(name: str) -> str:
    """A name in quotes, cut to LONGEST characters; line ends and other characters that do not print are escaped."""
    cut = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
    return f'"{printable(cut)}"'


def printable(text: str) -> str:
    """The text with an escape for each character that does not print, as "\\n" for a line end."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def columns_in_words(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def count(number: int, noun: str) -> str:
    """A number and a noun, as in "15,794 rows" or "1 row"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"
