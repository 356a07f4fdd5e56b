from dataclasses import replace
from pathlib import Path

import pytest

from mtl.data.hashes import task_fingerprint
from mtl.tasks.sources import HubSource, Source
from mtl.tasks.suite import load_suite
from mtl.tasks.task import Task

PAIR = Task("t", kind="labels", text=["a", "b"], target="y", labels=["0", "1"], metric="accuracy", folder="f")


@pytest.mark.parametrize(
    "change",
    [
        *({"text": ["x"]}, {"target": "x"}, {"labels": ["arg", "glad"]}, {"labels": None, "range": [0.0, 1.0]}),
        *({"metric": "macro_f1"}, {"positive": "glad"}, {"group": "x"}, {"same_source": "glad"}, {"scored": "test"}),
        *({"chance": "1/5"}, {"candidates": ["x[]"]}, {"answered_by": "samma"}, {"columns": ["x"]}, {"spans": {"text": ["x"]}}),
        {"files": {"train": "dev.tsv", "dev": "train.tsv", "test": "test.tsv"}},
        {"files": {"train": "train.tsv", "dev": None, "test": "test.tsv"}},
    ],
)  # fmt: skip
def test_a_fingerprint_follows_what_scores_depend_on(suite_file: Path, change: dict[str, object]) -> None:
    task = load_suite(suite_file).tasks["kansla"]
    before = task_fingerprint(task)
    task.title, task.rows, task.source = "Other", {"train": 7}, Source("https://example.org/a.zip")
    task.hub = HubSource("a/b")
    task.also, task.breakdown = ["macro_f1"], ["x"]
    task.level, task.checksums = "word", {"train": "git:" + 40 * "0"}
    assert task_fingerprint(task) == before
    assert task_fingerprint(replace(task, **change)) != before  # type: ignore[arg-type]


def test_new_fields_of_tasks_leave_fingerprints() -> None:
    """SHA-256 of the fields that have a value, in the order of their names: runs of older versions recorded it."""
    assert task_fingerprint(PAIR) == "7ed236644ac10cf7b9cd1e576fb3aada8b3588b0c3b2f8671ee75ea2d5fb25db"
