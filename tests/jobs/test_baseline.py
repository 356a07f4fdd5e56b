"""The whole job, as its user runs it."""

import json
import math
import random
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
import torch
from command_line import content, mtl
from mtl.config.load import TrainerConfig, load_config
from mtl.data.reader import read_cells, read_examples, read_targets
from mtl.model.multitask import Multitask

from mtl.cli import main
from mtl.errors import InputError
from mtl.jobs.baseline import run_apart, run_baseline
from mtl.methods.lstm import stage1, stage2
from mtl.runs.folder import write_json
from mtl.sample.grammar import write_sample
from mtl.tasks.metrics import score
from mtl.tasks.suite import load_suite
from mtl.training import fit as fitting

# A stage 1 that lasts until it is interrupted.
LONG = ("pretrain.max_steps=100000", "pretrain.patience=100000")


@pytest.mark.parametrize(("embeddings", "seeds"), [("random", [1, 2, 3]), ("fasttext", [1]), ("elmo", [2])])
def test_the_embedded_suite_end_to_end(tmp_path: Path, embeddings: str, seeds: list[int]) -> None:
    small = "encoder.hidden_size=16 head.hidden_size=32 pretrain.max_steps=240 pretrain.validate_every=80 finetune.max_epochs=4"
    command = ["baseline", f"embeddings={embeddings}", f"seeds={seeds}", *small.split()]
    done = mtl(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    assert lines[0].startswith("suite klej-sample (data/klej-sample)") and lines[-1].startswith("suite klej-sample:")
    folder = tmp_path / f"runs/klej-sample/{embeddings}-frozen"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert (summary["suite"], summary["embeddings"], summary["variant"]) == ("klej-sample", embeddings, "frozen")
    assert (summary["seeds"], summary["split"], summary["partial"]) == (seeds, "dev", False)
    assert (folder / "table.md").read_text(encoding="utf-8").strip() in done.stdout
    suite = load_suite(folder / "suite.yaml")
    held_out = json.loads((folder / "held_out.json").read_text(encoding="utf-8"))
    assert set(held_out) == {"cbd", "dyk", "psc"}
    dev_rows = json.loads((folder / "dev_rows.json").read_text(encoding="utf-8"))
    assert dev_rows["cdsc-e"] == dev_rows["cdsc-r"] and dev_rows["polemo2.0-in"] != dev_rows["polemo2.0-out"]
    questions = read_cells(tmp_path / "data/klej-sample/klej_dyk/train.tsv", ["q_id"])
    assert [questions[line - 2] for line in held_out["dyk"]] == [
        questions[held_out["dyk"][dev_rows["dyk"]["groups"].index(group)] - 2] for group in dev_rows["dyk"]["groups"]
    ]
    medians = []
    for id, task in suite.tasks.items():
        values = summary["tasks"][id]["scores"]
        medians.append(sorted(values.values())[len(seeds) // 2])
        assert summary["tasks"][id]["median"] == medians[-1]
        data = tmp_path / "data/klej-sample" / task.folder
        for seed in seeds:
            # The score is the metric of the predictions on file against the gold on file.
            gold = read_examples(task, data / ("train.tsv" if id in held_out else "dev.tsv"))
            if id in held_out:
                gold = [row for row in gold if row.line in held_out[id]]
            cells = [row[0] for row in read_cells(folder / f"seed-{seed}/predictions/dev_pred_{id}.tsv", [task.target])]
            tensors = [to_tensor([task.value(cell) for cell in cells]), to_tensor([row.target for row in gold])]
            assert values[str(seed)] == pytest.approx(score(task, *tensors), abs=1e-4)
            assert read_cells(folder / f"gold/dev_{id}.tsv", [task.target]) == [
                (task.cell(row.target),) for row in gold if row.target is not None
            ]
            tests = read_cells(folder / f"seed-{seed}/predictions/test_pred_{id}.tsv", [task.target])
            assert len(tests) == len(read_cells(data / "test_features.tsv", task.text))
    assert summary["average"] == pytest.approx(sum(medians) / 9)
    cost = summary["cost"]
    assert cost["parameters"] > cost["parameters_without_embeddings"] > 16 * 16
    assert all(cost[key] > 0 for key in ("pretrain_seconds", "finetune_seconds", "peak_memory", "sentences_per_second"))
    assert summary["command"].startswith(f"mtl baseline embeddings={embeddings} ")
    assert summary["config"]["encoder.hidden_size"] == 16 and "klej_cbd/train.tsv" in summary["inputs"]
    assert summary["versions"][0]["mtl"] and summary["machine"][0].startswith(("CPU: ", "GPU: "))
    with zipfile.ZipFile(folder / f"seed-{seeds[0]}/submission.zip") as archive:
        assert archive.namelist() == [f"test_pred_{id}.tsv" for id in suite.tasks]
    # Stage 2 learns, from what stage 1 left; what is predicted is what the best validation saw.
    first, last = 0.0, 0.0
    for id in suite.tasks:
        for seed in seeds:
            done = json.loads((folder / f"seed-{seed}/finetune/{id}/done.json").read_text(encoding="utf-8"))
            curve = done["curve"]
            assert curve[0]["step"] == 0 and done["average"] == pytest.approx(max(row["dev/average"] for row in curve))
            assert summary["tasks"][id]["scores"][str(seed)] == pytest.approx(done["average"], abs=1e-4)
            first, last = first + curve[1]["train/loss"], last + curve[-1]["train/loss"]
    assert last < first
    # A finished run is not run again.
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.ckpt")}
    again = mtl(*command, cwd=tmp_path)
    assert again.returncode == 0 and "is finished" in again.stderr
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*.ckpt")}


def to_tensor(values: list[float | None]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_a_suite_of_one_s_own(settings: list[str]) -> None:
    config, suite = load_config(
        [
            *settings,
            "seeds=[1,2]",
            "pretrain.max_steps=150",
            "pretrain.validate_every=30",
            "pretrain.learning_rate=0.02",
            "finetune.learning_rate=0.01",
        ]
    )
    summary = run_baseline(config, suite)
    # Each single word tells a glad text from an angry one.
    assert summary["tasks"]["kansla"]["median"] == 100
    for seed in (1, 2):
        done = Path(config.run_dir or "") / f"seed-{seed}/pretrain/done.json"
        losses = [row["train/loss"] for row in json.loads(done.read_text(encoding="utf-8"))["curve"]]
        assert losses[-1] < losses[0] / 2
    assert set(summary["tasks"]) == {"kansla", "samma", "betyg"}
    assert not (Path(config.run_dir or "") / "seed-1/predictions/test_pred_samma.tsv").exists()  # it has no test file


def test_the_same_seed_gives_the_same_bytes(settings: list[str], tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        run_baseline(*load_config([*settings, "seeds=[3]", f"run_dir={folder}"]))
    assert content(folders[0]) == content(folders[1])
    run_baseline(*load_config([*settings, "seeds=[4]", f"run_dir={tmp_path / 'three'}"]))
    assert content(folders[0]) != content(tmp_path / "three")


def test_tasks_chooses_a_subset_where_others_are_missing(settings: list[str], suite_file: Path) -> None:
    (suite_file.parent / "data/pairs/train.tsv").unlink()
    with pytest.raises(InputError, match=r"missing of suite liten: samma; .*tasks=\[kansla,betyg\]"):
        run_baseline(*load_config(settings))
    # What was refused has not claimed the folder.
    summary = run_baseline(*load_config([*settings, "seeds=[1]", "tasks=[kansla,betyg]"]))
    assert summary["partial"] and summary["missing"] == ["samma"]


def test_another_configuration_or_other_data_is_refused(settings: list[str], suite_file: Path) -> None:
    run_baseline(*load_config([*settings, "seeds=[1]"]))
    with pytest.raises(InputError, match=r"another configuration \(max_length: 256 there, 9 here\)"):
        run_baseline(*load_config([*settings, "seeds=[1]", "max_length=9"]))
    path = suite_file.parent / "data/train.tsv"
    path.write_text(path.read_text(encoding="utf-8") + "ny rad\tglad\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"inputs have changed since it was begun \(train.tsv\)"):
        run_baseline(*load_config([*settings, "seeds=[1]"]))
    (suite_file.parent / "run/summary.json").unlink()
    with pytest.raises(InputError, match=r"inputs have changed since it was begun \(train.tsv\)"):
        run_baseline(*load_config([*settings, "seeds=[1]"]))


@pytest.mark.parametrize("variant", ["frozen", "finetune"])
def test_on_a_cpu_it_trains_in_bfloat16(settings: list[str], suite_file: Path, variant: str) -> None:
    more = ("seeds=[1]", "trainer.accelerator=cpu", "trainer.precision=bf16-mixed", f"variant={variant}")
    config, suite = load_config([*settings, *more])
    before = torch.backends.cudnn.rnn.fp32_precision
    run_baseline(config, suite)
    assert torch.backends.cudnn.rnn.fp32_precision == before
    folder = suite_file.parent / "run/seed-1"
    for id, task in suite.tasks.items():
        # Reading a prediction that is not finite would raise.
        gold = read_targets(task, folder.parent / f"gold/dev_{id}.tsv")
        assert len(read_targets(task, folder / f"predictions/dev_pred_{id}.tsv")) == len(gold)
        curve = json.loads((folder / f"finetune/{id}/done.json").read_text(encoding="utf-8"))["curve"]
        assert all(math.isfinite(row["train/loss"]) for row in curve[1:])


def test_16_mixed_is_refused_on_a_cpu_before_anything_is_read(
    settings: list[str], suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["baseline", *settings, "trainer.accelerator=cpu", "trainer.precision=16-mixed", "data_dir=nope"]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("mtl: error: trainer.precision=16-mixed: needs a GPU") and errors.count("\n") == 1
    assert not (suite_file.parent / "run").exists()


def test_float32_is_exact_while_it_runs(settings: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(*_: object) -> None:
        seen.append(torch.backends.cudnn.rnn.fp32_precision)
        raise KeyboardInterrupt

    monkeypatch.setattr("mtl.jobs.baseline.prepare", watched)
    config, suite = load_config([*settings, "seeds=[1]"])
    for job in (run_baseline, lambda *given: run_apart(*given, 1)):
        with pytest.raises(KeyboardInterrupt):
            job(config, suite)
    assert seen == ["ieee", "ieee"]


@pytest.mark.parametrize(("stage", "section"), [("stage 1", "pretrain"), ("stage 2 · kansla", "finetune")])
def test_divergence_is_one_line_and_status_1(
    settings: list[str],
    suite_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stage: str,
    section: str,
) -> None:
    command = ["baseline", *settings, "seeds=[1]", "tasks=[kansla,betyg]"]
    first = f"seed 1 · {stage}"

    def diverging(module: Multitask, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return outputs.sum() * torch.nan

    fit = fitting.fit

    def watched(module: Multitask, of: fitting.Stage, config: TrainerConfig) -> None:
        with monkeypatch.context() as patch:
            if of.title == first:
                patch.setattr("mtl.model.multitask.loss_of", diverging)
            fit(module, of, config)

    for module in (stage1, stage2):
        monkeypatch.setattr(module, "fit", watched)
    assert main(command) == 1
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert re.fullmatch(
        rf"mtl: error: {first}: training diverged \(task \w+, step 1: the loss is nan\); "
        rf"(.*best.ckpt keeps the last good weights; )?set a smaller {section}.learning_rate=, .* set run_dir=",
        last,
    )
    assert not (suite_file.parent / "run/seed-1/scores.json").exists()
    # What it says to try needs another folder.
    assert main([*command, f"{section}.learning_rate=0.00005"]) == 2
    assert "was made with another configuration" in capsys.readouterr().err


@pytest.mark.parametrize("stage", ["pretrain", "finetune/kansla"])
def test_a_finished_stage_is_not_trained_again(
    settings: list[str], suite_file: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    """It was killed after the stage had finished and before its checkpoint was removed."""
    folder = suite_file.parent / "run/seed-1" / stage
    config, suite = load_config([*settings, "seeds=[1]", "variant=finetune", "tasks=[kansla,betyg]"])

    def write_and_be_killed(path: Path, value: object) -> None:
        write_json(path, value)
        if path.parent == folder:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(fitting, "write_json", write_and_be_killed)
        run_baseline(config, suite)
    assert (folder / "last.ckpt").exists() and (folder / "done.json").exists()
    before = (folder / "best.ckpt").stat().st_mtime_ns
    trained: list[Path] = []
    fit = fitting.fit

    def watched(module: Multitask, stage: fitting.Stage, config: TrainerConfig) -> None:
        trained.append(stage.folder)
        fit(module, stage, config)

    for module in (stage1, stage2):
        monkeypatch.setattr(module, "fit", watched)
    run_baseline(config, suite)
    assert folder not in trained and trained[-1].name == "betyg"
    assert (folder / "best.ckpt").stat().st_mtime_ns == before
    assert not (folder / "last.ckpt").exists()


def test_a_header_of_one_s_choice(settings: list[str], suite_file: Path) -> None:
    run_baseline(*load_config([*settings, "seeds=[1]", "submission.header=target"]))
    path = suite_file.parent / "run/seed-1/predictions/test_pred_kansla.tsv"
    assert path.read_text(encoding="utf-8").startswith("target\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_says_so(settings: list[str], suite_file: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "mtl", "baseline", *settings, "seeds=[1]", *LONG]
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # background jobs inherit it ignored
    )
    checkpoint = suite_file.parent / "run/seed-1/pretrain/last.ckpt"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "mtl: interrupted; the same command continues"
    assert not (suite_file.parent / "run/summary.json").exists()


@pytest.mark.parametrize(
    ("variant", "moments"),
    [
        (
            "frozen",
            ["pretrain/log", "pretrain/last.ckpt", "finetune/nkjp-ner/best.ckpt", "finetune/cbd", "predictions"],
        ),
        ("finetune", ["pretrain/last.ckpt", "finetune/nkjp-ner/last.ckpt", "finetune/cdsc-r/last.ckpt"]),
        ("attention", ["finetune/cdsc-r/last.ckpt", "finetune/cbd"]),
        ("frozen pretrain.checkpoint=last pretrain.learning_rate=0.02", ["pretrain/final.ckpt", "pretrain/last.ckpt"]),
        ("frozen finetune.encoder_dropout=true", ["finetune/nkjp-ner/last.ckpt", "finetune/cdsc-r/best.ckpt"]),
    ],
)
def test_killed_at_any_moment_it_ends_as_if_undisturbed(tmp_path: Path, variant: str, moments: list[str]) -> None:
    write_sample(tmp_path / "data")
    common = "suite=klej-sample data_dir=data seeds=[1] tasks=[nkjp-ner,cdsc-r,cbd] encoder.hidden_size=16 trainer.threads=1 "
    common += (
        f"pretrain.max_steps=60 pretrain.validate_every=4 finetune.max_epochs=5 variant={variant} head.attention_size=8"
    )
    plain = mtl("baseline", *common.split(), "run_dir=plain", cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr
    # Killed when it reports a point of progress that it had not reached before, and once while it loads.
    command = [sys.executable, "-m", "mtl", "baseline", *common.split(), "run_dir=killed"]
    chance = random.Random(1)
    log = tmp_path / "killed/seed-1"
    for wanted in moments:
        seen = {path: path.stat().st_mtime_ns for path in log.rglob("*")}
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            path = log / wanted
            if path.exists() and seen.get(path) != path.stat().st_mtime_ns:
                try:
                    process.wait(chance.uniform(0, 0.2))
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.wait()
            time.sleep(0.002)
    last = mtl("baseline", *common.split(), "run_dir=killed", cwd=tmp_path)
    assert last.returncode == 0, last.stderr
    assert content(tmp_path / "plain") == content(tmp_path / "killed")
