"""Tasks that a run leaves out: those that its method cannot answer, and those without any file."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from data_files import read_json
from input_errors import refused
from kinds_suite import write_kinds_suite

from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import Job, load_job


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The suite of all target kinds. "opposite" has single words, and the average has three of the five tasks."""
    path = write_kinds_suite(tmp_path)
    text = path.read_text(encoding="utf-8").replace("    kind: word\n", "    kind: word\n    level: word\n")
    path.write_text(f"average: [mood, stars, answer]\n{text}", encoding="utf-8")
    return path


def job(suite: Path, method: str = "svm", **settings: Any) -> Job:
    folders = {f"{name}_dir": str(suite.parent / name) for name in ("data", "runs", "cache")}
    return load_job({"suite": str(suite), "method": method, **folders, "seeds": [1], **settings})


def ids(job: Job) -> list[str]:
    return [task.id for task in job.run_tasks]


def test_methods_answer_what_they_can(suite: Path) -> None:
    every = ["mood", "stars", "answer", "opposite", "mood-elsewhere"]
    assert ids(job(suite, "constant")) == ids(job(suite, "random")) == every
    for method in ("lstm", "svm", "tree", "forest", "overlap"):
        made = job(suite, method)
        assert ids(made) == [id for id in every if id != "opposite"] and made.unanswered == ["opposite"]
        assert [task.id for task in made.tasks] == every  # what `mtl data` and `mtl audit` are about
    # A task is left out with the task that answers it.
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("  mood:  ", "  mood:\n    level: word  "), encoding="utf-8")
    assert ids(job(suite)) == ["stars", "answer"]


def test_tasks_that_are_named_must_be_answered(suite: Path) -> None:
    refused(lambda: job(suite, tasks=["mood", "opposite"]).run_tasks, key="tasks")
    assert ids(job(suite, tasks=["mood"])) == ["mood"]
    text = suite.read_text(encoding="utf-8").replace("target: label\n", "target: label\n    level: word\n")
    suite.write_text(text.replace("target: stars\n", "target: stars\n    level: word\n"), encoding="utf-8")
    refused(lambda: job(suite).run_tasks, key="method")


def test_a_run_says_what_it_leaves_out(suite: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = job(suite)
    with caplog.at_level(logging.INFO, logger="mtl"):
        summary = run_baseline(made)
    lines = [line for line in caplog.messages if "left out" in line]
    assert lines == ["unsupported by method svm, and left out: opposite"]
    assert (summary["missing"], summary["unanswered"], summary["partial"]) == (["opposite"], ["opposite"], False)
    tasks = summary["tasks"]
    mean = sum(tasks[id]["median"] for id in ("mood", "stars", "answer")) / 3
    assert summary["average"] == pytest.approx(mean)
    assert read_json(made.folder.scores(1))["average"] == pytest.approx(mean)
    table = made.folder.table.read_text(encoding="utf-8")
    assert "AVG is the mean over mood, stars, answer." in table
    assert "Not supported by this method: opposite." in table and "partial" not in table

    run_baseline(job(suite, "constant"))
    assert main(["report", str(suite.parent / "runs"), "--out", str(suite.parent / "report")]) == 0
    report = (suite.parent / "report/report.md").read_text(encoding="utf-8")
    assert "AVG is the mean over mood, stars, answer." in report
    assert "Unsupported tasks of a method: svm: opposite." in report and "partial" not in report


def test_an_average_is_partial_without_one_of_its_tasks_and_another_is_another_run(suite: Path) -> None:
    some = run_baseline(job(suite, "constant", tasks=["mood", "stars", "opposite"], run_dir=str(suite.parent / "some")))
    assert (some["partial"], some["missing"], some["unanswered"]) == (True, ["answer", "mood-elsewhere"], [])
    table = (suite.parent / "some/table.md").read_text(encoding="utf-8")
    assert "AVG is partial: 2 of 3 tasks, without answer." in table and "Not in this run: mood-elsewhere." in table
    # Another average is another run.
    run_baseline(job(suite, "constant"))
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace("average: [mood, stars, answer]", "average: [mood]"), encoding="utf-8")
    refused(lambda: run_baseline(job(suite, "constant")), file="constant")


