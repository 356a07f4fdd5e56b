"""The whole job, as its user runs it."""

import random
import re
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import content, job
from data_files import read_json
from embedding_requests import train_one_epoch
from input_errors import refused
from processes import start

from mtl.api.cli import main
from mtl.base.settings.schema import TrainerConfig
from mtl.data.examples import read_examples, read_targets
from mtl.data.records import read_records
from mtl.jobs.baseline import run_baseline
from mtl.jobs.together import train_seed_in_process
from mtl.methods import network_training
from mtl.model.network import Batch, Network
from mtl.runs.folder import RunFolder
from mtl.tasks.metrics import score
from mtl.tasks.suite import Suite, load_suite
from mtl.tasks.task import ScoredRows
from mtl.training import stage as fitting
from mtl.training.module import MultitaskModule


@pytest.fixture(scope="module")
def working_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the runs on the embedded suite share its data and the cache of tokenized texts."""
    return tmp_path_factory.mktemp("embedded")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("embeddings", "seeds"),
    [("random", [1]), *(pytest.param(*wing, marks=pytest.mark.wings) for wing in (("fasttext", [1]), ("elmo", [2])))],
)
def test_the_embedded_suite_end_to_end(
    working_dir: Path,
    embeddings: str,
    seeds: list[int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(working_dir)
    train_one_epoch(monkeypatch)
    small = "encoder.hidden_size=16 head.hidden_size=32 pretrain.max_steps=40 pretrain.validate_every=20 finetune.max_epochs=2"
    command = ["baseline", f"embeddings={embeddings}", f"seeds={seeds}", *small.split()]
    assert main(command) == 0
    output = capsys.readouterr().out
    lines = output.strip().splitlines()
    assert lines[0].startswith("suite klej-sample (data/klej-sample)") and lines[-1].startswith("suite klej-sample:")
    folder = RunFolder(Path(f"runs/klej-sample/{embeddings}-frozen"))
    assert folder.table.read_text(encoding="utf-8").strip() in output
    summary = read_json(folder.summary)
    assert (summary["suite"], summary["embeddings"], summary["variant"]) == ("klej-sample", embeddings, "frozen")
    assert (summary["seeds"], summary["partial"]) == (seeds, False)
    suite = load_suite(folder.suite)
    check_rows(folder)
    check_scores(folder, suite, summary)
    check_facts(folder, embeddings, summary)
    with zipfile.ZipFile(folder.submission(seeds[0])) as archive:
        assert archive.namelist() == [f"test_pred_{id}.tsv" for id in suite.tasks]
    check_stage_2(folder, suite, summary)
    # A finished run is not run again.
    before = {path: path.stat().st_mtime_ns for path in folder.path.rglob("*.ckpt")}
    assert main(command) == 0 and "is finished" in caplog.messages[-1]
    assert before == {path: path.stat().st_mtime_ns for path in folder.path.rglob("*.ckpt")}


def check_rows(folder: RunFolder) -> None:
    """Which rows are held out and which of them belong together is recorded."""
    held_out, rows = read_json(folder.held_out), read_json(folder.scored_rows)
    assert set(held_out) == {"cbd", "dyk", "psc"}
    assert rows["cdsc-e"] == rows["cdsc-r"] and rows["polemo2.0-in"] != rows["polemo2.0-out"]
    records = read_records(Path("data/klej-sample/klej_dyk/train.tsv"), ["q_id"])
    questions = [record.values[0] for record in records]
    lines, groups = held_out["dyk"], rows["dyk"]["groups"]
    assert [questions[line - 2] for line in lines] == [questions[lines[groups.index(group)] - 2] for group in groups]


def check_scores(folder: RunFolder, suite: Suite, summary: dict[str, Any]) -> None:
    """The score is the metric of the predictions on file against the gold on file, and the summary has the medians."""
    held_out, medians = read_json(folder.held_out), []
    for id, task in suite.tasks.items():
        of_task = summary["tasks"][id]
        assert of_task["split"] == "dev"
        medians.append(sorted(of_task["scores"].values())[len(summary["seeds"]) // 2])
        assert of_task["median"] == medians[-1]
        data = Path("data/klej-sample") / task.folder
        examples = read_examples(task, data / ("train.tsv" if id in held_out else "dev.tsv"))
        gold = np.array([row.target for row in examples if id not in held_out or row.line in held_out[id]])
        assert (read_targets(task, folder.gold("dev", id)) == gold).all()
        for seed in summary["seeds"]:
            predictions = read_targets(task, folder.predictions(seed, "dev", id))
            assert of_task["scores"][str(seed)] == pytest.approx(score(task, predictions, ScoredRows(gold)), abs=1e-4)
            tests = read_targets(task, folder.predictions(seed, "test", id))
            assert len(tests) == len(read_examples(task, data / "test_features.tsv", targets=False))
    assert summary["average"] == pytest.approx(sum(medians) / 9)


def check_facts(folder: RunFolder, embeddings: str, summary: dict[str, Any]) -> None:
    """The summary says what the run took and what made it."""
    cost = summary["cost"]
    assert cost["parameters"] > cost["parameters_without_embeddings"] > 16 * 16
    assert all(cost[key] > 0 for key in ("pretrain_seconds", "finetune_seconds", "peak_memory", "sentences_per_second"))
    assert summary["command"].startswith(f"mtl baseline embeddings={embeddings} ")
    assert summary["config"]["encoder.hidden_size"] == 16 and "klej_cbd/train.tsv" in summary["inputs"]
    assert summary["versions"][0]["mtl"] and summary["machine"][0].startswith(("CPU: ", "GPU: "))
    assert (summary["family"], summary["folder"]) == ("lstm", folder.path.name)
    assert summary["title"].startswith("LSTM, ") and summary["chosen_on_dev"] == "checkpoints"


def check_stage_2(folder: RunFolder, suite: Suite, summary: dict[str, Any]) -> None:
    """Stage 2 learns, from what stage 1 left; the predictions are those of the best validation."""
    first, last = 0.0, 0.0
    for id in suite.tasks:
        for seed in summary["seeds"]:
            done = read_json(folder.seed(seed) / f"finetune/{id}/done.json")
            curve = done["curve"]
            assert curve[0]["step"] == 0 and done["average"] == pytest.approx(max(row["dev/average"] for row in curve))
            assert summary["tasks"][id]["scores"][str(seed)] == pytest.approx(done["average"], abs=1e-4)
            first, last = first + curve[1]["train/loss"], last + curve[-1]["train/loss"]
    assert last < first


@pytest.mark.slow
def test_another_configuration_or_other_data_is_refused(settings: list[str], small_run: Path, tmp_path: Path) -> None:
    shutil.copytree(small_run, tmp_path / "run")
    copy = [*settings, f"suite={small_run.parent / 'liten.yaml'}", "seeds=[1,2]"]
    refused(lambda: run_baseline(job([*copy, "max_length=9"])))
    path = tmp_path / "data/train.tsv"
    path.write_text(path.read_text(encoding="utf-8") + "ny rad\tglad\n", encoding="utf-8")
    refused(lambda: run_baseline(job(copy)))
    (tmp_path / "run/summary.json").unlink()
    refused(lambda: run_baseline(job(copy)))


def test_tasks_chooses_a_subset_where_others_are_missing(floor_settings: list[str], tmp_path: Path) -> None:
    (tmp_path / "data/pairs/train.tsv").unlink()
    plain = [*floor_settings, "method=constant", "seeds=[1]"]
    refused(lambda: run_baseline(job(plain)))
    # What was refused has not claimed the folder.
    summary = run_baseline(job([*plain, "tasks=[kansla,betyg]"]))
    assert summary["partial"] and summary["missing"] == ["samma"]


def test_a_submission_may_have_another_header(floor_settings: list[str], tmp_path: Path) -> None:
    run_baseline(job([*floor_settings, "method=constant", "seeds=[1]", "submission.header=target"]))
    for file in (tmp_path / "run/seed-1/predictions").glob("*_kansla.tsv"):
        assert file.read_text(encoding="utf-8").startswith("target\n")


def test_float32_is_exact_while_it_runs(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def prepare(*_: object, **options: object) -> None:
        seen.append(torch.backends.cudnn.rnn.fp32_precision)
        raise KeyboardInterrupt

    monkeypatch.setattr("mtl.jobs.baseline.prepare", prepare)
    monkeypatch.setattr("mtl.jobs.together.prepare", prepare)
    baseline = job([*settings, "seeds=[1]"])
    for run in (lambda: run_baseline(baseline), lambda: train_seed_in_process(baseline, 1)):
        with pytest.raises(KeyboardInterrupt):
            run()
    assert seen == ["ieee", "ieee"]


@pytest.mark.parametrize(("stage", "section"), [("stage 1", "pretrain"), ("stage 2 · kansla", "finetune")])
def test_divergence_is_one_line_and_status_1(
    settings: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stage: str,
    section: str,
) -> None:
    command = ["baseline", *settings, "seeds=[1]", "tasks=[kansla,betyg]"]
    first = f"seed 1 · {stage}"

    def diverging(network: Network, batch: Batch) -> torch.Tensor:
        return network(batch).sum() * torch.nan

    def fit(module: MultitaskModule, of: fitting.Stage, config: TrainerConfig) -> None:
        with monkeypatch.context() as patch:
            if of.title == first:
                patch.setattr(Network, "loss", diverging)
            fitting.fit(module, of, config)

    monkeypatch.setattr(network_training, "fit", fit)
    assert main(command) == 1
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert re.fullmatch(
        rf"mtl: error: {first}: training diverged \(task \w+, step 1: the loss is nan\); "
        rf"(.*best.ckpt keeps the last good weights; )?set a smaller {section}.learning_rate=, .* set run_dir=",
        last,
    )
    assert not (tmp_path / "run/seed-1/scores.json").exists()
    # What it says to try needs another folder.
    assert main([*command, f"{section}.learning_rate=0.00005"]) == 2
    assert "was made with another configuration" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "moments"),
    [
        ("frozen", ["pretrain/log", "pretrain/last.ckpt", "finetune/kansla/best.ckpt", "predictions"]),
        ("finetune", ["pretrain/last.ckpt", "finetune/kansla/last.ckpt", "finetune/samma/last.ckpt"]),
        ("attention", ["finetune/samma/last.ckpt", "finetune/betyg"]),
        ("frozen preset=laptop", ["pretrain/last.ckpt", "finetune/samma/last.ckpt", "finetune/betyg/done.json"]),
    ],
)
def test_killed_at_any_moment_it_ends_as_if_undisturbed(
    settings: list[str], tmp_path: Path, variant: str, moments: list[str]
) -> None:
    more = ["seeds=[1]", "pretrain.max_steps=32", "finetune.max_epochs=3", "head.attention_size=8"]
    command = ["baseline", *settings, *more, *f"variant={variant}".split()]
    plain, killed = tmp_path / "plain", tmp_path / "killed"
    assert main([*command, f"run_dir={plain}"]) == 0
    chance = random.Random(1)
    for moment in moments:
        # Killed when it reports a point of progress that it had not reached before.
        point = killed / "seed-1" / moment
        seen = point.stat().st_mtime_ns if point.exists() else None
        process = start([*command, f"run_dir={killed}"], tmp_path / "errors")
        while process.is_alive():
            if point.exists() and point.stat().st_mtime_ns != seen:
                process.join(chance.uniform(0, 0.2))
                process.kill()
                process.join()
            process.join(0.002)
    assert main([*command, f"run_dir={killed}"]) == 0
    assert content(plain) == content(killed)
