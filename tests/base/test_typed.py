"""Dataclasses from content that people wrote."""

import math
from dataclasses import dataclass, field, make_dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from input_errors import raises_input_error, refused
from msgspec import Meta

from mtl.base.errors import InputError
from mtl.base.settings.schema import POSITIVE, ZERO_TO_ONE
from mtl.base.typed import AT_LEAST_ONE, LAYERS, NOT_NEGATIVE, PART, SHARE, UnknownKey, typed


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        *((POSITIVE, (1e-300, 1), (0, -1, math.nan, math.inf)), (NOT_NEGATIVE, (0, 1), (-1e-300, math.nan, math.inf))),
        *((AT_LEAST_ONE, (1, 2), (0, 0.5)), (SHARE, (0, 0.999), (1, -0.1)), (PART, (1e-9, 0.999), (0, 1))),
        *((ZERO_TO_ONE, (0, 1), (-0.1, 1.1)), (LAYERS, (1, 100), (0, 101))),
    ],
)
def test_ends_belong_to_bounds_or_not(bounds: Meta, inside: tuple[float, ...], outside: tuple[float, ...]) -> None:
    Number = make_dataclass("Number", [("value", Annotated[float, bounds])])
    for value in inside:
        assert typed(Number, {"value": value}).value == value
    for value in outside:
        with pytest.raises(InputError, match="^value=.*: must (be|lie) "):
            typed(Number, {"value": value})


@dataclass
class Sizes:
    width: int
    share: Annotated[float, SHARE] = 0.5
    name: Literal["a", "b"] | None = None
    whole: bool = False
    title: str = ""
    words: Annotated[list[str] | None, Meta(examples=["[x,y]"])] = None
    rows: dict[str, Annotated[int, AT_LEAST_ONE]] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        if self.width == 13:
            raise InputError("brings bad luck", key="width")


@dataclass
class Outer:
    sizes: Sizes
    parts: list[Sizes] = field(default_factory=list)


def test_types_and_defaults_of_which_lists_and_sections_are_copies() -> None:
    given = {"width": "3", "share": "1e-4", "whole": "true", "title": 2026, "words": ("x", 1.5, Path("y"))}
    assert typed(Sizes, given) == Sizes(3, 1e-4, None, True, "2026", ["x", "1.5", "y"])
    dated = {"width": 1, "title": date(2026, 11, 25), "name": "a"}
    assert typed(Sizes, dated) == Sizes(1, name="a", title="2026-11-25")
    assert typed(Outer, {"sizes": Sizes(1), "parts": [{"width": 2}]}) == Outer(Sizes(1), [Sizes(2)])
    given: dict[str, Any] = {"width": 1, "extra": {"a": [1]}, "words": ["x"]}
    made = typed(Sizes, given)
    given["extra"]["a"].append(2)
    given["words"].append("y")
    assert (made.extra, made.words) == ({"a": [1]}, ["x"])


@pytest.mark.parametrize(
    "given",
    [
        {"width": 1, "heigth": 2}, {"withd": 1}, {1: 1}, {"share": 0.5}, {"width": "wide"}, {"width": 2.5}, {"width": True},
        {"width": 10**400}, {"width": 13}, {"share": "half"}, {"share": 1}, {"name": "c"}, {"whole": "perhaps"}, {"title": False},
        {"title": "${oc.env:HOME}"}, {"title": b"x"}, {"words": "x"}, {"words": ["x", ["y"]]}, {"rows": 3}, {"rows": {"a": 0}},
        {"extra": {"a": [{"b": 10**16}]}}, {"width": "x" * 1000},
    ],
)  # fmt: skip
def test_a_value_that_its_field_does_not_take_is_named(given: dict[str, Any]) -> None:
    refused(lambda: typed(Sizes, given, "s."))


def test_the_most_alike_of_many_keys_are_named_and_inner_keys_whole() -> None:
    known = {f"encoder.size_{number}" for number in range(100)} | {"seeds"}
    assert str(UnknownKey("seedz", known)) == "unknown key 'seedz'; did you mean seeds?"
    message = str(UnknownKey("foo", known, "s."))
    assert message.count("s.encoder.size_") + message.count("s.seeds") == 5 and message.endswith(" and 96 more")
    assert len(str(UnknownKey("k" * 10**6, known))) < 400
    inner = {"sizes": {"width": 1}, "parts": [{"width": 13}]}
    for given in ({"sizes": 3}, inner, {"sizes": {"withd": 1}}, []):
        with raises_input_error(file="x.yaml"):
            typed(Outer, given, path=Path("x.yaml"))
