"""`mtl import`: runs of the predictions of other systems."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from data_files import read_json
from input_errors import refused
from kinds_suite import write_kinds_suite

import mtl
from mtl.api.cli import main
from mtl.jobs.baseline import run_baseline
from mtl.jobs.imports import import_job
from mtl.runs.finished import find_runs

TASKS = ["cbd", "cdsc-r", "ar"]


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of two seeds whose predictions are imported."""
    path = tmp_path_factory.mktemp("floor")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        assert main(["baseline", "method=random", "seeds=[1,2]", f"tasks=[{','.join(TASKS)}]"]) == 0
    return path


@pytest.fixture
def home(floor: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder with the floor's data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(floor / "data")
    return tmp_path


def predictions(floor: Path, seed: int) -> Path:
    return floor / f"runs/klej-sample/random/seed-{seed}/predictions"


def summary(home: Path, name: str, suite: str = "klej-sample") -> dict[str, Any]:
    return read_json(home / f"runs/{suite}/{name}/summary.json")


@pytest.mark.slow
def test_an_imported_run_has_the_scores_of_the_run_that_made_the_predictions(floor: Path, home: Path) -> None:
    system = "title: A model\nfamily: llm\nparameters: 7000000000\nlink: https://example.org/model\n"
    (home / "system.yaml").write_text(system, encoding="utf-8")
    paths = [str(predictions(floor, seed)) for seed in (1, 2)]
    assert main(["import", "guess", *paths, "suite=klej-sample", "system=system.yaml"]) == 0
    own, original = summary(home, "guess"), summary(floor, "random")
    assert own["tasks"] == original["tasks"] and own["average"] == original["average"]
    assert (own["method"], own["title"], own["family"]) == ("imported", "A model, imported", "llm")
    assert own["cost"]["parameters"] == 7_000_000_000 and own["cost"]["finetune_seconds"] is None
    assert own["machine"] == ["not stated"] and "https://example.org/model" in own["notes"][1]
    assert all(own["inputs"][f"predictions of seed {seed}"] in own["notes"][0] for seed in (1, 2))
    for seed in (1, 2):
        for file in predictions(floor, seed).glob("*"):
            copy = home / f"runs/klej-sample/guess/seed-{seed}/predictions/{file.name}"
            assert copy.read_bytes() == file.read_bytes()
    # The whole way goes on from such a run: the report, with tests, and the leaderboard's check.
    assert main(["import", "again", *reversed(paths), "suite=klej-sample", "seed=[2,1]"]) == 0
    assert main(["report"]) == 0
    assert {run.name for run in find_runs(home / "runs")} == {"guess", "again"}
    assert "A model, imported, 2 seeds" in (home / "report/report.md").read_text(encoding="utf-8")
    assert "not trained by mtl" in (home / "report/index.html").read_text(encoding="utf-8")


def test_one_seed_some_tasks_and_dev_alone_and_a_zip_of_a_run(floor: Path, home: Path) -> None:
    (home / "theirs").mkdir()
    shutil.copy(predictions(floor, 2) / "dev_pred_ar.tsv", home / "theirs")
    for _ in range(2):  # then it is finished
        assert main(["import", "theirs", "theirs", "suite=klej-sample", "seed=7"]) == 0
    done = summary(home, "theirs")
    assert (done["seeds"], list(done["tasks"])) == ([7], ["ar"])
    # Without test predictions there is no submission.
    lacking = "none is written, since predictions are missing for test rows of ar"
    assert read_json(home / "runs/klej-sample/theirs/seed-7/scores.json")["remarks"] == [lacking]
    assert not list(home.glob("runs/klej-sample/theirs/seed-7/*.zip"))
    # A zip of a run is taken.
    archive = shutil.make_archive(str(home / "both"), "zip", predictions(floor, 1))
    run = run_baseline(import_job("zipped", [Path(archive)], {"suite": "klej-sample"}))
    assert set(run["tasks"]) == set(TASKS)


def test_test_predictions_alone_are_a_submission_and_what_is_left_out_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    write_kinds_suite(tmp_path)
    caplog.set_level("INFO", "mtl")
    lines = Path("data/opposite/test.jsonl").read_text(encoding="utf-8").splitlines()
    words = [json.loads(line)["opposite"] for line in lines]
    given = {"opposite": {"test": words}, "mood": {"test": ["good"] * 12}, "mood-elsewhere": ["good"] * 12}
    Path("data/elsewhere/test.jsonl").unlink()
    run = mtl.import_predictions("theirs", given, suite="kinds.yaml", data_dir="data")
    with zipfile.ZipFile(run.path / "seed-1/submission.zip") as archive:
        assert archive.namelist() == ["test_pred_opposite.tsv"]
    assert "left out: mood, since predictions for dev, the scored split, are missing" in caplog.messages
    assert "left out: mood-elsewhere, since data/elsewhere/test.jsonl is missing" in caplog.messages


@pytest.mark.slow
def test_folders_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The submission of a run on the Swedish sample has rows."""
    monkeypatch.chdir(tmp_path)
    chosen = "tasks=[absabank-imm,swewic,swefaq]"
    assert main(["baseline", "suite=superlim-sample", "method=random", "seeds=[1]", chosen]) == 0
    shutil.copytree("runs/superlim-sample/random/seed-1/submission", "theirs")
    assert main(["import", "theirs", "theirs", "suite=superlim-sample"]) == 0
    tasks = summary(tmp_path, "random", "superlim-sample")["tasks"]
    assert summary(tmp_path, "theirs", "superlim-sample")["tasks"] == tasks
    # A submission on more rows than are here, in any order, gives those of the rows that are here.
    file = Path("theirs/swewic/dev.jsonl")
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)[::-1]
    other = json.loads(lines[0])
    other["first"]["context"] += " Annan."
    file.write_text("".join([json.dumps(other) + "\n", *lines]), encoding="utf-8")
    assert main(["import", "more", "theirs", "suite=superlim-sample"]) == 0
    assert summary(tmp_path, "more", "superlim-sample")["tasks"] == tasks


def test_settings_that_make_no_sense(home: Path, floor: Path) -> None:
    path, settings = predictions(floor, 1), {"suite": "klej-sample"}
    refused(lambda: import_job("../out", [path], settings), key="NAME")
    refused(lambda: import_job("a", [], settings), key="a")
    refused(lambda: import_job("a", [home / "none"], settings), file="none")
    (home / "empty").mkdir()
    refused(lambda: import_job("a", [home / "empty"], settings), file="empty")
    (home / "mine.csv").write_text("prediction\nja\n", encoding="utf-8")
    refused(lambda: import_job("a", [home / "mine.csv"], settings), file="mine.csv")  # it stands in no folder
    (home / "system.yaml").write_text("colour: red\n", encoding="utf-8")
    refused(lambda: import_job("a", [path], {**settings, "system": "system.yaml"}), file="system.yaml")
    refused(lambda: import_job("a", [path], {**settings, "systm": "system.yaml"}))
    refused(lambda: run_baseline(import_job("a", [path], {**settings, "seed": [1, 2]})), key="imported.predictions")
    refused(lambda: run_baseline(import_job("a", [path], {**settings, "tasks": ["dyk"]})), file="predictions")
