import json
from pathlib import Path
from typing import Any

import pytest
from data_files import sentences, write_table

from mtl.benchmark_making.init_suite.guessing import choose_answering_tasks, guess_task
from mtl.benchmark_making.init_suite.names import Guess, find_tasks
from mtl.benchmark_making.init_suite.reading import files_of_tasks

TEXTS = sentences(12)
LABELS = ["glad", "sad"] * 6
BOTH = "text label"


def guess(folder: Path, known: dict[str, Any] | None = None) -> Guess:
    (found,) = find_tasks(folder).tasks
    return guess_task(found, folder, known)


def write_split(folder: Path, split: str, header: str = BOTH, labels: list[str] = LABELS) -> None:
    columns = {"text": TEXTS, "label": labels}
    names = header.split()
    write_table(folder / "mood" / f"{split}.tsv", names, list(zip(*(columns[name] for name in names), strict=True)))


def guess_splits(folder: Path, **headers: str) -> Guess:
    for split, header in headers.items():
        write_split(folder, split, header)
    return guess(folder)


@pytest.mark.parametrize(
    ("headers", "scored", "why"),
    [
        ({"train": BOTH, "dev": BOTH, "test": "text"}, None, None),
        ({"train": BOTH, "test": "text"}, None, "no dev file: rows of train are held out, and scored"),
        ({"train": BOTH, "test": BOTH}, "test", "no dev file: rows of train are held out"),
        ({"train": BOTH, "dev": BOTH, "test": BOTH}, None, None),
    ],
)
def test_which_split_is_scored(headers: dict[str, str], scored: str | None, why: str | None, tmp_path: Path) -> None:
    found = guess_splits(tmp_path, **headers)
    assert (found.id, found.folder, found.problem, found.kind) == ("mood", "mood", None, "labels")
    assert {split for split, file in found.files.items() if file == f"{split}.tsv"} == set(headers)
    assert found.rows == dict.fromkeys(headers, 12)
    keys = {"target": "label", "labels": ["glad", "sad"], "metric": "accuracy", "text": ["text"]}
    assert found.keys == {**keys, **({"scored": scored} if scored else {})} and found.why.get("files") == why
    assert any("scored: test" in note for note in found.notes) == ("dev" in headers and headers["test"] == BOTH)


def test_a_dev_file_without_the_text_is_not_used(tmp_path: Path) -> None:
    found = guess_splits(tmp_path, train=BOTH, dev="label")
    assert found.files["dev"] is None and found.rows == {"train": 12}
    assert 'dev.tsv has no column "text"' in found.questions[0]


def test_what_is_wrong_with_a_file_is_the_task_s_problem(tmp_path: Path) -> None:
    found = guess_splits(tmp_path, train=BOTH, dev="text")
    assert found.problem == f'{tmp_path / "mood" / "dev.tsv"}: no targets in column "label"'
    (tmp_path / "mood" / "dev.tsv").write_bytes(b"text\tlabel\n\x81\xff\x01\tglad\n")
    assert "neither UTF-8 nor in a usual code page" in (guess(tmp_path).problem or "")
    (tmp_path / "mood" / "dev.tsv").unlink()
    assert guess_splits(tmp_path, train="label").problem == 'no column looks like a text: train.tsv has "label"'
    write_split(tmp_path / "x/C:", "train")
    assert guess(tmp_path / "x").problem == 'rename "C:/mood": a suite file cannot hold this name'


@pytest.mark.parametrize(
    ("content", "files", "question"),
    [
        ({"train": [["a", "x"]], "val": [["b", "y"]], "oos": [["c", "z"]], "info": "x"}, {"train": "all.json#train", "dev": "all.json#val"}, None),
        ({"oos_train": [["c", "z"]], "train": [["a", "x"]], "val": [["b", "y"]]}, {"train": "all.json#train", "dev": "all.json#val"},
         "files: train may be train or oos_train of all.json"),
        ({f"train{i}": {"text": "a", "label": "x"} for i in range(30)}, {"train": "all.json"}, "files: no name has the word of a split"),
    ],
)  # fmt: skip
def test_splits_that_are_keys_of_an_object(
    content: dict[str, Any], files: dict[str, str], question: str | None, tmp_path: Path
) -> None:
    (tmp_path / "all.json").write_text(json.dumps(content))
    (task,) = files_of_tasks(tmp_path).tasks
    assert task.files == files and len(task.questions) == bool(question)
    assert not question or task.questions[0].startswith(question)


