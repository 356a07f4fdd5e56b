"""Scores of submissions of rows; those of prediction files are in `tests/jobs/test_every_kind.py`."""

import json
from pathlib import Path

import pytest
from data_files import read_json, write_lines
from rows_suite import read

from mtl.api.cli import main


def scored(made: Path, path: Path, gold: str, *settings: str) -> int:
    return main(["score", str(path), "--gold", str(made / gold), f"suite={made / 'rader.yaml'}", *settings])


def test_a_submission_is_scored_on_test(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    settings = [f"suite={made / 'rader.yaml'}", f"data_dir={made / 'official'}", "--out", str(tmp_path / "out")]
    assert main(["rejoin", str(made / "run/seed-1/submission"), *settings]) == 0
    capsys.readouterr()
    assert scored(made, tmp_path / "out", "official") == 0
    lines = capsys.readouterr().out.splitlines()
    entry = read_json(tmp_path / "out/Majority or mean.json")
    assert lines[2] == f"| grad | test | alpha_interval | 4 | {entry['tasks']['grad']['test']['alpha']:.3f} |"
    assert [line.split(" | ")[1] for line in lines[3:5]] == ["test", "test"]
    assert any(message.endswith("not scored: grad dev") for message in caplog.messages)
    # Without targets in test, it is scored on dev.
    assert scored(made, made / "run/seed-1/submission", "data") == 0
    assert [line.split(" | ")[1] for line in capsys.readouterr().out.splitlines()[2:4]] == ["dev", "dev"]
    assert caplog.messages[-1].endswith("not scored: grad test, par test")


def test_rows_may_have_another_order_than_gold(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(row) for row in read(made / "run/seed-1/submission/grad/dev.jsonl")]
    write_lines(tmp_path / "s/grad/dev.jsonl", [json.dumps({**row, "prediction": row["label"] * 2}) for row in rows])
    assert scored(made, tmp_path / "s", "data", "tasks=[grad]") == 0  # 6, 4, 2 and 1
    assert "\ngrad, dev: 1 of 4 predictions are outside 0 to 5\n" in capsys.readouterr().out
    lines = [json.dumps({**row, "prediction": row["label"]}) for row in rows]
    write_lines(tmp_path / "s/grad/dev.jsonl", lines[::-1])
    assert scored(made, tmp_path / "s", "data", "tasks=[grad]") == 0
    assert "| grad | dev | alpha_interval | 4 | 1.000 |" in capsys.readouterr().out
    write_lines(tmp_path / "s/grad/dev.jsonl", lines[1:])
    assert scored(made, tmp_path / "s", "data", "tasks=[grad]") == 2
    assert "grad/dev.jsonl: the row on line 1 of " in capsys.readouterr().err


def test_json_lines_are_scored_by_their_ids(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.dumps({"id": f"g{row}", "prediction": label}) for row, label in enumerate([3, 2, 1, 0.5])]
    write_lines(tmp_path / "s/dev_pred_grad.jsonl", lines[::-1])
    assert scored(made, tmp_path / "s", "data", "tasks=[grad]") == 0
    assert "| grad | dev | alpha_interval | 4 | 1.000 |\n\naverage" in capsys.readouterr().out


def test_gold_files_have_the_suite_s_names(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s").mkdir()
    assert scored(made, tmp_path / "s", "data") == 2
    assert "gold targets are in files like grad/test.jsonl, with a column 'label'" in capsys.readouterr().err
