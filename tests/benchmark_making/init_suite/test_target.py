"""Which column is the target, and when that is a question."""

from pathlib import Path

import pytest
from data_files import sentences
from input_errors import raises_input_error

from mtl.benchmark_making.init_suite.evidence import candidate_columns
from mtl.benchmark_making.init_suite.tables import FileColumn, FileTable
from mtl.benchmark_making.init_suite.target import target_column
from mtl.tasks.task import Layout

ROWS = 40
LABELS = ["yes", "no"] * (ROWS // 2)
THIRDS = ["a", "b", "c", "d"] * (ROWS // 4)
TEXTS = sentences(ROWS)
WORDS = [a + b for a in "abcde" for b in "klmnopqr"]
KIND = {"kind": LABELS, "text": TEXTS, "grade": THIRDS}


def table(
    columns: dict[str, list[str]], incomplete: dict[str, str] | None = None, unread: dict[str, str] | None = None
) -> FileTable:
    made = {name: FileColumn(name, cells) for name, cells in columns.items()}
    return FileTable(Path("train.tsv"), Layout(), ROWS, made, incomplete or {}, unread or {})


@pytest.mark.parametrize(
    ("main", "test", "target", "why"),
    [
        ({"topic": THIRDS, "label": LABELS, "text": TEXTS}, None, "label", "by its name"),
        ({"genre": THIRDS, "nli_judgment": LABELS}, None, "nli_judgment", "by its name"),
        ({"label": LABELS, "label_name": [f"{label}!" for label in LABELS]}, None, "label", "by its name"),
        ({"text": TEXTS, "genre": THIRDS, "stars": WORDS, "score": ["1", "2"] * 20}, None, "score", "by its name"),
        ({"text": TEXTS, "stance": LABELS}, None, "stance", "the only column with labels or numbers"),
        ({"meta.label": LABELS, "row_id": LABELS, "text": TEXTS, "stance": THIRDS}, None, "stance", "the only column"),
        ({"nr": [str(i) for i in range(ROWS)], "count": [str(i) for i in range(ROWS)], "kind": LABELS}, None, "kind", "the only"),
        (KIND, {"text": TEXTS, "grade": THIRDS}, "kind", "labels or numbers, and the test file has no values in it"),
        (KIND, {**KIND, "kind": [""] * ROWS}, "kind", "labels or numbers, and the test file"),
        (KIND, {**KIND, "kind": ["-1"] * ROWS}, "kind", "labels or numbers, and the test file"),
        (KIND, {**KIND, "kind": ["NaN"] * ROWS}, "kind", "labels or numbers, and the test file"),
    ],
)  # fmt: skip
def test_unique_evidence(main: dict[str, list[str]], test: dict[str, list[str]] | None, target: str, why: str) -> None:
    found = target_column(table(main), None if test is None else table(test))
    assert (found.column.name, found.question) == (target, None) and found.why.startswith(why)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"acceptable": LABELS, "source": THIRDS}, ['"acceptable" (2 values)', '"source" (4 values)']),
        ({"label": LABELS, "fine_label": THIRDS}, ['"label"', '"fine_label"']),  # a hierarchy
        ({"food": THIRDS, "service": LABELS}, ['"food"', '"service"']),  # aspects
        ({"score": ["1", "2", "3", "4"] * 10, "verdict": LABELS}, ['"score"', '"verdict"']),
        ({"topic": THIRDS, "nli_judgment": LABELS}, ['"topic"', '"nli_judgment"']),
        ({"Target": THIRDS, "Stance": LABELS}, ['"Target"', '"Stance"']),
        ({"target_group": THIRDS, "hate": LABELS}, ['"target_group"', '"hate"']),
        ({"class": LABELS, "score": ["1", "2", "3", "4"] * 10}, ['"class"', '"score"']),
        ({"x_label": LABELS, "tone": THIRDS}, ['"x_label"', '"tone"']),
        ({"dataset": LABELS}, ['"dataset"', "say where the rows come from"]),
    ],
)  # fmt: skip
def test_what_is_asked(columns: dict[str, list[str]], named: list[str]) -> None:
    found = target_column(table({**columns, "text": TEXTS}), None)
    assert found.question is not None and all(name in found.question for name in named)


def test_what_mtl_cannot_read_is_named() -> None:
    for main in (
        table({"text": TEXTS}),
        table({"text": TEXTS}, unread={"qas": "a list of objects"}),
        table({"text": TEXTS}, incomplete={"label": "train.tsv:3: label: null"}),
    ):
        with raises_input_error():
            target_column(main, None)
    doubtful = target_column(table({"text": TEXTS, "origin": LABELS}, unread={"qas": "a list of objects"}), None)
    assert '"qas" is a list of objects' in str(doubtful.question)


def test_candidates_are_lists_or_columns_named_so() -> None:
    main = table({"sentence1": WORDS, "sentence2": WORDS, "choice1": WORDS, "choice2": WORDS, "option_a": LABELS})
    assert [column.name for column in candidate_columns(main, {"option_a"})] == ["choice1", "choice2"]
    assert candidate_columns(table({"sentence1": WORDS, "sentence2": WORDS, "answer1": WORDS}), set()) == []
    lists = FileColumn("answers[]", [], [["x"]] * ROWS)
    main.columns["answers[]"] = lists
    main.columns["tokens[]"] = FileColumn("tokens[]", [], [["x"]] * ROWS)
    assert candidate_columns(main, set()) == [lists]
