import logging
import re
from pathlib import Path

import pytest
from alpha_suite import write_alpha_suite
from data_files import read_json
from input_errors import refused
from kinds_suite import write_kinds_suite
from run_folders import gold_of, make_run, right

from mtl.base.files import write_json
from mtl.runs.finished import find_runs


@pytest.mark.slow
def test_finished_runs_by_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("klej/random-frozen", "klej/deep/er", "mine"):
        make_run(tmp_path / name, right(0.5))
    make_run(tmp_path / "klej/unfinished", right(0.5)).summary.unlink()
    with caplog.at_level(logging.WARNING):
        assert [run.name for run in find_runs(tmp_path)] == ["deep/er", "random-frozen", "mine"]
    assert caplog.messages == [f"{tmp_path}/klej/unfinished: not finished, left out"]
    assert [run.name for run in find_runs(tmp_path / "mine")] == ["mine"]


def test_runs_on_two_suites_may_have_one_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_run(tmp_path / "klej/svm", right(0.5), tasks=["cbd"])
    make_run(tmp_path / "klej-sample/svm", right(0.5), ["suite=klej-sample"], tasks=["cbd"])
    found = [(run.suite.name, run.name) for run in find_runs(tmp_path)]
    assert found == [("klej", "svm"), ("klej-sample", "svm")] and caplog.messages == []


def test_a_name_is_valid_unicode_in_one_spelling(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("b\udcff", "caf\u00e9", "cafe\u0301"):
        make_run(tmp_path / "klej/run", right(0.5), tasks=["cbd"]).path.rename(tmp_path / "klej" / name)
    assert [run.name for run in find_runs(tmp_path)] == ["caf\u00e9"]
    assert len(caplog.messages) == 2 and all(message.endswith("is left out") for message in caplog.messages)


def change(file: Path, pattern: str, new: str) -> None:
    """Replaces what matches in a file, once."""
    text, count = re.subn(pattern, new, file.read_text(encoding="utf-8"), count=1, flags=re.DOTALL)
    assert count == 1
    file.write_bytes(text.encode("latin-1"))


@pytest.mark.parametrize(
    ("file", "pattern", "new", "complaint"),
    [
        ("summary.json", ".*", '{"suite": "klej"}', "summary.json: it has no embeddings"),
        ("summary.json", ".*", '{"a": "\xff"}', "summary.json: not JSON"),
        ("summary.json", '"median": 100.0', '"median": "81.2"', "tasks.cbd.median: must be a number"),
        ("suite.yaml", "", None, "suite.yaml: no such file"),
        ("gold/dev_cbd.tsv", "", None, "dev_cbd.tsv: no such file"),
        ("seed-2/predictions/dev_pred_dyk.tsv", ".*", "target\n1\n", "dyk.tsv: 1 predictions for 60 dev rows"),
        ("seed-2/predictions/dev_pred_cbd.tsv", "\n1\n", "\n7\n", "dev_pred_cbd.tsv:3: unknown label '7'"),
        ("scored_rows.json", "14, ", "", "scored_rows.json: dyk: 59 groups for 60 dev rows"),
        ("scored_rows.json", ".*", '{"dyk": {"groups": null}}', "dyk: has no texts"),
        ("scored_rows.json", '"groups"', '"candidates": [2], "groups"', "cbd: not rows as mtl baseline records them"),
        ("summary.json", r'"seeds": \[[^]]*\]', '"seeds": [1, 1]', "seeds: names a seed twice"),
        ("summary.json", r'"seeds": \[[^]]*\]', '"seeds": [1, 4]', "tasks.cbd: its scores are not those of the seeds"),
        ("summary.json", r'"reduced": \[\]', '"reduced": ["ar"]', "reduced: 'ar' is not one of the run's tasks"),
    ],
)
def test_a_damaged_run_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, file: str, pattern: str, new: str | None, complaint: str
) -> None:
    path = make_run(tmp_path / "klej/broken", right(1.0), tasks=["cbd", "dyk"]).path / file
    path.unlink() if new is None else change(path, pattern, new)
    with caplog.at_level(logging.WARNING):
        assert find_runs(tmp_path) == []
    (message,) = caplog.messages
    assert complaint in message
    assert message.endswith(f"; {tmp_path}/klej/broken is left out")


