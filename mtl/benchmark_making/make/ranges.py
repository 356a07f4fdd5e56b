"""Ranges of numbers, as options of steps have them."""

from mtl.base.errors import InputError

Range = list[float | None]  # the smallest and the largest number; null: no limit


def check_range(name: str, ends: Range | None) -> None:
    """Raise InputError unless this is a lower and an upper end, either of which may be null."""
    if ends is None:
        return
    numbers = [end for end in ends if end is not None]
    if len(ends) != 2 or numbers != sorted(numbers):
        raise InputError("must be the smallest and the largest, as in [3, 50] or [3, null]", key=name, value=ends)


def is_within(value: float, ends: Range | None) -> bool:
    """Whether a number lies between two ends, either of which may be null."""
    low, high = ends or (None, None)
    return (low is None or value >= low) and (high is None or value <= high)
