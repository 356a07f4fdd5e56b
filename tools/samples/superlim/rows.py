"""What the rows of all tasks of `superlim-sample` share: sizes, noise, annotators, marked words."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from samples.dice import Dice, distinct, whole

Row = dict[str, Any]
Splits = dict[str, list[Row]]

SIZES = {"train": 360, "dev": 120, "test": 80}
WITHOUT_DEV = {"train": 80, "test": 120}
LABEL_NOISE = 0.03


def splits(
    make: Callable[[], Row], key: Callable[[Row], str], sizes: dict[str, int] = SIZES, other: Iterable[str] = ()
) -> Splits:
    """Rows by split, of which no two have the same key, and none has one of the `other` keys."""
    seen = set(other)
    return {split: distinct(count, seen, make, key) for split, count in sizes.items()}


def annotated(dice: Dice, value: float, low: int, high: int, annotators: int) -> list[int]:
    """What annotators give whose opinions are about `value`."""
    return [whole(value + dice.number(-8, 8) / 10, low, high) for _ in range(annotators)]


def mean(scores: list[int]) -> float:
    return round(sum(scores) / len(scores), 2)


def marked(text: str, word: str, first: int = 0) -> Row:
    """The first place of a whole word at or after the character `first` of a text, as Superlim marks it."""
    found = re.compile(rf"\b{word}\b").search(text, first)
    assert found is not None
    return {"text": word, "location": {"start": found.start(), "stop": found.end()}}


def unordered(*texts: str) -> str:
    """A key of a pair that is the same in either order."""
    return "\t".join(sorted(texts))


def lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())
