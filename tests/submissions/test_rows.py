import json
import logging
from pathlib import Path
from typing import Any

import pytest
from data_files import read_json, write_lines
from rows_suite import GRAD_DEV, PAR_TEST, TEMPLATE, VAL_TEST, read, run, write_rows_suite

from mtl.api.cli import main
from mtl.submissions.entry import unfilled
from mtl.submissions.row_files import RowFile, prediction_values
from mtl.tasks.task import Task


def baseline(suite: Path, method: str) -> int:
    """The exit status of a run of one seed, in the folder of the suite's file."""
    folders = [f"{name}_dir={suite.parent / name}" for name in ("data", "run", "cache")]
    return main(["baseline", f"suite={suite}", f"method={method}", "seeds=[1]", *folders])


def entry_of(suite: Path) -> dict[str, Any]:
    (file,) = (suite.parent / "run/seed-1/submission").glob("*.json")
    return read_json(file)


def test_a_submission_is_the_data_s_rows_with_predictions_and_an_entry(made: Path) -> None:
    data, submission = made / "data", made / "run/seed-1/submission"
    files = sorted(path.relative_to(submission).as_posix() for path in submission.rglob("*.json*"))
    rows_files = ["grad/dev.jsonl", "grad/test.jsonl", "par/dev.jsonl", "par/test.jsonl", "val/test.jsonl"]
    assert files == ["Majority or mean.json", *rows_files]
    mean = str(sum(i % 5 for i in range(12)) / 12)
    predicted = {"grad": mean, "val": "0", "par": '"ja"'}
    for file in rows_files:
        rows = [row.rstrip().removesuffix("}").rstrip() for row in read(data / file)]
        prediction = predicted[file.split("/")[0]]
        assert read(submission / file) == [f'{row}, "prediction": {prediction}}}' for row in rows]
    assert read(submission / "grad/dev.jsonl")[1] == f'{GRAD_DEV[1][:-1]}, "prediction": {mean}}}'
    entry = entry_of(made / "rader.yaml")
    dev = entry["tasks"]["grad"].pop("dev")
    # A mean of 1.75 for 3, 2, 1, 0.5: 1 - mean squared error / (2 * variance of the eight pooled values with n - 1).
    pooled = [3.0, 2.0, 1.0, 0.5, *[21 / 12] * 4]
    mean = sum(pooled) / 8
    error = sum((21 / 12 - gold) ** 2 for gold in pooled[:4]) / 4
    alpha = 1 - error / (2 * sum((value - mean) ** 2 for value in pooled) / 7)
    assert dev["N"] == 4 and dev["alpha"] == pytest.approx(alpha)
    expected = json.loads(json.dumps(TEMPLATE))
    del expected["tasks"]["grad"]["dev"]
    expected["model"] |= {"name": "Majority or mean", "size": entry["model"]["size"]}
    assert entry == {**expected, "left_out": ["borta"]} and isinstance(entry["model"]["size"], int)


def test_the_run_says_what_keeps_its_files_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="mtl")
    submission = run(tmp_path, "submission.name=KB/min modell", "tasks=[grad,par]")
    lines = [line for line in caplog.messages if line.startswith("submission: ")]
    assert lines == [
        "submission: rows without labels: grad test, par test",
        "submission: not the official numbers of rows: par test (4 of 6 rows)",
        "submission: no official splits, but parts of others: par dev (2 rows)",
        "submission: the leaderboard takes official rows only: before submitting, put the official files in place of those in"
        f" {tmp_path / 'data'}, with mtl rejoin",
        "submission: tasks that are left out, as KB-min modell.json says under left_out: val, borta",
        "submission: KB-min modell.json: still to be filled in by you: link, model.data, tasks.grad.test, tasks.val, tasks.par,"
        " tasks.borta",
    ]
    entry = read_json(submission / "KB-min modell.json")
    assert entry["model"]["name"] == "KB/min modell" and entry["left_out"] == ["val", "borta"]
    assert not (submission / "val").exists() and not (tmp_path / "run/seed-1/submission.zip").exists()


def test_without_a_template_the_entry_has_what_is_known(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="mtl")
    suite = write_rows_suite(tmp_path)
    (tmp_path / "data/leaderboard/empty.json").unlink()
    assert baseline(suite, "constant") == 0
    entry = entry_of(suite)
    assert set(entry) == {"tasks", "model"} and entry["tasks"].keys() == {"grad"}
    assert entry["tasks"]["grad"]["dev"].keys() == {"N", "alpha"}
    assert any("empty.json: no such file" in line for line in caplog.messages)


