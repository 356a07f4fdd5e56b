"""A comparison in Python has what the report has."""

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest
from input_errors import refused
from small_suite import locations, write_suite

import mtl

FLOORS = ("constant", "random", "majority")


@pytest.fixture(scope="module")
def floor_settings(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return locations(tmp_path_factory.mktemp("floors"))


@pytest.fixture(scope="module")
def runs(floor_settings: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[mtl.Run]:
    folder = tmp_path_factory.mktemp("runs")
    return [mtl.run(*floor_settings, method=method, seeds=3, run_dir=folder / method) for method in FLOORS]


def compare(runs: Any, **options: Any) -> mtl.Comparison:
    return mtl.compare(runs, cache_dir=None, **options)


def test_it_has_what_the_report_has(runs: list[mtl.Run], tmp_path: Path) -> None:
    out = tmp_path / "report"
    assert mtl.report(runs[0].path.parent, out, cache_dir=None) == out / "index.html"
    comparison = compare(runs[0].path.parent)

    def lines(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((out / name).read_text(encoding="utf-8").splitlines()))

    for line, row in zip(lines("comparisons.csv"), comparison.tests.to_dict("records"), strict=True):
        assert all(line[key] == row[key] for key in ("one", "other", "task", "verdict"))
        assert all(float(line[key]) == row[key] for key in ("difference", "p_holm"))
    ranks = [tuple(map(str, row)) for row in comparison.ranks.itertuples(index=False)]
    assert [tuple(line.values())[1:] for line in lines("ranks.csv")] == ranks
    for line in lines("scores.csv"):
        own = comparison.intervals.query("run == @line['name'] and task == @line['task']")
        assert comparison.scores.loc[line["name"], line["task"]] == own["median"].item() == float(line["median"])
        assert own[["low", "high"]].iloc[0].tolist() == [float(line["interval_low"]), float(line["interval_high"])]


def test_every_form_of_runs(runs: list[mtl.Run]) -> None:
    folder = runs[0].path.parent
    mixed = compare([runs[0], str(runs[1].path), runs[2].path, runs[0]])
    assert mixed.scores.index.tolist() == list(FLOORS)
    assert compare([folder]).scores.sort_index().equals(mixed.scores.sort_index())
    assert compare(runs[0]).scores.index.tolist() == ["constant"]
    named = compare({"a": runs[0], "b": runs[0].path})
    assert named.scores.loc["a"].equals(named.scores.loc["b"])


def test_runs_of_one_name_are_told_apart(runs: list[mtl.Run], floor_settings: list[str], tmp_path: Path) -> None:
    other = mtl.run(*floor_settings, method="constant", seeds=3, run_dir=tmp_path / "elsewhere/constant")
    names = compare([runs[0], other]).scores.index.tolist()
    assert names == [runs[0].path.as_posix(), other.path.as_posix()]
    comparison = compare(runs)
    assert repr(comparison) == "Comparison(liten: constant, random, majority)"
    assert "Paired tests" in comparison._repr_markdown_()
    assert "| random − constant" in comparison.table() or "| constant − random" in comparison.table()


def test_a_plot_has_each_run(runs: list[mtl.Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    comparison = compare(runs)
    ax = comparison.plot()
    titles = {run.name: run.summary["title"] for run in runs}
    by_score = comparison.scores["average"].sort_values()
    assert [label.get_text() for label in ax.get_yticklabels()] == [titles[name] for name in by_score.index]
    assert [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"] == by_score.tolist()
    assert compare(runs).plot(ax=ax) is ax
    twice = compare([*runs, mtl.open(shutil.copytree(runs[0].path, tmp_path / "again"))]).plot()
    assert {"Best constant", "Best constant, again"} < {text.get_text() for text in twice.get_yticklabels()}
    named = compare({"a": runs[0], "$^$": runs[1]}).plot()
    named.figure.canvas.draw()  # a name is no formula
    assert {label.get_text() for label in named.get_yticklabels()} == {"a", "$^$"}
    refused(lambda: compare(runs).plot("nix"), key="task")


def test_resamples_are_kept_in_the_cache(runs: list[mtl.Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = mtl.compare(runs, cache_dir=tmp_path).tests
    assert len(list(tmp_path.glob("resampled/*.npz"))) == len(runs)
    monkeypatch.setattr("mtl.stats.samples.resampled_scores", None)
    assert mtl.compare(runs, cache_dir=tmp_path).tests.equals(before)


def test_what_cannot_be_compared(runs: list[mtl.Run], floor_settings: list[str], tmp_path: Path) -> None:
    for bad in ([], [3], {"a": runs[0].path.parent}):
        refused(compare, bad)
    (tmp_path / "data").mkdir()
    for folder in ("none", "data"):
        refused(compare, [tmp_path / folder], file=folder)
    refused(lambda: compare(runs, references=["nix"]), key="reference")
    suite = write_suite(tmp_path)
    suite.write_text(suite.read_text(encoding="utf-8").replace("name: liten", "name: annan"), encoding="utf-8")
    other = mtl.run(*floor_settings, suite=suite, method="constant", seeds=3, run_dir=tmp_path / "run")
    refused(lambda: compare([runs[0], other]))
