"""Whole runs of the LSTM."""

import gc
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import job
from elmo_files import write_elmo
from input_errors import raises_input_error

import mtl
from mtl.jobs.baseline import run_baseline
from mtl.methods import stage2
from mtl.model.sequences import ArraySequences

ELMO = {"lstm": {"dim": 24, "projection_dim": 10}}
LAST = "pretrain.checkpoint=last"
JIANT = "architecture=jiant head.projection=6 finetune.token_outputs=float32"
FAULTS = f"{LAST} finetune.encoder_dropout=true"  # as in the KLEJ paper's own code


def embeddings_settings(name: str, folder: Path) -> list[str]:
    """What makes these embeddings run on the small suite."""
    if name == "elmo":
        write_elmo(folder / "elmo", **ELMO)
        return ["embeddings=elmo", f"embeddings.path={folder / 'elmo'}", f"cache_dir={folder / 'cache'}"]
    if name == "fasttext":
        words = ["solen", "skiner", "regnet", "faller", "jag", "nummer", "gott"]
        vectors = np.random.default_rng(0).normal(size=(len(words), 12))
        (folder / "v.vec").write_text(
            "".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in zip(words, vectors, strict=True)),
            encoding="utf-8",
        )
        return ["embeddings=fasttext", f"embeddings.path={folder / 'v.vec'}"]
    return []


