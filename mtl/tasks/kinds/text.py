"""Texts, such as summaries, and words without a fixed list of labels."""

import re
from collections.abc import Sequence

import numpy as np

from mtl.tasks.floor_targets import Sizes, Target
from mtl.tasks.head_targets import ClassesHead
from mtl.tasks.target_kind import TargetKind

ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
CHARACTERS = {escape: character for character, escape in ESCAPES.items()}


class Text(TargetKind):
    """A text; only methods that write texts predict it."""

    dtype = object
    most_constants = 1  # scoring more texts on all training rows takes long, and most texts occur once

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


class WordHead(ClassesHead):
    """One output for each target of the training rows."""

    def answers(self, train: np.ndarray) -> list[str]:
        return sorted(set(train.tolist()))

    def outputs(self, answers: Sequence[str]) -> int:
        return len(answers)

    def encode(self, targets: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        """The index of each word in the answers; -1 for a word that is not one of them."""
        index = {answer: code for code, answer in enumerate(answers)}
        return np.array([index.get(target, -1) for target in targets], dtype=np.float64)

    def decode(self, codes: np.ndarray, answers: Sequence[str], texts: Sequence[str] = ()) -> np.ndarray:
        return np.array([answers[int(code)] for code in codes], dtype=object)


class Word(TargetKind):
    head_type = WordHead
    dtype = object

    def parse(self, cell: str, candidates: int | None = None) -> str:
        if not is_word(cell):
            problem = "is not a word: it is empty, has a tab or a line end, or is not valid Unicode"
            raise ValueError(f"target {cell!r} {problem}")
        return cell

    def training_targets(self, targets: np.ndarray, sizes: Sizes) -> np.ndarray:
        return targets.astype(str)


def is_word(text: str) -> bool:
    """Whether a prediction file can hold this text as a word: it is not blank, has no tab or line end, and can be written in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, or bytes of a file that are not UTF-8
        return False
    return bool(text.strip()) and not any(mark in text for mark in "\t\n\r")


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