def test_the_same_rows_have_the_same_key(tmp_path: Path) -> None:
    make_run(tmp_path / "a", right(1.0))
    make_run(tmp_path / "b", right(0.3), ["method=svm"])
    make_run(tmp_path / "c", right(1.0), dev="other")
    change(make_run(tmp_path / "d", right(1.0)).gold("dev", "cbd"), "1\n0", "0\n1")
    a, b, c, d = find_runs(tmp_path)
    ar, cbd = a.suite.tasks["ar"], a.suite.tasks["cbd"]
    assert a.rows_key(ar) == b.rows_key(ar) == d.rows_key(ar) != c.rows_key(ar)
    assert a.rows_key(cbd) == b.rows_key(cbd) != d.rows_key(cbd)


def test_recorded_rows(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", right(1.0))
    (run,) = find_runs(tmp_path)
    found = {task.id: run.numbered_groups(task) for task in run.tasks}
    keys = {id: recorded[0] for id, recorded in found.items()}
    groups = {id: recorded[1].tolist() for id, recorded in found.items()}
    assert keys["cdsc-e"] == keys["cdsc-r"] != keys["cbd"] and len(set(keys.values())) == 8
    assert groups["dyk"] == [row // 4 for row in range(60)] and groups["cbd"] == list(range(60))
    # Where all rows are one group, each row is drawn on its own.
    recorded = read_json(folder.scored_rows)
    recorded["dyk"]["groups"] = [0] * 60
    write_json(folder.scored_rows, recorded)
    dyk = run.suite.tasks["dyk"]
    assert find_runs(tmp_path)[0].numbered_groups(dyk)[1].tolist() == list(range(60))
    folder.scored_rows.unlink()
    assert find_runs(tmp_path) == []


def test_columns_of_metrics_must_be_recorded_not_of_breakdowns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = make_run(tmp_path / "runs/a", right(0.5), [f"suite={write_alpha_suite(tmp_path)}"])
    recorded = read_json(folder.scored_rows)
    columns = recorded["entailment"]["columns"]
    del columns["phenomenon"]
    write_json(folder.scored_rows, recorded)
    (run,) = find_runs(tmp_path / "runs")
    assert list(run.rows(run.suite.tasks["entailment"]).columns) == ["triple"]
    del columns["triple"]
    write_json(folder.scored_rows, recorded)
    assert find_runs(tmp_path / "runs") == []
    assert "scored_rows.json: entailment: not rows as mtl baseline records them" in caplog.text


def test_each_task_is_read_on_the_split_that_it_is_scored_on_with_what_metrics_read(tmp_path: Path) -> None:
    settings = [f"suite={write_kinds_suite(tmp_path)}", "method=constant"]
    folder = make_run(tmp_path / "runs/a", right(1.0), settings, seeds=[3, 1])
    recorded = read_json(folder.scored_rows)
    recorded["answer"]["columns"] = {"id": [f"q{row}" for row in range(60)]}
    write_json(folder.scored_rows, recorded)
    (run,) = find_runs(tmp_path / "runs")
    rows = run.rows(run.suite.tasks["answer"])
    assert rows.candidates is not None and rows.candidates.tolist() == [4] * 60 and rows.columns["id"][7] == "q7"
    assert run.rows(run.suite.tasks["opposite"]).candidates is None
    splits = {"mood": "dev", "stars": "dev", "answer": "dev", "opposite": "test", "mood-elsewhere": "test"}
    assert {task.id: run.split(task) for task in run.tasks} == splits
    for task in run.tasks:
        assert run.predictions(task).shape == (2, 60) and run.rows(task).targets.tolist() == gold_of(task).tolist()
        assert (run.predictions(task) == gold_of(task)).all()


def test_an_unknown_method_and_a_run_of_another_version(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A summary describes its method, so it needs no registry entry."""
    for name in ("a", "b"):
        folder = make_run(tmp_path / name, right(0.9), ["method=svm"])
        write_json(folder.summary, {**read_json(folder.summary), "method": "perceptron", "title": "Perceptron"})
    write_json(folder.inputs, {**read_json(folder.inputs), "format": "2"})
    with caplog.at_level(logging.WARNING):
        (run,) = find_runs(tmp_path)
    assert (run.name, run.summary["title"]) == ("a", "Perceptron")
    assert len(caplog.messages) == 1 and "b: has format 2, that of another version" in caplog.messages[0]


def test_bad_folders(tmp_path: Path) -> None:
    refused(lambda: find_runs(tmp_path / "none"), file="none")
    assert find_runs(tmp_path) == []
