import dataclasses
from pathlib import Path

import pytest
from alpha_suite import write_alpha_suite
from data_files import read_json
from run_folders import make_run, right

from mtl.base.files import write_json
from mtl.reports.board import Group, GroupLine, Leaderboard
from mtl.reports.leaderboard import leaderboard, metric_groups
from mtl.reports.markdown import group_section
from mtl.reports.tables import render_latex
from mtl.runs.finished import find_runs


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """Two runs; the older one was made before tasks had further metrics, and has no answer."""
    path = tmp_path_factory.mktemp("groups")
    suite = f"suite={write_alpha_suite(path)}"
    make_run(path / "runs/new", right(0.9), [suite])
    older = make_run(path / "runs/older", right(0.5), [suite, "method=svm"], tasks=["stance", "rating", "entailment"])
    summary = read_json(older.summary)
    for task in summary["tasks"].values():
        del task["also"]
    write_json(older.summary, summary)
    return leaderboard(find_runs(path / "runs"))


def group(board: Leaderboard, metric: str) -> Group:
    return next(group for group in board.groups if group.id == metric)


def line(board: Leaderboard, metric: str, name: str) -> GroupLine:
    return next(line for line in group(board, metric).lines if line.row.name == name)


def test_groups_are_metrics_of_several_tasks_and_have_their_mean(board: Leaderboard) -> None:
    found = {group.id: list(group.columns) for group in board.groups}
    assert found == {
        "alpha_nominal": ["stance", "entailment"],
        "accuracy": ["stance", "answer"],
        "macro_f1": ["stance"],
        "spearman": ["rating"],
        "pearson": ["rating"],
        "gender_parity": ["entailment"],
    }
    new = line(board, "alpha_nominal", "new")
    assert line(board, "alpha_nominal", "printed").mean == pytest.approx((55.5 + 23.5) / 2)
    assert new.mean == pytest.approx((new.row.scores["stance"].median + new.row.scores["entailment"].median) / 2)
    assert [line.row for line in group(board, "alpha_nominal").lines] == list(board.rows)
    (accuracy,) = group(board, "accuracy").lines
    assert accuracy.row.run is not None
    also = accuracy.row.run.summary["tasks"]["stance"]["also"]["accuracy"]
    shown = accuracy.scores["stance"]
    assert (shown.median, shown.min, shown.max) == (also["median"], also["min"], also["max"])
    assert line(board, "spearman", "new").mean is None and not group(board, "spearman").has_mean  # of one task


@pytest.mark.slow
def test_a_mean_with_a_reduced_task_is_marked_in_every_form(tmp_path: Path) -> None:
    make_run(tmp_path / "less", right(0.9), reduced=["cbd"])
    make_run(tmp_path / "whole", right(0.9), ["method=svm"])
    board = leaderboard(find_runs(tmp_path))
    less, accuracy = line(board, "f1", "less"), line(board, "accuracy", "less")
    assert (less.mark, line(board, "f1", "whole").mark, accuracy.mark) == ("†", "", "")
    mean, unmarked = less.mean, accuracy.mean
    assert mean is not None and unmarked is not None
    tables = [" ".join(group_section(board, group(board, metric)).split()) for metric in ("f1", "accuracy")]
    assert f"| less | dev | {mean:.1f}† |" in tables[0] and f"| less | dev | {unmarked:.1f} |" in tables[1]
    assert rf"(less) & dev & {mean:.1f}\dag{{}} &" in render_latex([board], "now", "mtl report")


def test_a_suite_with_one_metric_has_no_groups(tmp_path: Path) -> None:
    suite = write_alpha_suite(tmp_path)
    make_run(tmp_path / "runs/a", right(0.9), [f"suite={suite}"], tasks=["stance"])
    (run,) = find_runs(tmp_path / "runs")
    for id in ("rating", "answer", "entailment"):
        del run.suite.tasks[id]
    rows = [dataclasses.replace(row, further={}) for row in leaderboard([run]).rows]
    assert metric_groups(run.suite, rows) == []
