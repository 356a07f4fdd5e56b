"""Every form of the report, of runs that are known."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from golden import check_golden
from run_folders import ROWS, gold_of, make_run, right

from mtl.api.cli import main
from mtl.reports.document import document
from mtl.reports.latex import escape, render_latex
from mtl.reports.leaderboard import Leaderboard, leaderboard
from mtl.reports.markdown import render_markdown
from mtl.reports.rows import Row
from mtl.reports.tables import csv_text, render_csv
from mtl.runs.finished import find_runs
from mtl.tasks.suite import AVERAGE

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs")
    make_run(path / "klej/good", right(0.9), ["embeddings=fasttext"], reduced=["ar"])
    make_run(path / f"klej/{EVIL}", right(0.2), ["embeddings.dim=7"])
    make_run(path / "klej/50%_of_$x|y", right(0.9), ["method=svm"], tasks=["cbd", "ar"])
    return path


def lines_of(text: str) -> list[dict[str, str]]:
    """The lines of a CSV file by its header."""
    return list(csv.DictReader(io.StringIO(text)))


def assert_tables_are_well_formed(markdown: str) -> None:
    for table in re.findall(r"(?:^\|.*\n)+", markdown, re.M):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def row_of(board: Leaderboard, name: str) -> Row:
    return next(row for row in board.rows if row.name == name)


@pytest.fixture(scope="module")
def board(runs_dir: Path) -> Leaderboard:
    return leaderboard(find_runs(runs_dir))


@pytest.mark.parametrize("name", ["klej", "alphas"])
def test_markdown_and_latex(name: str, board: Leaderboard, alphas: Leaderboard, runs_dir: Path) -> None:
    """Of runs with foreign names, and of a suite with another scale, further metrics and breakdowns."""
    of = {"klej": board, "alphas": alphas}[name]
    text = render_markdown([of], "2026-01-02 03:04 UTC", "mtl report x")
    for run in (row.run for row in of.rows if row.run):
        text = text.replace(str(run.folder.path.parent.parent), "FOLDER")
    assert_tables_are_well_formed(text)
    check_golden(f"report-{name}.md", text)
    latex = render_latex([of], "2026-01-02", "mtl report x")
    assert latex.count("{") == latex.count("}")
    check_golden(f"report-{name}.tex", latex)
    assert escape("a\n\\b ~^#&") == r"a \textbackslash{}b \textasciitilde{}\textasciicircum{}\#\&"


def test_csv_holds_every_number(board: Leaderboard) -> None:
    scores = lines_of(render_csv([board])["scores.csv"])
    good = {line["task"]: line for line in scores if line["name"] == "good"}
    row = row_of(board, "good")
    assert row.run is not None and set(good) == {"average", *row.scores}
    for id, score in row.scores.items():
        line = good[id]
        assert (float(line["median"]), float(line["min"]), float(line["max"])) == (score.median, score.min, score.max)
        assert (float(line["interval_low"]), float(line["interval_high"])) == score.interval
        by_seed = list(row.run.summary["tasks"][id]["scores"].values())
        assert [float(s) for s in line["by_seed"].split()] == by_seed
        assert float(line["mean"]) == pytest.approx(np.mean(by_seed))
        assert float(line["standard_deviation"]) == pytest.approx(np.std(by_seed, ddof=1))
    assert good["ar"]["reduced"] == "yes" and good["cbd"]["reduced"] == "no"
    assert good["average"]["reduced"] == "yes"  # as report.md marks it
    averages = [line for line in scores if line["task"] == "average" and line["source"] == "run"]
    assert {line["partial"] for line in averages} == {"yes", "no"}
    assert len([line for line in scores if line["name"] == EVIL]) == 10
    pairs = lines_of(render_csv([board])["comparisons.csv"])
    assert {line["verdict"] for line in pairs} <= {"better", "worse", "undecided"} and len(pairs) == 10 + 2 + 2
    for line in pairs:
        low, high, p, p_holm = (float(line[key]) for key in ("low", "high", "p", "p_holm"))
        assert low <= float(line["difference"]) <= high and p <= p_holm <= 1
        assert (line["verdict"] == "undecided") == (low <= 0 <= high) == (p >= 0.05)
        assert (line["verdict_holm"] == "undecided") == (p_holm >= 0.05)
    costs = {line["name"]: line for line in lines_of(render_csv([board])["costs.csv"])}
    assert costs["good"]["pretrain_seconds"] == "200.0" and costs["good"]["peak_memory"] == str(2**30)
    assert costs["50%_of_$x|y"]["pretrain_seconds"] == ""


def test_document(board: Leaderboard) -> None:
    report = document([board], "2026-01-02", "mtl report x")
    assert json.loads(json.dumps(report)) == report
    suite = report["suites"][0]
    rows = {row["name"]: row for row in suite["rows"]}
    good = rows["good"]
    assert (good["source"], good["embeddings"], good["size"], good["reduced"]) == ("run", "fasttext", 1024, ["ar"])
    assert (good["label"], rows["HerBERT"]["label"]) == ("LSTM, fastText, frozen", "HerBERT")
    assert rows["HerBERT"]["details"] is None and rows["HerBERT"]["cost"] is None
    details = good["details"]
    assert [seed["seed"] for seed in details["seeds"]] == [1, 2, 3]
    assert details["config"]["pretrain.patience"] == "10" and details["config"]["data_dir"] == "null"
    assert details["config"]["seeds"] == "[1,2,3]" and details["config"]["embeddings.trainable"] == "true"
    assert details["versions"] == {"mtl": "1", "torch": "2"} and details["machine"] == "CPU: a"
    stages = [(curve["stage"], curve["task"], curve["seed"]) for curve in details["curves"]]
    tasks = [None, *sorted(set(board.columns) - {AVERAGE})]
    assert stages == [("finetune" if task else "pretrain", task, seed) for seed in (1, 2, 3) for task in tasks]
    assert details["curves"][0]["points"][1]["scores"]["cbd"] == 8.0
    # Stage 2 has a validation before its first step.
    assert [curve["points"][0] for curve in details["curves"][:2]] == [
        {"step": 10, "average": 5.0, "loss": 0.5, "scores": {id: 4.0 for id in board.columns if id != AVERAGE}},
        {"step": 0, "average": 4.5},
    ]
    run = next(row.run for row in board.rows if row.run)
    cbd, ar = run.suite.tasks["cbd"], details["classes"]["ar"]
    confusion = details["classes"]["cbd"]["confusion"]
    assert [sum(row) for row in confusion] == [30, 30] and confusion[0] == [30, 0] and len(gold_of(cbd)) == ROWS
    assert len(ar["points"]) == ROWS and {gold for gold, _ in ar["points"]} == {1, 2, 3, 4, 5}
    # The seed in the middle is shown.
    scores = good["details"]["seeds"]
    shown = next(seed for seed in scores if seed["seed"] == ar["seed"])
    assert shown["scores"]["ar"] == good["scores"]["ar"]["median"]
    assert set(suite["comparisons"]) <= {f"{a['id']}|{b['id']}" for a in suite["rows"] for b in suite["rows"]}


def test_every_form_names_the_split_of_each_score(mixed: Leaderboard) -> None:
    scores = lines_of(render_csv([mixed])["scores.csv"])
    of_task = {line["task"]: line["split"] for line in scores if line["name"] == "lstm"}
    dev = dict.fromkeys(("mood", "stars", "answer"), "dev")
    assert of_task == {"average": "dev, test", **dev, "opposite": "test", "mood-elsewhere": "test"}
    text = render_markdown([mixed], "now", "mtl report")
    lines = [line for line in text.splitlines() if line.startswith("| lstm")]
    assert [cell.strip() for cell in lines[0].strip("|").split("|")][2] == "dev, test"
    assert "Scores × 100 on" not in text and "on the split that each row names" in text
    assert "LSTM, random, frozen (lstm) & dev, test & " in render_latex([mixed], "now", "mtl report")
    (suite,) = document([mixed], "now", "mtl report")["suites"]
    rows = {row["name"]: row for row in suite["rows"]}
    splits = {name: row["split"] for name, row in rows.items()}
    assert splits == {"lstm": "dev, test", "svm": "dev, test", "some": "dev", "printed": "test"}
    splits = {id: score["split"] for id, score in rows["lstm"]["scores"].items()}
    assert splits | {"average": "dev, test"} == of_task


def test_the_command(runs_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["report", str(runs_dir), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}/index.html\n"
    assert sorted(path.name for path in out.iterdir()) == [
        *("comparisons.csv", "costs.csv", "index.html", "mtl-files.json", "ranks.csv"),
        *("report.md", "report.tex", "scores.csv", "settings.csv"),
    ]
    assert f"by `mtl report {runs_dir} --out" in (out / "report.md").read_text(encoding="utf-8")
    assert main(["report", str(tmp_path / "none")]) == 2
    missing = capsys.readouterr()
    assert "none: no such folder" in missing.err and missing.out == ""
    (tmp_path / "empty").mkdir()
    assert main(["report", str(tmp_path / "empty")]) == 2
    assert "empty: holds no finished run; make one with mtl baseline" in capsys.readouterr().err


def test_foreign_names_are_guarded_in_csv_and_versions_in_markdown(board: Leaderboard) -> None:
    evil = [replace(row, name=f"={row.name}", label="@x", family="-y+z") for row in board.rows]
    changed = replace(board, rows=evil)
    files = render_csv([changed])
    for name in ("scores.csv", "costs.csv", "comparisons.csv"):
        text = files[name]
        cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
        assert any(cell.startswith("'=") for cell in cells)
        assert not [cell for cell in cells if cell.startswith(("=", "@", "-y"))]
    guarded = ["=HYPERLINK(1)", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "a\r=1"]
    plain = ["-12.5 3.0 -1e-05", -12.5, "a=b", ""]  # the first is from the column by_seed
    (written,) = csv.reader(io.StringIO(csv_text([[*guarded, *plain]]), newline=""))
    assert written[:7] == ["'=HYPERLINK(1)", "'+1+1", "'-1+1", "'@SUM(1)", "'\t=1", "' =1", "a =1"]
    assert written[7:] == list(map(str, plain))
    row, *further = board.rows
    assert row.run
    versions = [{"mtl": "<script>", "![x](http://evil)": "1"}]
    run = replace(row.run, summary={**row.run.summary, "versions": versions})
    text = render_markdown([replace(board, rows=[replace(row, run=run), *further])], "", "mtl report")
    assert "mtl \\<script\\>, !\\[x\\](http://evil) 1" in text
