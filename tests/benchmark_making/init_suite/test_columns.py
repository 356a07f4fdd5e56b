from pathlib import Path

import pytest
from data_files import sentences
from input_errors import raises_input_error

from mtl.benchmark_making.init_suite.columns import (
    candidate_columns,
    category_note,
    group_column,
    target_column,
    text_columns,
)
from mtl.benchmark_making.init_suite.files import FileColumn, FileTable

ROWS = 40
LABELS = ["yes", "no"] * (ROWS // 2)
WORDS = [a + b for a in "abcde" for b in "klmnopqr"]


def table(columns: dict[str, list[str]], incomplete: dict[str, str] | None = None) -> FileTable:
    return FileTable(
        Path("train.tsv"), ROWS, {name: FileColumn(name, cells) for name, cells in columns.items()}, incomplete or {}
    )


def test_the_target_by_a_whole_name() -> None:
    column, why = target_column(table({"score": LABELS, "label": LABELS, "x_label": LABELS}), None)
    assert (column.name, why) == ("label", "by its name")


def test_the_target_by_what_the_test_file_lacks() -> None:
    main = table({"kind": LABELS, "text": sentences(ROWS), "genre": LABELS})
    column, why = target_column(main, table({"text": sentences(ROWS), "genre": LABELS}))
    assert column.name == "kind"
    assert "the test file has no values in it" in why


def test_of_what_the_test_file_lacks_the_last_word_decides() -> None:
    main = table({"rater_1": LABELS, "entailment_judgment": LABELS, "rater_2": LABELS, "old_label": LABELS})
    column, why = target_column(main, table({"old_label": LABELS}))
    assert column.name == "entailment_judgment"
    assert why.startswith("by its name")


@pytest.mark.parametrize("cell", ["", "-1"])
def test_a_test_file_with_an_empty_target_lacks_it(cell: str) -> None:
    main = table({"kind": LABELS, "text": sentences(ROWS), "genre": LABELS})
    test = table({"kind": [cell] * ROWS, "text": sentences(ROWS), "genre": LABELS})
    assert target_column(main, test)[0].name == "kind"


def test_a_whole_name_counts_more_than_what_the_test_file_lacks() -> None:
    main = table({"label": LABELS, "explanation": sentences(ROWS)})
    assert target_column(main, table({"label": LABELS}))[0].name == "label"


def test_else_the_target_is_the_last_column_with_labels_or_numbers() -> None:
    main = table(
        {"topic": LABELS, "text": sentences(ROWS), "stance": LABELS, "other": sentences(ROWS), "row_id": LABELS}
    )
    column, why = target_column(main, None)
    assert column.name == "stance"
    assert "check" in why


def test_no_target() -> None:
    with raises_input_error():
        target_column(table({"text": sentences(ROWS)}), None)


def test_a_target_that_is_missing_in_some_rows_is_named() -> None:
    with raises_input_error():
        target_column(table({"text": sentences(ROWS), "stance": LABELS}, {"label": "train.tsv:3: label: null"}), None)


def test_below_meta_there_is_no_target_and_no_text() -> None:
    main = table({"meta.label": LABELS, "meta.text": sentences(ROWS), "text": sentences(ROWS), "stance": LABELS})
    assert target_column(main, None)[0].name == "stance"
    assert text_columns(main, None, {"stance"}, most=2).columns == ["text"]


def test_texts_are_no_ids_numbers_categories_or_codes() -> None:
    main = table(
        {
            "sentence_id": sentences(ROWS),
            "year": [str(1900 + i) for i in range(ROWS)],
            "topic": ["nuclear power", "school"] * (ROWS // 2),
            "source": [f"https://example.org/{i}" for i in range(ROWS)],
            "premise": sentences(ROWS),
            "hypothesis": sentences(ROWS, "another"),
        }
    )
    found = text_columns(main, None, set(), most=2)
    assert found.columns == ["premise", "hypothesis"]
    assert found.why == "several words in 100 % of 40 rows"
    assert found.doubts == []


def test_what_the_test_file_lacks_is_no_text() -> None:
    main = table({"correction": sentences(ROWS), "text": sentences(ROWS)})
    assert text_columns(main, table({"text": sentences(ROWS)}), set(), most=2).columns == ["text"]


def test_long_texts_that_stand_in_many_pairs_are_texts() -> None:
    texts = [f"{word} said that the old house by the river was sold" for word in ("Anna", "Bo", "Ida")]
    main = table({"first": [texts[row % 3] for row in range(ROWS)], "genre": ["news", "a long story"] * (ROWS // 2)})
    assert text_columns(main, None, (), 2).columns == ["first"]


def test_a_word_beside_a_text_is_left_out_and_said() -> None:
    found = text_columns(table({"context": sentences(ROWS), "word": WORDS}), None, set(), most=2)
    assert found.columns == ["context"]
    assert '"word"' in found.doubts[0]


def test_words_alone_are_texts() -> None:
    found = text_columns(table({"word_1": WORDS, "word_2": WORDS[::-1], "list": LABELS}), None, set(), most=2)
    assert found.columns == ["word_1", "word_2"]
    assert found.why == "words, 40 distinct in 40 rows"


def test_more_texts_than_a_task_reads_are_said() -> None:
    main = table({name: sentences(ROWS, name) for name in "abc"})
    found = text_columns(main, None, set(), most=2)
    assert found.columns == ["a", "b"]
    assert '"c" left out' in found.doubts[0]


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
    main = table({name: sentences(ROWS, name) for name in names})
    found = text_columns(main, None, set(), most=2)
    assert found.columns == [first, second]
    assert "author" in found.doubts[0] and "left out" in found.doubts[0]


def test_candidates_are_lists_or_columns_named_so() -> None:
    main = table({"sentence1": WORDS, "sentence2": WORDS, "choice1": WORDS, "choice2": WORDS, "option_a": LABELS})
    assert [column.name for column in candidate_columns(main, {"option_a"})] == ["choice1", "choice2"]
    assert candidate_columns(table({"sentence1": WORDS, "sentence2": WORDS, "answer1": WORDS}), set()) == []
    lists = FileColumn("answers[]", [], [["x"]] * ROWS)
    assert candidate_columns(FileTable(Path("x.jsonl"), ROWS, {"answers[]": lists, **main.columns}, {}), set()) == [
        lists
    ]


def test_an_id_that_repeats_groups_rows() -> None:
    main = table({"row_id": WORDS, "q_id": [f"q{i // 3}" for i in range(ROWS)], "topic": LABELS})
    group = group_column(main, [main], set())
    assert group is not None
    assert group[0] == "q_id"
    assert "14 distinct values in 40 rows" in group[1]


def test_few_groups_are_said_and_a_second_id_too() -> None:
    main = table({"doc_id": [f"d{i // 10}" for i in range(ROWS)], "q_id": [f"q{i // 3}" for i in range(ROWS)]})
    group = group_column(main, [main], set())
    assert group is not None
    assert group[0] == "doc_id"
    assert "five groups or fewer" in group[1]
    assert '"q_id"' in group[1]


def test_an_id_that_hardly_repeats_or_that_a_file_lacks_is_no_group() -> None:
    almost = table({"row_id": [*WORDS[:-1], WORDS[0]]})
    assert group_column(almost, [almost], set()) is None
    main = table({"sense_id": [f"s{i // 3}" for i in range(ROWS)]})
    assert group_column(main, [main, table({"text": WORDS})], set()) is None


def test_a_category_that_is_not_read_is_noted() -> None:
    main = table({"topic": ["a", "b"] * 20, "lang": ["sv"] * ROWS, "text": sentences(ROWS), "label": LABELS})
    note = category_note(main, None, {"label", "text"})
    assert note is not None
    assert '"topic" (2 values)' in note
    assert "lang" not in note
    assert category_note(main, None, {"label", "text", "topic"}) is None