def given(settings: list[str], name: str, folder: Path, *more: str) -> list[str]:
    kept = [setting for setting in settings if name == "random" or not setting.startswith("embeddings.dim")]
    return [*kept, *embeddings_settings(name, folder), "seeds=[1]", "head.attention_size=6", *more]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("random", "frozen"),
        ("fasttext", "attention"),
        ("elmo", "finetune"),
        ("fasttext", f"frozen {FAULTS}"),
        ("elmo", f"attention {FAULTS}"),
        ("random", f"finetune {LAST}"),
        ("random", f"frozen {JIANT}"),
        ("fasttext", f"frozen {JIANT}"),
        ("elmo", f"attention {JIANT}"),
    ],
)
def test_what_a_run_saved_predicts_what_it_predicted(
    settings: list[str], suite_file: Path, tmp_path: Path, name: str, variant: str
) -> None:
    summary = run_baseline(job(given(settings, name, tmp_path, *f"variant={variant}".split())))
    assert (summary["family"], summary["embeddings"], summary["variant"]) == ("lstm", name, variant.split()[0])
    folder = suite_file.parent / "run"
    lines = (suite_file.parent / "data/test.tsv").read_text(encoding="utf-8").splitlines()[1:]
    predicted = (folder / "seed-1/predictions/test_pred_betyg.tsv").read_text(encoding="utf-8").splitlines()[1:]
    run = mtl.load(folder)
    again = run.predict("betyg", [[line] for line in lines])
    np.testing.assert_allclose([float(x) for x in again], [float(x) for x in predicted], atol=1e-4)
    held_out = json.loads((folder / "held_out.json").read_text())["samma"]
    rows = (suite_file.parent / "data/pairs/train.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [rows[line - 1].split("\t")[1:3] for line in held_out]
    predicted = (folder / "seed-1/predictions/dev_pred_samma.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert run.predict("samma", pairs) == predicted
    joined = {"random": 12, "fasttext": 12, "elmo": 20}[name] if "jiant" in variant else 0
    assert run.encode(["solen skiner", "något annat"]).shape == (2, 16 + joined)
    assert summary["architecture"] == ("jiant" if "jiant" in variant else "paper")


@pytest.mark.slow
def test_the_cost_counts_one_encoder_all_heads_and_both_stages(settings: list[str], tmp_path: Path) -> None:
    run = job(given(settings, "random", tmp_path))
    run_baseline(run)
    cost = json.loads(run.folder.scores(1).read_text(encoding="utf-8"))["cost"]
    kept = torch.load(run.folder.seed(1) / "pretrain/best.ckpt", weights_only=True)["state_dict"]
    assert cost["parameters"] == sum(value.numel() for value in kept.values())
    table = kept["encoder.embedder.table.weight"].numel()
    assert cost["parameters_without_embeddings"] == cost["parameters"] - table
    seconds = {
        str(path.parent.relative_to(run.folder.seed(1))): json.loads(path.read_text(encoding="utf-8"))["seconds"]
        for path in run.folder.seed(1).rglob("done.json")
    }
    assert set(seconds) == {"pretrain", "finetune/kansla", "finetune/samma", "finetune/betyg"}
    assert cost["pretrain_seconds"] == seconds.pop("pretrain")
    assert cost["finetune_seconds"] >= sum(seconds.values())  # encoding the texts counts too
    assert cost["peak_memory"] > 0 and cost["sentences_per_second"] > 0


@pytest.mark.slow
def test_the_last_encoder_of_stage_1_is_the_run_s(
    settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stage 2 reads it, and so do predictions and sentence vectors."""
    from mtl.methods.lstm import two_stages

    read: list[dict[str, torch.Tensor]] = []
    encode_once = two_stages.encode_once

    def spy(config, dataset, sequences, network, *rest):  # type: ignore[no-untyped-def]
        read.append({name: value.clone() for name, value in network.state_dict().items() if "encoder" in name})
        return encode_once(config, dataset, sequences, network, *rest)

    monkeypatch.setattr(two_stages, "encode_once", spy)
    # The first validation of stage 1 is the best one.
    falling = itertools.count(0, -1)
    monkeypatch.setattr("mtl.training.module.score", lambda *_: float(next(falling)))
    for checkpoint in ("best", "last"):
        more = (f"pretrain.checkpoint={checkpoint}", f"run_dir={tmp_path / checkpoint}")
        run_baseline(job(given(settings, "random", tmp_path, *more)))
    best, last = read
    kept = torch.load(tmp_path / "last/seed-1/pretrain/final.ckpt", weights_only=True)["state_dict"]
    assert all(torch.equal(last[name], kept[name]) for name in last)
    assert not any(torch.equal(last[name], best[name]) for name in last)
    assert not (tmp_path / "last/seed-1/pretrain/best.ckpt").exists()
    loaded = mtl.load(tmp_path / "last").model.encoder.state_dict()
    assert all(torch.equal(last[f"encoder.{name}"], value) for name, value in loaded.items())


@pytest.mark.slow
def test_without_its_cache_elmo_gives_the_same(settings: list[str], tmp_path: Path) -> None:
    scores = []
    for cache in ("true", "false"):
        more = ("variant=finetune", f"embeddings.cache={cache}", f"run_dir={tmp_path / cache}")
        scores.append(run_baseline(job(given(settings, "elmo", tmp_path, *more)))["tasks"])
    assert scores[0] == scores[1]
    cached, computed = (
        torch.load(tmp_path / cache / "seed-1/pretrain/best.ckpt", weights_only=True) for cache in ("true", "false")
    )
    for name, value in cached["state_dict"].items():
        assert torch.equal(value, computed["state_dict"][name]), name
    assert list((tmp_path / "cache").glob("elmo-*-float16-*/*.rows.npy"))


@pytest.mark.slow
def test_another_elmo_is_not_the_run_s(settings: list[str], suite_file: Path, tmp_path: Path) -> None:
    all_settings = given(settings, "elmo", tmp_path)
    run_baseline(job(all_settings))
    write_elmo(tmp_path / "elmo", scale=0.9, **ELMO)
    with raises_input_error(file="elmo"):
        mtl.load(suite_file.parent / "run")
    with raises_input_error(file="run"):
        (suite_file.parent / "run/summary.json").unlink()
        run_baseline(job(all_settings))


@pytest.mark.slow
def test_a_threshold_is_chosen_in_the_precision_of_the_predictions(
    settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row_outputs, in_bfloat16 = stage2.row_outputs, []

    def spy(*arguments):  # type: ignore[no-untyped-def]
        in_bfloat16.append(torch.is_autocast_enabled("cpu"))
        return row_outputs(*arguments)

    monkeypatch.setattr(stage2, "row_outputs", spy)
    precision = ("trainer.accelerator=cpu", "trainer.precision=bf16-mixed", "trainer.force_precision=true")
    run_baseline(job(given(settings, "random", tmp_path, "tasks=[samma]", "finetune.threshold=dev", *precision)))
    assert in_bfloat16 == [True]


@pytest.mark.slow
def test_the_token_outputs_of_a_seed_do_not_outlast_the_next_seed(settings: list[str], tmp_path: Path) -> None:
    chosen = job([*settings, "seeds=[1,2]", "head.projection=6", "pretrain.max_steps=2", "finetune.max_epochs=1"])
    gc.collect()
    gc.disable()
    try:
        run_baseline(chosen)
        found = [each for each in gc.get_objects() if type(each) is ArraySequences]
        kept = [sequences for sequences in found if isinstance(sequences.rows, np.memmap)]
    finally:
        gc.enable()
    assert len(kept) <= 1