def test_a_run_without_any_task_of_the_average_has_none(suite: Path) -> None:
    made = job(suite, "constant", tasks=["opposite"], run_dir=str(suite.parent / "runs/words"))
    summary = run_baseline(made)
    assert summary["average"] is None and summary["partial"]
    assert read_json(made.folder.scores(1))["average"] is None
    table = made.folder.table.read_text(encoding="utf-8")
    assert re.search(r"^\| [^|]*Best constant[^|]* \| +– +\|", table, re.MULTILINE)
    assert run_baseline(made) == summary  # a finished run
    assert main(["report", str(suite.parent / "runs"), "--out", str(suite.parent / "report")]) == 0
    lines = (suite.parent / "report/scores.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[6] for line in lines[1:]] == ["opposite"]


def remove(suite: Path, folder: str) -> None:
    for file in (suite.parent / "data" / folder).iterdir():
        file.unlink()


def test_tasks_without_files_are_left_out_if_the_suite_says_so(suite: Path, caplog: pytest.LogCaptureFixture) -> None:
    remove(suite, "mood")
    refused(lambda: run_baseline(job(suite)), file="train.jsonl")
    suite.write_text(f"allow_missing: true\n{suite.read_text(encoding='utf-8')}", encoding="utf-8")
    made = job(suite)
    assert ids(made) == ["stars", "answer"]
    assert made.absent == ["mood", "mood-elsewhere"]  # mood's head would answer the other
    with caplog.at_level(logging.INFO, logger="mtl"):
        summary = run_baseline(made)
    assert f"left out, since {made.data_dir} has none of their files: mood, mood-elsewhere" in caplog.messages
    assert summary["partial"] and summary["missing"] == ["mood", "opposite", "mood-elsewhere"]
    # A task that is named, and a task with some of its files, must be complete.
    named = job(suite, tasks=["mood", "stars"], run_dir=str(suite.parent / "named"))
    refused(run_baseline, named, file="train.jsonl")
    (suite.parent / "data/answer/dev.jsonl").unlink()
    refused(lambda: run_baseline(job(suite, run_dir=str(suite.parent / "incomplete"))), file="dev.jsonl")


def test_no_task_is_left_out_if_none_is_there(suite: Path) -> None:
    suite.write_text(f"allow_missing: true\n{suite.read_text(encoding='utf-8')}", encoding="utf-8")
    made = job(suite, data_dir=str(suite.parent / "nowhere"))
    assert made.absent == [] and len(made.run_tasks) == 4
    refused(lambda: run_baseline(made), key="data_dir")


def test_a_run_is_scored_on_test_where_there_is_no_dev_file(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = suite.read_text(encoding="utf-8")
    own = "    metric: macro_f1\n    scored: dev_or_test\n    rows: {train: 48, test: 12}\n"
    suite.write_text(text.replace("    metric: macro_f1\n", own), encoding="utf-8")
    data = suite.parent / "data/mood"
    with_dev = run_baseline(job(suite, "constant", run_dir=str(suite.parent / "runs/with")))
    assert with_dev["tasks"]["mood"]["split"] == "dev" and with_dev["reduced"] == ["mood", "mood-elsewhere"]
    predictions = suite.parent / "runs/with/seed-1/predictions"
    score = ["score", str(predictions), f"suite={suite}", "tasks=[mood]", "data_dir=/nowhere"]
    assert main([*score, "--gold", str(suite.parent / "data")]) == 0
    assert "| mood | dev | macro_f1 | 24 | 33.3 |" in capsys.readouterr().out
    lines = (data / "dev.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (data / "test.jsonl").write_text("".join(lines[:12]), encoding="utf-8")
    (data / "dev.jsonl").unlink()
    without = run_baseline(job(suite, "constant", run_dir=str(suite.parent / "runs/without")))
    assert without["tasks"]["mood"]["split"] == "test" and without["reduced"] == [] and without["held_out"]["mood"] == 4
    assert main(["report", str(suite.parent / "runs"), "--out", str(suite.parent / "report")]) == 0
