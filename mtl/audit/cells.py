"""Detect errors in one cell: CSV quoting, spreadsheet errors, a wrong encoding, escapes, characters that are not text."""

import html
import re
import unicodedata

# UTF-8 text that was read in an older European encoding: 'ł' looks like 'Ĺ‚' (cp1250) or 'Å‚' (cp1252). Only frequent letters
# and signs are searched for: other pairs of non-ASCII characters can be valid UTF-8 by chance, such as 'ÓŁ' in 'OGÓŁEM'.
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


DAMAGED = _damaged()  # wrongly decoded form -> original character
_DAMAGED = re.compile("|".join(re.escape(form) for form in sorted(DAMAGED, key=len, reverse=True)))

_SPREADSHEET = re.compile(r"#(NAME\?|REF!|VALUE!|DIV/0!|N/A|NUM!|NULL!)")
_ESCAPE = re.compile(r"""\\(?:[nr"']|u[0-9a-fA-F]{4})|&(?:#[0-9]+|#x[0-9a-fA-F]+|[A-Za-z]{2,8});""")


def is_blank(cell: str) -> bool:
    """Whether the cell is empty or has only whitespace."""
    return not cell.strip()


def is_wrapped(cell: str) -> bool:
    """Whether the cell begins and ends with a quotation mark."""
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def is_quoted(cell: str) -> bool:
    """Whether the cell looks like the output of a CSV writer with quoting: wrapped, and every inner quotation mark doubled.

    Such a writer turns 'a "b" c' into '"a ""b"" c"'. A wrapped cell without inner marks may be an ordinary quotation, so
    it does not count.
    """
    inner = cell[1:-1]
    return is_wrapped(cell) and '"' in inner and '"' not in inner.replace('""', "")


def is_half_quoted(cell: str) -> bool:
    """Whether the cell looks like one half of a quoted cell: doubled marks inside, and an odd number of marks at one end only."""
    inner = cell.strip('"')
    before, after = len(cell) - len(cell.lstrip('"')), len(cell) - len(cell.rstrip('"'))
    return '""' in inner and before % 2 != after % 2


def plain(cell: str) -> str:
    """The text in a form for comparison: without CSV quoting, with single spaces, and without whitespace at the ends."""
    text = cell[1:-1].replace('""', '"') if is_quoted(cell) else cell
    return " ".join(text.split())


def control_character(cell: str) -> str | None:
    """The first control character or byte order mark; None if there is none."""
    if cell.isprintable():  # a fast check that is true for most cells
        return None
    return next((c for c in cell if unicodedata.category(c) == "Cc" or c == "\ufeff"), None)


def damage(cell: str) -> str | None:
    """The first sequence that comes from a wrong encoding, such as 'Ĺ‚'; None if there is none. A key of `DAMAGED`."""
    found = None if cell.isascii() else _DAMAGED.search(cell)
    return found.group() if found else None


def spreadsheet_error(cell: str) -> str | None:
    """A spreadsheet's error message, such as '#NAME?', that replaced a text; None if the cell is not one."""
    return cell.strip() if _SPREADSHEET.fullmatch(cell.strip()) else None


def escape(cell: str) -> str | None:
    r"""The first escape sequence of another format, such as '\n', '\"' or HTML's '&amp;'; None if there is none."""
    return next((e for e in _ESCAPE.findall(cell) if e[0] == "\\" or html.unescape(e) != e), None)
