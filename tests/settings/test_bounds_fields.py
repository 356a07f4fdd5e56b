"""The values that a field takes stand with the field."""

import math
from dataclasses import dataclass, field

import pytest
from input_errors import raises_input_error

from mtl.settings.bounds import (
    AT_LEAST_ONE,
    LAYERS,
    NOT_NEGATIVE,
    PART,
    POSITIVE,
    SHARE,
    ZERO_TO_ONE,
    Bounds,
    Interval,
    OneOf,
    bounded,
    check_bounds,
    one_of,
    typed_settings,
)


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        (POSITIVE, (1e-300, 1, math.inf), (0, -1, math.nan)),
        (NOT_NEGATIVE, (0, 1), (-1e-300, math.nan)),
        (AT_LEAST_ONE, (1, 2), (0, 0.5)),
        (SHARE, (0, 0.999), (1, -0.1)),
        (PART, (1e-9, 0.999), (0, 1)),
        (ZERO_TO_ONE, (0, 1), (-0.1, 1.1)),
        (LAYERS, (1, 100), (0, 101)),
        (Interval(0, 1, open_low=True), (0.1, 1), (0, 1.1)),
        (OneOf(("a", "b")), ("a", "b"), ("c", "")),
    ],
)
def test_the_ends_belong_to_an_interval_or_not(
    bounds: Bounds, inside: tuple[object, ...], outside: tuple[object, ...]
) -> None:
    assert all(map(bounds.holds, inside))
    assert not any(map(bounds.holds, outside))


@dataclass
class Inner:
    rate: float = bounded(SHARE, 0.5)
    name: str | None = one_of("a", "b", default=None)


@dataclass
class Outer:
    size: int = bounded(AT_LEAST_ONE)
    inner: Inner = field(default_factory=Inner)

    def check(self) -> None:
        if self.size == 13:
            raise ValueError("after the fields")


def test_sections_are_checked_with_their_names() -> None:
    check_bounds(Outer(1))
    with raises_input_error(key="part.size"):
        check_bounds(Outer(0), "part.")
    with raises_input_error(key="inner.rate"):
        check_bounds(Outer(1, Inner(rate=1.0)))
    with raises_input_error(key="inner.name"):
        check_bounds(Outer(1, Inner(name="c")))
    with pytest.raises(ValueError, match="after the fields"):
        check_bounds(Outer(13))


def test_typed_settings_are_checked() -> None:
    assert typed_settings(Inner, {"rate": "0.25"}) == Inner(rate=0.25)
    with raises_input_error(key="s.rate"):
        typed_settings(Inner, {"rate": 2}, "s.")
