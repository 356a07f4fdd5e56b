"""Stage 2 in its variants."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from elmo_files import write_elmo

import mtl
from mtl.config import load_config
from mtl.data.dataset import load_dataset
from mtl.embedders import build_embeddings
from mtl.training.baseline import run_baseline
from mtl.training.finetune import finetune, stage_inputs
from mtl.training.pretrain import new_model

ELMO = {"lstm": {"dim": 24, "projection_dim": 10}}


def embeddings_settings(name: str, folder: Path) -> list[str]:
    """What makes these embeddings run on the small suite, without its dim where they have none."""
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


@pytest.mark.parametrize("name", ["random", "fasttext", "elmo"])
@pytest.mark.parametrize("variant", ["frozen", "finetune", "attention"])
def test_every_variant_with_every_embedding(
    settings: list[str], suite_file: Path, tmp_path: Path, name: str, variant: str
) -> None:
    """It runs, and what it saved predicts what it predicted."""
    summary = run_baseline(*load_config(given(settings, name, tmp_path, f"variant={variant}")))
    assert (summary["embeddings"], summary["variant"]) == (name, variant)
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
    assert run.encode(["solen skiner", "något annat"]).shape == (2, 16)


def weights(folder: Path, stage: str) -> dict[str, torch.Tensor]:
    state = torch.load(folder / f"seed-1/{stage}/best.ckpt", weights_only=True)["state_dict"]
    return {name: value for name, value in state.items() if name.startswith("encoder.")}


@pytest.mark.parametrize("name", ["random", "elmo"])
def test_finetune_trains_the_encoder_and_not_the_embedding(
    settings: list[str], suite_file: Path, tmp_path: Path, name: str
) -> None:
    run_baseline(*load_config(given(settings, name, tmp_path, "variant=finetune")))
    folder = suite_file.parent / "run"
    before = weights(folder, "pretrain")
    for task in ("kansla", "samma", "betyg"):
        after = weights(folder, f"finetune/{task}")
        # The word vectors are fixed, and so not kept a second time; ELMo's mix is learned.
        assert set(before) - set(after) == ({"encoder.embedder.table.weight"} if name == "random" else set())
        assert all(not torch.equal(before[key], after[key]) for key in after)
    one, other = (weights(folder, f"finetune/{task}")["encoder.lstm.weight_ih_l0"] for task in ("kansla", "betyg"))
    assert not torch.equal(one, other)


def test_a_frozen_encoder_never_runs_twice_on_a_text(
    settings: list[str], suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With attention, pair tasks read token outputs that were computed once, others pooled vectors."""
    config, suite = load_config(given(settings, "random", tmp_path, "variant=attention"))
    dataset = load_dataset(suite, suite.choose(None), suite_file.parent / "data", 50, 0.1)
    embeddings = build_embeddings(config, suite, dataset, torch.device("cpu"))
    table = embeddings.table(dataset.texts)
    encoder, heads = new_model(config, dataset.tasks, embeddings, seed=1)
    (tmp_path / "stage").mkdir()
    inputs = stage_inputs(config, dataset, table, encoder, heads, 1, tmp_path / "stage")
    assert inputs.vectors is not None and inputs.table is not None and inputs.encoder is None
    texts = np.unique(dataset.splits["samma"]["train"].texts)
    states, lengths = inputs.table.gather(torch.from_numpy(texts))
    with torch.no_grad():
        expected = encoder.eval().outputs(*table.gather(torch.from_numpy(texts)))
    torch.testing.assert_close(states, expected, atol=1e-6, rtol=0)
    assert lengths.tolist() == dataset.texts.lengths[texts].tolist()
    assert not list((tmp_path / "stage").iterdir())  # what was kept on disk has no name
    monkeypatch.setattr(encoder.lstm, "forward", None)
    for task in dataset.tasks:
        finetune(config, dataset, task, inputs, heads, 1, tmp_path / task.id)


@pytest.mark.parametrize("variant", ["frozen", "finetune"])
def test_without_its_cache_elmo_gives_the_same(
    settings: list[str], suite_file: Path, tmp_path: Path, variant: str
) -> None:
    scores = []
    for cache in ("true", "false"):
        more = (f"variant={variant}", f"embeddings.cache={cache}", f"run_dir={tmp_path / cache}")
        scores.append(run_baseline(*load_config(given(settings, "elmo", tmp_path, *more)))["tasks"])
    assert scores[0] == scores[1]
    kept, live = (
        torch.load(tmp_path / cache / "seed-1/pretrain/best.ckpt", weights_only=True) for cache in ("true", "false")
    )
    for name, value in kept["state_dict"].items():
        assert torch.equal(value, live["state_dict"][name]), name
    assert list((tmp_path / "cache").glob("elmo-*-float16/*.rows.npy"))


def test_another_elmo_is_not_the_run_s(settings: list[str], suite_file: Path, tmp_path: Path) -> None:
    all_settings = given(settings, "elmo", tmp_path)
    run_baseline(*load_config(all_settings))
    write_elmo(tmp_path / "elmo", scale=0.9, **ELMO)
    with pytest.raises(mtl.errors.InputError, match="elmo: is not the ELMo that the run was made with"):
        mtl.load(suite_file.parent / "run")
    with pytest.raises(mtl.errors.InputError, match="its inputs have changed since it was begun"):
        (suite_file.parent / "run/summary.json").unlink()
        run_baseline(*load_config(all_settings))
