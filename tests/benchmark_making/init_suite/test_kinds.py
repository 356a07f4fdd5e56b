from typing import Any

import pytest
from input_errors import raises_input_error

from mtl.benchmark_making.init_suite.kinds import Target, guess_target
from mtl.benchmark_making.init_suite.tables import FileColumn


def guess(
    cells: list[str], name: str = "label", candidates: list[FileColumn] | None = None, more: tuple[str, ...] = ()
) -> Target:
    """The guess for training targets, with more targets in another file."""
    main = FileColumn(name, cells)
    by_split = {"train": main, **({"dev": FileColumn(name, list(more))} if more else {})}
    return guess_target(main, by_split, candidates or [])


@pytest.mark.parametrize(
    ("cells", "keys", "why"),
    [
        (["a", "c", "b"] * 4, {"labels": ["a", "b", "c"], "metric": "accuracy"}, {"labels": "3 distinct values in 12 rows", "metric": "33 %"}),
        (["0"] * 9 + ["1"] * 3, {"labels": ["0", "1"], "metric": "f1", "positive": "1"}, {"positive": "25 %"}),
        (["0"] * 6 + ["1"] * 4, {"labels": ["0", "1"], "metric": "accuracy"}, {}),
        (["a"] * 10 + ["b", "c"], {"labels": ["a", "b", "c"], "metric": "accuracy"}, {"metric": "macro_f1"}),
        (["0.2", "3", "9.8", "4"], {"range": [0, 10], "metric": "spearman"}, {"range": "0.2 to 9.8", "metric": "pearson"}),
        ([str(i) for i in range(30)], {"range": [0, 29], "metric": "spearman"}, {}),
        ([f"word{chr(97 + i % 26)}" for i in range(100)], {"kind": "word", "metric": "accuracy"}, {"kind": "26 distinct values in 100 rows"}),
    ],
)  # fmt: skip
def test_labels_numbers_and_words(cells: list[str], keys: dict[str, Any], why: dict[str, str]) -> None:
    found = guess(cells)
    assert found.kind == ("labels" if "labels" in keys else keys.get("kind", "number")) and found.keys == keys
    assert all(part in found.why[key] for key, part in why.items())
    assert ("macro_f1" in found.why["metric"]) == (why.get("metric") == "macro_f1")


def test_a_column_called_label_has_labels_where_there_are_few_rows_of_each() -> None:
    cells = [f"{first}{second}学科类" for first in "甲乙丙丁戊己" for second in "子丑寅卯辰巳"] * 4
    assert guess(cells, name="label").kind == "labels"


def test_whole_numbers_are_classes_or_ratings_and_the_choice_is_asked() -> None:
    found = guess([str(i % 12) for i in range(48)])
    assert found.keys["labels"] == [str(i) for i in range(12)] and "range: [0, 11]" in found.questions[0]
    assert guess(["0", "1"] * 4, name="score").keys["labels"] == ["0", "1"]
    assert len(guess([f"intent{i % 40}" for i in range(800)]).keys["labels"]) == 40
    assert guess(["0", "1", "2"] * 4).questions == []  # as in sets of the Hub
    many = guess([str(i % 30) for i in range(300)])
    assert many.keys["range"] == [0, 29] and "may be classes" in many.questions[0]
    names = {str(i): f"class {i}" for i in range(30)}
    column = FileColumn("label", [str(i % 30) for i in range(300)])
    named = guess_target(column, {"train": column}, [], names=names)
    assert len(named.keys["labels"]) == 30 and not named.questions and "29: class 29" in named.why["labels"]


@pytest.mark.parametrize(
    ("cells", "more", "said"),
    [
        (["pos", "neg", "Pos ", "neg"] * 4, (), "one label in several spellings"),
        (["a", "b", "-", "b"] * 4, (), '"-" (4 rows) may stand for no label'),
        (["1", "0", "-1"] * 4, (), '"-1" (4 rows) may stand for no label'),
        (["a", "b"] * 4, ("positive", "b"), 'no training row has "positive", which 1 row of dev have'),
    ],
)
def test_labels_that_are_asked_about(cells: list[str], more: tuple[str, ...], said: str) -> None:
    assert any(said in question for question in guess(cells, more=more).questions)


def test_labels_and_range_are_those_of_all_files() -> None:
    assert guess(["a", "b"] * 4, more=("c",)).keys["labels"] == ["a", "b", "c"]
    assert guess(["0.5", "3", "4"], more=("-1.5",)).keys["range"] == [-2, 4]


@pytest.mark.parametrize(("cells", "name"), [(["1", "2", "3"], "rating"), (["1.0", "2.0", "3.0"], "label")])
def test_few_whole_ratings_are_numbers_and_the_choice_is_said(cells: list[str], name: str) -> None:
    found = guess(cells * 4, name=name)
    assert found.keys == {"range": [1, 3], "metric": "one_minus_wmae"} and "spearman and pearson" in found.questions[0]


LISTS = [["x", "y", "z"], ["x", "y"], ["x", "y"], ["u", "v", "w"]]


@pytest.mark.parametrize(
    ("cells", "indices", "asked"),
    [
        (["2", "0", "1", "0"], None, False),
        (["3", "1", "2", "1"], ["1", "2", "3"], False),
        (["C", "A", "B", "A"], ["A", "B", "C"], False),
        (["1", "1", "1", "2"], None, True),  # it counts from 0 or from 1
    ],
)
def test_the_index_or_the_letter_of_one_in_a_list_is_a_choice(
    cells: list[str], indices: list[str] | None, asked: bool
) -> None:
    found = guess(cells, candidates=[FileColumn("answers[]", [], LISTS)])
    assert (found.kind, found.keys["candidates"], found.keys.get("indices")) == ("choice", ["answers[]"], indices)
    assert found.why["candidates"].startswith("2 to 3 candidates") and bool(found.questions) == asked
    assert "42 %" in found.why["metric"]  # (1/3 + 1/2 + 1/2 + 1/3) / 4 = 0.417


def test_the_index_of_one_of_several_columns_is_a_choice_and_other_lists_are_asked_about() -> None:
    columns = [FileColumn(name, ["w", "x", "y", "z"]) for name in ("choice1", "choice2")]
    assert guess(["1", "0", "0", "1"], candidates=columns).keys["candidates"] == ["choice1", "choice2"]
    found = guess(["yes", "no"] * 2, candidates=[FileColumn("answers[]", [], [["x"]] * 4)])
    assert found.kind == "labels" and '"answers[]"' in found.questions[0]
    label = FileColumn("label", ["0", "1"] * 4)
    pairs, tokens = (FileColumn(name, [], [["x", "y"]] * 8) for name in ("pair[]", "tokens[]"))
    asked = guess_target(label, {"train": label}, [], [pairs, tokens]).questions
    assert len(asked) == 1 and '"pair[]" may be candidates' in asked[0]


@pytest.mark.parametrize(
    ("cells", "candidates"),
    [
        ([f"a summary of article {i}" for i in range(30)], 0),
        (["a", "", "b"], 0),
        (["a", "a"], 0),
        (["w", "x", "y", "z"], 2),
    ],
    ids=["texts", "missing", "constant", "the text of a candidate"],
)
def test_targets_that_a_suite_file_cannot_declare(cells: list[str], candidates: int) -> None:
    with raises_input_error():
        guess(cells, candidates=[FileColumn(f"option{number}", ["w", "x", "y", "z"]) for number in range(candidates)])
