"""The text of a cell: the quotation marks that a CSV writer added, the form for comparison, and the excerpt that a finding quotes."""

EXCERPT = 40  # characters of a text that a finding quotes


def is_wrapped(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def is_quoted(cell: str) -> bool:
    """Whether a CSV writer may have written it, which turns 'a "b" c' into '"a ""b"" c"'; without inner marks, it may be an ordinary quotation."""
    inner = cell[1:-1]
    return is_wrapped(cell) and '"' in inner and '"' not in inner.replace('""', "")


def plain(cell: str) -> str:
    """The text in a form for comparison: without CSV quoting, with single spaces, and without whitespace at the ends."""
    text = cell[1:-1].replace('""', '"') if is_quoted(cell) else cell
    return " ".join(text.split())


def excerpt(text: str) -> str:
    shown = plain(text)
    return f"“{shown if len(shown) <= EXCERPT else shown[:EXCERPT].rstrip() + '…'}”"
