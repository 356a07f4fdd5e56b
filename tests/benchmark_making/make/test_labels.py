"""Steps that make columns: entities, labels, numbers."""

import pytest
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


def test_only_item_drops_rows_with_several() -> None:
    table = table_of(**{"types[]": [["per"], ["per", "org"], [], ["org", "org"]]})
    labelled, work = work_of("only_item", table, none="none")
    assert column(labelled, "label") == ["per", "none", "org"]
    assert work.dropped[0].reason == "types[] has 2 items: per, org"
    assert column(do("only_item", table), "label") == ["per", "org"]


def test_map_set_and_number_make_columns() -> None:
    table = table_of(label=["date", "time", "per"])
    kept = do("map", table, column="label", values={"date": "time"}, others="keep")
    assert column(kept, "label") == ["time", "time", "per"]
    dropped, work = work_of("map", table, column="label", values={"per": "1"}, others="drop", into="target")
    assert column(dropped, "target") == ["1"] and len(work.dropped) == 2
    assert column(do("set", table_of(a=["1", "2"]), values={"split": "dev"}), "split") == ["dev", "dev"]
    # A number is an exact mean.
    table = table_of(a=["1", "0.1", "2"], b=["2", "0.2", "3"], c=["2", "0.3", "2.5"])
    assert column(do("number", table, columns=["a", "b", "c"], into="mean", decimals=2), "mean") == [1.67, 0.2, 2.5]
    rounded = do("number", table_of(a=["0.125", "0.135"]), columns=["a"], into="m", decimals=2)
    assert column(rounded, "m") == [0.12, 0.14]
