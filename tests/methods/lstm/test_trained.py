from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from input_errors import raises_input_error
from lstm_parts import CHOICE, LABELS, NUMBERS, OTHER, TRAINED, WORDS, Parts, lstm_parts, rounded_inputs, stages

from mtl.base.errors import InputError
from mtl.data.dataset import Split
from mtl.methods.heads import new_heads
from mtl.methods.lstm.entry import LSTM, lstm_weights
from mtl.methods.lstm.stage1 import SharedStage1, pretrain
from mtl.methods.lstm.trained import TrainedLstm, new_encoder, new_network
from mtl.runs.folder import finetune_folder, pretrain_folder
from mtl.tasks.task import Task

Trained = tuple[Parts, TrainedLstm, dict[str, np.ndarray]]


def trained_seed(folder: Path, *settings: str) -> Trained:
    """A seed after both stages, its model for new texts, and its predictions for test by task."""
    parts = lstm_parts(folder, *settings)
    shared = SharedStage1(folder / "shared", "key")
    network = pretrain(parts.config, parts.data, parts.sequences, parts.embeddings, 1, pretrain_folder(folder), shared)
    encoder = network.encoder
    assert encoder is not None
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
        ("variant=finetune",),
        ("variant=attention",),
        ("encoder.join_input=true", "boundary_words=true"),
        ("head.projection=6", "embeddings.max_words=9"),
        ("architecture=jiant", "variant=finetune"),
        ("head.overlap=true",),
        ("head.pair=cosine", "head.projection=6"),
        ("head.pair=cosine", "variant=attention"),
        ("loss.choice=pairs",),
        ("loss.choice=pairs", "head.overlap=true", "variant=attention"),
        ("head.overlap=true", "head.projection=6", "variant=attention"),
        ("architecture=jiant", "variant=attention", "finetune.token_outputs=recompute"),
    ],
)
def test_variants_and_parts_predict_what_the_run_predicted(tmp_path: Path, settings: tuple[str, ...]) -> None:
    assert_predicts_the_same(trained_seed(tmp_path, "architecture=paper", "finetune.token_outputs=float32", *settings))


@pytest.mark.parametrize("disk", ["free", "full"])
@pytest.mark.parametrize("settings", ["head.projection=6", "variant=attention"])
def test_outputs_are_rounded_as_stage_2_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str, disk: str
) -> None:
    if disk == "full":  # stage 2 computes the outputs in each step
        monkeypatch.setattr("mtl.methods.lstm.trained._rows_on_disk", lambda *_: None)
    parts, model, predictions = trained_seed(tmp_path, settings, "finetune.token_outputs=float16")
    given = rounded_inputs(monkeypatch)
    predicted = model.predict(NUMBERS, texts_of(parts, NUMBERS))
    assert given[0]
    # Kept outputs were computed in other batches: a sum that float32 rounds otherwise may have another float16 beside it.
    np.testing.assert_allclose(predicted, predictions["numbers"], atol=1e-6 if disk == "full" else 1e-4)


@pytest.mark.slow
def test_a_trained_encoder_s_outputs_are_not_rounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = trained_seed(tmp_path, "head.projection=6", "finetune.token_outputs=float16", "variant=finetune")
    given = rounded_inputs(monkeypatch)
    assert_predicts_the_same(trained)
    assert not any(given)


@pytest.mark.slow
def test_text_vectors_pool_the_joined_outputs(tmp_path: Path) -> None:
    parts, model, _ = trained_seed(tmp_path, "encoder.join_input=true", "boundary_words=true")
    texts = [parts.dataset.texts[5], "aldrig sett"]
    vectors = model.encode(texts)
    assert vectors.shape == (2, 2 * 8 + 12)
    tokens, _ = parts.sequences.gather(torch.tensor([5]))
    words = model.encoder.embedder.table.weight.detach()[tokens[0]]
    assert parts.texts.words(5)[0] == "<SOS>" and len(words) == len(parts.texts.words(5))
    np.testing.assert_allclose(vectors[0, 16:], words.max(dim=0).values, atol=1e-6)
    with torch.no_grad():
        states = model.encoder.lstm(words[None], torch.tensor([len(words)]))
    np.testing.assert_allclose(vectors[0, :16], states[0].max(dim=0).values, atol=1e-5)


