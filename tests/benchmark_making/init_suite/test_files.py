from pathlib import Path

import pytest
from data_files import write_jsonl, write_table
from input_errors import raises_input_error

from mtl.api.cli import main
from mtl.benchmark_making.init_suite.files import (
    FileColumn,
    file_name,
    find_tasks,
    name_words,
    read_headless,
    read_table,
    renamed,
)
from mtl.tasks.suite import load_suite


def make(folder: Path, *paths: str) -> Path:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()
    return folder


def files(folder: Path, *paths: str) -> dict[str, dict[str, str]]:
    """By task id its files, of a folder with these files."""
    return {task.id: task.files for task in find_tasks(make(folder, *paths)).tasks}


@pytest.mark.parametrize("name", ["dev", "valid", "val", "validation", "Dev", "VALIDATION-00000-of-00001"])
def test_the_names_of_the_dev_split(tmp_path: Path, name: str) -> None:
    assert files(tmp_path, f"a/{name}.parquet") == {"a": {"dev": f"{name}.parquet"}}


def test_the_files_of_a_task_differ_in_their_split_alone(tmp_path: Path) -> None:
    found = find_tasks(make(tmp_path / "x", "a/train.tsv", "a/validation.tsv", "a/test_features.tsv", "b/c/train.csv"))
    assert [(task.id, task.folder) for task in found.tasks] == [("a", "a"), ("c", "b/c")]
    assert found.tasks[0].files == {"train": "train.tsv", "dev": "validation.tsv", "test": "test_features.tsv"}
    assert found.tasks[1].files == {"train": "train.csv"}
    flat = ("ner_train.jsonl", "ner_dev.jsonl", "my-nli.train.jsonl", "my-nli.test_features.jsonl")
    assert files(tmp_path / "y", *flat) == {
        "my-nli": {"train": "my-nli.train.jsonl", "test": "my-nli.test_features.jsonl"},
        "ner": {"train": "ner_train.jsonl", "dev": "ner_dev.jsonl"},
    }
    below = make(tmp_path / "z", "sim/sim-words_train.jsonl", "sim/sim-texts_train.jsonl", "other/train.tsv")
    places = [("other", "other"), ("sim-texts", "sim"), ("sim-words", "sim")]
    assert [(task.id, task.folder) for task in find_tasks(below).tasks] == places


@pytest.mark.parametrize(
    ("paths", "ids"),
    [
        (["train.tsv"], ["data"]),
        (["klej_cdsc-e/train.tsv", "klej_cdsc-r/train.tsv", "klej_ar/train.tsv"], ["ar", "cdsc-e", "cdsc-r"]),
        (["swenli/train.tsv", "swewic/train.tsv"], ["swenli", "swewic"]),
        (["en/nli/train.tsv", "sv/nli/train.tsv"], ["en-nli", "sv-nli"]),
        (
            ["Ä o/train.tsv", "a:o/train.tsv", "A*o/train.tsv", "average/train.tsv", "日本/train.tsv"],
            ["A-o", "a-o", "average-task", "A-o-2", "task"],
        ),
    ],
)
def test_ids_name_files_and_differ(tmp_path: Path, paths: list[str], ids: list[str]) -> None:
    assert list(files(tmp_path / "data", *paths)) == ids


def test_what_is_no_split_is_listed_and_only_plain_files_are_read(tmp_path: Path) -> None:
    odd = ("a/sheet.tsv", "notes/readme.txt", "counts.csv", ".git/train.tsv", ".train.tsv")
    (tmp_path / "b" / "train.tsv").mkdir(parents=True)
    found = find_tasks(make(tmp_path, "a/train.tsv", *odd))
    assert [task.id for task in found.tasks] == ["a"]
    assert found.unused == ["counts.csv", "a/sheet.tsv"] and found.empty == ["notes"]


def test_two_files_of_one_split(tmp_path: Path) -> None:
    (task,) = find_tasks(make(tmp_path, "a/test.tsv", "a/test_features.tsv", "a/train.tsv")).tasks
    assert task.files == {"train": "train.tsv", "test": "test.tsv"}
    assert task.unused == ["test_features.tsv"]


@pytest.mark.parametrize(
    ("name", "plain"),
    [("PolEmo 2.0", "PolEmo-2.0"), ("Żółw", "Zow"), ("../x", "x"), ("-a.", "a"), ("日本", "otherwise")],
)
def test_file_name(name: str, plain: str) -> None:
    assert file_name(name, "otherwise") == plain


