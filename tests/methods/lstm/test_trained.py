import logging
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from input_errors import raises_input_error, refused
from lstm_parts import CHOICE, LABELS, NUMBERS, OTHER, TRAINED, WORDS, Parts, lstm_parts, rounded_inputs, stages

from mtl.data.dataset import Split
from mtl.methods.heads import check_size
from mtl.methods.lstm.outputs import ComputedOutputs, encode_once, reads_tokens
from mtl.methods.lstm.stage1 import SharedStage1, new_network, pretrain
from mtl.methods.lstm.trained import TrainedLstm, new_encoder
from mtl.methods.stage2 import Finetuning
from mtl.model.encoder import max_pool
from mtl.model.sequences import Sequences
from mtl.runs.folder import finetune_folder, pretrain_folder
from mtl.tasks.task import Task
from mtl.training.precision import mixed_precision

Trained = tuple[Parts, TrainedLstm, dict[str, np.ndarray]]


def trained_seed(folder: Path, *settings: str) -> Trained:
    """A seed after both stages, its model for new texts, and its predictions for test by task."""
    parts = lstm_parts(folder, *settings)
    shared = SharedStage1(folder / "shared", "key")
    network = pretrain(parts.config, parts.data, parts.sequences, parts.embeddings, 1, pretrain_folder(folder), shared)
    encoder = network.encoder
    predictions = {}
    for stage in stages(parts, network, folder, finetune_folder).values():
        made = stage.train(network.heads)
        for answered in (WORDS, OTHER) if stage.task is WORDS else (stage.task,):
            predictions[answered.id] = stage.predict(made, answered)["test"]
    embeddings = parts.embeddings
    arguments = (encoder, embeddings.uncached_sequences, embeddings, parts.dataset.answers)
    return parts, TrainedLstm(parts.config, "sv", folder, *arguments), predictions


def texts_of(parts: Parts, task: Task) -> list[tuple[str, ...]]:
    """The texts of the task's test rows, as a user gives them."""
    split: Split = parts.dataset.splits[task.id]["test"]
    rows = []
    for row in range(len(split)):
        texts = [[parts.dataset.texts[text] for text in texts] for texts in split.texts[split.inputs(np.array([row]))]]
        rows.append(tuple(texts[0][:-1] + [given[-1] for given in texts]))
    return rows


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return trained_seed(tmp_path_factory.mktemp("frozen"))


def assert_predicts_the_same(trained: Trained) -> None:
    parts, model, predictions = trained
    for task in (LABELS, NUMBERS, CHOICE, WORDS, OTHER, LABELS):
        predicted = model.predict(task, texts_of(parts, task))
        if task is NUMBERS:
            np.testing.assert_allclose(predicted, predictions[task.id], atol=1e-4)
        else:
            assert predicted.tolist() == predictions[task.id].tolist(), task.id


def test_it_predicts_what_the_run_predicted(frozen: Trained) -> None:
    assert_predicts_the_same(frozen)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        *(("variant=finetune",), ("encoder.join_input=true", "boundary_words=true"), ("architecture=jiant", "variant=finetune")),
        *(("head.projection=6", "embeddings.max_words=9"), ("head.pair=cosine", "head.projection=6")),
        *(("head.pair=cosine", "variant=attention"), ("loss.choice=pairs", "head.overlap=true", "variant=attention")),
        ("head.overlap=true", "head.projection=6", "variant=attention"),
        ("architecture=jiant", "variant=attention"),
    ],
)  # fmt: skip
def test_variants_and_parts_predict_what_the_run_predicted(tmp_path: Path, settings: tuple[str, ...]) -> None:
    assert_predicts_the_same(trained_seed(tmp_path, "architecture=paper", "finetune.token_outputs=float32", *settings))


@pytest.mark.parametrize("settings", ["head.projection=6", "variant=attention"])
def test_outputs_are_rounded_as_stage_2_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str) -> None:
    parts, model, predictions = trained_seed(tmp_path, settings, "finetune.token_outputs=float16")
    given = rounded_inputs(monkeypatch)
    predicted = model.predict(NUMBERS, texts_of(parts, NUMBERS))
    assert given[0]
    # Kept outputs were computed in other batches: a sum that float32 rounds otherwise may have another float16 beside it.
    np.testing.assert_allclose(predicted, predictions["numbers"], atol=1e-4)


