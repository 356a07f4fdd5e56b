from pathlib import Path
from typing import Any

import pytest
from data_files import write_jsonl, write_table
from input_errors import raises_input_error

from mtl.benchmark_making.init_suite import nested_rows, tables
from mtl.benchmark_making.init_suite.file_column import FileColumn
from mtl.benchmark_making.init_suite.label_columns import LabelColumns
from mtl.benchmark_making.init_suite.tables import read_table

QAS = {"text": "a b", "qas": [{"q": {}}], "spans": [1, 2], "halves": [0.5], "mixed": ["a", 1], "none": None, "": "x"}


@pytest.mark.parametrize(
    ("row", "columns", "unread"),
    [
        ({"first": {"context": "a b"}, "answers": ["x", "y"]}, {"first.context": "a b", "answers[]": ["x", "y"]}, {}),
        ({"": ["a"], "text": "b", "more": {"": 1}}, {"text": "b"}, {"[]": "no name", "more.": "no name"}),
        (QAS, {"text": "a b", "spans[]": ["1", "2"], "mixed[]": ["a", "1"]}, {"qas": "a list of objects", "halves": "a list", "": "no name"}),
        ({"text": "a", "q.text": "b"}, {"text": "a"}, {"q.text": "a key with a dot"}),
        ({"text": "a", "n": 1e20, "m": 2**63}, {"text": "a", "n": "1e+20"}, {"m": "an integer of more"}),
        ([("answers[]", "x")], {"answers[]": "x"}, {}),
        ([("", "0"), ("text", "a b"), (" ", ""), ("label", "x")], {"text": "a b", "label": "x"}, {"": "no", " ": "no"}),
        ([("text", "a"), ("n", "1"), ("n", "2")], {"text": "a"}, {"n": "the name of 2 columns"}),
    ],
)  # fmt: skip
def test_columns_of_nested_rows_and_tables(
    row: Any, columns: dict[str, Any], unread: dict[str, str], tmp_path: Path
) -> None:
    if isinstance(row, dict):
        path = write_jsonl(tmp_path / "train.jsonl", [row, row])
    else:
        path = write_table(tmp_path / "train.tsv", [name for name, _ in row], [[cell for _, cell in row]] * 2)
    table = read_table(path)
    assert {name: (column.lists or column.texts)[1] for name, column in table.columns.items()} == columns
    assert (set(table.unread), table.incomplete) == (set(unread), {})
    assert table.lacks("elsewhere") and not any(map(table.lacks, unread))
    assert all(table.unread[name].startswith(what) for name, what in unread.items())


def test_damaged_files_and_files_without_columns(tmp_path: Path) -> None:
    for rows, end, line in (([{"text": "a"}], "{\n", 2), ([{"text": None}], "", None)):
        path = write_jsonl(tmp_path / "train.jsonl", rows)
        path.write_text(path.read_text() + end)
        with raises_input_error(file="train.jsonl", line=line):
            read_table(path)


@pytest.mark.parametrize("wrong", ["nan", "inf", "1e999", "1_000", "", "١"])
def test_numbers(wrong: str) -> None:
    assert FileColumn("n", ["2", "1.50", "-3e2"]).numbers == [-300.0, 1.5, 2.0]
    assert FileColumn("n", ["1", wrong]).numbers is None


def test_blank_columns_and_words_of_names() -> None:
    blank = [FileColumn("label", cells).is_blank for cells in (["", " "], ["-1", "-1"], ["-1", "0"])]
    assert blank == [True, True, False]
    words = [FileColumn(name, []).words for name in ("relatedness_score", "questionID", "meta.tuple_id")]
    assert words == [["relatedness", "score"], ["question", "id"], ["tuple", "id"]]


def test_keys_of_single_rows_do_not_cost_rows_times_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"text": "a b", "votes": {f"user{number}": 1}} for number in range(50)]
    table = read_table(write_jsonl(tmp_path / "train.jsonl", rows))
    assert list(table.columns) == ["text"] and len(table.incomplete) == 50
    monkeypatch.setattr(nested_rows, "MOST_COLUMNS", 20)
    with raises_input_error(file="train.jsonl"):
        read_table(tmp_path / "train.jsonl")


def test_a_large_file_is_sampled_and_its_targets_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SAMPLE_ROWS", 50)
    rows = [(f"text {i}", "rare" if i == 999 else "pn"[i % 2]) for i in range(1000)]
    table = read_table(write_table(tmp_path / "train.tsv", ["text", "label"], rows))
    numbers = [int(text.split()[1]) for text in table.columns["text"].texts]
    assert table.rows == 1000 and 20 < len(numbers) <= 50
    assert numbers == sorted(numbers) and 300 < sum(numbers) / len(numbers) < 700  # not the first ones alone
    assert table.whole("label").counts == {"p": 500, "n": 499, "rare": 1}
    monkeypatch.setattr(tables, "SAMPLE_SIZE", 200)  # characters
    assert len(read_table(tmp_path / "train.tsv").columns["text"].texts) < 40


def test_a_value_beyond_the_sample_that_cannot_be_read(tmp_path: Path) -> None:
    table = read_table(write_jsonl(tmp_path / "train.jsonl", [{"n": 1}]))
    write_jsonl(table.path, [{"n": 2**63}])
    with raises_input_error(file="train.jsonl", line=1):
        list(table.cells(["n"]))


def test_a_large_file_with_empty_lists_is_read_as_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"text": f"a b {i}", "tags": [{"name": "a"}] if i % 4 else []} for i in range(100)]
    monkeypatch.setattr(tables, "SAMPLE_ROWS", 50)
    table = read_table(write_jsonl(tmp_path / "train.jsonl", rows))
    assert [cells for (cells,) in table.cells(["tags.name[]"])] == [["a"] if i % 4 else [] for i in range(100)]
    table = read_table(write_jsonl(tmp_path / "b.jsonl", [{"a": str(i % 2), "b": str(i % 4 // 3)} for i in range(100)]))
    assert LabelColumns(["a", "b"], "", are_truths=True).counted_labels(table).counts == {"a": 50, "b": 25}
