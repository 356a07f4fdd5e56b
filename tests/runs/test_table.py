"""Tables of runs, whole, beside their golden files."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from alpha_suite import write_alpha_suite
from golden import check_golden
from kinds_suite import write_kinds_suite
from run_folders import summary_of

from mtl.jobs.job import load_job, parse_settings
from mtl.runs.table import render
from mtl.tasks.task import Task


def seeds(tasks: Sequence[Task], *scores: float) -> dict[int, dict[str, Any]]:
    """What the seeds' scores.json say: the same score in every task."""
    facts = {"cost": {}, "versions": {}, "machine": "CPU", "same_answer": []}
    return {seed: {"scores": {task.id: score for task in tasks}, **facts} for seed, score in enumerate(scores, start=1)}


def klej(ids: list[str] | None = None, settings: Sequence[str] = ("embeddings=fasttext",), **rows: Any) -> str:
    """The table of a run of three seeds. rows: by task id, other numbers of rows than the published ones."""
    job = load_job({"suite": "klej", **parse_settings(settings)})
    tasks = job.suite.choose(ids)
    return render(summary_of(job, seeds(tasks, 60.0, 50.0, 70.0), tasks, rows), job.suite)


def superlim(method: str, *ids: str, **rows: Any) -> str:
    """The table of a run of one seed on the official data of these tasks, or of all that the method answers."""
    job = load_job({"suite": "superlim", "method": method, "data_dir": "/nowhere", "tasks": list(ids) or None})
    return render(summary_of(job, seeds(job.run_tasks, 60.0), job.run_tasks, rows), job.suite)


TABLES: dict[str, Callable[[], str]] = {
    "lstm": klej,
    "random-floor": lambda: klej(settings=["method=random"]),  # beside the published guess
    "svm": lambda: klej(settings=["method=svm"]),
    "partial": lambda: klej(["cbd", "ar"]),
    "reduced": lambda: klej(ar={"train": 702, "dev": 150, "test": 150}),
    "without-average": lambda: superlim("random", "supersim-superlim-similarity"),
    "constant-words": lambda: superlim("constant", "sweanalogy"),
    "two-splits": lambda: superlim("svm"),  # each difference is to a published row on the same split
    "one-split": lambda: superlim("svm", "absabank-imm"),
    # Tasks beside the average do not mark it; one is reduced with the task whose head answers it.
    "diagnostics": lambda: superlim("svm", swediagnostics={"dev": 340, "test": 764}),
    "answered": lambda: superlim("constant", "swenli", "swediagnostics", swenli={"train": 15_001, "dev": 9815, "test": 305}),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_stands_beside_the_published_rows(name: str) -> None:
    check_golden(f"table-{name}.md", TABLES[name]())


def test_the_scale_of_the_suite_further_metrics_and_the_splits(tmp_path: Path) -> None:
    job = load_job({"suite": str(write_alpha_suite(tmp_path)), "method": "svm"})
    tasks = job.suite.choose(None)
    tasks[0].title = "A|<R>"
    done = seeds(tasks, 28.64, -4.16, 30.0)
    for number, content in done.items():
        also = {task.id: dict.fromkeys(task.also or (), 10.0 * number) for task in tasks}
        content["same_answer"] = ["stance"] if number == 2 else []
        # The first seed of rating lacks further metrics, as if trained before the task had them.
        content["also"] = also if number > 1 else {**also, "rating": {}}
    constants = dict.fromkeys(job.suite.tasks, 28.64)
    check_golden("table-alpha.md", render(summary_of(job, done, tasks, constants=constants), job.suite))
    job = load_job({"suite": str(write_kinds_suite(tmp_path)), "method": "svm"})
    tasks = job.suite.choose(["opposite"])
    held_out = {**summary_of(job, seeds(tasks, 60.0), tasks), "held_out": {"opposite": 9}}
    assert "training file: 9 of opposite (held_out.json).\n" in render(held_out, job.suite)
    for ids, splits in (([*job.suite.tasks], "dev, test"), (["opposite"], "test"), (["stars"], "dev")):
        tasks = job.suite.choose(ids)
        assert f"Scores × 100 on {splits}: seed 1;" in render(summary_of(job, seeds(tasks, 60.0), tasks), job.suite)
