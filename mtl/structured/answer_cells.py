"""The cells of answer spans. A target is a JSON object in one cell, `{"text": [...], "answer_start": [...], "words": [...]}`."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mtl.base.wording import counted
from mtl.structured.passages import units_within

CELL = '"answer_start"'  # tells a target in JSON from the text of an answer
PARSED = 1 << 12  # the most targets that stay parsed
MOST_DIGITS = 11  # of the number of a character
SHOWN = 60  # the most characters of an answer in a message


class GoldAnswers(NamedTuple):
    """A target: the gold answers of a row. An answer has no start if it occurs several times in the passage and the data does not say which
    occurrence is meant: models learn the first one, and a warning counts such rows."""

    texts: Sequence[str]  # without an answer, all lists are empty
    starts: Sequence[int | None]  # the position of each answer's first character in the passage
    words: Sequence[int] = ()  # the first and the last unit of the first answer

    @property
    def cell(self) -> str:
        target = {"text": list(self.texts), "answer_start": list(self.starts), "words": list(self.words)}
        return json.dumps(target, ensure_ascii=False)

    @property
    def run(self) -> tuple[int, int]:
        """The first and the last unit of the first answer; without an answer 0 and 0, the whole passage."""
        first, last = self.words or (0, 0)
        return first, last

    def located(self, passage: str, starts: Sequence[str] | None) -> "GoldAnswers":
        """The target with the positions of its answers in the passage, from `starts` (None: `self.starts`). Raises ValueError for a wrong one."""
        if not self.texts:
            return GoldAnswers([], [])
        declared = self.starts if starts is None else _parse_starts(starts, len(self.texts))
        positions = [_position(text, start, passage) for text, start in zip(self.texts, declared, strict=True)]
        first = passage.find(self.texts[0]) if positions[0] is None else positions[0]
        return GoldAnswers(self.texts, positions, units_within(passage, first, first + len(self.texts[0])))


@lru_cache(PARSED)
def parse_gold(cell: str) -> GoldAnswers:
    """The target in a cell. Raises ValueError for a cell of another form."""
    try:
        value = json.loads(cell)
        texts, starts, words = value["text"], value["answer_start"], value.get("words", [])
        is_valid = (
            all(isinstance(values, list) for values in (texts, starts, words))
            and all(isinstance(text, str) and text.strip() for text in texts)
            and all(start is None or (type(start) is int and start >= 0) for start in starts)
            and all(type(word) is int and word > 0 for word in words)
            and len(texts) == len(starts)
            and len(words) in (0, 2)
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        is_valid = False
    if not is_valid:
        raise ValueError(f'target {_shown(cell)} is not of the form {{"text": ["Warsaw"], "answer_start": [17]}}')
    return GoldAnswers(texts, starts, words)


def is_target(cell: str) -> bool:
    """Whether a cell is a target in JSON, and not the text of an answer."""
    return cell.startswith("{") and CELL in cell


def _parse_starts(cells: Sequence[str], answers: int) -> list[int]:
    """The numbers in the cells of starts, one for each of so many answers. Raises ValueError for other cells, or another number of them."""
    if len(cells) != answers:
        raise ValueError(f"{counted(answers, 'answer')} and {counted(len(cells), 'start')}; each answer has one")
    if bad := [cell for cell in cells if not (cell.isdecimal() and cell.isascii() and len(cell) <= MOST_DIGITS)]:
        raise ValueError(f"start {_shown(bad[0])} is not the number of a character, from 0")
    return list(map(int, cells))


def _position(answer: str, start: int | None, passage: str) -> int | None:
    """The answer's first character; None if it occurs several times and there is no `start`. Raises ValueError if it does not stand there."""
    first = passage.find(answer)
    if start is None:
        if first < 0:
            raise ValueError(f"answer {_shown(answer)} is no part of the passage")
        return first if passage.find(answer, first + 1) < 0 else None
    if not passage.startswith(answer, start):
        stands = _shown(passage[start : start + len(answer)])
        nearest = f"; it stands at {first}" if first >= 0 else "; it is no part of the passage"
        raise ValueError(f"answer {_shown(answer)} must stand at character {start}, where {stands} stands{nearest}")
    return start


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
