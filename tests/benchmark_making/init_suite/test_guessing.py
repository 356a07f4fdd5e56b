"""The splits of tasks, and tasks that another one answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from data_files import sentences, write_table
from init_forms import Columns, Form, check_forms

from mtl.benchmark_making.init_suite.finding import find_tasks
from mtl.benchmark_making.init_suite.guessing import guess_task

TEXTS = {"text": sentences(12)}
BOTH = {**TEXTS, "label": ["glad", "sad"] * 6}
NESTED = {**BOTH, "meta": [{"year": 1999}] * 12}  # written as .jsonl, in which a cell may be null
LACKING = {**NESTED, "label": ["glad", None, *BOTH["label"][2:]]}
MOODS = {**NESTED, "glad": [0, 1, 1] * 4, "sad": [1, 0, 1] * 4}
PAIRS = {"premise": sentences(18), "hypothesis": sentences(18, "another")}
ROWS = [list(row) for row in zip(*BOTH.values(), strict=True)]


def of_json(**content: Any) -> Form:
    return Form(write=lambda folder: (folder / "all.json").write_text(json.dumps(content)))


def tables(separator: str = "\t", **files: Columns) -> Callable[[Path], Any]:
    """Writes tables by name; a folder's name stands before `__`."""

    def write(folder: Path) -> None:
        for name, columns in files.items():
            path = folder / f"{name.replace('__', '/')}.tsv"
            write_table(path, list(columns), zip(*columns.values(), strict=True), separator)

    return write


def labelled(labels: str, **columns: list[Any]) -> Columns:
    return {**PAIRS, **columns, "label": list(labels * (18 // len(labels)))}


SPLITS = {
    "test without labels": Form(BOTH, BOTH, TEXTS),
    "test with labels, as answered": Form(BOTH, BOTH, BOTH, known={"scored": "test"}),
    "test with labels and held-out rows, as answered": Form(BOTH, None, BOTH, known={"scored": "dev"}),
    "a test file that lacks a label": Form(NESTED, None, LACKING),
    "a test file that lacks a label, as answered": Form(NESTED, None, LACKING, known={"files": {"test": "test.jsonl"}}),
    "a test file that lacks one of several labels": Form(MOODS, None, {**MOODS, "sad": [1, None, 1] * 4}, known={"target": "glad + sad"}),
    "a test file that lacks a label and the text": Form(NESTED, None, {"meta": [{}] * 12, "label": LACKING["label"]}, known={"text": "text"}),
    "a test file alone, without labels, as answered": Form(test={**TEXTS, "label": ["-1"] * 12}, known={"target": "label"}),
    "no name for the test file, as answered": Form(BOTH, BOTH, BOTH, known={"files": {"test": ""}}),
    "no group and no places, as answered": Form(BOTH, known={"group": None, "starts": None}),
    "a file in a folder that is not there": Form(BOTH, known={"files": {"dev": "none/dev.tsv"}}),
    "a dev file that lacks a label": Form(BOTH, {**BOTH, "label": ["glad", "", *BOTH["label"][2:]]}),
    "a test file without rows": Form(BOTH, BOTH, write=tables(test={"text": [], "label": []})),
    "texts that may be none": Form({**BOTH, "text": ["nan", "NaN", *sentences(10)]}, {**BOTH, "text": ["", *sentences(11)]}),
    "tasks on several splits, and one that is left out": Form(write=tables(
        **{"all__train": BOTH, "all__dev": BOTH, "all__test": BOTH, "no_dev__train": BOTH, "no_dev__test": BOTH},
        **{"on_train__train": BOTH, "broken__train": TEXTS},
    )),
    "a dev file without the text": Form(BOTH, {"label": BOTH["label"]}),
    "a dev file without labels": Form(BOTH, TEXTS),
    "no text": Form({"label": BOTH["label"]}),
    "a dev file in no encoding": Form(BOTH, write=lambda folder: (folder / "dev.tsv").write_bytes(b"text\tlabel\n\x81\xff\x01\tglad\n")),
    "a reference of OmegaConf": Form({**TEXTS, "label": ["${oc.env:HOME}", "sad"] * 6}),
    "folders that a suite file cannot name": Form(write=tables(**{"C:__train": BOTH, "${oc.env:HOME}__train": BOTH})),
    "a test file that is read in another way": Form(BOTH, BOTH, write=tables(";", test=BOTH)),
    "one that is left out": Form(BOTH, BOTH, write=tables(";", test=BOTH), known={"files": {"test": None}}),
    "a header that is given": Form(BOTH, known={"header": ["sentence", "tone"]}),
    "a header that is there": Form(BOTH, known={"header": True}),
    "splits as keys": of_json(train=ROWS, val=ROWS, oos=ROWS, info="x"),
    "two keys of one split": of_json(oos_train=ROWS, train=ROWS),
    "keys of rows": of_json(**{f"train{i}": {"text": f"a text {i}", "label": "xyz"[i % 3]} for i in range(30)}),
    "splits in a column": Form(write=tables(all={**BOTH, "split": ["train", "train", "dev", "validation"] * 3}, other={"n": [1]})),
    "files that name no split": Form(write=tables(x_en=BOTH, x_de=BOTH, fold0=BOTH, fold1=BOTH)),
    "too many files that name no split": Form(write=tables(**{f"{number}-words": TEXTS for number in range(30)})),
    "tasks that answer others": Form(write=tables(
        **{"sick__train": labelled("cen"), "nli__train": labelled("cen"), "gender__dev": labelled("en"), "other__dev": labelled("ex")},
        **{"pairs__train": {"a": PAIRS["premise"], "b": PAIRS["hypothesis"], "label": list("cen" * 6)}},
    )),
    "numbers that answer others": Form(write=tables(
        sts__train={**PAIRS, "score": [i / 4 for i in range(18)]},
        within__test={**PAIRS, "score": [1 + i / 9 for i in range(18)]},
        beyond__test={**PAIRS, "score": [i - 1.5 for i in range(18)]},
    )),
}  # fmt: skip


def test_splits(tmp_path: Path) -> None:
    check_forms("splits", SPLITS, tmp_path)


def test_a_positive_label_may_be_any_known_label(tmp_path: Path) -> None:
    Form(BOTH).write_to(tmp_path / "data")
    (task,) = find_tasks(tmp_path / "data").tasks
    known = {"labels": ["glad", "sad", "so-so"], "positive": "bad"}
    assert guess_task(task, tmp_path / "data", known).problem == 'positive: must be one of "glad", "sad", "so-so"'
