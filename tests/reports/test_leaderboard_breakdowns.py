from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from alpha_suite import write_alpha_suite
from data_files import read_json
from run_folders import ROWS, VALUES, make_run, right

from mtl.base.files import write_json
from mtl.reports.board import Breakdown, Row
from mtl.reports.leaderboard import HARD, MOST_VALUES, breakdowns, leaderboard
from mtl.runs.finished import find_runs
from mtl.tasks.metrics import score
from mtl.tasks.task import ScoredRows


def by_column(rows: Sequence[Row]) -> list[Breakdown]:
    return [each for each in breakdowns(rows) if each.column != HARD]


def test_each_value_s_score_is_that_on_its_rows(tmp_path: Path) -> None:
    suite = f"suite={write_alpha_suite(tmp_path)}"
    make_run(tmp_path / "runs/a", right(0.7), [suite])
    make_run(tmp_path / "runs/b", right(0.2), [suite, "method=svm"])
    board = leaderboard(find_runs(tmp_path / "runs"))
    (found,) = by_column(board.rows)
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
    many, other = by_column(board.rows)
    assert [board.rows[place].name for of in (many, other) for place in of.scores] == ["many", "other"]
    assert other.parts == (("all rows", 60), ("x", 60))  # every row has a value
    assert len(many.parts) == 1 + MOST_VALUES and many.left_out == ROWS - MOST_VALUES


def test_rows_that_every_run_or_none_answers_right(tmp_path: Path) -> None:
    suite = f"suite={write_alpha_suite(tmp_path)}"
    for name, share in (("a", 0.7), ("b", 0.4), ("same", 0.5)):
        folder = make_run(tmp_path / f"runs/{name}", right(share), [suite])
        if name == "same":
            for seed in read_json(folder.summary)["seeds"]:
                path = folder.predictions(seed, "dev", "entailment")
                first = path.read_text(encoding="utf-8").splitlines()[0]
                path.write_text(f"{first}\n" * ROWS, encoding="utf-8")
    board = leaderboard(find_runs(tmp_path / "runs"))
    (found,) = [each for each in breakdowns(board.rows) if each.column == HARD and each.task.id == "entailment"]
    runs = {row.name: (place, row.run) for place, row in enumerate(board.rows) if row.run}
    assert set(found.scores) == {runs["a"][0], runs["b"][0]}  # one answer for all rows tells nothing of single rows
    gold = runs["a"][1].rows(found.task).targets
    right_by = sum((run.predictions(found.task) == gold).sum(axis=0) for run in (runs["a"][1], runs["b"][1]))
    none, every = np.count_nonzero(right_by == 0), np.count_nonzero(right_by == 6)
    counts = {"no run is right": none, "some runs are right": ROWS - none - every, "every run is right": every}
    assert list(found.parts) == [("all rows", ROWS), *(part for part in counts.items() if part[1])]
    by_part = {part[0]: score.median for part, score in zip(found.parts, found.scores[runs["a"][0]], strict=True)}
    assert by_part.get("no run is right", 0) == 0 and by_part.get("every run is right", 100) == 100
    accuracies = 100 * (runs["a"][1].predictions(found.task) == gold).mean(axis=1)
    assert by_part["all rows"] == pytest.approx(np.median(accuracies))
    assert not [each for each in breakdowns([row for row in board.rows if row.name == "a"]) if each.column == HARD]
