"""Labels of tokens: how cells, rows and declarations are read, what heads read, and how tags are described."""

import json
from pathlib import Path

import numpy as np
import pytest
from data_files import write_lines
from input_errors import raises_input_error
from structured_suite import LABELS

from mtl.data.examples import read_examples
from mtl.structured.token_labels import TokenLabels
from mtl.structured.unit_features import token_features
from mtl.tasks.head_targets import PAST
from mtl.tasks.suite import suite_from
from mtl.tasks.task import Task

TASK = Task("t", kind="token_labels", text=["tokens[]"], target="tags[]", labels=LABELS, metric="span_f1")


@pytest.mark.parametrize(
    ("tokens", "tags"),
    [(["a", "b"], ["O"]), (["a"], ["B-ORG"]), (["a"], ["O O"]), (["a"], "O"), ("a", ["O"]), (["a"], [None])],
)
def test_rows_that_are_no_tokens_with_their_tags(tmp_path: Path, tokens: object, tags: object) -> None:
    path = write_lines(tmp_path / "x.jsonl", [json.dumps({"tokens": tokens, "tags": tags})])
    with raises_input_error(file="x.jsonl", line=1):
        read_examples(TASK, path)


def test_tokens_and_tags_of_a_row(tmp_path: Path) -> None:
    row = {"tokens": ["5 p.m.", " ", "\tx"], "tags": ["O", "B-LOC", "O"]}  # white space within a token, and a blank one
    read = read_examples(TASK, write_lines(tmp_path / "x.jsonl", [json.dumps(row)]))
    assert [(row.texts, row.target) for row in read] == [(("5\u00a0p.m. _ x",), "O B-LOC O")]
    (empty,) = read_examples(TASK, write_lines(tmp_path / "x.jsonl", [json.dumps({"tokens": [], "tags": []})]))
    assert (empty.texts, empty.target) == (("_",), "O")
    kind = TokenLabels(TASK)
    assert kind.size(read[0].inputs) == 3
    assert kind.unit_features(["In Zelburg"]) == token_features(["In", "Zelburg"])
    assert [read[0].texts[0][start:end] for start, end in kind.units(read[0].texts[0])] == ["5\u00a0p.m.", "_", "x"]
    codes = kind.head.encode(np.array(["O B-LOC O", "O", None], dtype=object), [])
    assert codes.tolist() == [[0, 3, 0], [0, PAST, PAST], [PAST] * 3]
    assert kind.head.decode(codes[:2, :2], [], ["a b c d", "e"]).tolist() == ["O B-LOC O O", "O"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("labels", ["O"]), ("labels", ["O", "B LOC"]), ("labels", ["O", "NOUN"])),
        *(("indices", ["0", "1"]), ("indices", ["B-LOC", "1", "2", "3"]), ("metric", "accuracy")),
        *(("text", ["tokens[]", "others[]", "third"]), ("candidates", ["c[]"]), ("kind", "labels")),
    ],
)
def test_declarations_that_are_wrong(tmp_path: Path, key: str, value: object) -> None:
    declared = {"text": ["tokens[]"], "kind": "token_labels", "target": "tags[]", "labels": LABELS, "metric": "span_f1"}
    with raises_input_error(key=None):
        suite_from({"name": "s", "tasks": {"t": {**declared, key: value}}}, tmp_path / "s.yaml")


def test_how_tags_are_described() -> None:
    kind = TokenLabels(TASK)
    targets = np.array(["O O I-PER", "B-LOC O O"], dtype=object)
    assert kind.distribution(targets) == "6 tokens: O 66.7%, I-PER 16.7%, B-LOC 16.7%"
    assert kind.absent(targets) == ["B-PER"]
