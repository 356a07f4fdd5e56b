"""Marked spans as tags, against the characters that each tag covers."""

import json
import logging
import random
from pathlib import Path
from typing import Any

import pytest
from data_files import write_jsonl
from input_errors import raises_input_error

from mtl.api.cli import main
from mtl.data.records import read_records
from mtl.data.rows import stream_rows
from mtl.structured.marked import tokens_with_tags
from mtl.tasks.layout import Layout, Reading

DOT = "text + spans.start[] + spans.end[] + spans.type[]"


def marked(path: Path, columns: str) -> list[tuple[Any, Any]]:
    layout = Layout(reading=Reading(spans=columns))
    return [(row["tokens"], row["tags"]) for _, row in stream_rows(path, layout)]


def test_tags_cover_the_characters_of_their_spans() -> None:
    chance = random.Random(1)
    for _ in range(300):
        words = ["".join(chance.choices("abé1", k=chance.randrange(1, 5))) for _ in range(chance.randrange(1, 9))]
        content = " ".join(words)
        places = [(sum(map(len, words[:i])) + i, sum(map(len, words[: i + 1])) + i) for i in range(len(words))]
        first = chance.randrange(len(words))
        last = chance.randrange(first, len(words))
        start, stop = places[first][0], places[last][1]
        inner = chance.randrange(start + 1, stop) if stop - start > 1 else stop
        for end in (stop, inner):
            tokens, tags, cut, _ = tokens_with_tags(content, [(start, end, "a b")])
            covered = [place for place in places if place[0] < end and place[1] > start]
            assert tokens == words
            assert [t == "O" for t in tags] == [place not in covered for place in places]
            assert [t for t in tags if t != "O"] == ["B-a_b", *["I-a_b"] * (len(covered) - 1)]
            assert cut == (covered[-1][1] > end)


def test_tokens_are_words_signs_and_letters_of_scripts_without_spaces() -> None:
    assert tokens_with_tags("Łódź, 3pm東京𠀀𠀁!", [])[0] == ["Łódź", ",", "3pm", "東", "京", "𠀀", "𠀁", "!"]


def test_spans_that_do_not_count() -> None:
    spans = [(0, 3, "A"), (0, 7, "B"), (9, 10, "C"), (9, 11, "D"), (8, 9, "E"), (4, 4, "F"), (0, 7, "B")]
    empty, reversed_span = (3, 3, "A"), (5, 1, "B")
    assert tokens_with_tags("Warsaw", [empty, reversed_span]) == (["Warsaw"], ["O"], 0, 2)
    assert tokens_with_tags("New York x", spans) == (["New", "York", "x"], ["B-B", "I-B", "B-C"], 1, 4)


@pytest.mark.parametrize(
    ("value", "columns"),
    [
        ({"spans": [{"start": 4, "end": 8, "type": "P"}]}, DOT),
        ({"spans": [[4, 8, "P"]]}, "text + spans.0[] + spans.1[] + spans.2[]"),
        ({"spans": [{"at": {"stop": 3}, "type": "Q"}]}, "text + spans.at.start[] + spans.at.stop[] + spans.type[]"),
        ({"a": {"b": {"P": {"at": [4, 8]}, "Q": {"at": [0, 3]}}}}, "text + a.b.at.0[] + a.b.at.1[] + a.b.key[]"),
        ({}, DOT),
        ({"spans": None}, DOT),
    ],
)
def test_forms_of_spans(tmp_path: Path, value: dict[str, Any], columns: str) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "and Anna", **value}])
    tags = ["B-Q" if "Q" in str(value) else "O", "B-P" if "P" in str(value) else "O"]
    assert marked(path, columns) == [(["and", "Anna"], tags)]
    records = read_records(path, ["tags[]"], layout=Layout(reading=Reading(spans=columns)))
    assert records[0].values == (tags,)


@pytest.mark.parametrize("span", [["4", 8, "P"], [4, None, "P"], [4, 8, " "], [4, 8], [True, 8, "P"]])
def test_spans_that_are_none(tmp_path: Path, span: list[Any]) -> None:
    rows = [{"text": "and Anna", "spans": []}, {"text": "and Anna", "spans": [span]}]
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    with raises_input_error(file="a.jsonl", line=2):
        marked(path, "text + spans.0[] + spans.1[] + spans.2[]")


def test_spans_of_which_none_counts_are_refused(tmp_path: Path) -> None:
    """Their starts and ends are in each other's place. A span that stands twice is one."""
    rows = [{"text": "and Anna", "spans": []}, {"text": "and Anna", "spans": [[8, 4, "P"], [8, 4, "P"]]}]
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    with raises_input_error(file="a.jsonl"):
        marked(path, "text + spans.0[] + spans.1[] + spans.2[]")


def test_files_with_spans_in_every_row_are_gold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {split: f"{split}.jsonl" for split in ("train", "dev", "test")}
    columns = {"text": ["tokens[]"], "target": "tags[]", "reading": {"spans": DOT}, "files": files}
    task = {"kind": "token_labels", "labels": ["O", "B-P"], "metric": "span_f1", **columns}
    suite = {"name": "marked", "tasks": {"names": task}}
    (tmp_path / "marked.yaml").write_text(json.dumps(suite), encoding="utf-8")
    rows: list[dict[str, Any]] = [{"text": "Anna ler", "spans": [{"start": 0, "end": 4, "type": "P"}]}, {"text": "ler"}]
    predictions = [{"text": "Anna ler", "prediction": ["B-P", "O"]}, {"text": "ler", "prediction": ["O"]}]
    write_jsonl(tmp_path / "mine/test_pred_names.jsonl", predictions[::-1])  # put to their rows by their texts
    command = ["score", str(tmp_path / "mine"), "--gold", str(tmp_path), f"suite={tmp_path / 'marked.yaml'}"]
    write_jsonl(tmp_path / "test.jsonl", [rows[0], {**rows[1], "spans": []}])
    assert main(command) == 0
    assert "| names | test | span_f1 | 2 | 100.0 |" in capsys.readouterr().out
    for unlabelled in (rows[1], {**rows[1], "spans": None}):
        write_jsonl(tmp_path / "test.jsonl", [rows[0], unlabelled])
        assert main(command) == 2
        assert "with a column 'tags[]' in every row" in capsys.readouterr().err


def test_spans_within_words_are_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "Annas", "spans": [{"start": 0, "end": 4, "type": "P"}]}])
    with caplog.at_level(logging.WARNING):
        assert marked(path, DOT) == marked(path, DOT) == [(["Annas"], ["B-P"])]
    assert len(caplog.records) == 1 and "whole word: 1;" in caplog.text


def test_a_reading_names_four_columns() -> None:
    assert Reading(spans=DOT).problem is None
    for columns in ("text + spans[]", DOT.replace("[]", ""), DOT.replace("spans.end", "others.end"), ""):
        assert str(Reading(spans=columns).problem).startswith("spans: ")
