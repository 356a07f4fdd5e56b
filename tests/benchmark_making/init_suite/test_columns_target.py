from typing import Any

import pytest
from input_errors import raises_input_error

from mtl.benchmark_making.init_suite.columns import Target, guess_target
from mtl.benchmark_making.init_suite.files import FileColumn


def guess(
    cells: list[str], name: str = "label", candidates: list[FileColumn] | None = None, more: tuple[str, ...] = ()
) -> Target:
    """The guess for training targets, with more targets in another file."""
    return guess_target(FileColumn(name, cells), FileColumn(name, [*cells, *more]), candidates or [])


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


def test_labels_that_are_numbers_are_ordered_as_numbers_whatever_the_name_of_two() -> None:
    found = guess([str(i % 12) for i in range(48)])
    assert found.keys["labels"] == [str(i) for i in range(12)] and "range: [0, 11]" in found.doubts[0]
    assert guess(["0", "1"] * 4, name="score").keys["labels"] == ["0", "1"]
    assert len(guess([f"intent{i % 40}" for i in range(800)]).keys["labels"]) == 40


def test_labels_and_range_are_those_of_all_files() -> None:
    found = guess(["a", "b"] * 4, more=("c",))
    assert found.keys["labels"] == ["a", "b", "c"] and 'none of the training rows has "c"' in found.why["labels"]
    assert guess(["0.5", "3", "4"], more=("-1.5",)).keys["range"] == [-2, 4]


@pytest.mark.parametrize(("cells", "name"), [(["1", "2", "3"], "rating"), (["1.0", "2.0", "3.0"], "label")])
def test_few_whole_ratings_are_numbers_and_the_choice_is_said(cells: list[str], name: str) -> None:
    found = guess(cells * 4, name=name)
    assert found.keys == {"range": [1, 3], "metric": "one_minus_wmae"} and "spearman or pearson" in found.doubts[0]


def test_an_index_of_a_list_or_of_columns_is_a_choice() -> None:
    lists = [["x", "y", "z"], ["x", "y"], ["x", "y"], ["u", "v", "w"]]
    found = guess(["2", "0", "1", "0"], candidates=[FileColumn("answers[]", [], lists)])
    assert (found.kind, found.keys) == ("choice", {"candidates": ["answers[]"], "metric": "accuracy"})
    assert found.why["candidates"].startswith("2 to 3 candidates")
    assert "42 %" in found.why["metric"]  # (1/3 + 1/2 + 1/2 + 1/3) / 4 = 0.417
    columns = [FileColumn(name, ["w", "x", "y", "z"]) for name in ("choice1", "choice2")]
    assert guess(["1", "0", "0", "1"], candidates=columns).keys["candidates"] == ["choice1", "choice2"]
    found = guess(["yes", "no"] * 2, candidates=[FileColumn("tags[]", [], [["x"]] * 4)])
    assert found.kind == "labels" and '"tags[]"' in found.doubts[0]


@pytest.mark.parametrize(
    ("cells", "name", "candidates"),
    [
        ([f"a summary of article {i}" for i in range(30)], "label", 0),
        (["0", "1"] * 4, "0", 0),
        (["a", "", "b"], "label", 0),
        (["a", "a"], "label", 0),
        (["1", "2", "2", "1"], "label", 2),
        (["A", "B", "B", "A"], "label", 2),
    ],
    ids=["texts", "no header", "missing", "constant", "counts from 1", "letters"],
)
def test_targets_that_a_suite_file_cannot_declare(cells: list[str], name: str, candidates: int) -> None:
    with raises_input_error():
        guess(cells, name, [FileColumn(f"option{number}", ["w", "x", "y", "z"]) for number in range(candidates)])