def test_splits_that_are_values_of_a_column(tmp_path: Path) -> None:
    rows = [(f"text {i}", ("train", "train", "dev", "validation")[i % 4]) for i in range(8)]
    write_table(tmp_path / "b" / "all.csv", ["text", "split"], rows, ",")
    write_table(tmp_path / "b" / "other.csv", ["text", "n"], [("a", 1)], ",")
    found = files_of_tasks(tmp_path)
    (task,) = found.tasks
    assert (task.files, found.unused) == ({"train": "all.csv#split=train", "dev": "all.csv#split=dev"}, ["b/other.csv"])
    assert task.questions == ["files: dev may be split=dev or split=validation of all.csv"]


def test_files_that_name_no_split_are_tasks_and_numbered_ones_are_one(tmp_path: Path) -> None:
    for name in ("x.en.json", "x.de.json", "fold0.json", "fold1.json"):
        (tmp_path / name).write_text(json.dumps([["a", "x"]]))
    tasks = {task.id: task.files["train"] for task in files_of_tasks(tmp_path).tasks}
    assert tasks == {"fold0": "fold0.json#*", "x.de": "x.de.json", "x.en": "x.en.json"}
    for number in range(30):
        write_table(tmp_path / f"{number}-words.tsv", ["a"], [("x",)])
    found = files_of_tasks(tmp_path)
    assert not found.tasks and len(found.unused) == 34


def test_a_test_file_that_is_read_in_another_way_is_left_out_with_a_question(tmp_path: Path) -> None:
    for split, separator in {"train": "\t", "dev": "\t", "test": ";"}.items():
        write_table(tmp_path / f"{split}.tsv", ["text", "label"], zip(TEXTS, LABELS, strict=True), separator)
    found = guess(tmp_path)
    assert found.problem is None and found.files["test"] is None
    assert any(question.startswith("files: test is not used: ") for question in found.questions)


def test_a_header_that_is_given(tmp_path: Path) -> None:
    rows = list(zip(TEXTS, LABELS, strict=True))
    write_table(tmp_path / "mood" / "train.tsv", rows[0], rows[1:])
    found = guess(tmp_path, {"header": ["sentence", "tone"]})
    assert (found.keys["text"], found.keys["target"], found.rows) == (["sentence"], "tone", {"train": 12})
    assert guess(tmp_path, {"header": True}).rows == {"train": 11}


PAIR = ["premise", "hypothesis"]
NLI = ["contradiction", "entailment", "neutral"]


def guessed(id: str, rows: dict[str, int], kind: str = "labels", text: list[str] = PAIR, **keys: Any) -> Guess:
    files = {split: f"{split}.tsv" if split in rows else None for split in ("train", "dev", "test")}
    return Guess(id, id, files, rows, kind, {"text": text, "metric": "accuracy", **keys})


def test_the_largest_task_with_the_same_columns_and_labels_answers_and_the_others_are_named() -> None:
    sick, nli = (guessed(id, {"train": rows, "dev": 3}, labels=NLI) for id, rows in (("sick", 5), ("nli", 9)))
    gender = guessed("gender", {"dev": 3}, labels=["entailment", "neutral"])
    choose_answering_tasks([guessed("pairs", {"train": 99}, text=["a", "b"], labels=NLI), gender, sick, nli])
    assert gender.keys == {"text": PAIR, "metric": "accuracy", "answered_by": "nli"}
    assert "a guess" in gender.why["answered_by"] and gender.why["files"] == "no train file"
    assert '"entailment", "neutral"' in gender.notes[0] and "answered_by" not in nli.keys
    assert gender.questions == ["answered_by: no training rows; nli has the same columns and labels; or sick"]


def test_no_task_with_other_labels_columns_or_range_answers() -> None:
    gender, broken = (
        guessed(id, {split: 3}, labels=["entailment", "unknown"]) for id, split in (("g", "dev"), ("b", "train"))
    )
    broken.problem = "no column looks like a text"
    inside, outside = (guessed(id, {"test": 3}, "number", range=[low, 5]) for id, low in (("i", 1), ("o", -1)))
    sts = guessed("sts", {"train": 9}, "number", range=[0, 5])
    choose_answering_tasks([guessed("nli", {"train": 9}, labels=NLI), broken, gender, sts, inside, outside])
    assert inside.keys["answered_by"] == "sts" and "range" not in inside.keys
    assert all(str(task.problem).startswith("no train file") for task in (gender, outside))
