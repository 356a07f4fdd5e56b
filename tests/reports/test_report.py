"""Every form of the report, of runs that are known."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from run_folders import ROWS, gold_of, make_run, right

from mtl.api.cli import main
from mtl.reports.board import Row, cost_cell
from mtl.reports.document import document
from mtl.reports.leaderboard import Leaderboard, leaderboard
from mtl.reports.markdown import render_markdown
from mtl.reports.tables import csv_text, escape, render_csv, render_latex
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


def test_markdown(board: Leaderboard) -> None:
    text = render_markdown([board], "2026-01-02 03:04 UTC", "mtl report x")
    assert text.startswith("Made on 2026-01-02 03:04 UTC by `mtl report x`.\n")
    lines = [line for line in text.splitlines() if line.startswith("| good")]
    cells = [cell.strip() for cell in lines[0].strip("|").split("|")]
    assert cells[:3] == ["good", "LSTM, fastText, frozen, 3 seeds", "dev"]
    good = row_of(board, "good")
    assert cells[3] == f"{good.average.median:.1f}†" and cells[-1] == f"{good.scores['ar'].median:.1f}†"
    assert cells[4] == f"**{good.scores['nkjp-ner'].median:.1f}**"
    assert r"\<script\>alert(1)\</script\>" in text and "<script>" not in text
    assert r"| 50%\_of\_$x\|y" in text
    partial = next(row for row in board.rows if row.missing)
    assert rf"{partial.average.median:.1f}\*" in text and "partial" in text
    assert "- good: seeds 1, 2, 3; CPU: a; mtl 1, torch 2; configuration and SHA-256" in text
    assert "| good" in text[text.index("## Cost of a seed") :] and "3 min 20 s" in text and "1.1 GB" in text
    tests = text[text.index("## Paired tests") : text.index("## Cost")]
    found = board.tests.comparisons[next(iter(board.tests.comparisons))]
    assert "▲▲ and ▼▼ with Holm's correction" in tests
    for test in found.values():
        sign = {"better": "▲", "worse": "▼", "undecided": "≈"}[test.verdict] * (1 + test.holds)
        assert f"| {test.difference:+.1f} {sign} |" in tests
    assert_tables_are_well_formed(text)


def test_latex(board: Leaderboard) -> None:
    text = render_latex([board], "2026-01-02", "mtl report x")
    tables = text.split(r"\begin{table*}")[1:]
    lines = [line for line in tables[0].splitlines() if line.endswith(r"\\")]
    assert len(lines) == 2 + len(board.rows) and {line.count(" & ") for line in lines} == {11}
    assert tables[0].count(r"\midrule") == 3 and text.count("{") == text.count("}")
    assert r"Model & Split & \textbf{AVG} & \textbf{NKJP-NER}" in text
    assert r"TF-IDF + linear SVM (50\%\_of\_\$x\textbar{}y) & dev & " in text
    assert r"\textless{}script\textgreater{}alert(1)" in text
    good = next(line for line in lines if "(good)" in line)
    assert good.count(r"\textbf") == 7 and good.endswith(r"\dag{} \\")  # all but marked ones, and CBD
    assert next(line for line in lines if line.startswith("HerBERT")).split(" & ")[2] == r"\textbf{80.5}"
    assert " &  & mean & accuracy & accuracy & Spearman & F1 & " in lines[1]
    labels = [re.search(r"\\label\{(.*)\}", table)[1] for table in tables]
    assert labels == ["tab:klej", "tab:klej-accuracy", "tab:klej-f1"]
    f1 = next(line for line in tables[2].splitlines() if line.startswith("LSTM & test"))
    assert f1 == r"LSTM & test & 42.5 & 20.7 & 22.3 & 84.4 \\"
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
    assert (good["variant"], good["architecture"], good["preset"]) == ("frozen", "paper", "paper")
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


def test_every_form_names_the_split_of_each_score(kinds: Leaderboard) -> None:
    scores = lines_of(render_csv([kinds])["scores.csv"])
    of_task = {line["task"]: line["split"] for line in scores if line["name"] == "lstm"}
    dev = dict.fromkeys(("mood", "stars", "answer"), "dev")
    assert of_task == {"average": "dev, test", **dev, "opposite": "test", "mood-elsewhere": "test"}
    text = render_markdown([kinds], "now", "mtl report")
    lines = [line for line in text.splitlines() if line.startswith("| lstm")]
    assert [cell.strip() for cell in lines[0].strip("|").split("|")][2] == "dev, test"
    assert "Scores × 100 on" not in text and "on the split that each row names" in text
    assert "LSTM, random, frozen (lstm) & dev, test & " in render_latex([kinds], "now", "mtl report")
    (suite,) = document([kinds], "now", "mtl report")["suites"]
    assert [row["split"] for row in suite["rows"]] == ["dev, test"] * 3
    splits = {id: score["split"] for id, score in suite["rows"][0]["scores"].items()}
    assert splits | {"average": "dev, test"} == of_task


def test_the_document_draws_labels_and_numbers_alone(kinds: Leaderboard) -> None:
    (suite,) = document([kinds], "now", "mtl report")["suites"]
    assert [task["metric"] for task in suite["tasks"]] == ["macro F1", "Pearson", "accuracy", "accuracy", "accuracy"]
    assert [task["labels"] for task in suite["tasks"]] == [["bad", "good"], None, None, None, ["bad", "good"]]
    assert [task["range"] for task in suite["tasks"]] == [None, [1, 5], None, None, None]
    assert suite["families"] == [{"id": "floor", "title": "floor"}, {"id": "lstm", "title": "LSTM"}]
    details = next(row for row in suite["rows"] if row["name"] == "lstm")["details"]
    charts = {id: list(drawn)[1] for id, drawn in details["classes"].items()}
    assert charts == {"mood": "confusion", "stars": "points", "mood-elsewhere": "confusion"}
    assert [sum(row) for row in details["classes"]["mood-elsewhere"]["confusion"]] == [30, 30]
    # Stage 1 is validated on the tasks that it is trained on.
    stage1 = next(curve for curve in details["curves"] if curve["stage"] == "pretrain")
    assert set(stage1["points"][0]["scores"]) == {"mood", "stars", "answer", "opposite"}


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


def tables_of(markdown: str, heading: str) -> dict[str, list[str]]:
    """The cells of the first table below a heading, by row."""
    table = re.search(r"(?:^\|.*\n)+", markdown[markdown.index(f"{heading}\n") :], re.M)
    assert table
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[0].splitlines()]
    return {line[0]: line[1:] for line in lines}


def test_markdown_and_latex_on_the_scale_of_the_suite(alphas: Leaderboard) -> None:
    text = render_markdown([alphas], "now", "mtl report")
    one, two, worst = (row_of(alphas, name) for name in ("one", "two", "wrong"))
    scores = tables_of(text, "# alphas")
    assert scores["metric"] == ["", "", "mean", "α nominal", "α interval", "pseudo-α", "α nominal"]
    assert scores["one"][3].strip("*") == f"{one.scores['stance'].median / 100:.3f}"
    assert scores["wrong"][3].startswith("-0.") and worst.scores["stance"].interval
    assert -100 <= worst.scores["stance"].interval[0] < worst.scores["stance"].median < 0
    assert "× 100" not in text and not re.search(r"\d\d\.\d [▲▼≈]", text)
    accuracy = tables_of(text, "### accuracy")
    assert one.run is not None
    tasks = one.run.summary["tasks"]
    also = {id: tasks[id]["also"]["accuracy"]["median"] for id in ("stance", "answer")}
    mean = sum(also.values()) / 200
    assert accuracy[""] == ["split", "mean", "Stance", "Answer"]
    assert accuracy["one"] == ["dev", f"{mean:.3f}", *(f"{value / 100:.3f}" for value in also.values())]
    parts = tables_of(text, "### Entailment by phenomenon")
    assert parts[""] == ["rows", "wrong", "one", "two"]
    assert [parts[value][0] for value in ("all rows", "any value", "a", "b", "c")] == ["60", "45", "30", "15", "15"]
    assert parts["all rows"][2] == f"{one.scores['entailment'].median / 100:.3f}"
    spread = tables_of(text, "## Spread over settings")
    deviation = abs(one.scores["stance"].median - two.scores["stance"].median) / 2
    assert spread["LSTM, random, frozen"][0] == "2" and spread["LSTM, random, frozen"][2] == f"{deviation / 100:.3f}"
    assert "- LSTM, random, frozen: the settings differ in pretrain.batch\\_size." in text
    assert_tables_are_well_formed(text)
    text = render_latex([alphas], "now", "mtl report")
    assert r" &  & mean & $\alpha$ nominal & $\alpha$ interval & pseudo-$\alpha$ & $\alpha$ nominal \\" in text
    assert r"\label{tab:alphas-macro-f1}" in text and "times" not in text
    assert f"$-${-worst.scores['stance'].median / 100:.3f}" in text


def test_csv_on_the_scale_of_the_suite(alphas: Leaderboard) -> None:
    lines = lines_of(render_csv([alphas])["scores.csv"])
    assert {line["scale"] for line in lines} == {"1"}
    one = row_of(alphas, "one")
    assert one.run is not None
    stance = {line["metric"]: line for line in lines if line["name"] == "one" and line["task"] == "stance"}
    of = one.run.summary["tasks"]["stance"]
    assert list(stance) == ["alpha_nominal", "accuracy", "macro_f1"]
    for metric, expected in {"alpha_nominal": of, **of["also"]}.items():
        assert float(stance[metric]["median"]) == pytest.approx(expected["median"] / 100)
        seeds = [float(score) for score in stance[metric]["by_seed"].split()]
        assert seeds == pytest.approx([score / 100 for score in expected["scores"].values()])
    (pair, *_) = lines_of(render_csv([alphas])["comparisons.csv"])
    assert pair["scale"] == "1" and abs(float(pair["difference"])) <= 2
    settings = {line["task"]: line for line in lines_of(render_csv([alphas])["settings.csv"])}
    assert list(settings) == ["average", "stance", "rating", "answer", "entailment"]
    assert (settings["average"]["settings"], settings["average"]["keys"]) == ("2", "pretrain.batch_size")
    sds = [float(settings[id]["sd"]) for id in list(settings)[1:]]
    assert float(settings["average"]["sd"]) == pytest.approx(sum(sds) / 4)


def test_the_document_is_on_the_scale_of_the_suite(alphas: Leaderboard) -> None:
    (suite,) = document([alphas], "now", "mtl report")["suites"]
    assert (suite["unit"], suite["decimals"]) == ("score", 3)
    one = next(row for row in suite["rows"] if row["name"] == "one")
    scores = row_of(alphas, "one").scores
    assert one["scores"]["stance"]["median"] == pytest.approx(scores["stance"].median / 100, abs=1e-6)
    assert one["details"]["curves"][0]["points"][0]["average"] == 0.05  # 5.0 × 100
    assert one["details"]["curves"][0]["points"][0]["loss"] == 0.5
    assert [group["title"] for group in suite["groups"]][:2] == ["α nominal", "accuracy"]
    assert suite["breakdowns"][0]["rows"][one["id"]][0] == one["scores"]["entailment"]["median"]
    assert suite["settings"][0]["deviations"].keys() == {"stance", "rating", "answer", "entailment"}


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


def test_costs_in_words() -> None:
    counts = {"parameters": 46_123_456, "parameters_without_embeddings": 0, "sentences_per_second": 1234.5}
    others = {"pretrain_seconds": None, "finetune_seconds": 65.4, "seconds_per_task": 2.0, "peak_memory": 3 * 2**29}
    cells = [cost_cell(*cost) for cost in (counts | others).items()]
    assert cells == ["46,123,456", "0", "1,234", "–", "1 min 05 s", "2 s", "1.6 GB"]
