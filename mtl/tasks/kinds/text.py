"""Texts, such as summaries."""

import re
from collections import Counter

import numpy as np

from mtl.tasks.target_kind import Target, TargetKind

ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
CHARACTERS = {escape: character for character, escape in ESCAPES.items()}


class Text(TargetKind):
    """A text; only methods that write texts predict it."""

    dtype = object

    def parse(self, cell: str, candidates: int | None = None) -> str:
        if not cell.strip():
            raise ValueError("the target is an empty text")
        return cell

    def parse_prediction(self, cell: str, candidates: int | None = None) -> str:
        """The text. A predicted text may be empty."""
        return cell

    def to_line(self, target: Target) -> str:
        return escape(str(target))

    def line_cell(self, line: str) -> str:
        return unescape(line)

    def constants(self, train: np.ndarray) -> list[Target]:
        """The most frequent text alone: scoring more of them on all training rows takes long, and most texts occur once."""
        return [text for text, _ in Counter(train.tolist()).most_common(1)]


def escape(text: str) -> str:
    """The text in one line: a backslash, a tab, a line feed and a carriage return become two characters, as in JSON."""
    return re.sub(r"[\\\t\n\r]", lambda match: ESCAPES[match[0]], text)


def unescape(line: str) -> str:
    """The text that `escape` wrote. Raises ValueError for a backslash that begins no escape."""

    def character(match: re.Match[str]) -> str:
        if match[0] not in CHARACTERS:
            remedy = "write \\\\ for a backslash, \\t for a tab, \\n and \\r for line ends"
            raise ValueError(f"{match[0]!r} is no escape; {remedy}")
        return CHARACTERS[match[0]]

    return re.sub(r"\\.?", character, line)
