"""Steps on rows and columns, and what each step refuses: an option that does not fit the table, or the line of a row that does not fit."""

from typing import Any

import pytest
from input_errors import raises_input_error
from make_parts import column, do, table_of, work_of

from mtl.benchmark_making.make.table import Origin, SourceRow, Table

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
    texts = [*(f"the cat sat on the mat today{marks}" for marks in ("", "!!", "!!!!!")), "a dog"]
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
    pair = SourceRow({"parts[]": ["p", "q"], "id": "a"}, (Origin("one.tsv", 2), Origin("other.tsv", 2)))
    table, work = work_of("explode", Table("pairs", ["parts[]", "id"], [pair]), column="parts[]", item="part")
    assert work.added == sum(len(row.values) + len(row.origins) for row in table.rows) - 4
    table = do("stack", table_of(a=["1"]), table_of(b=["2"]))
    assert table.columns == ["a", "b"] and column(table, "b") == [None, "2"]
    table = do("shuffle", numbered(50))
    assert column(table, "id") != column(numbered(50), "id")
    assert sorted(column(table, "id"), key=int) == column(numbered(50), "id")


@pytest.mark.parametrize(
    ("tags", "types", "entities"),
    [
        (["O", "B-per", "I-per", "O"], ["per"], ["b c"]),
        (["B-per", "B-per", "B-org", "O"], ["per", "org"], ["a", "b", "c"]),
        (["I-per", "I-org", "O", "I-per"], ["per", "org"], ["a", "b", "d"]),
        (["S-per", "B-org", "E-org", "U-per"], ["per", "org"], ["a", "b c", "d"]),
        (["per", "per", "_", "org"], ["per", "org"], ["a b", "d"]),
        (["O", "O", "_", "-"], [], []),
    ],
)
def test_entities_of_each_way_to_tag(tags: list[str], types: list[str], entities: list[str]) -> None:
    table = do("entities", table_of(**{"tokens[]": [["A", "B", "c", "D"]], "tags[]": [tags]}))
    assert (column(table, "types[]"), column(table, "entities[]")) == ([types], [entities])


def test_only_item_drops_rows_with_several() -> None:
    table = table_of(**{"types[]": [["per"], ["per", "org"], [], ["org", "org"]]})
    labelled, work = work_of("only_item", table, none="none")
    assert column(labelled, "label") == ["per", "none", "org"]
    assert work.dropped[0].reason == "types[] has 2 items: per, org"


def test_map_set_and_number_make_columns() -> None:
    table = table_of(label=["date", "time", "per"])
    kept = do("map", table, column="label", values={"date": "time"}, others="keep")
    assert column(kept, "label") == ["time", "time", "per"]
    dropped, work = work_of("map", table, column="label", values={"per": "1"}, others="drop", into="target")
    assert column(dropped, "target") == ["1"] and len(work.dropped) == 2
    for name in ("split", "self"):
        assert column(do("set", table_of(a=["1", "2"]), values={name: "dev"}), name) == ["dev", "dev"]
    # A number is an exact mean.
    table = table_of(a=["1", "0.1", "2"], b=["2", "0.2", "3"], c=["2", "0.3", "2.5"])
    assert column(do("number", table, columns=["a", "b", "c"], into="mean", decimals=2), "mean") == [1.67, 0.2, 2.5]
    rounded = do("number", table_of(a=["0.125", "0.135"]), columns=["a"], into="m", decimals=2)
    assert column(rounded, "m") == [0.12, 0.14]


TEXTS = table_of(text=["one", "two"], label=["x", "y"])
PAIRED = {"scope": "within", "texts": ["text", "text"], "groups": ["label", "label"]}
THIRDS = {"train": 0.8, "dev": 0.1, "test": 0.1}


@pytest.mark.parametrize(
    ("step", "tables", "options", "option"),
    [
        ("keep", [TEXTS], {"column": "none", "values": ["x"]}, "column"),
        ("keep", [LISTS], {"column": "parts[]", "words": [1, 2]}, "column"),
        ("sample", [table_of(label=[*"xyxyxyxyxy"])], {"column": "label", "values": ["x"], "number": 6}, "number"),
        ("explode", [LISTS], {"column": "id", "item": "x"}, "column"),
        ("duplicates", [TEXTS], {"columns": []}, "columns"),
        ("number", [TEXTS], {"columns": [], "into": "m"}, "columns"),
        ("map", [table_of(label=["a"])], {"column": "label", "values": {"a": "x", "b": "y"}}, "values"),
        ("split", [table_of(author=["a"] * 10)], {"shares": THIRDS, "keys": ["author"]}, "keys"),
        ("split", [table_of(id=["0", "1", "2"])], {"shares": THIRDS}, "shares.test"),
        ("pairs", [TEXTS, table_of(label=["x"])], PAIRED, "texts"),
        ("pairs", [TEXTS, TEXTS], {**PAIRED, "same": "split"}, "same"),
        ("pairs", [table_of(text=["a"], label=["x"], similarity=["1"])] * 2, PAIRED, "tables"),
        ("split", [table_of(author=[""] * 10)], {"shares": THIRDS, "keys": ["author"]}, "keys"),
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
