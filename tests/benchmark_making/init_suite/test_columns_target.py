import pytest
from input_errors import raises_input_error

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.columns import Target, guess_target
from mtl.benchmark_making.init_suite.files import FileColumn


def guess(
    cells: list[str], name: str = "label", candidates: list[FileColumn] | None = None, more: tuple[str, ...] = ()
) -> Target:
    """The guess for training targets, with more targets in another file."""
    return guess_target(FileColumn(name, cells), FileColumn(name, [*cells, *more]), candidates or [])


def test_labels_in_order_with_figures() -> None:
    found = guess(["pro", "con", "non"] * 4)
    assert found.kind == "labels"
    assert found.keys == {"labels": ["con", "non", "pro"], "metric": "accuracy"}
    assert found.why["labels"] == "3 distinct values in 12 rows"
    assert "33 % of the rows" in found.why["metric"]


def test_labels_that_are_numbers_are_ordered_as_numbers() -> None:
    found = guess([str(i % 12) for i in range(48)])
    assert found.keys["labels"] == [str(i) for i in range(12)]
    assert "range: [0, 11]" in found.doubts[0]


def test_a_rare_label_of_two_is_the_positive_one_of_f1() -> None:
    found = guess(["0"] * 9 + ["1"] * 3)
    assert found.keys == {"labels": ["0", "1"], "metric": "f1", "positive": "1"}
    assert "25 %" in found.why["positive"]


def test_two_labels_about_as_frequent_are_scored_by_accuracy() -> None:
    assert guess(["0"] * 6 + ["1"] * 4).keys == {"labels": ["0", "1"], "metric": "accuracy"}


def test_a_frequent_label_of_three_is_said() -> None:
    assert "macro_f1" in guess(["a"] * 10 + ["b", "c"]).why["metric"]
    assert "macro_f1" not in guess(["a", "b", "c"] * 4).why["metric"]


def test_a_label_that_only_the_dev_file_has_is_a_label() -> None:
    found = guess(["a", "b"] * 4, more=("c",))
    assert found.keys["labels"] == ["a", "b", "c"]
    assert 'none of the training rows has "c"' in found.why["labels"]


def test_two_numbers_are_labels_whatever_the_name() -> None:
    assert guess(["0", "1"] * 4, name="score").keys["labels"] == ["0", "1"]


def test_fractions_are_numbers_and_their_range_is_rounded_outwards() -> None:
    found = guess(["0.2", "3", "9.8", "4"])
    assert found.kind == "number"
    assert found.keys == {"range": [0, 10], "metric": "spearman"}
    assert "0.2 to 9.8" in found.why["range"]
    assert "pearson" in found.why["metric"]


def test_the_range_is_that_of_all_files() -> None:
    assert guess(["0.5", "3", "4"], more=("-1.5",)).keys["range"] == [-2, 4]


@pytest.mark.parametrize(("cells", "name"), [(["1", "2", "3"], "rating"), (["1.0", "2.0", "3.0"], "label")])
def test_few_whole_ratings_are_numbers_and_the_choice_is_said(cells: list[str], name: str) -> None:
    found = guess(cells * 4, name=name)
    assert found.keys == {"range": [1, 3], "metric": "one_minus_wmae"}
    assert "spearman or pearson" in found.doubts[0]


def test_many_whole_numbers_are_numbers() -> None:
    assert guess([str(i) for i in range(30)]).keys == {"range": [0, 29], "metric": "spearman"}


def test_words_that_hardly_repeat_are_words() -> None:
    found = guess([f"word{'abcdefghijklmnopqrstuvwxyz'[i % 26]}" for i in range(100)])
    assert found.kind == "word"
    assert found.keys == {"kind": "word", "metric": "accuracy"}
    assert "26 distinct values in 100 rows" in found.why["kind"]


def test_many_labels_that_repeat_are_labels() -> None:
    assert len(guess([f"intent{i % 40}" for i in range(800)]).keys["labels"]) == 40


def test_texts_to_write_are_no_target() -> None:
    with raises_input_error():
        guess([f"a summary of article {i}" for i in range(30)])


def test_an_index_of_a_list_is_a_choice() -> None:
    lists = [["x", "y", "z"], ["x", "y"], ["x", "y"], ["u", "v", "w"]]
    found = guess(["2", "0", "1", "0"], candidates=[FileColumn("answers[]", [], lists)])
    assert found.kind == "choice"
    assert found.keys == {"candidates": ["answers[]"], "metric": "accuracy"}
    assert found.why["candidates"].startswith("2 to 3 candidates")
    assert "42 %" in found.why["metric"]  # (1/3 + 1/2 + 1/2 + 1/3) / 4 = 0.417


def test_an_index_of_columns_is_a_choice() -> None:
    columns = [FileColumn(name, ["w", "x", "y", "z"]) for name in ("choice1", "choice2")]
    assert guess(["1", "0", "0", "1"], candidates=columns).keys["candidates"] == ["choice1", "choice2"]


@pytest.mark.parametrize(
    ("cells", "problem"), [(["1", "2", "2", "1"], "counts from 1"), (["A", "B", "B", "A"], "a letter")]
)
def test_a_choice_that_does_not_count_from_0_is_a_problem(cells: list[str], problem: str) -> None:
    columns = [FileColumn(name, ["w", "x", "y", "z"]) for name in ("option1", "option2")]
    with pytest.raises(InputError, match=problem):
        guess(cells, candidates=columns)


def test_lists_of_which_the_target_is_no_index_are_said() -> None:
    found = guess(["yes", "no"] * 2, candidates=[FileColumn("tags[]", [], [["x"]] * 4)])
    assert found.kind == "labels"
    assert '"tags[]"' in found.doubts[0]


def test_a_column_named_as_one_of_its_targets_has_no_header() -> None:
    with raises_input_error():
        guess(["0", "1"] * 4, name="0")


@pytest.mark.parametrize(
    ("cells", "problem"), [(["a", "", "b"], "empty in 1 row;"), (["a", "a"], "one value in all 2 rows")]
)
def test_missing_and_constant_targets_are_problems(cells: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        guess(cells)
