"""How messages and tables word sizes, counts and lists."""

import math
from collections.abc import Sequence


def format_bytes(size: int) -> str:
    """A number of bytes with its unit: 3 MB, 1.2 GB."""
    return f"{size / 1e9:.1f} GB" if size > 999e6 else f"{math.ceil(size / 1e6)} MB"


def counted(number: int, noun: str) -> str:
    """A number of things: 1 run, 2 runs."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The names, joined to one text: of more than `most` names the first ones, and the number of the rest."""
    rest = len(names) - most
    return separator.join(names if rest <= 0 else [*names[:most], f"and {rest:,} more"])
