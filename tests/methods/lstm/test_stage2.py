"""Stage 2 in its variants."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from elmo_files import write_elmo

import mtl
from mtl.config.load import load_config
from mtl.data.dataset import load_dataset
from mtl.embedders import build_embeddings
from mtl.jobs.baseline import run_baseline
from mtl.methods.lstm import two_stages
from mtl.methods.lstm.stage1 import new_model
from mtl.methods.lstm.stage2 import finetune, stage_inputs
from mtl.model.encoder import Encoder, past_end
from mtl.model.lstm import BiLSTM
from mtl.training.fit import BestWeights

ELMO = {"lstm": {"dim": 24, "projection_dim": 10}}
LAST = "pretrain.checkpoint=last"
FAULTS = f"{LAST} finetune.encoder_dropout=true"


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
@pytest.mark.parametrize(
    "variant", ["frozen", "finetune", "attention", f"frozen {FAULTS}", f"attention {FAULTS}", f"finetune {LAST}"]
)
def test_every_variant_with_every_embedding(
    settings: list[str], suite_file: Path, tmp_path: Path, name: str, variant: str
) -> None:
    """It runs, and what it saved predicts what it predicted."""
    summary = run_baseline(*load_config(given(settings, name, tmp_path, *f"variant={variant}".split())))
    assert (summary["embeddings"], summary["variant"]) == (name, variant.split()[0])
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
    settings: list[str], suite_file: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The last weights, not the best ones, which may be those that stage 2 began with.
    monkeypatch.setattr(BestWeights, "keeps", lambda *_: True)
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


@pytest.mark.parametrize("variant", ["frozen", "finetune", "attention", "frozen finetune.encoder_dropout=true"])
def test_what_stage_1_left_is_the_first_candidate(
    settings: list[str], suite_file: Path, tmp_path: Path, variant: str
) -> None:
    # At this learning rate no prediction changes, so that nothing is better.
    slow = ("finetune.learning_rate=1e-12", "finetune.final_learning_rate=1e-13", *f"variant={variant}".split())
    run_baseline(*load_config(given(settings, "random", tmp_path, *slow)))
    folder = suite_file.parent / "run/seed-1"
    first = torch.load(folder / "pretrain/best.ckpt", weights_only=True)["state_dict"]
    for place, task in enumerate(("kansla", "samma", "betyg")):
        done = json.loads((folder / f"finetune/{task}/done.json").read_text(encoding="utf-8"))
        assert [row["step"] for row in done["curve"]][:1] == [0] and len(done["curve"]) == 3
        assert done["average"] == pytest.approx(done["curve"][0]["dev/average"])
        kept = torch.load(folder / f"finetune/{task}/best.ckpt", weights_only=True)["state_dict"]
        for name, value in kept.items():
            assert torch.equal(value, first[name.replace("heads.layers.0.", f"heads.layers.{place}.")]), name


def test_the_last_encoder_of_stage_1_is_the_run_s(
    settings: list[str], suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stage 2 reads it, and so do predictions and sentence vectors."""
    read: list[dict[str, torch.Tensor]] = []

    def spy(config, dataset, table, encoder, *rest):  # type: ignore[no-untyped-def]
        read.append({f"encoder.{name}": t.clone() for name, t in encoder.state_dict().items()})
        return stage_inputs(config, dataset, table, encoder, *rest)

    monkeypatch.setattr(two_stages, "stage_inputs", spy)
    # The first validation of stage 1 is the best one.
    falling = itertools.count(0, -1)
    monkeypatch.setattr("mtl.model.multitask.score", lambda *_: float(next(falling)))
    for checkpoint in ("best", "last"):
        folder = tmp_path / checkpoint
        run_baseline(
            *load_config(given(settings, "random", tmp_path, f"pretrain.checkpoint={checkpoint}", f"run_dir={folder}"))
        )
    curve = json.loads((tmp_path / "last/seed-1/pretrain/done.json").read_text(encoding="utf-8"))["curve"]
    averages = [row["dev/average"] for row in curve]
    assert len(averages) == 3
    best, last = read
    kept = torch.load(tmp_path / "last/seed-1/pretrain/final.ckpt", weights_only=True)
    assert kept["average"] == pytest.approx(averages[-1])
    assert all(torch.equal(last[name], kept["state_dict"][name]) for name in last)
    assert not any(torch.equal(last[name], best[name]) for name in last)
    assert not (tmp_path / "last/seed-1/pretrain/best.ckpt").exists()
    loaded = mtl.load(tmp_path / "last").encoder.state_dict()
    assert all(torch.equal(last[f"encoder.{name}"], value) for name, value in loaded.items())