@pytest.mark.slow
def test_a_trained_encoder_s_outputs_are_not_rounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = trained_seed(tmp_path, "head.projection=6", "finetune.token_outputs=float16", "variant=finetune")
    given = rounded_inputs(monkeypatch)
    assert_predicts_the_same(trained)
    assert not any(given)


def test_text_vectors_are_those_of_stage_1_and_answers_need_a_checkpoint(frozen: Trained, tmp_path: Path) -> None:
    parts, model, _ = frozen
    texts = [parts.dataset.texts[5], "aldrig sett", parts.dataset.texts[5]]
    vectors = model.encode(texts)
    assert vectors.shape == (3, 16) and vectors.dtype == np.float32
    expected = model.encoder.encode(parts.sequences, torch.tensor([5])).numpy()
    np.testing.assert_allclose(vectors[[0, 2]], expected.repeat(2, axis=0), atol=1e-5)
    rows = [("fråga", "a", "b", "c"), ("en annan", "d"), ("tredje", "solen skiner", "regnet faller")]
    together = model.predict(CHOICE, rows)
    assert together.tolist() == [model.predict(CHOICE, [row])[0] for row in rows]
    assert together[1] == 0
    moved = TrainedLstm(
        model.config, "sv", tmp_path, model.encoder, model.to_sequences, model.embeddings, model.answers
    )
    for task in (WORDS, OTHER):
        with raises_input_error(file="best.ckpt"):
            moved.predict(task, texts_of(parts, task))


def test_networks_beyond_the_memory_are_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mtl.base.memory.machine_memory", lambda: 2**34)
    parts, before = lstm_parts(tmp_path), torch.random.get_rng_state()
    for section, name in (("encoder", "hidden_size"), ("head", "hidden_size"), ("head", "projection")):
        large = replace(getattr(parts.config, section), **{name: 10**8})
        config = replace(parts.config, **{section: large})
        refused(lambda config=config: new_network(config, TRAINED, parts.data.outputs, parts.embeddings, 1))
        if section == "encoder":
            refused(lambda config=config: new_encoder(config, torch.nn.Identity(), parts.embeddings.dim))
    torch.set_rng_state(before)
    check_size(lambda: torch.nn.Linear(3, 4))
    assert torch.equal(torch.random.get_rng_state(), before)  # what is counted draws no numbers


@torch.no_grad()
def test_vectors_are_those_of_the_encoder_without_dropout(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path)
    network = parts.network().train()
    encoded = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, tmp_path)
    read = encoded.vectors
    assert encoded.tokens.sequences is None and read.vectors is not None and network.encoder is not None
    tokens, lengths = parts.sequences.gather(torch.arange(len(parts.texts)))
    expected = max_pool(network.encoder.eval().outputs(tokens, lengths), lengths)
    torch.testing.assert_close(read.vectors, expected, atol=1e-5, rtol=0)
    assert read.encoder is None and read.sequences is None


@torch.no_grad()
def test_with_attention_pairs_and_choices_read_token_outputs(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path, "variant=attention")
    network = parts.network()
    heads = network.heads
    assert [reads_tokens(heads, task) for task in (*TRAINED, OTHER)] == [False, True, True, False, False]
    (tmp_path / "stage").mkdir()
    encoded = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, tmp_path / "stage")
    assert not list((tmp_path / "stage").iterdir())  # the file of the token outputs has no name
    tokens, vectors = encoded.tokens.sequences, encoded.vectors.vectors
    assert tokens is not None and tokens.lengths.tolist() == parts.texts.lengths.tolist()
    # The texts of all other tasks are pooled, and no others.
    splits = [parts.dataset.splits[task.id] for task in (LABELS, *TRAINED[3:], OTHER)]
    pooled = np.unique(np.concatenate([part.texts.ravel() for by_name in splits for part in by_name.values()]))
    assert np.flatnonzero((vectors != 0).any(dim=1).numpy()).tolist() == pooled.tolist()


