import logging
from pathlib import Path

import pytest
from run_folders import gold_of, make_run, right

from mtl.errors import InputError
from mtl.results.runs import find_runs


def test_finished_runs_by_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_run(tmp_path / "klej/random-frozen", right(0.5))
    make_run(tmp_path / "klej/deep/er", right(0.5))
    make_run(tmp_path / "mine", right(0.5))
    (make_run(tmp_path / "klej/unfinished", right(0.5)).summary).unlink()
    make_run(tmp_path / "klej/old", right(0.5)).summary.write_text('{"suite": "klej"}', encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert [run.name for run in find_runs(tmp_path)] == ["deep/er", "random-frozen", "mine"]
    assert "unfinished: not finished, left out" in caplog.text and "old/summary.json: not a summary" in caplog.text
    assert [run.name for run in find_runs(tmp_path / "mine")] == ["mine"]


def test_predictions_and_gold(tmp_path: Path) -> None:
    make_run(tmp_path / "a", right(1.0), seeds=[3, 1])
    run = find_runs(tmp_path)[0]
    for task in run.tasks:
        assert (run.gold(task) == gold_of(task)).all()
        assert run.predictions(task).shape == (2, 60) and (run.predictions(task) == gold_of(task)).all()


def test_the_same_rows_have_the_same_key(tmp_path: Path) -> None:
    make_run(tmp_path / "a", right(1.0))
    make_run(tmp_path / "b", right(0.3), ["method=svm"])
    make_run(tmp_path / "c", right(1.0), dev="other")
    held_out = make_run(tmp_path / "d", right(1.0)).held_out
    held_out.write_text(held_out.read_text(encoding="utf-8").replace("2, 3, 4", "2, 3, 5"), encoding="utf-8")
    a, b, c, d = find_runs(tmp_path)
    ar, cbd = a.suite.tasks["ar"], a.suite.tasks["cbd"]
    assert a.rows_key(ar) == b.rows_key(ar) == d.rows_key(ar) != c.rows_key(ar)
    assert a.rows_key(cbd) == b.rows_key(cbd) != d.rows_key(cbd)


def test_bad_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no such folder; it must hold run folders"):
        find_runs(tmp_path / "none")
    with pytest.raises(InputError, match="holds no finished run; make one with mtl baseline"):
        find_runs(tmp_path)
    folder = make_run(tmp_path / "a", right(1.0))
    path = folder.predictions(1, "dev", "cbd")
    path.write_text("target\n0\n7\n", encoding="utf-8")
    run = find_runs(tmp_path)[0]
    with pytest.raises(InputError, match=r"dev_pred_cbd.tsv:3: unknown label '7', expected one of 0, 1"):
        run.predictions(run.suite.tasks["cbd"])
    folder.summary.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"summary.json: not JSON"):
        find_runs(tmp_path)
