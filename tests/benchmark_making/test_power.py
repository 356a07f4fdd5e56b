"""What `mtl power` prints, the note of a report, and the smallest difference and the rows and seeds it needs: against the noncentral t distribution,
simulated tests and the laws of scaling."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from input_errors import raises_input_error
from run_folders import make_run, right
from scipy import stats
from simulated_runs import sample

from mtl.api.cli import main
from mtl.benchmark_making.power import PowerSettings, power_report, power_text
from mtl.benchmark_making.smallest_difference import NEVER, Design, SeedSpread, other_rows, same_rows
from mtl.reports.leaderboard import Leaderboard, leaderboard
from mtl.runs.finished import find_runs
from mtl.stats.comparison import Sample, estimate
from mtl.stats.resampling import RowSet

TASKS = ["cbd", "dyk", "ar"]
ROWS = Design(400, 400, 4.0, 399.0, [])
SEEDS = Design(400, 400, 0.0, 399.0, [SeedSpread(5, 10.0, 0.0), SeedSpread(5, 10.0, 0.0)])
BOTH = Design(400, 400, 4.0, 399.0, [SeedSpread(5, 10.0, 2.0), SeedSpread(5, 10.0, 2.0)])


@pytest.fixture(scope="module")
def runs_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that are alike, with different numbers of seeds; a far better one only on ar; and one with too few seeds."""
    path = tmp_path_factory.mktemp("runs")
    make_run(path / "one", right(0.5), tasks=TASKS)
    make_run(path / "other", right(0.48), ["method=tree"], tasks=TASKS, seeds=[1, 2, 3, 4, 5])
    make_run(path / "better", right(1.0), ["method=svm"], tasks=["ar"])
    make_run(path / "few", right(0.1), ["method=forest"], tasks=TASKS, seeds=[1, 2])
    return path


@pytest.fixture(scope="module")
def board(runs_dir: Path) -> Leaderboard:
    return leaderboard(find_runs(runs_dir))