def test_without_a_template_a_measure_s_substitute_stands_only_for_the_task_s_own_metric(tmp_path: Path) -> None:
    suite = write_rows_suite(tmp_path)
    (tmp_path / "data/leaderboard/empty.json").unlink()
    text = suite.read_text(encoding="utf-8").replace("measures: {", "measures: {pseudo: [pseudo_alpha, accuracy], ")
    text = text.replace("metric: accuracy\n    also: [macro_f1]", "metric: alpha_nominal\n    also: [accuracy]")
    suite.write_text(text, encoding="utf-8")
    write_lines(tmp_path / "data/val/test.jsonl", VAL_TEST)
    write_lines(tmp_path / "data/par/test.jsonl", PAR_TEST)
    assert baseline(suite, "majority") == 0
    tasks = entry_of(suite)["tasks"]
    assert tasks["val"]["test"].keys() == {"N", "pseudo", "accuracy"}
    assert tasks["par"]["test"].keys() == {"N", "alpha", "accuracy"}


def test_a_row_that_has_a_prediction_already_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = write_rows_suite(tmp_path)
    file = tmp_path / "data/par/test.jsonl"
    write_lines(file, [line[:-1] + ', "prediction": 1}' for line in read(file)])
    assert baseline(suite, "majority") == 2
    assert capsys.readouterr().err.endswith(f"{file}:1: has a key 'prediction' already; take it out of the data\n")
    assert not list(tmp_path.glob("run/seed-1/submission/**/*"))


@pytest.mark.parametrize(("known", "values"), [('"1"', ["0", "1"]), ("1", ["0", 1]), ("-1", ["0", "1"])])
def test_labels_have_the_type_that_the_data_has(known: str, values: list[object]) -> None:
    task = Task(id="t", kind="labels", text=["x"], target="y", labels=["0", "1"], metric="accuracy")
    file = RowFile(task, "dev", "f", [f'{{"x": "a", "y": {known}}}', '{"x": "b", "y": null}'])
    assert prediction_values(task, [0.0, 1.0], [file]) == values
    assert not file.is_labelled


def test_unfilled_names_the_outer_key_where_all_is_null() -> None:
    entry = {"a": None, "b": {"c": None, "d": {"e": None}}, "f": {"g": 0, "h": {"i": None}}}
    assert list(unfilled(entry)) == ["a", "b", "f.h"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("format: rows", "format: tar", "submission.format: 'tar' must be zip or rows"),
        ("leaderboard/empty.json", "../empty.json", "submission.template: '../empty.json' must be a path below"),
        ("model.size: parameters", "model.size: weight", "submission.fill.model.size: 'weight' must be one of name"),
        ("model.size: parameters", "tasks.grad: parameters", "submission.fill.tasks.grad: mtl fills tasks"),
        ("[accuracy]}", "[accurate]}", "submission.measures.accuracy: 'accurate' must be rows or a metric"),
        ("alpha: [alpha_nominal, alpha_interval]", "alpha: []", "submission.measures.alpha: names no metric"),
        ("  ids:", "  template_source: {url: ftp://x}\n  ids:", "submission.template_source.url: 'ftp://x' must begin"),
        ("dev: dev.jsonl, ", "dev: dev.tsv, ", "submission.format: rows are written from .jsonl files, and grad has"),
    ],
)
def test_wrong_declarations(
    old: str, new: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = write_rows_suite(tmp_path)
    suite.write_text(suite.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    assert main(["check-submission", str(tmp_path), f"suite={suite}", f"data_dir={tmp_path / 'data'}"]) == 2
    assert capsys.readouterr().err.startswith(f"mtl: error: suite rader: {problem}")


@pytest.mark.parametrize(
    "content", ["[]", '{"tasks": {"grad": null}}', "{", '{"left_out": 1}', '{"tasks": {"grad": {"dev": 5}}}', "[" * 999]
)
def test_a_template_of_another_form(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = write_rows_suite(tmp_path)
    template = tmp_path / "data/leaderboard/empty.json"
    template.write_text(content, encoding="utf-8")
    assert baseline(suite, "majority") == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"mtl: error: {template}: ")
