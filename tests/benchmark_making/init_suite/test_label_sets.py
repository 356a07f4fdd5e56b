"""Several labels of a row: which evidence is unique, what is asked, and the task that it makes."""

from pathlib import Path
from typing import Any

import pytest
from data_files import sentences, write_jsonl, write_table

from mtl.benchmark_making.init_suite.guessing import guess_task
from mtl.benchmark_making.init_suite.names import find_tasks
from mtl.benchmark_making.init_suite.reading import Guess
from mtl.tasks.suite import suite_from

ROWS = 40
TEXTS = sentences(ROWS)
SETS = [["joy"], ["anger", "joy"], [], ["anger"]] * (ROWS // 4)
TOXIC = {"toxic": [0, 1] * 20, "threat": [0, 0, 0, 1] * 10, "insult": [1, 0, 0, 0, 1] * 8}
STARS = [1, 2, 3, 4, 1] * 8

Columns = dict[str, list[Any]]


def guess(folder: Path, columns: Columns, known: dict[str, Any] | None = None, **others: Columns) -> Guess:
    """The guess of a task with these columns in each split; those with lists make JSON Lines."""
    for split, of_split in {"train": columns, "dev": columns, **others}.items():
        of_split = {"text": [f"{split} {text}" for text in TEXTS], **of_split}
        rows = list(zip(*of_split.values(), strict=True))
        if any(isinstance(value, list) for value in rows[1]):
            write_jsonl(folder / "d" / f"{split}.jsonl", [dict(zip(of_split, row, strict=True)) for row in rows])
        else:
            write_table(folder / "d" / f"{split}.tsv", list(of_split), [list(map(str, row)) for row in rows])
    (files,) = find_tasks(folder).tasks
    return guess_task(files, folder, known)


def cells(separator: str) -> Columns:
    return {"emotions": [separator.join(labels) for labels in SETS]}


@pytest.mark.parametrize(
    ("columns", "target", "labels", "separator"),
    [
        ({"emotions": SETS}, "emotions[]", ["anger", "joy"], None),
        ({"emotions": SETS, "source": ["a", "b"] * 20}, "emotions[]", ["anger", "joy"], None),
        ({"labels": SETS, "stars": STARS}, "labels[]", ["anger", "joy"], None),
        ({"labels": [[10], [2, 10], [], [2]] * 10}, "labels[]", ["2", "10"], None),
        ({"labels": [["a;b"], ["c", "a;b"], [], ["c"]] * 10}, "labels[]", ["a;b", "c"], "|"),
        (cells(","), "emotions", ["anger", "joy"], ","),
        (cells(";"), "emotions", ["anger", "joy"], None),
        ({"a": ["joy", "joy", "", "rage"] * 10, "b": ["", "rage", "", "joy"] * 10}, "a + b", ["joy", "rage"], None),
    ],
)  # fmt: skip
def test_unique_evidence(
    columns: Columns, target: str, labels: list[str], separator: str | None, tmp_path: Path
) -> None:
    found = guess(tmp_path, columns)
    assert (found.problem, found.questions, found.kind) == (None, [], "multi_label")
    keys = {"kind": "multi_label", "metric": "micro_f1", "text": ["text"]}
    keys |= {"label_separator": separator} if separator else {}
    assert found.keys == {**keys, "target": target, "labels": labels}
    suite_from({"name": "s", "tasks": {"d": found.keys}}, tmp_path / "s.yaml")


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (TOXIC, ["kind: ", "(kind: multi_label)", "(target: NAME)"]),
        ({**TOXIC, "stars": STARS}, ["target: ", "(target: toxic + threat + insult, kind: multi_label)", '"stars"']),
        ({"emotions": SETS, "stars": STARS}, ["target: ", "emotions[]", '"stars"']),
        ({**cells(";"), "stars": STARS}, ["target: ", '"emotions"', '"stars"']),
        (cells(" "), ["kind: ", 'label_separator: " "', "labels of several words"]),
        ({"a": [0, 1, 0] * 13 + [0], "b": [1, 0, 0] * 13 + [1], "c": [0, 0, 1] * 13 + [0]}, ["kind: ", "exactly one"]),
        ({"vote1": TOXIC["toxic"], "vote2": TOXIC["threat"], "vote3": TOXIC["insult"]}, ["kind: ", "several people"]),
        ({"emotions": [["joy"], ["anger", "joy"], [], ["anger", "Joy"]] * 10}, ["one label in several spellings"]),
    ],
)  # fmt: skip
def test_what_is_asked(columns: Columns, named: list[str], tmp_path: Path) -> None:
    (question,) = guess(tmp_path, columns).questions
    assert all(words in question for words in named)


@pytest.mark.parametrize(
    ("columns", "known", "keys"),
    [
        ({**TOXIC, "stars": STARS}, {"target": "stars"}, {"target": "stars", "kind": None}),
        ({**TOXIC, "stars": STARS}, {"target": "toxic + threat"}, {"labels": ["toxic", "threat"], "kind": "multi_label"}),
        ({"emotions": SETS, "stars": STARS}, {"target": "emotions[]"}, {"labels": ["anger", "joy"]}),
        (cells(" "), {"kind": "labels"}, {"labels": ["anger", "anger joy", "joy"], "kind": "labels"}),
        (cells(" "), {"kind": "multi_label"}, {"labels": ["anger", "joy"], "label_separator": " "}),
        ({"x": ["a/b", "b", "a", "c"] * 10}, {"target": "x", "label_separator": "/"}, {"labels": ["a", "b", "c"]}),
    ],
)  # fmt: skip
def test_what_is_answered(columns: Columns, known: dict[str, Any], keys: dict[str, Any], tmp_path: Path) -> None:
    if known.get("kind") == "labels":
        columns = {"emotions": [value or "none" for value in columns["emotions"]]}
        keys = {**keys, "labels": [*keys["labels"], "none"]}
    found = guess(tmp_path, columns, known)
    assert found.problem is None and {key: found.keys.get(key) for key in keys} == keys
    assert not [question for question in found.questions if question.startswith(("target:", "kind:"))]


@pytest.mark.parametrize(
    "columns",
    [
        {"tokens": [text.split() for text in TEXTS], "marks": [["O"] * len(text.split()) for text in TEXTS]},
        {"answers": [["yes", "no"], ["no"], ["yes"], ["yes", "no"]] * 10, "stance": ["a", "b"] * 20},
        {"votes": [["yes", "yes", "no"], ["no", "no"]] * 20, "stance": ["a", "b"] * 20},
        {"stance": ["New York, USA", "Paris, France", "Rome, Italy", "Bonn, Germany"] * 10},
    ],
)
def test_lists_and_cells_that_are_no_sets_of_labels(columns: Columns, tmp_path: Path) -> None:
    found = guess(tmp_path, columns)
    assert found.kind != "multi_label" and "multi_label" not in str(found.questions)


def test_a_test_file_without_labels_and_one_with_placeholders(tmp_path: Path) -> None:
    found = guess(tmp_path, TOXIC, test={name: [-1] * ROWS for name in TOXIC})
    assert found.keys["labels"] == list(TOXIC) and "scored" not in found.keys and not found.notes
    known = {"kind": "multi_label"}
    found = guess(tmp_path / "zero", TOXIC, known, test={name: [0] * ROWS for name in TOXIC})
    assert found.questions == [] and not found.notes
