from pathlib import Path

import pytest
from data_files import sentences, write_jsonl, write_table

from mtl.benchmark_making.init_suite.files import find_tasks
from mtl.benchmark_making.init_suite.guessing import Guess, guess_task

TEXTS = sentences(12)
LABELS = ["glad", "sad"] * 6


def guess(folder: Path) -> Guess:
    (found,) = find_tasks(folder).tasks
    return guess_task(found, folder)


def write_split(folder: Path, split: str, header: str = "text label", labels: list[str] = LABELS) -> None:
    columns = {"text": TEXTS, "label": labels}
    names = header.split()
    write_table(folder / "mood" / f"{split}.tsv", names, list(zip(*(columns[name] for name in names), strict=True)))


def test_all_three_splits(tmp_path: Path) -> None:
    for split, header in [("train", "text label"), ("dev", "text label"), ("test", "text")]:
        write_split(tmp_path, split, header)
    found = guess(tmp_path)
    assert (found.id, found.folder, found.problem, found.kind) == ("mood", "mood", None, "labels")
    assert found.files == {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"}
    assert found.rows == {"train": 12, "dev": 12, "test": 12}
    assert found.keys == {"target": "label", "labels": ["glad", "sad"], "metric": "accuracy", "text": ["text"]}
    assert "files" not in found.why


def test_without_dev_rows_of_train_are_held_out(tmp_path: Path) -> None:
    write_split(tmp_path, "train")
    write_split(tmp_path, "test", "text")
    found = guess(tmp_path)
    assert found.files["dev"] is None
    assert "scored" not in found.keys
    assert found.why["files"] == "no dev file: rows of train are held out, and scored"


def test_without_dev_a_test_file_with_targets_is_scored(tmp_path: Path) -> None:
    write_split(tmp_path, "train")
    write_split(tmp_path, "test")
    found = guess(tmp_path)
    assert found.keys["scored"] == "test"
    assert found.why["files"] == "no dev file: rows of train are held out"


def test_with_dev_a_test_file_with_targets_is_noted(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        write_split(tmp_path, split)
    found = guess(tmp_path)
    assert "scored" not in found.keys
    assert "scored: test" in found.notes[0]


def test_a_test_file_with_minus_one_has_no_targets(tmp_path: Path) -> None:
    write_split(tmp_path, "train")
    write_split(tmp_path, "test", labels=["-1"] * 12)
    found = guess(tmp_path)
    assert found.keys["labels"] == ["glad", "sad"]
    assert "scored" not in found.keys


def test_train_without_targets_is_a_problem(tmp_path: Path) -> None:
    write_split(tmp_path, "train")
    write_split(tmp_path, "dev", "text")
    assert guess(tmp_path).problem == f'{tmp_path / "mood" / "dev.tsv"}: no targets in column "label"'


def test_a_dev_file_without_the_text_is_not_used(tmp_path: Path) -> None:
    write_split(tmp_path, "train")
    write_split(tmp_path, "dev", "label")
    found = guess(tmp_path)
    assert found.files["dev"] is None
    assert found.rows == {"train": 12}
    assert 'dev.tsv has no column "text"' in found.doubts[0]


def test_a_file_that_cannot_be_read_is_the_task_s_problem(tmp_path: Path) -> None:
    write_split(tmp_path, "train")
    (tmp_path / "mood" / "dev.tsv").write_bytes(b"text\tlabel\n\xff\tglad\n")
    found = guess(tmp_path)
    assert found.problem is not None
    assert "dev.tsv:2: not UTF-8" in found.problem


def test_no_text(tmp_path: Path) -> None:
    write_split(tmp_path, "train", "label")
    assert guess(tmp_path).problem == 'no column looks like a text: train.tsv has "label"'


def test_a_label_that_a_suite_file_cannot_hold_is_a_problem(tmp_path: Path) -> None:
    write_split(tmp_path, "train", labels=["${oc.env:HOME}", "sad"] * 6)
    found = guess(tmp_path)
    assert found.problem is not None
    assert "holds '${'" in found.problem


@pytest.mark.parametrize("folder", ["C:", "${oc.env:HOME}"])
def test_a_folder_that_a_suite_file_cannot_hold_is_a_problem(tmp_path: Path, folder: str) -> None:
    write_split(tmp_path / folder, "train")
    assert guess(tmp_path).problem == f'rename "{folder}/mood": a suite file cannot hold this name'


def test_a_second_file_of_a_split_is_noted(tmp_path: Path) -> None:
    write_split(tmp_path, "train")
    write_split(tmp_path, "dev")
    write_split(tmp_path, "valid")
    assert '"valid.tsv"' in guess(tmp_path).notes[0]


def test_a_choice_of_a_list(tmp_path: Path) -> None:
    rows = [
        {"idx": i, "question": text, "answers": ["yes it is", "no it is not"], "label": i % 2, "meta": {"text": text}}
        for i, text in enumerate(TEXTS)
    ]
    write_jsonl(tmp_path / "faq_train.jsonl", rows)
    write_jsonl(tmp_path / "faq_test.jsonl", [{**row, "label": None} for row in rows])
    found = guess(tmp_path)
    assert found.kind == "choice"
    assert found.keys == {"target": "label", "candidates": ["answers[]"], "metric": "accuracy", "text": ["question"]}


def test_a_choice_without_another_text(tmp_path: Path) -> None:
    rows = zip(sentences(12, "one"), sentences(12, "other"), ["0", "1"] * 6, strict=True)
    write_table(tmp_path / "senses_train.csv", ["option1", "option2", "label"], rows, ",")
    found = guess(tmp_path)
    assert (found.keys["candidates"], found.keys["text"]) == (["option1", "option2"], [])


def test_nested_texts(tmp_path: Path) -> None:
    rows = [
        {"idx": i, "first": {"context": one, "at": {"start": 1}}, "second": {"context": other}, "label": LABELS[i]}
        for i, (one, other) in enumerate(zip(TEXTS, sentences(12, "other"), strict=True))
    ]
    write_jsonl(tmp_path / "wic_train.jsonl", rows)
    assert guess(tmp_path).keys["text"] == ["first.context", "second.context"]
