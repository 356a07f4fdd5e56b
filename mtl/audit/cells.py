"""What the characters of one cell betray: a quoting CSV writer, a spreadsheet, a wrong encoding, characters that are no text."""

import html
import re
import unicodedata

# What UTF-8 looks like once it was read as one of the old encodings of Europe: 'ł' as 'Ĺ‚' (cp1250) or 'Å‚' (cp1252). Only
# common letters and signs count: any two characters above ASCII can be valid UTF-8 by chance, as 'ÓŁ' in 'OGÓŁEM' is.
COMMON = "ąćęłńóśźżĄĆĘŁŃÓŚŹŻäöüßÄÖÜåÅæøéèêëáàâíîïñçúôőűčďěňřšťůýžČŘŠŽ–—‘’‚“”„…•€\xa0«»°§"
OLD_ENCODINGS = ("cp1250", "cp1252", "iso8859-1", "iso8859-2")


def _damaged() -> dict[str, str]:
    forms: dict[str, str] = {}
    for character in COMMON:
        for encoding in OLD_ENCODINGS:
            try:
                forms.setdefault(character.encode("utf-8").decode(encoding), character)
            except UnicodeDecodeError:
                continue
    return forms


DAMAGED = _damaged()  # by what is seen, what it was
_DAMAGED = re.compile("|".join(re.escape(form) for form in sorted(DAMAGED, key=len, reverse=True)))

_SPREADSHEET = re.compile(r"#(NAME\?|REF!|VALUE!|DIV/0!|N/A|NUM!|NULL!)")
_ESCAPE = re.compile(r"""\\(?:[nr"']|u[0-9a-fA-F]{4})|&(?:#[0-9]+|#x[0-9a-fA-F]+|[A-Za-z]{2,8});""")


def is_blank(cell: str) -> bool:
    """Whether there is nothing to read: no character, or whitespace alone."""
    return not cell.strip()


def is_wrapped(cell: str) -> bool:
    """Whether a quote mark stands at either end."""
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def is_quoted(cell: str) -> bool:
    """Whether a quoting CSV writer would leave a text with quote marks like this: wrapped, every inner mark doubled.

    A text that is a quotation, wrapped and without inner marks, is not: a quoting writer leaves 'a "b" c' as '"a ""b"" c"'.
    """
    inner = cell[1:-1]
    return is_wrapped(cell) and '"' in inner and '"' not in inner.replace('""', "")


def is_half_quoted(cell: str) -> bool:
    """Whether it looks like one end of such a cell, torn apart: doubled marks inside, an odd number of them at one end only."""
    inner = cell.strip('"')
    before, after = len(cell) - len(cell.lstrip('"')), len(cell) - len(cell.rstrip('"'))
    return '""' in inner and before % 2 != after % 2


def plain(cell: str) -> str:
    """The text for comparing: without a CSV writer's marks, runs of whitespace as one space, none at the ends."""
    text = cell[1:-1].replace('""', '"') if is_quoted(cell) else cell
    return " ".join(text.split())


def control_character(cell: str) -> str | None:
    """The first control character, or byte order mark inside a text, if there is one."""
    if cell.isprintable():  # most are, and this is quick to know
        return None
    return next((c for c in cell if unicodedata.category(c) == "Cc" or c == "\ufeff"), None)


def damage(cell: str) -> str | None:
    """The first sign of a wrong encoding, as it is seen ('Ĺ‚'); `DAMAGED` says what it was."""
    found = None if cell.isascii() else _DAMAGED.search(cell)
    return found.group() if found else None


def spreadsheet_error(cell: str) -> str | None:
    """What a spreadsheet wrote in place of a text that it took for a formula, as '#NAME?'."""
    return cell.strip() if _SPREADSHEET.fullmatch(cell.strip()) else None


def escape(cell: str) -> str | None:
    """The first sign that another format's escapes were never undone: a backslash with its n or quote mark, or HTML's '&amp;'."""
    return next((e for e in _ESCAPE.findall(cell) if e[0] == "\\" or html.unescape(e) != e), None)
