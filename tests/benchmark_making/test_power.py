"""What `mtl power` prints, and the note of a report."""

from pathlib import Path
from statistics import median

import pytest
from input_errors import raises_input_error
from run_folders import make_run, right

from mtl.api.cli import main
from mtl.benchmark_making.power import PowerSettings, power_report, power_text
from mtl.benchmark_making.power_design import other_rows, same_rows
from mtl.reports.leaderboard import Leaderboard, leaderboard
from mtl.runs.finished import find_runs

TASKS = ["cbd", "dyk", "ar"]


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
