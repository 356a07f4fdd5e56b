"""Steps that make columns: entities, labels, numbers."""

import pytest
from input_errors import raises_input_error
from make_parts import column, do, table_of, work_of


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


def test_tokens_without_tags_are_an_error_at_their_line() -> None:
    with raises_input_error(file="corpus.tsv", line=2):
        do("entities", table_of(**{"tokens[]": [["a", "b"]], "tags[]": [["O"]]}))


def test_only_item_drops_rows_with_several() -> None:
    table = table_of(**{"types[]": [["per"], ["per", "org"], [], ["org", "org"]]})
    labelled, work = work_of("only_item", table, none="none")
    assert column(labelled, "label") == ["per", "none", "org"]
    assert work.dropped[0].reason == "types[] has 2 items: per, org"
    assert column(do("only_item", table), "label") == ["per", "org"]


def test_map_merges_values() -> None:
    table = table_of(label=["date", "time", "per"])
    assert column(do("map", table, column="label", values={"date": "time"}, others="keep"), "label") == [
        "time",
        "time",
        "per",
    ]
    dropped, work = work_of("map", table, column="label", values={"per": "1"}, others="drop", into="target")
    assert column(dropped, "target") == ["1"] and len(work.dropped) == 2


def test_a_value_that_map_does_not_name_is_an_error_at_its_line() -> None:
    with raises_input_error(file="corpus.tsv", line=3):
        do("map", table_of(label=["a", "b"]), column="label", values={"a": "x"})


def test_a_value_of_map_that_no_row_has_is_an_error() -> None:
    with raises_input_error(file="recipe.yaml", key="steps.1.map.values"):
        do("map", table_of(label=["a"]), column="label", values={"a": "x", "b": "y"})


def test_set_gives_all_rows_a_value() -> None:
    assert column(do("set", table_of(a=["1", "2"]), values={"split": "dev"}), "split") == ["dev", "dev"]


def test_set_of_an_unknown_split_is_an_error() -> None:
    with raises_input_error(file="recipe.yaml", key="steps.1.set.values.split"):
        do("set", table_of(a=["1"]), values={"split": "valid"})


def test_number_is_an_exact_mean() -> None:
    table = table_of(a=["1", "0.1", "2"], b=["2", "0.2", "3"], c=["2", "0.3", "2.5"])
    assert column(do("number", table, columns=["a", "b", "c"], into="mean", decimals=2), "mean") == [1.67, 0.2, 2.5]
    assert column(do("number", table_of(a=["0.125", "0.135"]), columns=["a"], into="m", decimals=2), "m") == [
        0.12,
        0.14,
    ]


def test_a_number_outside_the_range_is_an_error_at_its_line() -> None:
    with raises_input_error(file="corpus.tsv", line=3):
        do("number", table_of(a=["5", "6"]), columns=["a"], into="m", range=[0, 5])


@pytest.mark.parametrize("cell", ["many", "", "nan", "inf"])
def test_a_cell_that_is_no_number_is_an_error_at_its_line(cell: str) -> None:
    with raises_input_error(file="corpus.tsv", line=3):
        do("number", table_of(a=["5", cell]), columns=["a"], into="m")


def test_rename_gives_columns_other_names() -> None:
    table = do("rename", table_of(a=["1"], b=["2"]), columns={"a": "b", "b": "c"})
    assert table.columns == ["b", "c"] and (column(table, "b"), column(table, "c")) == (["1"], ["2"])


@pytest.mark.parametrize("columns", [{"a": "b"}, {"z": "y"}, {"a": "a[]"}])
def test_a_name_that_a_column_cannot_have_is_an_error(columns: dict[str, str]) -> None:
    with raises_input_error(file="recipe.yaml", key="steps.1.rename.columns"):
        do("rename", table_of(a=["1"], b=["2"]), columns=columns)


@pytest.mark.parametrize("new", ["", ["b"], {"b": "c"}, None])
def test_a_name_that_is_no_text_is_an_error(new: object) -> None:
    with raises_input_error(key="steps.1.rename.columns.a"):
        do("rename", table_of(a=["1"]), columns={"a": new})
