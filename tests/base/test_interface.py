"""Functions that notebooks call: whatever an argument is, the answer is one InputError that names it."""

from collections.abc import Mapping, Sequence
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from input_errors import raises_input_error, refused

from mtl.base.interface import checked, errors_as_input


class Odd:
    """An object whose every use is an error of another kind."""

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(name)

    def __fspath__(self) -> Any:
        return 5


@checked
def call(
    *words: str,
    path: str | PathLike[str] = "",
    seed: int | Sequence[int] | None = None,
    share: float = 0.5,
    tasks: Mapping[str, Mapping[str, Any]] | None = None,
    **rest: Any,
) -> list[Any]:
    """A function with arguments of every type that mtl's have."""
    return [words, path, seed, share, tasks, rest]


def test_values_of_the_right_type_reach_the_function() -> None:
    given = call("a", path=Path("b"), seed=np.array([1, 2]), share=np.float64(1), tasks={"t": {"k": object}}, more=Odd)
    assert given == [("a",), Path("b"), [1, 2], 1.0, {"t": {"k": object}}, {"more": Odd}]
    assert call(seed=range(10**12))[2] == range(10**12)
    assert [type(seed) for seed in call(seed=[np.int64(1), 2])[2]] == [int, int]
    assert type(call(tasks={"t": {"k": np.int64(1)}})[4]["t"]["k"]) is int


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("words", value) for value in (5, None, "a\0", "\udcff", b"a", Odd())],
        *[("path", value) for value in (5, None, ["a"], "a\0", Path("a\0"), Odd())],
        *[("seed", value) for value in (True, 1.5, "1", 10**400, {1}, Odd())],
        *[("share", value) for value in (True, "0.5", None, 1j, 10**400, float("nan"), Odd())],
        *[("tasks", value) for value in ([], "t", {"t": []}, Odd())],
        *[("seed.0", ["1"]), ("a key of tasks", {1: {}}), ("a key of tasks.t", {"t": {1: 2}})],
    ],
    ids=count(),
)
def test_any_other_value_is_one_line(name: str, value: Any) -> None:
    argument = name.removeprefix("a key of ").partition(".")[0]
    refused(lambda: call(value) if name == "words" else call(**{argument: value}), key=name)


def test_errors_of_files_and_of_foreign_objects_are_one_line() -> None:
    @checked
    def read(path: str) -> str:
        return Path(path).read_text(encoding="utf-8")

    refused(lambda: read("none"))
    refused(lambda: checked(lambda: Path("a\0b").read_text(encoding="utf-8"))())
    with raises_input_error(key="frame"), errors_as_input("frame"):
        raise KeyError("a\nb")