def test_text_vectors_are_those_of_stage_1_and_answers_do_not_depend_on_other_rows(frozen: Trained) -> None:
    parts, model, _ = frozen
    texts = [parts.dataset.texts[5], "aldrig sett", parts.dataset.texts[5]]
    vectors = model.encode(texts)
    assert vectors.shape == (3, 16) and vectors.dtype == np.float32
    with torch.no_grad():
        expected = model.encoder(*parts.sequences.gather(torch.tensor([5]))).numpy()
    np.testing.assert_allclose(vectors[[0, 2]], expected.repeat(2, axis=0), atol=1e-5)
    model = frozen[1]
    rows = [("fråga", "a", "b", "c"), ("en annan", "d"), ("tredje", "solen skiner", "regnet faller")]
    together = model.predict(CHOICE, rows)
    assert together.tolist() == [model.predict(CHOICE, [row])[0] for row in rows]
    assert together[1] == 0


def test_a_missing_checkpoint_is_one_line(frozen: Trained, tmp_path: Path) -> None:
    parts, model, _ = frozen
    elsewhere = TrainedLstm(
        model.config, "sv", tmp_path, model.encoder, model.sequences, model.embeddings, model.answers
    )
    for task in (WORDS, OTHER):
        with raises_input_error(file="best.ckpt"):
            elsewhere.predict(task, texts_of(parts, task))


def test_weights_of_the_lstm_are_counted(tmp_path: Path) -> None:
    for layers in (1, 2, 3):
        parts = lstm_parts(tmp_path, f"encoder.num_layers={layers}")
        encoder = new_network(parts.config, TRAINED, parts.data.outputs, parts.embeddings, 1).encoder
        assert encoder is not None
        counted = sum(weight.numel() for weight in encoder.lstm.parameters())
        assert lstm_weights(parts.config, parts.embeddings.dim) == counted


@pytest.mark.parametrize(
    ("section", "change", "message"),
    [
        ("encoder", {"hidden_size": 10**9}, r"encoder.hidden_size=1000000000, .*: the network needs .* GB of memory"),
        ("encoder", {"num_layers": 10**9}, r"encoder.num_layers=1000000000, .*: the network needs"),
        ("head", {"hidden_size": 10**12}, r"head: a set of heads of this size needs? .* GB of memory"),
        ("head", {"hidden_size": 10**18}, r"head: a set of heads of this size"),
        ("head", {"projection": 10**15}, r"head: a set of heads of this size"),
    ],
)
def test_absurd_sizes_are_refused_at_once(tmp_path: Path, section: str, change: dict[str, Any], message: str) -> None:
    parts = lstm_parts(tmp_path)
    sizes = replace(getattr(parts.config, section), **change)
    config = replace(parts.config, **{section: sizes})
    with pytest.raises(InputError, match=message):
        new_network(config, TRAINED, parts.data.outputs, parts.embeddings, 1)
    if section == "encoder":
        with pytest.raises(InputError, match=message):
            new_encoder(config, torch.nn.Identity(), parts.embeddings.dim)
        with pytest.raises(InputError, match=message):
            LSTM.check(config, parts.suite)


def test_counting_the_heads_draws_no_random_numbers(tmp_path: Path) -> None:
    parts = lstm_parts(tmp_path, "variant=attention", "head.projection=4")
    torch.manual_seed(1)
    first = new_heads(parts.config, TRAINED, parts.data.outputs, 8)
    after = torch.random.get_rng_state()
    torch.manual_seed(1)
    head = parts.config.head
    sizes = (head.hidden_size, head.dropout, head.attention_size, head.projection)
    plain = type(first)(TRAINED, parts.data.outputs, 8, *sizes)
    assert torch.equal(torch.random.get_rng_state(), after)
    assert all(map(torch.equal, first.parameters(), plain.parameters()))