def cells_of(text: str) -> dict[str, list[str]]:
    """The cells of each line of the table, by the first."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {first.strip(): [cell.strip() for cell in cells] for first, *cells in lines}


def test_the_table_has_the_medians_over_tested_pairs(board: Leaderboard) -> None:
    cells = cells_of(power_text(board, PowerSettings(difference=8.0)))
    names = "metric, examples, seeds, same examples, other examples, examples for 8.0, seeds for 8.0, significant"
    assert cells[""] == names.split(", ")
    assert list(cells)[2:] == ["AVG", "CBD", "DYK", "AR"]
    samples = {row.name: row.samples["ar"] for row in board.rows if row.run and row.name != "few"}
    pairs = [(samples[a], samples[b]) for a, b in (("one", "other"), ("one", "better"), ("other", "better"))]
    metric, rows, seeds, same, other, needed_rows, needed_seeds, apart = cells["AR"]
    assert (metric, rows, seeds, apart) == ("1 − wMAE", "60", "3–5", "2 of 3")
    designs = [same_rows(*pair) for pair in pairs]
    assert same == f"{median(design.smallest_difference() for design in designs):.1f}"
    assert other == f"{median(other_rows(*pair).smallest_difference() for pair in pairs):.1f}"
    assert needed_rows == f"{median(design.groups_for(8.0) for design in designs):,.0f}"
    assert needed_seeds in (f"{median(design.seeds_for(8.0) for design in designs):,.0f}", "never")
    assert cells["DYK"][1] == "15" and cells["AVG"][1] == "135" and cells["CBD"][-1] == "0 of 1"
    # Seeds in place of the present ones.
    now, more = (cells_of(power_text(board, PowerSettings(seeds=seeds)))["CBD"] for seeds in (None, 50))
    assert (now[2], more[2]) == ("3–5", "50") and float(more[3]) < float(now[3]) and more[6] == now[6]
    # Tasks that cannot tell the runs apart are named.
    text = power_text(board, PowerSettings())
    (note,) = [note for note in board.notes if note.startswith("Tasks without a significant difference")]
    cells = cells_of(text)
    assert f": AVG {cells['AVG'][3]}, CBD {cells['CBD'][3]}, DYK {cells['DYK'][3]}. mtl power" in note


def test_the_number_of_examples_is_a_median_over_pairs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "other", "third"):
        make_run(tmp_path / name, right(0.5), tasks=["ar"])
    monkeypatch.setattr("run_folders.ROWS", 30)
    for name in ("a", "b"):  # their pair comes first
        make_run(tmp_path / name, right(0.5), ["method=svm"], tasks=["ar"], dev="other")
    assert cells_of(power_text(leaderboard(find_runs(tmp_path)), PowerSettings()))["AR"][1] == "60"


def test_where_every_task_tells_runs_apart_there_is_no_note(tmp_path: Path) -> None:
    for name, share in (("one", 1.0), ("other", 0.0)):
        make_run(tmp_path / "all" / name, right(share), tasks=["cbd", "ar"])
    found = leaderboard(find_runs(tmp_path / "all"))
    assert not any("without a significant difference" in note for note in found.notes)
    make_run(tmp_path / "few/one", right(0.5), tasks=["ar"])
    make_run(tmp_path / "few/other", right(0.1), ["method=forest"], tasks=["ar"], seeds=[1, 2])
    text = power_report(tmp_path / "few", PowerSettings())
    assert "No two runs have 3 seeds or more and the same scored examples" in text and "|" not in text


def test_runs_with_equal_answers_differ_by_their_seeds_alone(tmp_path: Path) -> None:
    for name in ("one", "other"):
        make_run(tmp_path / name, right(0.5), tasks=["ar"])
    found = leaderboard(find_runs(tmp_path))
    same, other, *rest = cells_of(power_text(found, PowerSettings()))["AR"][3:]
    assert 0 < float(same) < float(other) and rest[-1] == "0 of 1"
    assert any(f"AR {same}" in note for note in found.notes)


def test_the_command(
    runs_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = power_report(runs_dir, PowerSettings(difference=8.0)) + "\n"
    monkeypatch.setattr("mtl.api.commands.results.CACHE", tmp_path / "cache")
    assert main(["power", str(runs_dir), "difference=8"]) == 0
    assert capsys.readouterr().out == report and len(list(tmp_path.rglob("*.npz"))) == 4
    with raises_input_error(key=None):
        power_report(tmp_path, PowerSettings())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["none"], "none: no such folder"),
        (["one", "other"], "other: name one folder"),
        (["rows=100"], "unknown key 'rows'"),
        (["difference=0"], "difference=0: must be greater than 0"),
        (["seeds=2"], "seeds=2: must be at least 3"),
    ],
)
def test_a_wrong_folder_or_setting_is_one_line_and_exit_status_2(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["power", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mtl: error: ") and complaint in line


def power_of(difference: float, error: float, freedom: float) -> float:
    """The probability that the test shows this difference, by scipy's noncentral t."""
    critical = stats.t.ppf(0.975, freedom)
    return float(stats.nct.sf(critical, freedom, difference / error))


@cache
def weights(rows: int) -> np.ndarray:
    """How often each of 300 resamples draws each row, (rows, 300)."""
    return np.random.default_rng(0).multinomial(rows, np.full(rows, 1 / rows), 300).T.astype(float)


def pair(rng: np.random.Generator, skills: tuple[float, float], seeds: int, rows: int) -> tuple[Sample, Sample]:
    """Two runs on the same new rows, with the accuracy of each seed on 300 resamples."""
    difficulty = rng.normal(size=rows)
    runs = []
    for skill in skills:
        noise = 0.1 * rng.normal(size=(seeds, 1)) + 0.5 * rng.normal(size=(seeds, rows))
        right = skill + noise > difficulty
        runs.append(sample(100 * right.mean(axis=1), {RowSet("t", rows): 100 * right @ weights(rows) / rows}))
    return runs[0], runs[1]