@pytest.mark.parametrize("name", ["random", "fasttext", "elmo"])
@pytest.mark.parametrize("variant", ["frozen", "attention"])
def test_without_any_dropout_to_leave_on_the_encoder_makes_no_difference(
    settings: list[str], tmp_path: Path, name: str, variant: str
) -> None:
    """The same rows in the same batches: the dropout of the encoder is all that the switch changes."""
    more = (f"variant={variant}", "embeddings.dropout=0", "encoder.dropout=0")
    curves, states = [], []
    for switch in ("false", "true"):
        run = tmp_path / switch
        switches = (f"finetune.encoder_dropout={switch}", f"run_dir={run}")
        run_baseline(*load_config(given(settings, name, tmp_path, *more, *switches)))
        folders = sorted((run / "seed-1/finetune").iterdir())
        curves.append([json.loads((folder / "done.json").read_text(encoding="utf-8"))["curve"] for folder in folders])
        states.append([torch.load(folder / "best.ckpt", weights_only=True)["state_dict"] for folder in folders])
    for one, other in zip(*curves, strict=True):
        losses = [[row["train/loss"] for row in curve[1:]] for curve in (one, other)]
        np.testing.assert_allclose(*losses, rtol=1e-4)
    for one, other in zip(*states, strict=True):
        assert set(one) == set(other)  # heads alone
        for key in one:
            torch.testing.assert_close(one[key], other[key], atol=1e-3, rtol=0)


@pytest.mark.parametrize("variant", ["frozen", "attention"])
def test_dropout_left_on_acts_on_training_alone(
    settings: list[str], suite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str
) -> None:
    read: list[tuple[bool, float, float]] = []  # while the head trains; shares of zeros in embedded words, in outputs
    embedded: list[float] = []
    outputs = Encoder.outputs

    def zeros(values: torch.Tensor, lengths: torch.Tensor) -> float:
        inside = ~past_end(values, lengths)
        return float((values[inside] == 0).float().mean())

    def watched(self: Encoder, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        states = outputs(self, tokens, lengths)
        if not any(parameter.requires_grad for parameter in self.parameters()):  # in stage 2
            assert not states.requires_grad
            read.append((self.training, embedded[-1], zeros(states, lengths)))
        return states

    def lstm(self: BiLSTM, inputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        embedded.append(zeros(inputs, lengths))
        return forward(self, inputs, lengths)

    forward = BiLSTM.forward
    monkeypatch.setattr(Encoder, "outputs", watched)
    monkeypatch.setattr(BiLSTM, "forward", lstm)
    more = (f"variant={variant}", "finetune.encoder_dropout=true", "embeddings.dropout=0.3", "encoder.dropout=0.6")
    run_baseline(*load_config(given(settings, "random", tmp_path, *more)))
    training = np.array([shares for active, *shares in read if active])
    # Three tasks of 60, 60 and 54 rows in batches of 16, two epochs.
    assert len(training) == 24
    np.testing.assert_allclose(training.mean(axis=0), [0.3, 0.6], atol=0.02)
    assert (training > 0.15).all()
    resting = np.array([shares for active, *shares in read if not active])
    assert len(resting) > 0 and (resting == 0).all()
    # Stage 1's weights stay as they were, and are kept once.
    folder = suite_file.parent / "run/seed-1"
    kept = torch.load(folder / "pretrain/best.ckpt", weights_only=True)["state_dict"]
    loaded = mtl.load(suite_file.parent / "run").encoder.state_dict()
    assert all(torch.equal(kept[f"encoder.{name}"], value) for name, value in loaded.items())
    for task in ("kansla", "samma", "betyg"):
        assert weights(suite_file.parent / "run", f"finetune/{task}") == {}
        assert [path.name for path in (folder / "finetune" / task).rglob("*.ckpt")] == ["best.ckpt"]


def test_dropout_left_on_leaves_the_encoder_as_it_was(settings: list[str], suite_file: Path, tmp_path: Path) -> None:
    config, suite = load_config(given(settings, "random", tmp_path, "finetune.encoder_dropout=true"))
    dataset = load_dataset(suite, suite.choose(None), suite_file.parent / "data", 50, 0.1)
    embeddings = build_embeddings(config, suite, dataset, torch.device("cpu"))
    table = embeddings.table(dataset.texts)
    encoder, heads = new_model(config, dataset.tasks, embeddings, seed=1)
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    inputs = stage_inputs(config, dataset, table, encoder, heads, 1, tmp_path)
    assert inputs.encoder is encoder and inputs.vectors is None and inputs.table is table
    for task in dataset.tasks:
        finetune(config, dataset, task, inputs, heads, 1, tmp_path / task.id)
    assert all(torch.equal(before[name], value) for name, value in encoder.state_dict().items())


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
    assert list((tmp_path / "cache").glob("elmo-*-float16-*/*.rows.npy"))


def test_another_elmo_is_not_the_run_s(settings: list[str], suite_file: Path, tmp_path: Path) -> None:
    all_settings = given(settings, "elmo", tmp_path)
    run_baseline(*load_config(all_settings))
    write_elmo(tmp_path / "elmo", scale=0.9, **ELMO)
    with pytest.raises(mtl.errors.InputError, match="elmo: is not the ELMo that the run was made with"):
        mtl.load(suite_file.parent / "run")
    with pytest.raises(mtl.errors.InputError, match="its inputs have changed since it was begun"):
        (suite_file.parent / "run/summary.json").unlink()
        run_baseline(*load_config(all_settings))
