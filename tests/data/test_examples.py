from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from data_files import write_jsonl, write_rows, write_table
from input_errors import refused

from mtl.data.examples import Example, make_example, read_examples, read_targets
from mtl.data.marked_spans import span_texts
from mtl.tasks.task import Task

LABELS = Task(id="t", kind="labels", text=["sentence"], target="target", labels=["0", "1"], metric="accuracy")
NUMBERS = Task(id="r", kind="number", text=["a", "b"], target="score", range=[0, 5], metric="spearman", group="id")
WORDS = Task(id="w", kind="word", text=["x"], target="y", metric="accuracy")
LISTS = Task(id="c", kind="choice", text=["question"], candidates=["answers[]"], target="right", metric="accuracy")
LISTS.columns = ["id"]


def test_columns_are_found_by_name_and_targets_need_not_be_read(tmp_path: Path) -> None:
    path = write_table(tmp_path / "x.tsv", ("id", "b", "score", "a"), [("7", "y", "5.0", "x"), ("8", "v", "1", "u")])
    assert read_examples(NUMBERS, path) == [Example(2, (("x", "y"),), 5.0, "7"), Example(3, (("u", "v"),), 1.0, "8")]
    path = write_table(tmp_path / "test.tsv", ("b", "a"), [("y", "x")])
    assert read_examples(NUMBERS, path, targets=False) == [Example(2, (("x", "y"),))]
    assert [example.row for example in read_examples(NUMBERS, path, targets=False)] == [("x", "y")]


def test_a_choice_has_one_input_for_each_candidate_wherever_they_stand(tmp_path: Path) -> None:
    rows = [
        {"id": "n1", "question": "q1", "answers": ["a", "b", "c"], "right": 2},
        {"id": "n2", "question": "q2", "answers": ["d"], "right": 0},
    ]
    first, second = read_examples(LISTS, write_jsonl(tmp_path / "x.jsonl", rows))
    assert first.inputs == (("q1", "a"), ("q1", "b"), ("q1", "c")) and first.texts == ("q1", "a", "b", "c")
    assert (first.target, first.columns, second.inputs, second.target) == (2.0, ("n1",), (("q2", "d"),), 0.0)
    task = Task(kind="choice", text=[], candidates=["one", "two"], target="right", metric="accuracy")
    path = write_table(tmp_path / "x.tsv", ("right", "two", "one"), [("1", "b", "a")])
    (example,) = read_examples(task, path)
    assert (example.inputs, example.texts, example.target) == ((("a",), ("b",)), ("a", "b"), 1.0)


def test_wrong_choices_name_the_line(tmp_path: Path) -> None:
    good = {"id": "n", "question": "q", "answers": ["a", "b"], "right": 1}
    for row in ({"answers": []}, {"right": 2}, {"right": "1"}, {"right": None}):
        path = write_jsonl(tmp_path / "x.jsonl", [good, {**good, **row}])
        refused(read_examples, LISTS, path, file="x.jsonl", line=2)


def test_targets_of_a_file_with_one_column(tmp_path: Path) -> None:
    labels = write_table(tmp_path / "labels.tsv", ["t"], [["1"], ["0"], ["1"]])
    np.testing.assert_array_equal(read_targets(LABELS, labels), [1.0, 0.0, 1.0])
    words = write_table(tmp_path / "words.tsv", ["w"], [["hund"], ["röd katt"]])
    read = read_targets(WORDS, words)
    assert (read.tolist(), read.dtype) == (["hund", "röd katt"], np.dtype(object))
    refused(lambda: read_targets(LABELS, words), file="words.tsv", line=2)


SPANS = Task(id="s", kind="labels", text=["one.text", "two.text"], target="y", labels=["n", "p"], metric="accuracy")
SPANS.spans = {"two.text": ["two.at"], "one.text": ["one.at", "one.other"]}
MARKED = {
    "one": {"text": "hög bank", "at": {"start": 4, "stop": 8}, "other": {"start": 0, "stop": 8}},
    "two": {"text": "👩 bank", "at": {"start": 2, "stop": 6}},
    "y": "p",
}


def test_spans_are_in_the_order_of_the_texts_and_mark_the_text_beside_them(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [MARKED])
    (example,) = read_examples(SPANS, path)
    assert example.spans == ((4, 8), (0, 8), (2, 6)) and example.target == 1.0
    assert span_texts(SPANS, example.inputs[0], example.spans) == ("bank", "hög bank", "bank")
    (row,) = [example.row for example in read_examples(SPANS, path, targets=False)]
    assert row == ("hög bank", "👩 bank", (4, 8), (0, 8), (2, 6)) == example.row
    assert make_example(SPANS, row) == Example(0, example.inputs, spans=example.spans)
    task = replace(SPANS, text=["text"], spans={"text": ["word.at"]})

    def row(start: int, words: object) -> dict[str, object]:
        word = {"text": words, "at": {"start": start, "stop": start + 4}}
        return {"text": "hög bank", "word": word, "y": "n"}

    path = write_jsonl(tmp_path / "x.jsonl", [row(4, "bank"), row(4, None), row(4, 7)])
    assert [example.spans for example in read_examples(task, path)] == [((4, 8),)] * 3
    write_jsonl(path, [row(4, "bank"), row(3, "bank")])
    refused(lambda: read_examples(task, path, True), file="x.jsonl", line=2)
    refused(lambda: read_examples(task, path, False), file="x.jsonl", line=2)


