"""Steps that choose, repeat and join rows."""

from typing import Any

import pytest
from input_errors import raises_input_error
from make_parts import column, do, table_of, work_of

from mtl.benchmark_making.make.table import Table

TABLE = table_of(
    text=["one", "one two", "one two three .", "four"], label=["x", "y", "x", "z"], size=["1", "2.5", "-3", "4"]
)
LISTS = table_of(**{"id": ["a", "b", "c"], "parts[]": [["p", "q"], [], ["p"]]})


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"column": "label", "values": ["x"]}, [0, 2]),
        ({"column": "label", "without": ["x", "z"]}, [1]),
        ({"column": "text", "words": [2, 3]}, [1, 2]),
        ({"column": "text", "words": [3, None]}, [2]),
        ({"column": "text", "characters": [None, 4]}, [0, 3]),
        ({"column": "size", "number": [0, 2.5]}, [0, 1]),
    ],
)
def test_keep(options: dict[str, Any], kept: list[int]) -> None:
    table, work = work_of("keep", TABLE, **options)
    assert table.rows == [TABLE.rows[number] for number in kept]
    assert [dropped.row for dropped in work.dropped] == [row for row in TABLE.rows if row not in table.rows]
    assert all(options["column"] in dropped.reason for dropped in work.dropped)


def test_keep_looks_into_lists() -> None:
    assert column(do("keep", LISTS, column="parts[]", items=[1, 1]), "id") == ["c"]
    assert column(do("keep", LISTS, column="parts[]", values=["q"]), "id") == ["a"]
    assert column(do("keep", LISTS, column="parts[]", without=["q"]), "id") == ["b", "c"]


def test_duplicates_differ_in_case_and_white_space() -> None:
    table, work = work_of("duplicates", table_of(text=["A b", "a  B", "ab"], label=["x", "y", "x"]), columns=["text"])
    assert column(table, "text") == ["A b", "ab"]
    assert [dropped.reason for dropped in work.dropped] == ["the same as corpus.tsv:2"]
    same = do("duplicates", table_of(text=["A", "a"], label=["x", "y"]), columns=["text", "label"])
    assert len(same.rows) == 2


def test_near_duplicates_of_a_dropped_row_are_kept() -> None:
    texts = [*(f"the cat sat on the mat today{marks}" for marks in ("", "!!", "!!!!!")), "a dog"]
    table, work = work_of("duplicates", table_of(text=texts), columns=["text"], near=0.85)
    assert column(table, "text") == [texts[0], texts[2], texts[3]]
    assert work.dropped[0].reason == "0.92 like corpus.tsv:2"


def numbered(rows: int) -> Table:
    return table_of(id=[str(row) for row in range(rows)], label=["xy"[row % 2] for row in range(rows)])


def test_sample_draws_rows_of_a_class_and_keeps_the_others_or_a_share_of_all() -> None:
    table, work = work_of("sample", numbered(100), column="label", values=["x"], number=10)
    assert column(table, "label").count("x") == 10 and column(table, "label").count("y") == 50
    assert len(work.dropped) == 40
    assert column(do("sample", numbered(100), column="label", values=["x"], number=10), "id") == column(table, "id")
    assert column(table, "id") == sorted(column(table, "id"), key=int)
    assert len(do("sample", numbered(100), share=0.25).rows) == 25


def test_top_keeps_the_first_of_equal_rows() -> None:
    table = table_of(group=["a", "a", "a", "b", "b"], value=["1", "2", "2", "0.1", "0.5"])
    assert column(do("top", table, group="group", by="value", most=1), "value") == ["2", "0.5"]
    kept = do("top", table, group="group", by="value", most=2, order="lowest", at_least=0.2)
    assert column(kept, "value") == ["1", "2", "0.5"]


def test_explode_makes_a_row_of_each_item() -> None:
    table, work = work_of("explode", LISTS, column="parts[]", item="part")
    assert list(zip(column(table, "id"), column(table, "part"), strict=True)) == [("a", "p"), ("a", "q"), ("c", "p")]
    assert table.columns == ["id", "part"] and len(work.dropped) == 1


def test_stack_and_shuffle_keep_all_rows() -> None:
    table = do("stack", table_of(a=["1"]), table_of(b=["2"]))
    assert table.columns == ["a", "b"] and column(table, "b") == [None, "2"]
    ids, shuffled = (column(rows, "id") for rows in (numbered(50), do("shuffle", numbered(50))))
    assert shuffled != ids and sorted(shuffled, key=int) == ids


@pytest.mark.parametrize(
    ("step", "tables", "options", "place"),
    [
        ("keep", [TABLE], {"column": "none", "values": ["x"]}, "column"),
        ("keep", [LISTS], {"column": "parts[]", "words": [1, 2]}, "column"),
        ("keep", [TABLE], {"column": "text", "number": [0, 1]}, 2),
        ("sample", [numbered(10)], {"column": "label", "values": ["x"], "number": 6}, "number"),
        ("explode", [LISTS], {"column": "id", "item": "x"}, "column"),
        ("entities", [table_of(**{"tokens[]": [["a", "b"]], "tags[]": [["O"]]})], {}, 2),
        ("map", [table_of(label=["a", "b"])], {"column": "label", "values": {"a": "x"}}, 3),
        ("map", [table_of(label=["a"])], {"column": "label", "values": {"a": "x", "b": "y"}}, "values"),
        ("set", [table_of(a=["1"])], {"values": {"split": "valid"}}, "values.split"),
        ("number", [table_of(a=["5", "6"])], {"columns": ["a"], "into": "m", "range": [0, 5]}, 3),
        *(("number", [table_of(a=["5", cell])], {"columns": ["a"], "into": "m"}, 3) for cell in ("many", "", "nan", "inf")),
        *(("rename", [table_of(a=["1"], b=["2"])], {"columns": columns}, "columns") for columns in ({"a": "b"}, {"z": "y"}, {"a": "a[]"})),
        ("split", [table_of(author=["a"] * 10)], {"shares": {"train": 0.8, "dev": 0.1, "test": 0.1}, "keys": ["author"]}, "keys"),
        ("split", [table_of(author=["", ""])], {"shares": {"train": 0.5, "test": 0.5}, "keys": ["author"]}, "keys"),
        ("split", [numbered(10)], {"numbers": {"train": 8, "dev": 3}}, "numbers"),
        ("split", [numbered(3)], {"shares": {"train": 0.8, "dev": 0.1, "test": 0.1}}, "shares.test"),
        ("split_by_value", [table_of(domain=["a"])], {"column": "domain", "splits": {"train": ["a"], "test": ["x"]}}, "splits"),
    ],
)  # fmt: skip
def test_what_a_step_cannot_do_is_an_error_at_its_option_or_at_the_line(
    step: str, tables: list[Table], options: dict[str, Any], place: str | int
) -> None:
    at_option = {"file": "recipe.yaml", "key": f"steps.1.{step}.{place}"}
    with raises_input_error(**(at_option if isinstance(place, str) else {"file": "corpus.tsv", "line": place})):  # type: ignore[arg-type]
        do(step, *tables, **options)
