"""A seed: its predictions and submission; in a process of its own, perhaps on a machine with other files than the run was begun with."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from command_line import job
from data_files import read_json
from input_errors import refused
from small_suite import SMALL

from mtl.base.files import write_json
from mtl.jobs.baseline import begin, run_baseline
from mtl.jobs.job import Job
from mtl.jobs.together import train_seed_in_process
from mtl.runs.finished import find_runs
from mtl.tasks.kinds.number import NumberHead


@pytest.fixture
def begun(floor_settings: list[str]) -> Iterator[Job]:
    level = logging.getLogger("mtl").level
    run = job([*floor_settings, "method=constant", "seeds=[1]"])
    begin(run)
    yield run
    logging.getLogger("mtl").setLevel(level)


@pytest.mark.parametrize("submission", ["", "submission: {format: rows}\n"])
def test_numbers_stay_within_a_rounded_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, submission: str) -> None:
    predict = NumberHead.predict
    monkeypatch.setattr(
        NumberHead, "predict", lambda kind, outputs, sizes: predict(kind, torch.full_like(outputs, 9), sizes)
    )
    task = "  share: {folder: '.', text: [text], target: y, range: [0.7, 0.8], metric: spearman}\n"
    files = "files: {train: train.jsonl, dev: dev.jsonl, test: test.jsonl}\n"
    (tmp_path / "s.yaml").write_text(f"name: s\n{files}{submission}tasks:\n{task}", encoding="utf-8")
    for split in ("train", "dev", "test"):
        rows = [json.dumps({"text": f"{split} {i}", "y": 0.7 + i / 40}) for i in range(4)]
        (tmp_path / f"{split}.jsonl").write_text("\n".join([*rows, ""]), encoding="utf-8")
    places = [f"suite={tmp_path}/s.yaml", f"data_dir={tmp_path}", f"cache_dir={tmp_path}/cache"]
    run_baseline(job([*places, f"run_dir={tmp_path}/runs/s", "seeds=[1]", *SMALL]))
    saved = (tmp_path / "runs/s/seed-1/predictions/dev_pred_share.tsv").read_text(encoding="utf-8")
    assert saved.splitlines()[1:] == ["0.8"] * 4
    assert [run.name for run in find_runs(tmp_path / "runs")] == ["s"]


def test_it_runs_with_the_files_that_the_run_was_begun_with(begun: Job) -> None:
    train_seed_in_process(begun, 1)
    assert begun.folder.scores(1).exists()


def test_other_data_are_named(begun: Job, tmp_path: Path) -> None:
    with (tmp_path / "data/train.tsv").open("a", encoding="utf-8") as file:
        file.write("ny rad\tglad\n")
    refused(lambda: train_seed_in_process(begun, 1), file="run")
    assert not begun.folder.seed(1).exists()


def test_another_precision_is_named(begun: Job) -> None:
    write_json(begun.folder.inputs, {**read_json(begun.folder.inputs), "precision": "bf16-mixed"})
    refused(lambda: train_seed_in_process(begun, 1))
