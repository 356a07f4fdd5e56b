import errno
import logging
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
import torch
from lstm_parts import CHOICE, LABELS, NUMBERS, OTHER, TRAINED, Parts, lstm_parts, stages

from mtl.methods.lstm.trained import ComputedOutputs, encode_once, reads_tokens
from mtl.methods.stage2 import Finetuning
from mtl.model.sequences import ArraySequences, Sequences
from mtl.training.precision import mixed_precision


@torch.no_grad()
def test_vectors_are_those_of_the_encoder_without_dropout(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path)
    network = parts.network().train()
    encoded = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, tmp_path)
    read = encoded[False]
    assert encoded[True].sequences is None and read.vectors is not None and network.encoder is not None
    texts = torch.arange(len(parts.texts))
    expected = network.encoder.eval()(*parts.sequences.gather(texts))
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
    tokens, vectors = encoded[True].sequences, encoded[False].vectors
    assert tokens is not None and tokens.lengths.tolist() == parts.texts.lengths.tolist()
    # The texts of all other tasks are pooled, and no others.
    assert vectors is not None
    splits = [parts.dataset.splits[task.id] for task in (LABELS, *TRAINED[3:], OTHER)]
    pooled = np.unique(np.concatenate([part.texts.ravel() for by_name in splits for part in by_name.values()]))
    assert np.flatnonzero((vectors != 0).any(dim=1).numpy()).tolist() == pooled.tolist()


@pytest.mark.parametrize("variant", ["frozen", "attention"])
def test_a_frozen_encoder_reads_a_text_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: str) -> None:
    parts = lstm_parts(tmp_path, f"variant={variant}")
    network = parts.network()
    encoded = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, tmp_path)
    assert network.encoder is not None
    monkeypatch.setattr(network.encoder.lstm, "forward", None)
    for task in TRAINED:
        read = encoded[reads_tokens(network.heads, task)]
        stage = Finetuning(parts.config, parts.data, task, read, 1, tmp_path / task.id)
        assert set(stage.predict(stage.train(network.heads), task)) == {"dev", "test"}


def test_each_task_trains_its_own_copy_of_the_encoder(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path, "variant=finetune")
    network = parts.network()
    one, other = (stage.input for stage in list(stages(parts, network, tmp_path).values())[:2])
    encoder = network.encoder
    assert encoder is not None and one.encoder is not None and other.encoder is not None
    weights = [made.lstm.weight_ih_l0 for made in (encoder, one.encoder, other.encoder)]
    assert len({id(weight) for weight in weights}) == 3 and all(weight.requires_grad for weight in weights)
    assert one.sequences is parts.sequences and one.vectors is None


def outputs_of_pairs(parts: Parts, folder: Path) -> tuple[Sequences, torch.Tensor, torch.Tensor]:
    """What heads that read tokens are given, the texts that they read, and the float32 outputs of these texts by hand."""
    network = parts.network().train()
    tokens = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, folder)[True].sequences
    assert tokens is not None and network.encoder is not None
    splits = [parts.dataset.splits[task.id] for task in (NUMBERS, CHOICE)]
    texts = torch.from_numpy(np.unique(np.concatenate([part.texts.ravel() for of in splits for part in of.values()])))
    with torch.no_grad():
        return tokens, texts, network.encoder.eval().outputs(*parts.sequences.gather(texts))


@pytest.mark.parametrize("kept", ["float32", "float16", "recompute"])
def test_token_outputs_are_kept_as_configured(tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: str) -> None:
    parts = lstm_parts(tmp_path, "variant=attention", f"finetune.token_outputs={kept}")
    with caplog.at_level(logging.INFO, "mtl"):
        tokens, texts, expected = outputs_of_pairs(parts, tmp_path)
    given, lengths = tokens.gather(texts)
    assert lengths.tolist() == parts.texts.lengths[texts].tolist()
    assert tokens.lengths.tolist() == parts.texts.lengths.tolist()
    if kept == "recompute":
        assert isinstance(tokens, ComputedOutputs) and not given.requires_grad
        assert "on disk" not in caplog.text
    else:
        assert isinstance(tokens, ArraySequences) and given.dtype == getattr(torch, kept)
        assert f"stage 2 keeps the encoder's outputs for {lengths.sum()} tokens on disk" in caplog.text
    # Half of the distance between neighbours of a float16 below 1 is 2 ** -12.
    atol = 2**-12 + 1e-6 if kept == "float16" else 1e-6
    torch.testing.assert_close(given.float(), expected, atol=atol, rtol=0)


@pytest.mark.slow
def test_computed_outputs_have_the_precision_of_the_run(tmp_path: Path) -> None:
    """A loader gathers them outside the precision of the training, `predict_rows` inside it."""
    forced = ("trainer.accelerator=cpu", "trainer.precision=bf16-mixed", "trainer.force_precision=true")
    given = {}
    for kept in ("float32", "recompute"):
        parts = lstm_parts(tmp_path, "variant=attention", f"finetune.token_outputs={kept}", *forced)
        with mixed_precision(parts.config.trainer, torch.device("cpu")):
            tokens, texts, _ = outputs_of_pairs(parts, tmp_path)
        outside = tokens.gather(texts)[0]
        with mixed_precision(parts.config.trainer, torch.device("cpu")):
            inside = tokens.gather(texts)[0]
        assert torch.equal(outside, inside) and outside.dtype == torch.float32
        assert torch.equal(outside, outside.bfloat16().float())
        given[kept] = outside
    torch.testing.assert_close(*given.values(), atol=0.05, rtol=0)


@pytest.mark.parametrize("kept", ["float32", "float16"])
@pytest.mark.parametrize("full", ["free", "allocated"])
def test_where_the_disk_is_full_token_outputs_are_computed_in_each_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, full: str, kept: str
) -> None:
    usage = namedtuple("usage", "total used free")
    if full == "free":
        monkeypatch.setattr("shutil.disk_usage", lambda _: usage(100, 0, 100))
    else:  # another process takes the space before it is allocated

        def reserve(_: Path) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("mtl.methods.lstm.trained.reserve", reserve)
    parts = lstm_parts(tmp_path, "variant=attention", f"finetune.token_outputs={kept}")
    (tmp_path / "stage").mkdir()
    tokens, texts, expected = outputs_of_pairs(parts, tmp_path / "stage")
    assert isinstance(tokens, ComputedOutputs) and not list((tmp_path / "stage").iterdir())
    outputs = tokens.gather(texts)[0]
    torch.testing.assert_close(outputs, expected, atol=1e-3 if kept == "float16" else 1e-6, rtol=0)
    assert torch.equal(outputs, outputs.half().float()) == (kept == "float16")
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "stage 2 computes them in each step, which is slower" in warning.getMessage()


def test_a_disk_that_fails_otherwise_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reserve(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("mtl.methods.lstm.trained.reserve", reserve)
    parts = lstm_parts(tmp_path, "variant=attention")
    with pytest.raises(OSError, match="Input/output error"):
        outputs_of_pairs(parts, tmp_path)


def test_heads_that_project_read_token_outputs_alone(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path, "head.projection=6", "encoder.join_input=true")
    network = parts.network()
    assert all(reads_tokens(network.heads, task) for task in (*TRAINED, OTHER))
    encoded = encode_once(parts.config, parts.dataset, parts.sequences, network, 1, tmp_path)
    tokens = encoded[True].sequences
    assert encoded[False].vectors is None and tokens is not None
    states, _ = tokens.gather(torch.arange(len(parts.texts)))
    assert states.shape[2] == 2 * 8 + 12  # LSTM outputs and the word's vector
