"""Runs that learn from the outputs of a finished run."""

from pathlib import Path

import numpy as np
import pytest
import torch
from data_files import read_json
from input_errors import raises_input_error
from kinds_suite import dataset_of, drop_last_row, kinds_job, lstm, write_kinds_suite

import mtl.jobs.teacher as teacher_module
from mtl.data.dataset import input_rows
from mtl.jobs.baseline import run_baseline
from mtl.jobs.teacher import ask_teacher
from mtl.methods.predictor import Predictor
from mtl.tasks.targets import target_kind


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a suite and a finished run of two seeds, run."""
    folder = tmp_path_factory.mktemp("teacher")
    write_kinds_suite(folder)
    run_baseline(lstm(folder, "run", "seeds=[1,2]"))
    return folder


def predictions(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "seed-1/predictions").iterdir())}


def test_the_outputs_are_the_mean_of_all_seeds_and_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = lstm(folder, "other", f"distill.run={folder / 'run'}")
    dataset = dataset_of(run)
    asked = ask_teacher(run, dataset)
    assert set(asked.outputs) == {task.id for task in dataset.trained_tasks}
    models = [Predictor.load(folder / "run", seed).model for seed in (1, 2)]
    for task in dataset.trained_tasks:
        train = dataset.splits[task.id]["train"]
        rows = input_rows(dataset, task, train)
        each = [model.outputs(task, rows) for model in models]
        assert len(each[0]) == len(train.texts)
        np.testing.assert_allclose(asked.outputs[task.id], np.mean(each, axis=0), atol=1e-5)
        if task.kind == "labels":  # outputs are what predictions follow from
            assert (models[0].predict(task, rows) == each[0].argmax(axis=1)).all()
    assert "2 seeds" in asked.about and "trained on the same rows" in asked.about

    monkeypatch.setattr(teacher_module, "_computed", lambda *arguments: pytest.fail("asked again"))
    again = ask_teacher(run, dataset)
    assert again.key == asked.key
    assert all((again.outputs[id] == own).all() for id, own in asked.outputs.items())


def test_a_damaged_cache_is_computed_anew(folder: Path) -> None:
    run = lstm(folder, "other", f"distill.run={folder / 'run'}", f"cache_dir={folder / 'own'}")
    first = ask_teacher(run, dataset_of(run))
    (cached,) = (folder / "own").glob("teacher-*.npz")
    cached.write_bytes(b"PK")
    second = ask_teacher(run, dataset_of(run))
    assert all((second.outputs[id] == own).all() for id, own in first.outputs.items())


def test_the_weight_says_how_much_the_teacher_counts(folder: Path) -> None:
    distilled = f"distill.run={folder / 'run'}"
    plain = run_baseline(lstm(folder, "plain", "seeds=[1]"))
    run_baseline(lstm(folder, "none", "seeds=[1]", distilled, "distill.weight=0"))
    summary = run_baseline(lstm(folder, "half", "seeds=[1]", distilled))
    assert predictions(folder / "none") == predictions(folder / "plain")
    weights = [folder / name / "seed-1/pretrain/best.ckpt" for name in ("plain", "half")]
    assert weights[0].read_bytes() != weights[1].read_bytes()
    assert any("Distilled from LSTM, random, frozen (2 seeds)" in note for note in summary["notes"])
    assert summary["title"] == "LSTM, random, frozen, distilled" and plain["title"] == "LSTM, random, frozen"
    assert "teacher" in read_json(folder / "half/inputs.json")


def kept(folder: Path, run: Path, method: str, *settings: str) -> Path:
    kept_floor = (f"method={method}", "seeds=[1]", "floor.keep=true", "floor.min_count=1")
    run_baseline(kinds_job(folder, str(run), *kept_floor, *settings))
    return run


def test_a_kept_floor_teaches_with_its_probabilities(folder: Path, tmp_path: Path) -> None:
    floor = kept(folder, tmp_path / "logistic", "logistic", "floor.grid.C=[1.0]", "floor.grid.alpha=[1.0]")
    run = lstm(folder, "other", f"distill.run={floor}")
    dataset = dataset_of(run)
    asked = ask_teacher(run, dataset)
    model = Predictor.load(floor, 1).model
    for task in dataset.trained_tasks:
        train = dataset.splits[task.id]["train"]
        head, answers = target_kind(task).head, dataset.answers.get(task.id, [])
        outputs = asked.outputs[task.id]
        assert outputs.shape == (len(train.texts), head.outputs(answers)) and np.isfinite(outputs).all()
        sizes = None if train.sizes is None else torch.from_numpy(train.sizes)
        decided = head.decode(head.predict(torch.from_numpy(outputs), sizes).numpy().astype(float), answers)
        predicted = model.predict(task, input_rows(dataset, task, train))
        if task.kind == "number":
            np.testing.assert_allclose(decided, predicted, atol=1e-4)
        else:
            assert decided.tolist() == predicted.tolist()
        if task.kind == "labels":
            np.testing.assert_allclose(np.exp(outputs).sum(axis=1), 1, atol=1e-3)


def test_teachers_that_cannot_be_asked(folder: Path, tmp_path: Path) -> None:
    def refused(run: Path, *settings: str, **where: str) -> None:
        pupil = lstm(folder, "other", f"distill.run={run}", *settings)
        with raises_input_error(**where):
            ask_teacher(pupil, dataset_of(pupil))

    refused(tmp_path, key="distill.run")  # no run
    for name, setting in (("rows", "held_out=0.3"), ("task", "tasks=[mood]")):
        run_baseline(lstm(folder, str(tmp_path / name), "seeds=[1]", "pretrain.max_steps=10", setting))
        refused(tmp_path / name, "tasks=[stars]")
    run_baseline(kinds_job(folder, str(tmp_path / "floor"), "method=constant", "seeds=[1]"))
    refused(tmp_path / "floor", "tasks=[stars]", file="floor")  # no models are kept
    refused(kept(folder, tmp_path / "svm", "svm", "tasks=[mood]"), "tasks=[mood]", key="method")  # no probabilities
    write_kinds_suite(tmp_path)
    drop_last_row(tmp_path / "data/mood/train.jsonl")
    refused(folder / "run", f"data_dir={tmp_path / 'data'}", key="distill.run")  # other rows
