import dataclasses
from pathlib import Path

import numpy as np
import pytest
from alpha_suite import write_alpha_suite
from data_files import read_json
from run_folders import ROWS, VALUES, make_run, right

from mtl.base.files import write_json
from mtl.reports.board import Group, GroupLine, Leaderboard
from mtl.reports.breakdowns import MOST_VALUES, breakdowns
from mtl.reports.further_tables import metric_groups
from mtl.reports.latex import render_latex
from mtl.reports.leaderboard import leaderboard
from mtl.reports.markdown import group_section
from mtl.runs.finished import find_runs
from mtl.tasks.metrics import score
from mtl.tasks.task import ScoredRows


def test_each_value_s_score_is_that_on_its_rows(alphas: Leaderboard) -> None:
    (found,) = breakdowns(alphas.rows)
    assert (found.task.id, found.column, found.left_out) == ("entailment", "phenomenon", 0)
    assert found.parts == (("all rows", 60), ("any value", 45), ("a", 30), ("b", 15), ("c", 15))
    cells = [VALUES[row % len(VALUES)] for row in range(ROWS)]
    expected = {"any value": ("a", "b; a", "c"), "a": ("a", "b; a"), "b": ("b; a",), "c": ("c",), "all rows": VALUES}
    runs = {place: row.run for place, row in enumerate(alphas.rows) if row.run}
    assert set(found.scores) == set(runs)
    for place, run in runs.items():
        gold = run.rows(found.task).targets
        for (value, rows), shown in zip(found.parts, found.scores[place], strict=True):
            drawn = np.array([row for row, cell in enumerate(cells) if cell in expected[value]])
            assert len(drawn) == rows
            by_seed = [score(found.task, of[drawn], ScoredRows(gold[drawn])) for of in run.predictions(found.task)]
            expected_score = (np.median(by_seed), min(by_seed), max(by_seed))
            assert (shown.median, shown.min, shown.max) == pytest.approx(expected_score)


def test_runs_without_the_column_are_left_out_and_other_values_stand_apart(tmp_path: Path) -> None:
    suite = f"suite={write_alpha_suite(tmp_path)}"
    for name, cells in (("without", None), ("other", ["x"] * ROWS), ("many", [f"v{row}" for row in range(ROWS)])):
        folder = make_run(tmp_path / f"runs/{name}", right(0.7), [suite])
        recorded = read_json(folder.scored_rows)
        del recorded["entailment"]["columns"]["phenomenon"]
        if cells:
            recorded["entailment"]["columns"]["phenomenon"] = cells
        write_json(folder.scored_rows, recorded)
    board = leaderboard(find_runs(tmp_path / "runs"))
    many, other = breakdowns(board.rows)
    assert [board.rows[place].name for of in (many, other) for place in of.scores] == ["many", "other"]
    assert other.parts == (("all rows", 60), ("x", 60))  # every row has a value
    assert len(many.parts) == 1 + MOST_VALUES and many.left_out == ROWS - MOST_VALUES


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
    make_run(tmp_path / "runs/a", right(0.9), [f"suite={write_alpha_suite(tmp_path)}"], tasks=["stance"])
    (run,) = find_runs(tmp_path / "runs")
    for id in ("rating", "answer", "entailment"):
        del run.suite.tasks[id]
    rows = [dataclasses.replace(row, further={}) for row in leaderboard([run]).rows]
    assert metric_groups(run.suite, rows) == []
