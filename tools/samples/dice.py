"""Random choices of the embedded suites, the same on every call, Python version and platform."""

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Random choices that depend only on the seed, in any Python version: only `random()` is guaranteed to stay the same."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self._random() * len(items))]

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """`count` different items in random order."""
        left = list(items)
        return [left.pop(int(self._random() * len(left))) for _ in range(count)]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """A key, with a probability in proportion to its weight."""
        return self.pick([key for key, weight in weights.items() for _ in range(weight)])

    def fill(self, frame: str, **words: str) -> str:
        """A sentence from a frame: one alternative of each `[a|b]`, the words inserted, the first letter in upper case."""
        text = re.sub(r"\[([^\]]*)\]", lambda match: self.pick(match[1].split("|")), frame).format(**words)
        return text[:1].upper() + text[1:]


def distinct(count: int, seen: set[str], make: Callable[[], T], text: Callable[[T], str]) -> list[T]:
    """Make `count` rows whose texts are not in `seen`, and add their texts to `seen`: no text occurs in two splits."""
    rows: list[T] = []
    while len(rows) < count:
        row = make()
        if text(row) not in seen:
            seen.add(text(row))
            rows.append(row)
    return rows


def whole(number: float, low: int, high: int) -> int:
    """The nearest whole number within the bounds (halves go up)."""
    return min(max(math.floor(number + 0.5), low), high)