def test_a_column_without_a_value_in_some_rows_leaves_the_others_readable(tmp_path: Path) -> None:
    rows = [{"text": "a b", "score": 1, "note": None}, {"text": "c d", "score": 2.5, "note": "x"}]
    table = read_table(write_jsonl(tmp_path / "train.jsonl", rows))
    assert table.rows == 2
    assert table.columns["text"].texts == ["a b", "c d"]
    assert table.columns["score"].numbers == [1.0, 2.5]
    assert list(table.incomplete) == ["note"]
    assert "train.jsonl:1" in table.incomplete["note"]


def test_lists_and_nested_keys(tmp_path: Path) -> None:
    row = {"first": {"context": "a b"}, "answers": ["x", "y"]}
    table = read_table(write_jsonl(tmp_path / "train.jsonl", [row, row]))
    assert table.columns["first.context"].texts == ["a b", "a b"]
    assert table.columns["answers[]"].lists == [["x", "y"], ["x", "y"]]
    table = read_table(write_table(tmp_path / "train.tsv", ["answers[]"], [["x"], ["y"]]))
    assert table.columns["answers[]"].texts == ["x", "y"]


def test_damaged_files_and_files_without_columns(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "train.jsonl", [{"text": "a", "label": "b"}])
    path.write_text(path.read_text() + "{\n")
    with raises_input_error(file="train.jsonl", line=2):
        read_table(path)
    with raises_input_error(file="train.jsonl"):
        read_table(write_jsonl(tmp_path / "train.jsonl", [{"text": None}]))


@pytest.mark.parametrize("wrong", ["nan", "inf", "1e999", "1_000", "", "١"])
def test_numbers(wrong: str) -> None:
    assert FileColumn("n", ["2", "1.50", "-3e2"]).numbers == [-300.0, 1.5, 2.0]
    assert FileColumn("n", ["1", wrong]).numbers is None


def test_blank_columns_and_words_of_names() -> None:
    blank = [FileColumn("label", cells).is_blank for cells in (["", " "], ["-1", "-1"], ["-1", "0"])]
    assert blank == [True, True, False]
    words = [name_words(name) for name in ("relatedness_score", "questionID", "meta.tuple_id")]
    assert words == [["relatedness", "score"], ["question", "id"], ["tuple", "id"]]


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = write_table(
        tmp_path / "train.tsv", ["", "text", " ", "label"], [["0", "a b", "", "x"], ["1", "c d", "", "y"]]
    )
    table = read_table(path)
    assert list(table.columns) == ["text", "label"] and table.incomplete == {} and table.nameless == 2
    nested = read_table(write_jsonl(tmp_path / "train.jsonl", [{"": ["a"], "text": "b", "more": {"": 1}}]))
    assert list(nested.columns) == ["text"] and nested.nameless == 2


@pytest.mark.parametrize(
    ("first", "headless"),
    [
        ("gj04\t1\t\tthe first sentence", True),  # a cell of the first line recurs
        ("new\t1\t\tthe first sentence", True),  # a number above numbers
        ("source\tlabel\tmark\tsentence", False),
    ],
)
def test_a_first_line_that_looks_like_a_row(tmp_path: Path, first: str, headless: bool) -> None:
    rows = [f"{'gj04' if n % 2 else 'x'}\t{n % 2}\t{'*' if n % 3 else ''}\tsentence number {n}" for n in range(30)]
    (tmp_path / "train.tsv").write_text("\n".join([first, *rows]) + "\n", encoding="utf-8")
    (tmp_path / "test.tsv").write_text(
        "index\tsentence\n" + "".join(f"{n}\ta b {n}\n" for n in range(5)), encoding="utf-8"
    )
    table = read_headless(tmp_path / "train.tsv")
    assert (table is not None) == headless
    if table is not None:
        assert list(table.columns) == ["column_1", "column_2", "column_3", "column_4"] and table.rows == 31
        named = renamed(table, read_table(tmp_path / "test.tsv"))
        assert list(named.columns) == ["column_1", "column_2", "column_3", "sentence"]
    assert (
        main(["init-suite", str(tmp_path), "--out", str(tmp_path / "s.yaml"), "--name", "s", "--language", "en"]) == 0
    )
    (task,) = load_suite(tmp_path / "s.yaml").tasks.values()
    assert (task.text, task.target) == (["sentence"], "column_2" if headless else "label")
    assert task.header == (["column_1", "column_2", "column_3", "sentence"] if headless else None)
