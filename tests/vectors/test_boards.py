"""The boards of sentence encoders in every form of the report."""

import csv
import io
import os
import re
from pathlib import Path

import pytest
from mteb_folders import HashedEncoder, make_evaluation, record
from report_browser import Opener, in_browser

from mtl.api.cli import main
from mtl.reports.board import Leaderboard
from mtl.reports.document import document
from mtl.reports.latex import render_latex
from mtl.reports.markdown import render_markdown
from mtl.reports.rows import Row, Score
from mtl.reports.tables import render_csv
from mtl.tasks.suite import AVERAGE
from mtl.vectors.boards import BY_TYPE, find_boards
from mtl.vectors.mteb.benchmark import find_benchmark, load_benchmark

TRAINED = HashedEncoder(name="trained", trained_on=("klej/cdsc-r",), pooling="max")


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two encoders on data that is exact in one task, and one with other rows of CDSC-R."""
    path = tmp_path_factory.mktemp("runs")
    make_evaluation(path, {"PpcPC": record(70.0), "CBD": record(61.5, "reduced"), "CDSC-R": record(40.0, "stand-in")})
    make_evaluation(path, {"PpcPC": record(80.0), "CDSC-R": record(55.0, "stand-in", revision="r2")}, TRAINED)
    return path


@pytest.fixture(scope="module")
def boards(runs_dir: Path) -> list[Leaderboard]:
    return find_boards(runs_dir)


def test_scores_on_other_data_never_stand_beside_published_ones(boards: list[Leaderboard]) -> None:
    published, local = boards
    assert [row.label for row in published.rows if row.ours] == ["Hashed words, mean", "Hashed words, max"]
    assert [medians(row) for row in published.rows if row.ours] == [{"PpcPC": 70.0}, {"PpcPC": 80.0}]
    assert "Published in the mteb results repository: static-similarity-mrl-multilingual-v1." in published.notes
    assert len(published.rows) == 21 and len(published.columns) == 1 + 28
    assert all(row.ours for row in local.rows)
    assert [column.title for column in local.columns.values()] == [
        *("AVG", "CBD", "PpcPC", "CDSC-R, rows 1", "CDSC-R, rows 2")
    ]
    hashed, trained = local.rows
    assert medians(hashed) == {"CBD@r1": 61.5, "PpcPC@r1": 70.0, "CDSC-R@r1": 40.0}
    assert medians(trained) == {"PpcPC@r1": 80.0, "CDSC-R@r2": 55.0} and trained.seen == ["CDSC-R@r2", "sts"]


def medians(row: Row) -> dict[str, float]:
    return {id: score.median for id, score in row.scores.items()}


def value(score: Score | None) -> float | None:
    return score.median if score else None


def test_averages_and_marks(boards: list[Leaderboard]) -> None:
    published, local = boards
    best = next(row for row in published.rows if row.name == "mmlw-roberta-large")
    assert (value(best.average), value(best.score(BY_TYPE))) == (61.24, 62.56)
    assert value(best.score("sts")) == pytest.approx(70.59, abs=0.01)
    assert best.mark(AVERAGE) == ""
    ours = next(row for row in published.rows if row.ours)
    assert ours.average is None and "A row of ours that lacks a task of the benchmark" in str(published.notes)
    assert ours.score("pair_classification") is None and ours.score(BY_TYPE) is None
    fasttext = next(row for row in published.rows if row.name.startswith("FastText"))
    assert len(fasttext.missing) == 1 and fasttext.mark(AVERAGE) == "*"
    hashed, trained = local.rows
    assert value(hashed.score("classification")) == 61.5 and trained.score("classification") is None
    assert (value(hashed.score("sts")), value(trained.score("sts"))) == (40.0, 55.0)
    assert trained.mark("sts") == "*‡" and hashed.mark("classification") == "*"
    assert hashed.mark("CBD@r1") == "†" and trained.mark("CDSC-R@r2") == "†‡"
    assert value(hashed.score(BY_TYPE)) == pytest.approx((61.5 + 70 + 40) / 3) and trained.score(BY_TYPE) is None
    assert hashed.mark(AVERAGE) == "*" and trained.mark(AVERAGE) == "*‡"
    assert len(hashed.missing) == 25 and len(local.unscored) == 25 and "CDSC-R" not in hashed.missing
    assert "Means over different versions of a task's rows cannot be compared with each other." in local.notes


def test_the_best_are_among_comparable_rows(boards: list[Leaderboard]) -> None:
    published, local = boards
    best = {id: [row.name for row in published.rows if published.is_best(row, id)] for id in (AVERAGE, BY_TYPE)}
    assert best == {AVERAGE: ["mmlw-roberta-large"], BY_TYPE: ["mmlw-roberta-large"]}
    assert [row.label for row in local.rows if local.is_best(row, "PpcPC@r1")] == ["Hashed words, max"]
    # Over other tasks, or over other versions of a task's rows, means have no best.
    assert not any(local.is_best(row, id) for row in local.rows for id in (AVERAGE, "sts", "classification"))


def test_two_versions_of_a_task_leave_no_average_partial(tmp_path: Path) -> None:
    records = {task: record(50.0) for task in load_benchmark(find_benchmark("pl-mteb")).tasks}
    for name, revision in (("a", "r1"), ("b", "r2")):
        changed = {"CDSC-R": record(40.0, "stand-in", revision=revision)}
        make_evaluation(tmp_path, records | changed, HashedEncoder(name=name))
    _, local = find_boards(tmp_path)
    assert len(local.columns) == 1 + 29 and local.unscored == []
    for row in local.rows:
        assert row.missing == [] and row.mark(AVERAGE) == row.mark("sts") == ""
        assert value(row.score("sts")) == pytest.approx(140 / 3) and row.score(BY_TYPE) is not None
    assert local.marks == [] and local.rows[0].partial == []


def test_exact_data_alone_needs_no_second_board(tmp_path: Path) -> None:
    make_evaluation(tmp_path, {"PpcPC": record(70.0)})
    make_evaluation(tmp_path, {"PpcPC": record(70.0)}, HashedEncoder(seed=2))
    (board,) = find_boards(tmp_path)
    labels = {row.label for row in board.rows if row.ours}
    assert board.title == "PL-MTEB" and labels == {"Hashed words, mean", "Hashed words, mean, seed 2"}
    make_evaluation(tmp_path / "more", {"PlscClusteringS2S": record(9.0)}, HashedEncoder(name="b"))
    boards = find_boards(tmp_path)
    assert [[len(row.scores) for row in board.rows if row.ours] for board in boards] == [[1, 1], [1, 1, 1]]


def test_evaluations_of_one_encoder_in_two_folders_keep_their_own_scores(tmp_path: Path) -> None:
    make_evaluation(tmp_path / "local", {"CBD": record(99.0, "reduced", revision="r2")})
    make_evaluation(tmp_path / "hub", {"CBD": record(60.0)})
    published, local = find_boards(tmp_path)
    assert [medians(row) for row in published.rows if row.ours] == [{"CBD": 60.0}]
    assert [medians(row) for row in local.rows] == [{"CBD@r1": 60.0}, {"CBD@r2": 99.0}]
    assert len({row.label for row in local.rows}) == len({row.name for row in local.rows}) == 2


def test_an_edited_benchmark_file_is_the_same_benchmark_if_its_tasks_are(tmp_path: Path) -> None:
    old = make_evaluation(tmp_path, {"PpcPC": record(70.0)})
    make_evaluation(tmp_path, {"PpcPC": record(60.0)}, HashedEncoder(name="b"))
    text = old.benchmark.read_text(encoding="utf-8")
    old.benchmark.write_text(text.replace("model: LaBSE,", "model: An older name,"), encoding="utf-8")
    os.utime(old.benchmark, (1, 1))
    (board,) = find_boards(tmp_path)
    names = [row.name for row in board.rows if not row.ours]
    assert "LaBSE" in names and "An older name" not in names and len(names) == 19
    old.benchmark.write_text(text.replace("metric: cosine_ap", "metric: max_ap"), encoding="utf-8")
    boards = find_boards(tmp_path)
    assert sorted(board.name for board in boards) == ["pl-mteb", "pl-mteb-2"]
    assert [sum(row.ours for row in board.rows) for board in boards] == [1, 1]


def test_markdown_and_latex(boards: list[Leaderboard]) -> None:
    text = render_latex(boards, "now", "mtl report")
    assert r"55.00\dag{}\ddag{}" in text and r"\label{tab:pl-mteb-local-sts}" in text
    text = render_markdown(boards, "now", "mtl report")
    published, local = text.split("# PL-MTEB, all our scores")
    assert "61.50" not in published and "61.50" in local and "LaBSE" not in local
    assert re.search(r"\| Hashed words, mean +\| test +\| +– +\| +– +\|", published)
    assert "| LaBSE" in published and " 44.03 " in published and " 49.15 " in published
    assert "‡ Hashed words, max: trained on training rows of CDSC-R." in local
    assert "† CBD: reduced data (test: few)." in local
    cost = local[local.index("## Cost") :]
    assert re.search(r"\| hashed\S+ +\| +1,200 \| +200 \| +100 \| +2 s \| +4 MB \| +32 \|", cost)


def test_csv(boards: list[Leaderboard]) -> None:
    lines = list(csv.DictReader(io.StringIO(render_csv(boards)["scores.csv"])))
    found = {(line["suite"], line["what"], line["task"]): line for line in lines}
    line = found["pl-mteb-local", "Hashed words, max", "CDSC-R@r2"]
    assert (line["median"], line["source"], line["reduced"]) == ("55.0", "run", "yes")
    labse = next(line for line in lines if (line["name"], line["task"]) == ("LaBSE", "average"))
    assert (labse["median"], labse["source"], labse["partial"]) == ("44.03", "published", "no")
    assert ("pl-mteb", "Hashed words, mean", "average") not in found
    assert found["pl-mteb-local", "Hashed words, mean", "average"]["partial"] == "yes"


def test_the_command_reports_evaluations_alone(runs_dir: Path, tmp_path: Path) -> None:
    assert main(["report", str(runs_dir), "--out", str(tmp_path)]) == 0
    for name in ("report.md", "scores.csv", "index.html", "report.tex"):
        assert "mmlw-roberta-large" in (tmp_path / name).read_text(encoding="utf-8")


@in_browser
def test_the_page_shows_both_boards(opened: Opener, boards: list[Leaderboard]) -> None:
    page = opened(document(boards, "now", "mtl report"))
    lead = page.find("#lead").text
    assert lead.startswith("28 tasks. 2 own runs, scored on the test data") and "19 published rows" in lead
    assert "Open a model" not in lead
    ours = next(row["id"] for row in page.suite["rows"] if row["name"].startswith("trained"))
    assert page.column("average")[ours] == page.column("CBD")[ours] == ""
    assert page.find("#groups-title").text == "Scores by type"
    head = page.find("section[aria-labelledby=groups-title] thead").text
    assert head.startswith("mean Classification")
    select = "const select = document.querySelector('[data-key=suite]'); select.value = '1';"
    page.script(f"{select} select.dispatchEvent(new Event('change'));")
    page.wait("tr[data-row]", 2)
    shown = page.find("#board").text
    assert "57.17*" in shown.replace("\n", "")
    groups = page.find("section[aria-labelledby=groups-title] tbody").text
    assert "61.50*" in groups and "55.00*‡" in groups
    assert "Partial average, without PolEmo2.0-IN, " in page.notes()
    assert "61.50" in shown and "55.00‡" in shown.replace("\n", "") and "LaBSE" not in shown
    assert "trained on training rows of CDSC-R" in page.notes()
    page.key("columns:costs").click()
    page.wait("#board thead button[data-key='sort:cost:dim']")
    titles = [button.get_attribute("data-key") for button in page.all("#board thead button")]
    assert "sort:cost:seconds_per_task" in titles and "sort:cost:pretrain_seconds" not in titles