def test_rows_alone_and_seeds_alone_follow_the_noncentral_t() -> None:
    smallest = ROWS.smallest_difference()
    assert power_of(smallest, 2.0, 399) == pytest.approx(0.8, abs=1e-4)
    assert smallest == pytest.approx((stats.t.ppf(0.975, 399) + stats.t.ppf(0.8, 399)) * 2, rel=1e-3)
    assert power_of(SEEDS.smallest_difference(), 2.0, 8) == pytest.approx(0.8, abs=1e-4)
    assert power_of(SEEDS.smallest_difference(seeds=3), (20 / 3) ** 0.5, 4) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize(("rows", "seeds"), [(150, 4), (15, 3)])
def test_the_present_numbers_give_the_error_and_freedom_of_the_test(rows: int, seeds: int) -> None:
    rng = np.random.default_rng(1)
    one, other = pair(rng, (0.9, 0.6), seeds, rows)
    found = estimate(one, other)
    smallest = same_rows(one, other).smallest_difference()
    assert power_of(smallest, found.error, found.freedom) == pytest.approx(0.8, abs=1e-4)
    assert same_rows(one, other).smallest_difference(rows, seeds) == pytest.approx(smallest)


def test_on_other_rows_the_variances_of_both_scores_add() -> None:
    one, other = pair(np.random.default_rng(2), (0.9, 0.6), 4, 150)
    first, second = estimate(one), estimate(other)
    variance = first.error**2 + second.error**2
    freedom = variance**2 / (first.error**4 / first.freedom + second.error**4 / second.freedom)
    smallest = other_rows(one, other).smallest_difference()
    assert power_of(smallest, variance**0.5, freedom) == pytest.approx(0.8, abs=1e-4)
    assert smallest > same_rows(one, other).smallest_difference()


def test_each_part_follows_the_number_of_rows_and_of_seeds() -> None:
    assert ROWS.smallest_difference(1600) == pytest.approx(ROWS.smallest_difference() / 2, rel=0.01)
    assert SEEDS.smallest_difference(1600) == pytest.approx(SEEDS.smallest_difference())
    # The variance on infinitely many rows is skill / 5 for each system; for infinitely many seeds, that of rows without errors of single seeds.
    assert power_of(BOTH.smallest_difference(math.inf), (2 * 8 / 5) ** 0.5, 8) == pytest.approx(0.8, abs=1e-4)
    without = BOTH.smallest_difference(seeds=math.inf)
    assert power_of(without, (4 - 2 * 2 / 5) ** 0.5, 300) == pytest.approx(0.8, abs=2e-3)
    # At four times the rows and seeds: rows 4 - 0.8 over 4, single seeds' errors 0.8 over 16, skill 3.2 over 4.
    many = replace(BOTH, rows_freedom=1e5).smallest_difference(1600, 20)
    variance = 3.2 / 4 + 0.8 / 16 + 3.2 / 4
    assert many == pytest.approx((1.96 + 0.8416) * variance**0.5, rel=0.03)


def test_the_fewest_rows_and_seeds_are_enough_and_what_they_do_not_reach() -> None:
    for design, difference in ((ROWS, 2.0), (ROWS, 9.0), (BOTH, 8.0), (BOTH, 6.5)):
        groups = design.groups_for(difference)
        assert design.smallest_difference(groups) <= difference < design.smallest_difference(groups - 1)
    for design, difference in ((SEEDS, 2.0), (BOTH, 6.5)):
        seeds = design.seeds_for(difference)
        assert design.smallest_difference(seeds=seeds) <= difference < design.smallest_difference(seeds=seeds - 1)
    assert BOTH.groups_for(2.0) == BOTH.seeds_for(2.0) == ROWS.seeds_for(2.0) == SEEDS.groups_for(2.0) == NEVER
    assert BOTH.groups_for(2.0, seeds=50) < NEVER
    assert ROWS.groups_for(1e-300) == NEVER  # more than any number of rows
    assert SEEDS.seeds_for(50.0) == 3 and ROWS.groups_for(90.0) == 6
    few = replace(ROWS, groups=10, least_groups=5)  # an average over tasks of two sets of rows
    assert few.smallest_difference() == NEVER and few.groups_for(50.0) == 12
    same = sample(np.array([80.0, 80.0, 80.0]), {RowSet("t", 50): np.full((3, 300), 80.0)})
    assert same_rows(same, same).smallest_difference() == 0