@pytest.mark.parametrize("variant", ["frozen", "attention"])
def test_a_frozen_encoder_reads_a_text_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str) -> None:
    parts = lstm_parts(tmp_path, f"variant={variant}")
    network = parts.network()
    encoded = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, tmp_path)
    monkeypatch.setattr(network.encoder.lstm, "forward", None)
    for task in TRAINED:
        read = encoded.input_for(network.heads, task)
        stage = Finetuning(parts.config, parts.data, task, read, 1, tmp_path / task.id)
        assert set(stage.predict(stage.train(network.heads), task)) == {"dev", "test"}


def test_each_task_trains_its_own_copy_of_the_encoder(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path, "variant=finetune")
    network = parts.network()
    one, other = (stage.input for stage in list(stages(parts, network, tmp_path).values())[:2])
    encoder = network.encoder
    weights = [made.lstm.weight_ih_l0 for made in (encoder, one.encoder, other.encoder)]
    assert len({id(weight) for weight in weights}) == 3 and all(weight.requires_grad for weight in weights)
    assert one.sequences is parts.sequences and one.vectors is None


def outputs_of_pairs(parts: Parts, folder: Path) -> tuple[Sequences, torch.Tensor, torch.Tensor]:
    """What heads that read tokens are given, the texts that they read, and the float32 outputs of these texts by hand."""
    network = parts.network().train()
    tokens = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, folder).tokens.sequences
    splits = [parts.dataset.splits[task.id] for task in (NUMBERS, CHOICE)]
    texts = torch.from_numpy(np.unique(np.concatenate([part.texts.ravel() for of in splits for part in of.values()])))
    with torch.no_grad():
        return tokens, texts, network.encoder.eval().outputs(*parts.sequences.gather(texts))


@pytest.mark.parametrize("kept", ["float32", "float16"])
def test_token_outputs_are_kept_as_configured(tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: str) -> None:
    parts = lstm_parts(tmp_path, "variant=attention", f"finetune.token_outputs={kept}")
    with caplog.at_level(logging.INFO, "mtl"):
        tokens, texts, expected = outputs_of_pairs(parts, tmp_path)
    given, lengths = tokens.gather(texts)
    assert lengths.tolist() == parts.texts.lengths[texts].tolist()
    assert tokens.lengths.tolist() == parts.texts.lengths.tolist()
    assert given.dtype == getattr(torch, kept)
    assert f"stage 2 keeps the encoder's outputs for {lengths.sum()} tokens on disk" in caplog.text
    # Half of the distance between neighbours of a float16 below 1 is 2 ** -12.
    atol = 2**-12 + 1e-6 if kept == "float16" else 1e-6
    torch.testing.assert_close(given.float(), expected, atol=atol, rtol=0)


@pytest.mark.slow
def test_computed_outputs_have_the_precision_of_the_run(tmp_path: Path) -> None:
    """A loader gathers them outside the precision of the training, `predict_rows` inside it."""
    forced = ("trainer.accelerator=cpu", "trainer.precision=bf16-mixed", "trainer.force_precision=true")
    parts = lstm_parts(tmp_path, "variant=attention", *forced)
    with mixed_precision(parts.config.trainer, torch.device("cpu")):
        kept, texts, _ = outputs_of_pairs(parts, tmp_path)
    encoder = parts.network().encoder
    assert encoder is not None
    tokens = ComputedOutputs(encoder, parts.sequences, parts.config.trainer, "float32")
    outside = tokens.gather(texts)[0]
    with mixed_precision(parts.config.trainer, torch.device("cpu")):
        inside = tokens.gather(texts)[0]
    assert torch.equal(outside, inside) and outside.dtype == torch.float32 and not outside.requires_grad
    assert torch.equal(outside, outside.bfloat16().float())
    torch.testing.assert_close(outside, kept.gather(texts)[0], atol=0.05, rtol=0)


def test_a_disk_without_room_for_token_outputs_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(100, 0, 100))
    refused(lambda: outputs_of_pairs(lstm_parts(tmp_path, "variant=attention"), tmp_path))


def test_heads_that_project_read_token_outputs_alone(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path, "head.projection=6", "encoder.join_input=true")
    network = parts.network()
    assert all(reads_tokens(network.heads, task) for task in (*TRAINED, OTHER))
    encoded = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, tmp_path)
    tokens = encoded.tokens.sequences
    assert encoded.vectors.vectors is None and tokens is not None
    states, _ = tokens.gather(torch.arange(len(parts.texts)))
    assert states.shape[2] == 2 * 8 + 12  # LSTM outputs and the word's vector