def test_the_ends_of_a_span_stand_in_two_columns_or_follow_from_words_and_their_place(tmp_path: Path) -> None:
    spans = ["start1 + end1", "at[words from 1] + word", "place[characters from 0] + word"]
    task = replace(SPANS, text=["text"], spans={"text": spans})
    header = ("text", "start1", "end1", "at", "place", "word", "y")
    path = tmp_path / "x.tsv"
    write_table(path, header, [("hög  2 bank", 0, 3, 2, 5, "2", "n")])
    assert read_examples(task, path)[0].spans == ((0, 3), (5, 6), (5, 6))
    for places in ((1, 5), (4, 5), (2, 4), (2, "x")):
        write_table(path, header, [("hög  2 bank", 0, 3, *places, "2", "n")])
        refused(lambda: read_examples(task, path), line=2)


def test_spans_of_a_table_are_two_columns_each(tmp_path: Path) -> None:
    task = replace(SPANS, text=["text"], spans={"text": ["at"]})
    for suffix, separator in ((".tsv", "\t"), (".csv", ",")):
        path, header = tmp_path / f"x{suffix}", ("text", "at.start", "at.stop", "y")
        write_table(path, header, [("hög bank", 4, 8, "n")], separator)
        assert read_examples(task, path)[0].spans == ((4, 8),)
        for ends in (("4", "x"), ("4.0", "8"), ("-4", "8"), ("", "8"), ("8", "4")):
            write_table(path, header, [("hög bank", *ends, "n")], separator)
            refused(read_examples, task, path, file=path.name, line=2)


@pytest.mark.parametrize("targets", [True, False])
def test_wrong_spans_name_the_line(tmp_path: Path, targets: bool) -> None:
    ends = [(4, 4), (-1, 3), (2, 7), (2.0, 6), (True, 6), (None, 6)]
    for span in (*({"start": start, "stop": stop} for start, stop in ends), {"start": 2}, None):
        path = write_jsonl(tmp_path / "x.jsonl", [MARKED, {**MARKED, "two": {"text": "👩 bank", "at": span}}])
        refused(read_examples, SPANS, path, targets, file="x.jsonl", line=2)


@pytest.mark.parametrize(
    "row",
    [
        *(("hög bank", "bank"), ("hög bank", "bank", (4, 8), (0, 8)), ("hög bank", (4, 8), (0, 8), (0, 4)), ()),
        *(("hög bank", "bank", (4, 8), (0, 8), last) for last in ((0, 5), "bank", (0, 2, 4))),
        ("hög bank", 7, (4, 8), (0, 8), (0, 4)),
    ],
)
def test_rows_that_are_not_of_the_task(row: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match=r"has another number|has something else|span 'two.at': "):
        make_example(SPANS, row)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize(
    ("task", "good", "bad"),
    [
        *((NUMBERS, 2.5, "2.5"), (NUMBERS, 3, True), (WORDS, "katt", 3)),
        *((replace(LABELS, labels=["pro", "con"]), "pro", 3), (LABELS, "1", 1.0)),
    ],
)
def test_targets_of_other_types(tmp_path: Path, task: Task, good: object, bad: object, suffix: str) -> None:
    columns = [*task.text_columns, *([task.group] if task.group else []), task.target]
    path = tmp_path / f"x{suffix}"
    write_rows(path, columns, [[*("x" for _ in columns[1:]), good]])
    assert len(read_examples(task, path)) == 1
    write_rows(path, columns, [[*("x" for _ in columns[1:]), bad]])
    refused(lambda: read_examples(task, path), file=path.name, line=1)


@pytest.mark.parametrize(("labels", "value"), [(["0", "1"], 1), (["true", "false"], True), (["1", "0"], "1")])
def test_labels_that_look_like_json_may_be_values(tmp_path: Path, labels: list[str], value: object) -> None:
    task = replace(LABELS, labels=labels)
    (example,) = read_examples(task, write_jsonl(tmp_path / "x.jsonl", [{"sentence": "a", "target": value}]))
    assert example.target == labels.index(str(value).lower())


def test_null_targets_are_allowed_only_where_targets_are_not_read(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [{"x": "a", "y": None}])
    assert [example.row for example in read_examples(WORDS, path, targets=False)] == [("a",)]
    refused(lambda: read_examples(WORDS, path), file="x.jsonl", line=1)
