"""What each step refuses: the option that the table does not fit, or the line of a row that does not fit the option."""

from typing import Any

import pytest
from input_errors import raises_input_error
from make_parts import do, table_of

from mtl.benchmark_making.make.table import Table

TEXTS = table_of(text=["one", "two"], label=["x", "y"])
LISTS = table_of(**{"id": ["a", "b"], "parts[]": [["p", "q"], []]})
PAIRED = {"scope": "within", "texts": ["text", "text"], "groups": ["label", "label"], "units": "words"}
THIRDS = {"train": 0.8, "dev": 0.1, "test": 0.1}


@pytest.mark.parametrize(
    ("step", "tables", "options", "option"),
    [
        ("keep", [TEXTS], {"column": "none", "values": ["x"]}, "column"),
        ("keep", [LISTS], {"column": "parts[]", "words": [1, 2]}, "column"),
        ("sample", [table_of(label=[*"xyxyxyxyxy"])], {"column": "label", "values": ["x"], "number": 6}, "number"),
        ("explode", [LISTS], {"column": "id", "item": "x"}, "column"),
        ("map", [table_of(label=["a"])], {"column": "label", "values": {"a": "x", "b": "y"}}, "values"),
        ("set", [TEXTS], {"values": {"split": "valid"}}, "values.split"),
        ("split", [table_of(author=["a"] * 10)], {"shares": THIRDS, "keys": ["author"]}, "keys"),
        ("split", [table_of(author=["", ""])], {"shares": THIRDS, "keys": ["author"]}, "keys"),
        ("split", [table_of(id=["0", "1", "2"])], {"shares": THIRDS}, "shares.test"),
        ("pairs", [TEXTS, table_of(label=["x"])], PAIRED, "texts"),
        ("pairs", [TEXTS, TEXTS], {**PAIRED, "same": "split"}, "same"),
        ("pairs", [table_of(text=["a"], label=["x"], similarity=["1"])] * 2, PAIRED, "tables"),
    ],
)
def test_an_option_that_the_table_does_not_fit(
    step: str, tables: list[Table], options: dict[str, Any], option: str
) -> None:
    with raises_input_error(key=f"steps.1.{step}.{option}"):
        do(step, *tables, **options)


@pytest.mark.parametrize(
    ("step", "columns", "options"),
    [
        ("keep", {"text": ["1", "one"]}, {"column": "text", "number": [0, 1]}),
        ("entities", {"tokens[]": [["a"], ["a", "b"]], "tags[]": [["O"], ["O"]]}, {}),
        ("map", {"label": ["a", "b"]}, {"column": "label", "values": {"a": "x"}}),
        ("number", {"a": ["5", "6"]}, {"columns": ["a"], "into": "m", "range": [0, 5]}),
        ("number", {"a": ["5", ""]}, {"columns": ["a"], "into": "m"}),
        ("number", {"a": ["5", "nan"]}, {"columns": ["a"], "into": "m"}),
    ],
)
def test_a_row_that_does_not_fit_the_option(step: str, columns: dict[str, Any], options: dict[str, Any]) -> None:
    with raises_input_error(file="corpus.tsv", line=3):
        do(step, table_of(**columns), **options)


ALIKE = table_of(text=["a b", "b a", "a b c"], label=["x"] * 3)
THREE = table_of(text=["a", "b", "c"], label=["x"] * 3)


@pytest.mark.parametrize(
    ("step", "tables", "options", "option"),
    [
        ("pairs", [THREE, THREE], {**PAIRED, "texts": ["text", "label"]}, "pairs.most"),
        ("pairs", [ALIKE, ALIKE], {**PAIRED, "scope": "across", "most": 9, "groups": ["text", "text"]}, "pairs.most"),
        ("stack", [THREE, THREE, THREE], {}, "stack"),
        ("explode", [table_of(**{"id": ["a"], "parts[]": [["p"] * 30]})], {"column": "parts[]", "item": "part"}, "explode.column"),
    ],
)  # fmt: skip
def test_a_step_counts_before_it_makes_too_much(
    step: str, tables: list[Table], options: dict[str, Any], option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    do(step, *tables, **options)
    monkeypatch.setattr("mtl.benchmark_making.make.table.MOST_VALUES", 12)
    with raises_input_error(file="recipe.yaml", key=f"steps.1.{option}"):
        do(step, *tables, **options)


@pytest.mark.parametrize(
    ("step", "option", "value"),
    [
        ("split", "shares", {"train": float("nan")}),
        ("keep", "words", [1, {"a": 1}]),
    ],
)
def test_an_option_without_a_bound(step: str, option: str, value: Any) -> None:
    with raises_input_error():
        do(step, TEXTS, **({"column": "text"} if step == "keep" else {}), **{option: value})
