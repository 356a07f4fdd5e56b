import doctest
from pathlib import Path

import numpy as np
import pytest
from alpha_suite import write_alpha_suite
from data_files import read_json
from run_folders import ROWS, VALUES, make_run, right

import mtl.report.notes
from mtl.base.files import write_json
from mtl.report.leaderboard import leaderboard
from mtl.report.notes import MOST_VALUES, breakdowns
from mtl.runs.finished import find_runs
from mtl.tasks.metrics import score
from mtl.tasks.task import ScoredRows


def test_the_worked_example() -> None:
    assert doctest.testmod(mtl.report.notes).failed == 0


def test_each_value_s_score_is_that_on_its_rows(tmp_path: Path) -> None:
    suite = f"suite={write_alpha_suite(tmp_path)}"
    make_run(tmp_path / "runs/a", right(0.7), [suite])
    make_run(tmp_path / "runs/b", right(0.2), [suite, "method=svm"])
    board = leaderboard(find_runs(tmp_path / "runs"))
    (found,) = breakdowns(board.rows)
    assert (found.task.id, found.column, found.left_out) == ("entailment", "phenomenon", 0)
    assert found.parts == (("all rows", 60), ("any value", 45), ("a", 30), ("b", 15), ("c", 15))
    cells = [VALUES[row % len(VALUES)] for row in range(ROWS)]
    expected = {"any value": ("a", "b; a", "c"), "a": ("a", "b; a"), "b": ("b; a",), "c": ("c",), "all rows": VALUES}
    runs = {place: row.run for place, row in enumerate(board.rows) if row.run}
    assert set(found.scores) == set(runs)
    for place, run in runs.items():
        gold = run.rows(found.task).targets
        for (value, rows), shown in zip(found.parts, found.scores[place], strict=True):
            drawn = np.array([row for row, cell in enumerate(cells) if cell in expected[value]])
            assert len(drawn) == rows
            by_seed = [score(found.task, of[drawn], ScoredRows(gold[drawn])) for of in run.predictions(found.task)]
            assert (shown.median, shown.min, shown.max) == pytest.approx(
                (np.median(by_seed), min(by_seed), max(by_seed))
            )


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
