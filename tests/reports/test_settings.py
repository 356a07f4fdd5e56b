from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

import numpy as np
import pytest
from data_files import read_json
from kinds_suite import write_kinds_suite
from run_folders import make_run, right

from mtl.base.files import write_json
from mtl.reports.further_tables import settings_spreads
from mtl.runs.finished import FinishedRun, find_runs


def made(folder: Path) -> list[FinishedRun]:
    """Three settings of one model, one of them with seeds in two runs; and one setting of another model."""
    for name, share, settings, seeds in (
        ("a", 0.9, ["pretrain.learning_rate=0.1"], (1, 2, 3)),
        ("b", 0.6, ["pretrain.learning_rate=0.2"], (1, 2)),
        ("c", 0.3, ["pretrain.learning_rate=0.2", "pretrain.batch_size=7"], (1, 2, 3)),
        ("c-later", 0.3, ["pretrain.learning_rate=0.2", "pretrain.batch_size=7"], (4,)),
        ("other", 0.5, ["method=svm"], (1, 2, 3)),
    ):
        make_run(folder / name, right(share), settings, seeds=seeds)
    return find_runs(folder)


@pytest.mark.slow
def test_the_deviation_is_over_the_medians_of_settings(tmp_path: Path) -> None:
    runs = made(tmp_path)
    (found,) = settings_spreads(runs, runs[0].suite)
    assert (found.title, found.settings) == ("LSTM, random, frozen", 3)
    assert found.keys == ["pretrain.batch_size", "pretrain.learning_rate"]
    scores = {run.name: {id: [*of["scores"].values()] for id, of in run.summary["tasks"].items()} for run in runs}
    for id, deviation in found.deviations.items():
        medians = [median(scores["a"][id]), median(scores["b"][id]), median(scores["c"][id] + scores["c-later"][id])]
        assert deviation == pytest.approx(np.std(medians)) and deviation > 1
    assert found.average == pytest.approx(fmean(found.deviations.values())) and len(found.deviations) == 9


def test_tasks_scored_on_test_have_their_dev_scores_in_the_seeds_files(tmp_path: Path) -> None:
    suite = f"suite={write_kinds_suite(tmp_path)}"
    tasks = ["mood", "opposite", "mood-elsewhere"]
    for name, size, on_dev in (("a", 4, 30.0), ("b", 5, 50.0)):
        folder = make_run(tmp_path / "runs" / name, right(0.5), [suite, f"pretrain.batch_size={size}"], tasks=tasks)
        for seed in (1, 2, 3):
            dev_scores = {"mood": 1.0, "opposite": on_dev + seed}
            write_json(folder.scores(seed), {**read_json(folder.scores(seed)), "dev_scores": dev_scores})
    runs = find_runs(tmp_path / "runs")
    (found,) = settings_spreads(runs, runs[0].suite)
    # mood is scored on dev, the same in both; opposite on test; mood-elsewhere has no dev rows.
    assert found.deviations == pytest.approx({"mood": 0.0, "opposite": pstdev([32.0, 52.0])})


@pytest.mark.parametrize(
    "changes",
    [
        {"seeds": [4, 5]},
        {"settings": ["pretrain.batch_size=7"], "dev": "other"},  # other rows
        {"settings": ["pretrain.batch_size=7"], "tasks": ["cbd", "ar"]},
        *({"settings": [setting]} for setting in ("trainer.threads=1", "submission.header=target", "data_dir=x")),
    ],
)
def test_what_makes_no_other_setting_of_the_same_model(tmp_path: Path, changes: dict[str, Any]) -> None:
    make_run(tmp_path / "a", right(0.5))
    make_run(tmp_path / "b", right(0.6), **changes)
    runs = find_runs(tmp_path)
    assert settings_spreads(runs, runs[0].suite) == []


def test_only_keys_that_the_method_reads_count(tmp_path: Path) -> None:
    """An SVM reads neither word embeddings nor the LSTM's settings, which a suite file may change."""
    for name in ("a", "b"):
        make_run(tmp_path / name, right(0.5), ["method=svm"])
    summary = read_json(tmp_path / "b/summary.json")
    summary["config"] |= {"pretrain.batch_size": 7, "embeddings.dim": 9, "imported.seconds": 2}
    write_json(tmp_path / "b/summary.json", summary)
    runs = find_runs(tmp_path)
    assert settings_spreads(runs, runs[0].suite) == []
    summary["config"]["floor.min_count"] = 77
    write_json(tmp_path / "b/summary.json", summary)
    runs = find_runs(tmp_path)
    (found,) = settings_spreads(runs, runs[0].suite)
    assert found.keys == ["floor.min_count"]
