"""The target kind of texts, such as summaries, and how a text is written into one line of a file."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mtl.tasks.kind import Target, TargetKind

if TYPE_CHECKING:
    from torch import Tensor

ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
CHARACTERS = {escape: character for character, escape in ESCAPES.items()}


def escape(text: str) -> str:
    """The text in one line: a backslash, a tab, a line feed and a carriage return become two characters, as in JSON."""
    return re.sub(r"[\\\t\n\r]", lambda found: ESCAPES[found[0]], text)


def unescape(line: str) -> str:
    """The text that `escape` wrote. Raises ValueError for a backslash that begins no escape."""

    def character(found: re.Match[str]) -> str:
        if found[0] not in CHARACTERS:
            raise ValueError(
                f"{found[0]!r} is no escape; write \\\\ for a backslash, \\t for a tab, \\n and \\r for line ends"
            )
        return CHARACTERS[found[0]]

    return re.sub(r"\\.?", character, line)


class Text(TargetKind):
    """A text. No head predicts it: only methods that write texts do."""

    dtype = object
    has_head = False

    def parse(self, cell: str, candidates: int | None = None) -> str:
        if not cell.strip():
            raise ValueError("the target is an empty text")
        return cell

    def parse_prediction(self, cell: str, candidates: int | None = None) -> str:
        """The text. A predicted text may be empty."""
        return cell

    def to_line(self, target: Target) -> str:
        """The text with its tabs, line ends and backslashes escaped."""
        return escape(str(target))

    def line_cell(self, line: str) -> str:
        """The text of a line."""
        return unescape(line)

    def constants(self, train: np.ndarray) -> list[Target]:
        """The most frequent text alone: scoring more of them on all training rows takes long, and most texts occur once."""
        return [text for text, _ in Counter(train.tolist()).most_common(1)]

    def outputs(self, answers: Sequence[str]) -> int:
        return 0

    def loss(self, outputs: "Tensor", codes: "Tensor", sizes: "Tensor | None") -> "Tensor":
        raise NotImplementedError("no head predicts a text")

    def predict(self, outputs: "Tensor", sizes: "Tensor | None") -> "Tensor":
        raise NotImplementedError("no head predicts a text")
