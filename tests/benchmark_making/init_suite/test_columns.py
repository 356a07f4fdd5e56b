from pathlib import Path
from typing import Any

import pytest
from data_files import sentences
from input_errors import raises_input_error

from mtl.benchmark_making.init_suite.columns import (
    Target,
    candidate_columns,
    category_note,
    group_column,
    guess_target,
    target_column,
    text_columns,
)
from mtl.benchmark_making.init_suite.files import FileColumn, FileTable

ROWS = 40
LABELS = ["yes", "no"] * (ROWS // 2)
WORDS = [a + b for a in "abcde" for b in "klmnopqr"]
TEXTS = sentences(ROWS)
KIND = {"kind": LABELS, "text": TEXTS, "genre": LABELS}


def table(columns: dict[str, list[str]], incomplete: dict[str, str] | None = None) -> FileTable:
    return FileTable(
        Path("train.tsv"), ROWS, {name: FileColumn(name, cells) for name, cells in columns.items()}, incomplete or {}
    )


@pytest.mark.parametrize(
    ("main", "test", "target", "reason"),
    [
        ({"score": LABELS, "label": LABELS, "x_label": LABELS}, None, "label", "by its name"),
        (KIND, {"text": TEXTS, "genre": LABELS}, "kind", "the last column with labels or numbers, and the test file has no"),
        (KIND, {**KIND, "kind": [""] * ROWS}, "kind", "the last column"),
        (KIND, {**KIND, "kind": ["-1"] * ROWS}, "kind", "the last column"),
        # The last word of a name counts less than the whole name, and more than what the test file lacks.
        ({"rater_1": LABELS, "nli_judgment": LABELS, "rater_2": LABELS, "old_label": LABELS}, {"old_label": LABELS}, "nli_judgment", "by its name"),
        ({"label": LABELS, "explanation": TEXTS}, {"label": LABELS}, "label", "by its name"),
        ({"topic": LABELS, "text": TEXTS, "stance": LABELS, "other": TEXTS, "row_id": LABELS}, None, "stance", "the last column"),
        ({"meta.label": LABELS, "meta.text": TEXTS, "text": TEXTS, "stance": LABELS}, None, "stance", "the last column"),
    ],
)  # fmt: skip
def test_the_target(main: dict[str, list[str]], test: dict[str, list[str]] | None, target: str, reason: str) -> None:
    column, why = target_column(table(main), None if test is None else table(test))
    assert column.name == target and why.startswith(reason)


def test_no_target_or_one_that_is_missing_in_some_rows() -> None:
    with raises_input_error():
        target_column(table({"text": TEXTS}), None)
    with raises_input_error():
        target_column(table({"text": TEXTS, "stance": LABELS}, {"label": "train.tsv:3: label: null"}), None)


def test_texts_are_no_ids_numbers_categories_or_codes() -> None:
    main = table(
        {
            "sentence_id": TEXTS,
            "meta.text": TEXTS,
            "year": [str(1900 + i) for i in range(ROWS)],
            "topic": ["nuclear power", "school"] * (ROWS // 2),
            "source": [f"https://example.org/{i}" for i in range(ROWS)],
            "premise": TEXTS,
            "hypothesis": sentences(ROWS, "another"),
        }
    )
    found = text_columns(main, None, set(), most=2)
    assert found.columns == ["premise", "hypothesis"] and found.doubts == []
    assert found.why == "several words in 100 % of 40 rows"
    main = table({"correction": TEXTS, "text": TEXTS})  # the test file lacks one
    assert text_columns(main, table({"text": TEXTS}), set(), most=2).columns == ["text"]
    texts = [f"{word} said that the old house by the river was sold" for word in ("Anna", "Bo", "Ida")]
    main = table({"first": [texts[row % 3] for row in range(ROWS)], "genre": ["news", "a long story"] * (ROWS // 2)})
    assert text_columns(main, None, (), 2).columns == ["first"]  # long texts may stand in many pairs


def test_words_are_texts_only_where_there_are_no_others() -> None:
    found = text_columns(table({"context": TEXTS, "word": WORDS}), None, set(), most=2)
    assert found.columns == ["context"] and '"word"' in found.doubts[0]
    found = text_columns(table({"word_1": WORDS, "word_2": WORDS[::-1], "list": LABELS}), None, set(), most=2)
    assert found.columns == ["word_1", "word_2"] and found.why == "words, 40 distinct in 40 rows"


def test_more_texts_than_a_task_reads_are_said() -> None:
    found = text_columns(table({name: sentences(ROWS, name) for name in "abc"}), None, set(), most=2)
    assert found.columns == ["a", "b"] and '"c" left out' in found.doubts[0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ltable_title", "rtable_title"),
        ("left.title", "right.title"),
        ("titleA", "titleB"),
        ("title1", "title2"),
        ("a_title", "b_title"),
    ],
)
def test_of_more_texts_the_two_sides_of_the_same_are_the_pair(first: str, second: str) -> None:
    names = (first, first.replace("title", "author"), second, second.replace("title", "author"))
    found = text_columns(table({name: sentences(ROWS, name) for name in names}), None, set(), most=2)
    assert found.columns == [first, second]
    assert "author" in found.doubts[0] and "left out" in found.doubts[0]


def test_candidates_are_lists_or_columns_named_so() -> None:
    main = table({"sentence1": WORDS, "sentence2": WORDS, "choice1": WORDS, "choice2": WORDS, "option_a": LABELS})
    assert [column.name for column in candidate_columns(main, {"option_a"})] == ["choice1", "choice2"]
    assert candidate_columns(table({"sentence1": WORDS, "sentence2": WORDS, "answer1": WORDS}), set()) == []
    lists = FileColumn("answers[]", [], [["x"]] * ROWS)
    columns = {"answers[]": lists, **main.columns}
    assert candidate_columns(FileTable(Path("x.jsonl"), ROWS, columns, {}), set()) == [lists]


def test_an_id_that_repeats_groups_rows() -> None:
    thirds = [f"q{i // 3}" for i in range(ROWS)]
    main = table({"row_id": WORDS, "q_id": thirds, "topic": LABELS})
    group = group_column(main, [main], set())
    assert group is not None and group[0] == "q_id" and "14 distinct values in 40 rows" in group[1]
    main = table({"doc_id": [f"d{i // 10}" for i in range(ROWS)], "q_id": thirds})
    group = group_column(main, [main], set())
    assert group is not None and group[0] == "doc_id"
    assert "five groups or fewer" in group[1] and '"q_id"' in group[1]
    almost = table({"row_id": [*WORDS[:-1], WORDS[0]]})
    assert group_column(almost, [almost], set()) is None
    main = table({"sense_id": thirds})
    assert group_column(main, [main, table({"text": WORDS})], set()) is None


def test_a_category_that_is_not_read_is_noted() -> None:
    main = table({"topic": ["a", "b"] * 20, "lang": ["sv"] * ROWS, "text": TEXTS, "label": LABELS})
    note = category_note(main, None, {"label", "text"})
    assert note is not None and '"topic" (2 values)' in note and "lang" not in note
    assert category_note(main, None, {"label", "text", "topic"}) is None


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
