from pathlib import Path

import pytest
from alpha_suite import write_alpha_suite
from data_files import read_json
from run_folders import make_run, right

from mtl.base.files import write_json
from mtl.report.groups import MetricGroup, metric_groups
from mtl.report.leaderboard import Leaderboard, leaderboard
from mtl.report.markdown import group_section
from mtl.report.row import Row
from mtl.report.tables import render_latex
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


def of(board: Leaderboard, name: str) -> Row:
    return next(row for row in board.rows if row.name == name)


def group(board: Leaderboard, metric: str) -> MetricGroup:
    return next(group for group in metric_groups(board) if group.metric == metric)


def test_groups_are_metrics_of_several_tasks_and_further_metrics(board: Leaderboard) -> None:
    found = {group.metric: [task.id for task in group.tasks] for group in metric_groups(board)}
    assert found == {
        "alpha_nominal": ["stance", "entailment"],
        "accuracy": ["stance", "answer"],
        "macro_f1": ["stance"],
        "spearman": ["rating"],
        "pearson": ["rating"],
        "gender_parity": ["entailment"],
    }


def test_a_group_s_mean_is_over_all_of_its_tasks(board: Leaderboard) -> None:
    new, older, printed = (of(board, name) for name in ("new", "older", "printed"))
    nominal, accuracy = group(board, "alpha_nominal"), group(board, "accuracy")
    assert nominal.mean(printed) == pytest.approx((55.5 + 23.5) / 2)
    assert nominal.mean(new) == pytest.approx((new.scores["stance"].median + new.scores["entailment"].median) / 2)
    assert nominal.rows(board) == list(board.rows)
    assert accuracy.rows(board) == [new] and accuracy.mean(older) is None
    assert new.run is not None
    also = new.run.summary["tasks"]["stance"]["also"]["accuracy"]
    shown = accuracy.score(new, accuracy.tasks[0])
    assert shown is not None and (shown.median, shown.min, shown.max) == (also["median"], also["min"], also["max"])
    assert group(board, "spearman").mean(new) is None  # of one task


@pytest.mark.slow
def test_a_mean_with_a_reduced_task_is_marked_in_every_form(tmp_path: Path) -> None:
    make_run(tmp_path / "less", right(0.9), reduced=["cbd"])
    make_run(tmp_path / "whole", right(0.9), ["method=svm"])
    board = leaderboard(find_runs(tmp_path))
    f1, accuracy = group(board, "f1"), group(board, "accuracy")
    less, whole = of(board, "less"), of(board, "whole")
    assert (f1.mark(less), f1.mark(whole), accuracy.mark(less)) == ("†", "", "")
    mean, unmarked = f1.mean(less), accuracy.mean(less)
    assert mean is not None and unmarked is not None
    tables = [" ".join(group_section(board, of_metric).split()) for of_metric in (f1, accuracy)]
    assert f"| less | dev | {mean:.1f}† |" in tables[0] and f"| less | dev | {unmarked:.1f} |" in tables[1]
    assert rf"(less) & dev & {mean:.1f}\dag{{}} &" in render_latex([board], "now", "mtl report")


def test_a_suite_with_one_metric_has_no_groups(tmp_path: Path) -> None:
    suite = write_alpha_suite(tmp_path)
    make_run(tmp_path / "runs/a", right(0.9), [f"suite={suite}"], tasks=["stance"])
    board = leaderboard(find_runs(tmp_path / "runs"))
    for id in ("rating", "answer", "entailment"):
        del board.suite.tasks[id]
    for row in board.rows:
        object.__setattr__(row, "further", {})
    assert metric_groups(board) == []


def test_klej_s_groups(tmp_path: Path) -> None:
    make_run(tmp_path / "a", right(0.9))
    groups = {
        group.title: [task.id for task in group.tasks] for group in metric_groups(leaderboard(find_runs(tmp_path)))
    }
    assert groups == {
        "accuracy": ["nkjp-ner", "cdsc-e", "polemo2.0-in", "polemo2.0-out"],
        "F1": ["cbd", "dyk", "psc"],
    }
