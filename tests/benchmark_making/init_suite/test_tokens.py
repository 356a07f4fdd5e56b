"""Guesses of tasks with a label for each token, from lists, CoNLL files and cells."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import yaml
from data_files import write_jsonl, write_lines, write_table
from input_errors import raises_input_error
from pyarrow import parquet
from structured_suite import LABELS, sentence

from mtl.benchmark_making.init_suite.init_suite import Guessed, init_suite
from mtl.benchmark_making.init_suite.tables import read_table
from mtl.benchmark_making.init_suite.text_targets import tagged_columns
from mtl.tasks.suite import load_suite

ROWS = [sentence(i) for i in range(40)]
WORDS = [[word for word, _ in row] for row in ROWS]
TAGS = [[tag for _, tag in row] for row in ROWS]
INTS = [[LABELS.index(tag) for tag in row] for row in TAGS]
LABEL = ["go" if "B-LOC" in row else "stay" for row in TAGS]


def guessed(tmp_path: Path, **known: Any) -> tuple[Guessed, dict[str, Any]]:
    out = tmp_path / "suite.yaml"
    made = init_suite(tmp_path / "data", name="s", out=out, known={"data": known} if known else None)
    (task,) = yaml.safe_load(out.read_text(encoding="utf-8"))["tasks"].values()
    return made, task


def objects(folder: Path, **columns: Any) -> None:
    for split in ("train", "dev"):
        rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
        write_jsonl(folder / f"{split}.jsonl", rows)


def conll(name: str, further: Callable[[str], list[str]]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for split in ("train", "dev"):
            tokens = [(word.replace(" ", "_"), tag) for row in ROWS for word, tag in [*row, ("", "")]]
            lines = [" ".join([word, *further(word), tag]) if word else "" for word, tag in tokens]
            write_lines(folder / name.format(split), lines)

    return write


def in_parquet(folder: Path) -> None:
    feature = {"feature": {"names": LABELS, "_type": "ClassLabel"}, "_type": "Sequence"}
    metadata = {"huggingface": json.dumps({"info": {"features": {"ner_tags": feature}}})}
    table = pyarrow.table({"tokens": WORDS, "ner_tags": INTS}).replace_schema_metadata(metadata)
    folder.mkdir()
    for split in ("train", "dev"):
        parquet.write_table(table, folder / f"{split}.parquet")


def in_cells(folder: Path, space: str = " ") -> None:
    for split in ("train", "dev"):
        cells = [
            (space.join(word.replace(" ", "_") for word in words), " ".join(tags) + space[1:])
            for words, tags in zip(WORDS, TAGS, strict=True)
        ]
        write_table(folder / f"{split}.tsv", ["utterance", "slots"], cells)


@pytest.mark.parametrize(
    ("write", "text", "target"),
    [
        (lambda folder: objects(folder, id=[str(i) for i in range(40)], tokens=WORDS, ner_tags=TAGS), "tokens[]", "ner_tags[]"),
        (in_parquet, "tokens[]", "ner_tags[]"),
        (in_cells, "utterance", "slots"),
        (lambda folder: in_cells(folder, "  "), "utterance", "slots"),  # spaces in any number, as in SNIPS
        (conll("{}.txt", lambda word: []), "column_1[]", "column_2[]"),
        (conll("{}.conll", lambda word: ["-X-"]), "column_1[]", "column_3[]"),
    ],
)  # fmt: skip
def test_entities_are_recognised(tmp_path: Path, write: Callable[[Path], None], text: str, target: str) -> None:
    write(tmp_path / "data")
    made, task = guessed(tmp_path)
    assert (made.questions, made.problems) == ({}, {})
    assert (task["text"], task["target"], task["kind"], task["metric"]) == ([text], target, "token_labels", "span_f1")
    assert sorted(task["labels"]) == sorted(LABELS)
    assert task.get("indices") == (["0", "1", "2", "3"] if write is in_parquet else None)
    load_suite(made.path)


SPANS: dict[str, Callable[[int, int, str, str], Any]] = {
    "objects": lambda start, stop, type, words: {"start": start, "stop": stop, "label": type},
    "lists": lambda start, stop, type, words: [start, stop, type],
    "words": lambda start, stop, type, words: {"at": [start, stop], "said": words, "is": type},
    "types": lambda start, stop, type, words: {"start": start, "stop": stop, "label": type, "by": type[0]},
    "protobuf": lambda start, stop, type, words: {**({"start": start} if start else {}), "stop": stop, "label": type},
    "letters": lambda start, stop, type, words: [start, start + 1, type],
    "last": lambda start, stop, type, words: [start, stop - 1, type],
    "last words": lambda start, stop, type, words: {"at": [start, stop - 1], "said": words, "is": type},
    "shared": lambda start, stop, type, words: [0, stop, type],
}


@pytest.mark.parametrize(
    ("form", "asked"),
    [
        *(("objects", None), ("lists", None), ("words", None), ("types", '"label", "by" of "spans" may be the types')),
        *(("protobuf", '40 spans of "spans" have no "start"'), ("shared", "share a word with a longer one, hold")),
        *(
            ("letters", "or its last one?"),
            ("last", "is the last character of each"),
            ("last words", '"at.1" of "spans" is the last'),
        ),
    ],
)
def test_marked_spans_are_tags(tmp_path: Path, form: str, asked: str | None) -> None:
    write_spans(tmp_path / "data", form)
    made, task = guessed(tmp_path)
    assert asked in made.questions["data"] if asked else made.questions == {}
    assert (task["text"], task["target"], task["metric"]) == (["tokens[]"], "tags[]", "span_f1")
    assert set(task["labels"]) <= {"O", "B-place", "B-time", "I-time"}
    (tmp_path / "suite.yaml").unlink()
    made, _ = guessed(tmp_path, reading=task["reading"])
    assert made.questions == {}
    load_suite(made.path)


def write_spans(folder: Path, form: str) -> None:
    """Sentences that begin with a place and end with a time."""
    for split in ("train", "dev"):
        rows = []
        for number in range(40):
            place, time = ("Å", "5") if form == "letters" else (["Bergen", "Oslo", "Tromsø"][number % 3], "noon")
            text = f"{place} is number {number} at {time}"
            ends = [(0, len(place), "place"), (len(text) - len(time), len(text), "time")]
            spans = [SPANS[form](start, stop, type, text[start:stop]) for start, stop, type in ends]
            rows.append({"text": text, "spans": spans})
        write_jsonl(folder / f"{split}.jsonl", rows)


def test_tags_without_types_mark_entities(tmp_path: Path) -> None:
    objects(tmp_path / "data", tokens=WORDS, tags=[[tag[0] for tag in tags] for tags in TAGS])
    assert guessed(tmp_path)[1]["metric"] == "span_f1"


UPOS = [["X" if word.istitle() else "Y" for word in row] for row in WORDS]


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        ({"tokens": WORDS, "upos": UPOS, "tags": TAGS}, ["target: ", '"upos[]" (2 tags)', '"tags[]" (4 tags)']),
        ({"tokens": WORDS, "tags": TAGS, "label": LABEL}, ["target: "]),
        ({"tokens": WORDS, "tags": INTS}, ["labels: numbers"]),
        ({"tokens": WORDS, "tags": TAGS, "test": [["O" for _ in row] for row in WORDS]}, ["placeholder"]),
    ],
)
def test_what_is_asked(tmp_path: Path, columns: dict[str, Any], asked: list[str]) -> None:
    objects(tmp_path / "data", **{name: cells for name, cells in columns.items() if name != "test"})
    if "test" in columns:
        of_test = zip(WORDS, columns["test"], strict=True)
        write_jsonl(tmp_path / "data/test.jsonl", [{"tokens": words, "tags": tags} for words, tags in of_test])
    question = guessed(tmp_path)[0].questions["data"]
    assert all(words in question for words in asked)
    if "upos" in columns:
        (tmp_path / "suite.yaml").unlink()
        made, task = guessed(tmp_path, target="upos[]", text="tokens[]")
        assert made.questions == {} and (task["metric"], task["labels"]) == ("token_accuracy", ["X", "Y"])


def test_labels_of_candidates_are_no_tags(tmp_path: Path) -> None:
    choices = [[f"answer {i}", f"reply {i}", f"word {i}"] for i in range(40)]
    questions = [f"what is {i}" for i in range(40)]
    objects(tmp_path / "data", question=questions, texts=choices, letters=[list("ABC")] * 40, label=LABEL)
    assert guessed(tmp_path)[1].get("kind") != "token_labels"


def test_an_answer_that_names_no_tags(tmp_path: Path) -> None:
    objects(tmp_path / "data", text=list(map(" ".join, WORDS)), tokens=WORDS, tags=TAGS, label=LABEL)
    assert guessed(tmp_path, target="label", text="text")[1]["target"] == "label"
    (tmp_path / "suite.yaml").unlink()
    made, _ = guessed(tmp_path, target="tags[]")
    assert made.questions == {}


def test_a_known_target_without_tags(tmp_path: Path) -> None:
    objects(tmp_path, tokens=WORDS, label=LABEL)
    with raises_input_error():
        tagged_columns(read_table(tmp_path / "dev.jsonl"), {"kind": "token_labels", "target": "label"})


def test_ends_in_a_column_that_are_last_characters_are_asked_about(tmp_path: Path) -> None:
    rows = [
        {"text": f"{word} is number {i}", "start": 0, "end": len(word) - 1, "label": "ab"[i % 2]}
        for i, word in enumerate(["Bergen", "Oslo", "Tromsø", "Voss"] * 10)
    ]
    write_jsonl(tmp_path / "data/train.jsonl", rows)
    assert guessed(tmp_path)[0].questions["data"].startswith('spans: "end" is the last character')
