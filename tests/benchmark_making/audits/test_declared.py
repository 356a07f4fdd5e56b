"""What the audit says of suites that were written by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from audit_parts import LABELS, part
from data_files import sentences, write_table

from mtl.benchmark_making.audits.declared import column_findings, label_findings
from mtl.benchmark_making.audits.findings import Part
from mtl.data.splits import read_split
from mtl.tasks.task import Layout, Task

SETS = Task("t", kind="multi_label", text=["text"], target="label", labels=["joy", "Joy", "-"], metric="micro_f1")
ROWS = 40
TEXTS = sentences(ROWS)
MOODS = ["glad", "arg", "glad", "glad", "arg"] * 8
COLUMNS = {"text": TEXTS, "label": MOODS, "name": [f"{mood}!" for mood in MOODS], "tone": ["a", "b", "b", "c"] * 10}


def read(task: Task, columns: dict[str, list[str]], folder: Path) -> Part:
    path = write_table(folder / "train.tsv", list(columns), list(zip(*columns.values(), strict=True)))
    return Part(task, "train", "train.tsv", read_split(task, path, "train", Layout()))


@pytest.mark.parametrize(
    ("task", "targets", "said"),
    [
        (
            replace(LABELS, labels=["glad", "Glad", "arg"]),
            [0.0, 1.0, 2.0],
            ['"glad" (2 rows), "Glad" (2 rows): one label'],
        ),
        (replace(LABELS, labels=["glad", "?"]), [0.0, 1.0, 1.0], ['"?" (4 rows) may stand for no label']),
        (SETS, ["joy", "joy;Joy", "-"], ['"joy" (4 rows), "Joy" (2 rows): one label', '"-" (2 rows) may stand']),
        (LABELS, [0.0, 1.0, 1.0], []),
    ],
)
def test_spellings_and_placeholders(task: Task, targets: list[Any], said: list[str]) -> None:
    parts = {split: part("a", "b", "c", targets=targets, task=task, split=split) for split in ("train", "dev")}
    found = label_findings({**parts, "test": part("d", task=task, split="test")})
    assert [finding.kind for finding in found] == ["label names"] * len(said)
    assert all(finding.what.startswith(words) for finding, words in zip(found, said, strict=True))


def test_labels_of_one_split_alone() -> None:
    task = replace(LABELS, labels=["glad", "arg", "Arg!"])
    parts = {
        "train": part("a", "b", targets=[0.0, 1.0], task=task),
        "dev": part("c", targets=[2.0], task=task, split="dev"),
    }
    (finding,) = label_findings(parts)
    assert 'no training row has "Arg!", which 1 row of dev have' in finding.what
    assert (
        label_findings(
            {"train": part("a", targets=[3.5], task=replace(LABELS, kind="number", labels=None, range=[0, 5]))}
        )
        == []
    )


@pytest.mark.parametrize(("key", "role"), [("text", "an input"), ("group", "the group")])
def test_a_column_that_follows_from_the_target(key: str, role: str, tmp_path: Path) -> None:
    task = replace(LABELS, **{key: ["text", "name"] if key == "text" else "name"})
    (finding,), notes = column_findings(read(task, COLUMNS, tmp_path), tmp_path)
    assert finding.kind == "dependent" and f'column "name", {role}, follows from the target' in finding.what
    assert notes == ['kansla: "tone" (3 values) could be the target, too; the task reads "label".']


def test_columns_of_a_task_without_findings(tmp_path: Path) -> None:
    columns = {"text": TEXTS, "label": MOODS, "source": ["a", "b"] * 20}
    assert column_findings(read(LABELS, columns, tmp_path), tmp_path) == ([], [])
    flags = {"text": TEXTS, "glad": ["0", "1"] * 20, "arg": ["1", "1", "0", "0"] * 10}
    task = replace(SETS, target="glad + arg", labels=["glad", "arg"])
    assert column_findings(read(task, flags, tmp_path), tmp_path) == ([], [])
    assert column_findings(part("a", "b"), tmp_path) == ([], [])
