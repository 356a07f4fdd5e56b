"""Which runs are tested against which."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from run_folders import make_run, right

from mtl.api.cli import main
from mtl.reports.leaderboard import Leaderboard, comparable_samples, leaderboard, pair_tests
from mtl.reports.markdown import NO_TESTS, scores_and_tests
from mtl.runs.finished import find_runs
from mtl.stats.families import all_tails, family_tests

TASKS = ["cbd", "ar"]


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs on the same rows, one of them with too few seeds; one on other rows; and one with a partial average, the highest."""
    path = tmp_path_factory.mktemp("runs")
    make_run(path / "best", right(0.9), ["embeddings=fasttext"], tasks=TASKS)
    make_run(path / "middle", right(0.7), tasks=TASKS)
    make_run(path / "worst", right(0.3), ["method=svm"], tasks=TASKS)
    make_run(path / "short", right(0.5), ["method=tree"], tasks=TASKS, seeds=[1, 2])
    make_run(path / "elsewhere", right(0.5), ["method=forest"], tasks=TASKS, dev="other")
    make_run(path / "partial", right(1.0), ["embeddings=elmo"], tasks=["cbd"])
    return path


def pairs_of(board: Leaderboard) -> set[tuple[str, str]]:
    return {(board.rows[one].name, board.rows[other].name) for one, other in board.tests.comparisons}


def expected_holm(board: Leaderboard, every: bool) -> list[float]:
    """Holm's correction of the board's tests, in their order, and never below their p.

    Args:
        every: whether it is for the tests of all pairs, not only of those that are shown.
    """
    groups = comparable_samples(board.rows)
    found = family_tests(groups)
    shown = []
    for (one, other), by_column in board.tests.comparisons.items():
        for column, test in by_column.items():
            if test.p is not None:
                group = column, board.rows[one].comparable[column]
                runs = list(groups[group])
                shown.append((float(found[group].tail[runs.index(one), runs.index(other)]), test.p))
    tails = sorted(all_tails(found).tolist() if every else [tail for tail, _ in shown])
    corrected = np.maximum.accumulate([min(1, (len(tails) - n) * tail) for n, tail in enumerate(tails)])
    return [max(p, corrected[tails.index(tail)]) for tail, p in shown]


