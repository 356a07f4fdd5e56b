import logging
import re
from pathlib import Path

import pytest
from run_folders import gold_of, make_run, right

from mtl.errors import InputError
from mtl.runs.finished import find_runs
from mtl.runs.folder import read_json, write_json


def test_finished_runs_by_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_run(tmp_path / "klej/random-frozen", right(0.5))
    make_run(tmp_path / "klej/deep/er", right(0.5))
    make_run(tmp_path / "mine", right(0.5))
    (make_run(tmp_path / "klej/unfinished", right(0.5)).summary).unlink()
    make_run(tmp_path / "klej/old", right(0.5)).summary.write_text('{"suite": "klej"}', encoding="utf-8")
    make_run(tmp_path / "klej/not-json", right(0.5)).summary.write_text("{", encoding="utf-8")
    make_run(tmp_path / "klej/latin", right(0.5)).summary.write_bytes(b'{"a": "\xff"}')
    (make_run(tmp_path / "klej/no-suite", right(0.5)).path / "suite.yaml").unlink()
    (make_run(tmp_path / "klej/no-gold", right(0.5)).gold("cbd")).unlink()
    short = make_run(tmp_path / "klej/short", right(0.5)).predictions(2, "dev", "ar")
    short.write_text("rating\n1.0\n", encoding="utf-8")
    wrong = make_run(tmp_path / "klej/wrong", right(0.5)).predictions(2, "dev", "cbd")
    wrong.write_text("target\n0\n7\n", encoding="utf-8")
    groups = make_run(tmp_path / "klej/groups", right(0.5)).dev_rows
    groups.write_text(groups.read_text(encoding="utf-8").replace("14,", "", 1), encoding="utf-8")
    (make_run(tmp_path / "klej/rows", right(0.5)).dev_rows).write_text('{"dyk": {"groups": null}}', encoding="utf-8")
    kind = make_run(tmp_path / "klej/kind", right(0.5)).dev_rows
    kind.write_text('{"dyk": {"texts": "", "groups": {}}}', encoding="utf-8")
    for number in ("NaN", '"81.2"', "null"):
        summary = make_run(tmp_path / f"klej/nan-{number[0]}", right(0.5)).summary
        text = summary.read_text(encoding="utf-8")
        summary.write_text(re.sub(r'"median": [0-9.]+', f'"median": {number}', text, count=1), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert [run.name for run in find_runs(tmp_path)] == ["deep/er", "random-frozen", "mine"]
    assert "unfinished: not finished, left out" in caplog.text and "old/summary.json: not a summary" in caplog.text
    assert "short/seed-2/predictions/dev_pred_ar.tsv: 1 predictions for 60 dev rows" in caplog.text
    assert "wrong/seed-2/predictions/dev_pred_cbd.tsv:3: unknown label '7'" in caplog.text
    assert caplog.text.count("tasks.nkjp-ner: its scores are not numbers") == 3
    assert "groups/dev_rows.json: dyk: 59 groups for 60 dev rows" in caplog.text
    for name in ("rows", "kind"):
        assert f"{name}/dev_rows.json: dyk: not dev rows as mtl baseline records them" in caplog.text
    for name in ("groups", "rows", "not-json", "latin", "no-suite", "no-gold", "short", "wrong", "nan-N"):
        assert f"klej/{name} is left out; remove it and run it again" in caplog.text
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


def test_dev_rows(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", right(1.0))
    (run,) = find_runs(tmp_path)
    rows = {task.id: run.dev_rows(task) for task in run.tasks}
    assert rows["cdsc-e"] == rows["cdsc-r"] != rows["cbd"]
    assert rows["dyk"] and rows["dyk"].groups.tolist() == [row // 4 for row in range(60)]
    assert rows["cbd"] and rows["cbd"].groups.tolist() == list(range(60))
    # Of one group alone the rows are drawn one by one.
    groups = read_json(folder.dev_rows)
    groups["dyk"]["groups"] = [0] * 60
    write_json(folder.dev_rows, groups)
    alone = find_runs(tmp_path)[0].dev_rows(run.suite.tasks["dyk"])
    assert alone and alone.count == 60
    folder.dev_rows.unlink()
    assert find_runs(tmp_path)[0].dev_rows(run.suite.tasks["dyk"]) is None


def test_bad_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no such folder; it must hold run folders"):
        find_runs(tmp_path / "none")
    with pytest.raises(InputError, match="holds no finished run; make one with mtl baseline"):
        find_runs(tmp_path)
