"""Further metrics, breakdowns and the scale of a suite, from the data to the run's files, the report and the progress lines."""

import re
from pathlib import Path

import pytest
from data_files import read_json
from kinds_suite import write_kinds_suite

from mtl.api.cli import main
from mtl.runs.folder import RunFolder


def write_suite(folder: Path) -> Path:
    """The suite with a task of each kind, whose first task has another metric, a further one and a breakdown."""
    path = write_kinds_suite(folder)
    text = path.read_text(encoding="utf-8").replace("name: kinds", "name: kinds\nscale: 1")
    further = "metric: alpha_nominal\n    also: [macro_f1, accuracy]\n    breakdown: [review.writer]"
    path.write_text(text.replace("metric: macro_f1", further), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [["method=random"], ["embeddings=random", "embeddings.dim=12"]], ids=["random", "lstm"]
)
def test_a_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], method: list[str]
) -> None:
    folders = [f"suite={write_suite(tmp_path)}", f"data_dir={tmp_path}/data", f"cache_dir={tmp_path}/c"]
    folder = RunFolder(tmp_path / "runs/a")
    assert main(["baseline", *folders, f"run_dir={folder.path}", "seeds=[1,2]", *method]) == 0
    shown = capsys.readouterr()
    summary = read_json(folder.summary)
    of = summary["tasks"]["mood"]
    for seed in (1, 2):
        done = read_json(folder.scores(seed))
        assert {id: list(found) for id, found in done["also"].items()} == {"mood": ["macro_f1", "accuracy"]}
        for metric, score in done["also"]["mood"].items():
            assert of["also"][metric]["scores"][str(seed)] == score
        line = next(line for line in caplog.messages if line.startswith(f"seed {seed} ({seed}/2)"))
        assert f"mood {done['scores']['mood'] / 100:.3f}, " in line
        assert line.endswith(f"average {done['average'] / 100:.3f}")
    lines = [*caplog.messages, *shown.err.splitlines()]
    assert [line for line in lines if re.search(r"(average|after stage 1|·) -?\d+\.\d(?!\d)", line)] == []
    stages = [line for line in lines if re.search(r" · stage 1 · finished: average -?\d\.\d{3} · ", line)]
    assert len(stages) == (0 if "method=random" in method else 2)
    assert f"**{of['median'] / 100:.3f}**" in shown.out and "| macro F1" in shown.out
    values = read_json(folder.scored_rows)["mood"]["columns"]["review.writer"]
    assert values == [f"w{row // 3}" for row in range(24)]
    assert main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "report")]) == 0
    assert "### mood by review.writer" in (tmp_path / "report/report.md").read_text(encoding="utf-8")
    assert main(["score", f"{folder.path}/seed-1/predictions", "--gold", f"{tmp_path}/data", *folders[:2]]) == 0
    accuracy = read_json(folder.scores(1))["also"]["mood"]["accuracy"]
    assert f"| | | accuracy | | {accuracy / 100:.3f} |" in capsys.readouterr().out