def test_beyond_some_runs_each_is_tested_against_the_best(runs_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = find_runs(runs_dir)
    every = leaderboard(runs)
    monkeypatch.setattr("mtl.reports.leaderboard.MOST_FOR_PAIRS", 5)
    board = leaderboard(runs)
    # Every run lacks tasks of KLEJ's average, so that the best partial average counts. Only cbd is a task of that run.
    assert [board.rows[place].name for place in board.tests.references] == ["partial"]
    assert pairs_of(board) == {(name, "partial") for name in ("best", "middle", "worst", "short", "elsewhere")}
    # Holm's correction is for all tests of every pair that have a verdict.
    whole = [test.p for tests in every.tests.comparisons.values() for test in tests.values() if test.p is not None]
    made = [test for tests in board.tests.comparisons.values() for test in tests.values() if test.p is not None]
    assert board.tests.family == len(whole) == 3 * 3 + 3 and len(made) == 3
    assert [test.p_holm for test in made] == pytest.approx(expected_holm(board, True))
    note = " ".join(board.facts)
    assert "only the tests of each one against the one with the best average of each split are shown (partial)" in note
    assert "of the 12 tests of every pair of runs, every task and the average, of which 3 are shown" in note


def test_a_whole_average_is_preferred_and_each_split_has_a_reference(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = find_runs(runs_dir)
    runs[0].suite.average = TASKS  # the suite of all runs
    rows = leaderboard(runs).rows
    monkeypatch.setattr("mtl.reports.leaderboard.MOST_FOR_PAIRS", 5)
    assert [rows[place].name for place in pair_tests(rows).references] == ["best"]
    on_test = dict.fromkeys(["average", *TASKS], "test")
    rows = [replace(row, splits=on_test) if row.name in ("short", "worst") else row for row in rows]
    assert {rows[place].name for place in pair_tests(rows).references} == {"best", "short"}


def test_comparisons_without_a_test_do_not_count_for_the_correction(runs_dir: Path) -> None:
    board = leaderboard(find_runs(runs_dir))
    made = [test for tests in board.tests.comparisons.values() for test in tests.values()]
    with_p = {key: test for key, test in enumerate(made) if test.p is not None}
    assert board.tests.family == board.tests.made == len(with_p) < len(made)
    assert [test.p_holm for test in with_p.values()] == pytest.approx(expected_holm(board, False))
    assert f"for the {len(with_p)} tests of this suite (every pair of runs" in " ".join(board.facts)


def test_too_few_seeds_leave_no_verdict_and_their_note_names_no_correction(tmp_path: Path) -> None:
    make_run(tmp_path / "one", right(0.9), tasks=TASKS)
    make_run(tmp_path / "two", right(0.3), tasks=TASKS, seeds=[1, 2])
    board = leaderboard(find_runs(tmp_path))
    (found,) = board.tests.comparisons.values()
    assert {test.verdict_holm for test in found.values()} == {"too few seeds"} and board.tests.made == 0
    note = " ".join(board.facts)
    assert "there is no verdict" in note and "Holm" not in note


def test_one_task_and_its_average_are_one_test(tmp_path: Path) -> None:
    for name, share in (("one", 0.9), ("two", 0.6), ("three", 0.3)):
        make_run(tmp_path / name, right(share), tasks=["cbd"])
    board = leaderboard(find_runs(tmp_path))
    assert board.tests.family == board.tests.made == 3 and "for the 3 tests" in " ".join(board.facts)
    assert all(tests["average"] is tests["cbd"] for tests in board.tests.comparisons.values())
    assert board.tests.ranks["average"] == board.tests.ranks["cbd"]


@pytest.mark.parametrize("names", [["middle"], ["middle", "worst"]])
def test_named_references(runs_dir: Path, tmp_path: Path, names: list[str]) -> None:
    arguments = ["report", str(runs_dir), "--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache")]
    for name in names:
        arguments += ["--reference", name]
    assert main(arguments) == 0
    lines = list(csv.DictReader((tmp_path / "out" / "comparisons.csv").read_text(encoding="utf-8").splitlines()))
    found = {(line["one"], line["other"]) for line in lines}
    others = ("best", "middle", "worst", "short", "partial")  # on the same rows
    assert {frozenset(pair) for pair in found} == {frozenset((a, b)) for a in names for b in others if a != b}
    assert len(found) == (4 if names == ["middle"] else 7) and {other for _, other in found} <= set(names)
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    tested = sum(line["verdict"] != "too few seeds" for line in lines)
    assert 0 < tested < len(lines) and f"for the {tested} tests of this suite (every run against " in text


def test_an_unknown_reference_is_one_line(runs_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["report", str(runs_dir), "--out", str(tmp_path / "out"), "--cache", str(tmp_path), "--reference"]
    assert main([*arguments, "midle"]) == 2
    error = capsys.readouterr().err
    assert "mtl: error: reference=midle: no finished run has this name; is it middle?\n" in error
    assert main([*arguments, "HerBERT"]) == 2  # a published row
    assert "the first column of the table of scores has the names" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_runs_on_other_examples_are_named_and_compare_with_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name, share, dev in (("a-elsewhere", 0.9, "other"), ("good", 0.8, "dev"), ("bad", 0.3, "dev")):
        make_run(tmp_path / name, right(share), [f"run_dir={name}"], tasks=["cbd"], dev=dev)
    runs = {run.name: run for run in find_runs(tmp_path)}
    board = leaderboard(list(runs.values()))
    rows = {row.name: row for row in board.rows}
    assert [rows[name].mark("cbd") for name in runs] == ["§", "", ""] and "§" in rows["a-elsewhere"].mark("average")
    assert {row.name for row in board.rows if row.run and board.is_best(row, "cbd")} == {"good"}
    assert (
        "§ a-elsewhere: scored on other examples of cbd than the other runs" in " ".join(board.marks)
        and caplog.messages
    )
    shown = scores_and_tests(board)
    assert re.search(r"a-elsewhere \| +– \| +– ", shown) or re.search(r"a-elsewhere − \w+ +\| +– ", shown)
    ranks = {board.rows[number].name: interval for number, interval in board.tests.ranks["cbd"].items()}
    assert ranks == {"good": (1, 1), "bad": (2, 2)}
    # Where the table of hard rows would begin with the other examples:
    (hard,) = board.breakdowns
    assert {board.rows[number].name for number in hard.scores} == {"good", "bad"}
    two = leaderboard([runs["a-elsewhere"], runs["good"]])
    assert not any(two.is_best(row, "cbd") for row in two.rows if row.run)
    assert NO_TESTS in scores_and_tests(two)
