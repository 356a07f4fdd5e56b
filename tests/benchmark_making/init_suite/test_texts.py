from pathlib import Path

import pytest
from data_files import sentences

from mtl.benchmark_making.init_suite.spans import marked_spans
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable
from mtl.benchmark_making.init_suite.texts import TextColumns, group_column, text_columns, unread_columns
from mtl.tasks.task import Layout

ROWS = 40
LABELS = ["yes", "no"] * (ROWS // 2)
WORDS = [a + b for a in "abcde" for b in "klmnopqr"]
TEXTS = sentences(ROWS)
TARGET = FileColumn("label", LABELS)


def table(columns: dict[str, list[str]]) -> FileTable:
    made = {name: FileColumn(name, cells) for name, cells in columns.items()}
    return FileTable(Path("train.tsv"), Layout(), ROWS, made)


def texts_of(main: FileTable, test: FileTable | None = None) -> TextColumns:
    return text_columns(main, test, TARGET, {"label"}, most=2)


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
    found = texts_of(main)
    assert found.columns == ["premise", "hypothesis"] and found.questions == []
    assert found.why == "several words in 100 % of 40 rows"
    main = table({"correction": TEXTS, "text": TEXTS})  # the test file lacks one
    assert texts_of(main, table({"text": TEXTS})).columns == ["text"]
    texts = [f"{word} said that the old house by the river was sold" for word in ("Anna", "Bo", "Ida")]
    main = table({"first": [texts[row % 3] for row in range(ROWS)], "genre": ["news", "a long story"] * (ROWS // 2)})
    assert texts_of(main).columns == ["first"]  # long texts may stand in many pairs


@pytest.mark.parametrize(
    ("columns", "chosen", "asked"),
    [
        ({"context": TEXTS, "word": WORDS}, ["context"], '"word"'),
        ({"word_1": WORDS, "word_2": WORDS[::-1], "list": LABELS}, ["word_1", "word_2"], None),  # there are no others
        ({name: sentences(ROWS, name) for name in "abc"}, ["a", "b"], '"a", "b" or "c"'),
        ({"premise": TEXTS, "question": ["cause", "effect"] * 20}, ["premise"], '"question" has few values'),
        ({"topic": ["新闻", "体育"] * 20, "sentence": [f"这是一个句子{i}" for i in range(ROWS)]}, ["sentence"], None),
    ],
)
def test_which_columns_are_texts_and_what_is_asked(
    columns: dict[str, list[str]], chosen: list[str], asked: str | None
) -> None:
    found = texts_of(table(columns))
    assert found.columns == chosen and [str(asked) in question for question in found.questions] == [True] * bool(asked)
    assert (found.why == "words, 40 distinct in 40 rows") == ("word_1" in chosen)


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
    found = texts_of(table({name: sentences(ROWS, name) for name in names}))
    assert found.columns == [first, second]
    assert "author" in found.questions[0]


def test_an_id_that_repeats_groups_rows() -> None:
    thirds = [f"q{i // 3}" for i in range(ROWS)]
    main = table({"row_id": WORDS, "q_id": thirds, "topic": LABELS})
    group = group_column(main, [main], TARGET, set())
    assert group is not None and group[0] == "q_id" and "14 distinct values in 40 rows" in group[1]
    main = table({"doc_id": [f"d{i // 10}" for i in range(ROWS)], "q_id": thirds})
    group = group_column(main, [main], TARGET, set())
    assert group is not None and group[0] == "doc_id"
    assert "five groups or fewer" in group[1] and '"q_id"' in group[1]
    almost = table({"row_id": [*WORDS[:-1], WORDS[0]]})
    assert group_column(almost, [almost], TARGET, set()) is None
    main = table({"sense_id": thirds})
    assert group_column(main, [main, table({"text": WORDS})], TARGET, set()) is None


def test_what_follows_from_the_target_is_no_text_and_no_group() -> None:
    names = ["it is good" if label == "yes" else "it is bad" for label in LABELS]
    main = table({"text": TEXTS, "label": LABELS, "name": names, "class_id": [str(label == "yes") for label in LABELS]})
    assert texts_of(main).columns == ["text"]
    assert group_column(main, [main], TARGET, {"text"}) is None
    assert unread_columns(main, None, TARGET, {"text", "label"}) == {
        "name": 'it follows from "label"',
        "class_id": "an id",
    }


def test_lists_of_texts_are_asked_about() -> None:
    main = table({"text": TEXTS, "label": LABELS})
    for name in ("keywords[]", "tokens[]", "meta.topics[]"):
        main.columns[name] = FileColumn(name, [], [["a", "b"]] * ROWS)
    (question,) = texts_of(main).questions
    assert '"keywords[]" has lists of texts' in question


def test_spans_are_those_whose_characters_are_the_words_beside_them() -> None:
    rows = [f"number {i} slept when she came" for i in range(ROWS)]
    starts = [text.index("she") for text in rows]
    columns = {"text": rows, "pronoun.text": ["she"] * ROWS, "pronoun.at.start": [str(start) for start in starts]}
    main = table({**columns, "pronoun.at.stop": [str(start + 3) for start in starts]})
    assert marked_spans(main, ["text"], [main]) == {"text": ["pronoun.at"]}
    words = table({**columns, "pronoun.at.start": ["4"] * ROWS, "pronoun.at.stop": ["5"] * ROWS})  # counts words
    assert marked_spans(words, ["text"], [words]) == {}
    places = {
        "span1_text": ["she"] * ROWS,
        "span1_index": ["4"] * ROWS,
        "start": starts,
        "end": [s + 3 for s in starts],
    }
    further = table({"text": rows, **{name: list(map(str, cells)) for name, cells in places.items()}})
    found = ["span1_index[words from 0] + span1_text", "start + end"]
    assert marked_spans(further, ["text"], [further]) == {"text": found}
    two = table({"s1": rows, "s2": rows, "start1": ["0"] * ROWS, "end1": ["6"] * ROWS})
    assert marked_spans(two, ["s1", "s2"], [two]) == {"s1": ["start1 + end1"]}
    ends = {"start": list(map(str, starts)), "end": [str(start + 2) for start in starts]}  # the last character
    for marks in (ends, {"a.at.start": ends["start"], "a.at.stop": ends["end"], "a.text": ["she"] * ROWS}):
        inclusive = table({"sentence": rows, **marks})
        assert marked_spans(inclusive, ["sentence"], [inclusive]) == {}
        assert list(marked_spans(inclusive, ["sentence"], [inclusive], last=1)) == ["sentence"]
    marked = texts_of(
        table({"text": rows, "span1_text": [f"number {i}" for i in range(ROWS)], "span1_index": ["0"] * ROWS})
    )
    assert marked.columns == ["text"] and "start and stop in characters" in marked.questions[0]
