"""Steps that choose, repeat and join rows."""

from typing import Any

import pytest
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
        ({"column": "text", "words": [2, 3]}, [1, 2]),
        ({"column": "text", "words": [3, None]}, [2]),
        ({"column": "size", "number": [0, 2.5]}, [0, 1]),
    ],
)
def test_keep(options: dict[str, Any], kept: list[int]) -> None:
    table, work = work_of("keep", TABLE, **options)
    assert table.rows == [TABLE.rows[number] for number in kept]
    assert [dropped.row for dropped in work.dropped] == [row for row in TABLE.rows if row not in table.rows]
    assert all(options["column"] in dropped.reason for dropped in work.dropped)


def test_keep_looks_into_lists_and_duplicates_differ_in_case_and_white_space() -> None:
    assert column(do("keep", LISTS, column="parts[]", values=["q"]), "id") == ["a"]
    table, work = work_of("duplicates", table_of(text=["A b", "a  B", "ab"], label=["x", "y", "x"]), columns=["text"])
    assert column(table, "text") == ["A b", "ab"]
    assert [dropped.reason for dropped in work.dropped] == ["the same as corpus.tsv:2"]
    same = do("duplicates", table_of(text=["A", "a"], label=["x", "y"]), columns=["text", "label"])
    assert len(same.rows) == 2


def test_near_duplicates_of_a_dropped_row_are_kept() -> None:
    texts = [
        "the cat sat on the mat today",
        "the cat sat on the mat today!!",
        "the cat sat on the mat today!!!!!",
        "a dog",
    ]
    table, work = work_of("duplicates", table_of(text=texts), columns=["text"], near=0.85)
    assert column(table, "text") == [texts[0], texts[2], texts[3]]
    assert work.dropped[0].reason == "0.92 like corpus.tsv:2"


def numbered(rows: int) -> Table:
    return table_of(id=[str(row) for row in range(rows)], label=["xy"[row % 2] for row in range(rows)])


def test_sample_draws_rows_of_a_class_and_top_keeps_the_first_of_equal_rows() -> None:
    table, work = work_of("sample", numbered(100), column="label", values=["x"], number=10)
    assert column(table, "label").count("x") == 10 and column(table, "label").count("y") == 50
    assert len(work.dropped) == 40
    assert column(do("sample", numbered(100), column="label", values=["x"], number=10), "id") == column(table, "id")
    assert column(table, "id") == sorted(column(table, "id"), key=int)
    table = table_of(group=["a", "a", "a", "b", "b"], value=["1", "2", "2", "0.1", "0.5"])
    assert column(do("top", table, group="group", by="value", most=1), "value") == ["2", "0.5"]
    kept = do("top", table, group="group", by="value", most=2, at_least=0.2)
    assert column(kept, "value") == ["2", "2", "0.5"]


def test_explode_stack_and_shuffle() -> None:
    table, work = work_of("explode", LISTS, column="parts[]", item="part")
    assert list(zip(column(table, "id"), column(table, "part"), strict=True)) == [("a", "p"), ("a", "q"), ("c", "p")]
    assert table.columns == ["id", "part"] and len(work.dropped) == 1
    table = do("stack", table_of(a=["1"]), table_of(b=["2"]))
    assert table.columns == ["a", "b"] and column(table, "b") == [None, "2"]
    table = do("shuffle", numbered(50))
    assert column(table, "id") != column(numbered(50), "id")
    assert sorted(column(table, "id"), key=int) == column(numbered(50), "id")
