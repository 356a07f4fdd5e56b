"""Ensembles of the seeds of finished runs."""

import os
from pathlib import Path

import numpy as np
import pytest
from command_line import content
from data_files import read_json
from input_errors import raises_input_error, refused
from kinds_suite import dataset_of, drop_last_row, kinds_job, lstm, write_kinds_suite
from scipy.special import softmax

from mtl.api.cli import main
from mtl.data.dataset import input_rows
from mtl.data.examples import read_targets
from mtl.jobs.baseline import run_baseline
from mtl.jobs.ensemble import ensemble_job
from mtl.jobs.job import Job
from mtl.methods.predictor import Predictor
from mtl.methods.thresholds import best_shift, label_decisions, recorded_shifts
from mtl.runs.finished import find_runs
from mtl.runs.folder import finetune_folder
from mtl.stats.samples import SampleCache, samples_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite whose first task is scored by F1, a finished run of two seeds with thresholds, run, and its ensemble, both."""
    folder = tmp_path_factory.mktemp("ensemble")
    write_kinds_suite(folder)
    suite = folder / "kinds.yaml"
    scored = suite.read_text(encoding="utf-8").replace("metric: macro_f1", "metric: f1\n    positive: good", 1)
    suite.write_text(scored, encoding="utf-8")
    run_baseline(lstm(folder, "run", "seeds=[1,2]", "finetune.threshold=dev", "pretrain.max_steps=10"))
    run_baseline(ensemble(folder, "run", run_dir=str(folder / "both"), baselines=False))
    return folder


def ensemble(folder: Path, *runs: str, **settings: object) -> Job:
    given = {"cache_dir": str(folder / "cache"), "run_dir": str(folder / "other"), **settings}
    return ensemble_job([str(folder / run) for run in runs], given)


def test_the_command_makes_the_same_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(folder / "run"), f"cache_dir={folder / 'cache'}", f"run_dir={folder / 'command'}", "baselines=false"]
    assert main(["ensemble", *words]) == 0
    assert str(folder / "command/table.md") in capsys.readouterr().out
    assert content(folder / "command") == content(folder / "both")
    assert main(["ensemble", str(folder / "nothing")]) == 2


def test_predictions_follow_from_the_averaged_outputs(folder: Path) -> None:
    run = lstm(folder, "run", "seeds=[1,2]")
    dataset = dataset_of(run)
    models = [Predictor.load(folder / "run", seed).model for seed in (1, 2)]
    scored = next(task for task in dataset.tasks if task.id == "mood")
    shifts = [recorded_shifts(finetune_folder(folder / f"run/seed-{seed}", "mood"), scored) for seed in (1, 2)]
    compared = 0
    for task in dataset.tasks:

        def joint(split: str, task=task) -> np.ndarray:  # type: ignore[no-untyped-def]
            part = dataset.splits[task.id][split]
            each = [model.outputs(task, input_rows(dataset, task, part)) for model in models]
            if task.kind == "number":
                return np.clip(1 + 4 * np.mean(each, axis=0)[:, 0], 1, 5)
            if task.kind == "choice":
                assert part.sizes is not None
                by_row = [np.split(own[:, 0], np.cumsum(part.sizes)[:-1]) for own in each]
                return np.array([sum(map(softmax, rows)).argmax() for rows in zip(*by_row, strict=True)])
            if task.labels:
                for own, shift in zip(each, shifts, strict=True):
                    own[:, 1] -= (shift or {})[1]
            mean = np.mean([softmax(own, axis=1) for own in each], axis=0)
            if task.labels is None:
                return np.array(dataset.answers[task.id], dtype=object)[mean.argmax(axis=1)]
            return np.log(mean)

        for split in set(dataset.splits[task.id]) - {"train"}:
            expected = joint(split)
            if task.labels:
                head = task.answered_by or task.id
                mood = next(other for other in dataset.tasks if other.id == head)
                decisions = label_decisions(joint("dev", mood), dataset.splits[head]["dev"].targets, 1)
                expected[:, 1] += best_shift(decisions)
                expected = expected.argmax(axis=1)
            predicted = read_targets(
                task, folder / f"both/seed-1/predictions/{split}_pred_{task.id}.tsv", predicted=True
            )
            if task.kind == "number":
                np.testing.assert_allclose(predicted, expected, atol=1e-5)
            else:
                assert predicted.tolist() == expected.tolist()
            compared += 1
    assert compared >= 8


def test_each_seed_averages_its_own_models(folder: Path) -> None:
    settings = ("pretrain.max_steps=10", "finetune.threshold=dev")
    run_baseline(lstm(folder, "run-2", "seeds=[2]", *settings))
    run_baseline(lstm(folder, "wide-2", "seeds=[2]", "head.hidden_size=9", *settings))
    run_baseline(ensemble(folder, "run-2", "wide-2", run_dir=str(folder / "apart")))
    run_baseline(lstm(folder, "wide", "seeds=[1,2]", "head.hidden_size=9", *settings))
    by_seed: dict[str, object] = {"ensemble.by_seed": True}
    run_baseline(ensemble(folder, "run", "wide", run_dir=str(folder / "by-seed"), **by_seed))
    summary = read_json(folder / "by-seed/summary.json")
    assert summary["seeds"] == [1, 2]
    assert summary["notes"][0].startswith(
        "For each seed: the averaged outputs of 2 models of LSTM, random, frozen, changed."
    )
    together, apart = folder / "by-seed/seed-2/predictions", folder / "apart/seed-1/predictions"
    names = sorted(path.name for path in apart.iterdir())
    assert names and names == sorted(path.name for path in together.iterdir())
    assert all((together / name).read_bytes() == (apart / name).read_bytes() for name in names)
    members = [folder / name / "seed-1/scores.json" for name in ("run", "wide")]
    costs = [read_json(path)["cost"]["parameters"] for path in members]
    assert read_json(folder / "by-seed/seed-1/scores.json")["cost"]["parameters"] == sum(costs)
    run_baseline(ensemble(folder, "run-2", "wide-2", run_dir=str(folder / "one-by-seed"), **by_seed))
    run = next(run for run in find_runs(folder) if run.folder.path.name == "one-by-seed")
    samples = samples_of(run, SampleCache(None).reduced(run))
    assert not any(sample.is_one_system for sample in samples.values())
    refused(lambda: run_baseline(ensemble(folder, "run", "wide-2", **by_seed)), key="seeds")
    refused(lambda: run_baseline(ensemble(folder, "run", **by_seed)), key="ensemble.by_seed")


def test_its_row_says_what_it_is_one_system(folder: Path) -> None:
    summary = read_json(folder / "both/summary.json")
    assert summary["title"] == "ensemble of 2: LSTM, random, frozen, changed" and summary["family"] == "lstm"
    assert summary["seeds"] == [1] and summary["embeddings"] == "random"
    costs = [read_json(folder / f"run/seed-{seed}/scores.json")["cost"] for seed in (1, 2)]
    for key in ("parameters", "pretrain_seconds", "finetune_seconds"):
        assert summary["cost"][key] == pytest.approx(sum(cost[key] for cost in costs))
    assert summary["cost"]["peak_memory"] == max(cost["peak_memory"] for cost in costs)
    seconds = sum(1 / cost["sentences_per_second"] for cost in costs)
    assert summary["cost"]["sentences_per_second"] == pytest.approx(1 / seconds)
    assert (folder / "both/seed-1/submission.zip").exists()
    assert "thresholds" in summary["chosen_on_dev"]
    assert "The decision threshold was chosen on dev: mood." in summary["notes"]
    run = next(run for run in find_runs(folder) if run.folder.path.name == "both")
    reduced = SampleCache(None).reduced(run)
    assert all(sample.is_one_system for sample in samples_of(run, reduced).values())


def test_a_changed_member_changes_the_ensemble(folder: Path) -> None:
    both, config = ensemble(folder, "run", run_dir=str(folder / "both")), folder / "run/config.yaml"
    summary, before = folder / "run/summary.json", config.read_text(encoding="utf-8")
    summary.write_text(f"{summary.read_text(encoding='utf-8')}\n", encoding="utf-8")
    run_baseline(both)  # it is finished, and what it follows from is the same
    config.write_text(f"{before}\n", encoding="utf-8")
    os.utime(summary)  # a run that is made again has another one, which says that the members are to be compared
    refused(lambda: run_baseline(both), file="both")
    config.write_text(before, encoding="utf-8")


def test_members_that_cannot_be_averaged(folder: Path, tmp_path: Path) -> None:
    without_members = kinds_job(folder, "other", "method=ensemble")
    refused(lambda: ensemble_job([], {}), key="RUN")
    refused(lambda: ensemble(folder, "nowhere"), key="ensemble.runs")
    refused(lambda: run_baseline(ensemble(folder, "run", "run")), key="ensemble.runs")
    refused(lambda: run_baseline(ensemble(folder, "run", seeds=[1, 2])), key="seeds")
    refused(lambda: run_baseline(without_members), key="ensemble.runs")
    refused(lambda: run_baseline(ensemble(folder, "run", held_out=0.3)), key="ensemble.runs")
    write_kinds_suite(tmp_path)
    drop_last_row(tmp_path / "data/mood/train.jsonl")
    refused(lambda: run_baseline(ensemble(folder, "run", data_dir=str(tmp_path / "data"))), key="ensemble.runs")
    run_baseline(kinds_job(folder, "constant", "method=constant", "tasks=[mood]", "seeds=[1]"))
    refused(lambda: run_baseline(ensemble(folder, "run", "constant")), key="ensemble.runs")
    refused(lambda: run_baseline(ensemble(folder, "constant")), file="constant")
    kept = ("method=svm", "tasks=[mood]", "seeds=[1]", "floor.keep=true", "floor.min_count=1")
    run_baseline(kinds_job(folder, "svm", *kept))
    with raises_input_error(key="method"):  # it has no probabilities
        run_baseline(ensemble(folder, "svm", run_dir=str(tmp_path / "other")))
