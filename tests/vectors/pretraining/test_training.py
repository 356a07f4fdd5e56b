import math
from pathlib import Path

import numpy as np
import pytest
import torch
from input_errors import raises_input_error
from pretraining_parts import lines, small, tokenizer
from torch.nn import functional

from mtl.base.errors import DivergedError
from mtl.vectors.pretraining.network import MaskedBatch, Masking, new_bert
from mtl.vectors.pretraining.settings import PretrainingSettings
from mtl.vectors.pretraining.tokens import CUTS, MASK, read_tokens, word_beginnings, write_tokens
from mtl.vectors.pretraining.training import MaskedLanguageModelling, held_out_segments, parts


def training(folder: Path, settings: PretrainingSettings) -> MaskedLanguageModelling:
    learnt = tokenizer()
    write_tokens(lines(), learnt, 0, folder)
    tokens = read_tokens(folder, learnt.get_vocab_size())
    begins = word_beginnings(learnt)
    masking = Masking(begins, settings.mask_share, settings.whole_words, MASK)
    segments = CUTS[settings.segments](tokens, settings.chunk)
    bert = new_bert(settings, len(begins))
    return MaskedLanguageModelling(bert, segments, masking, settings, folder / "last.ckpt", torch.device("cpu"))


def test_training_lowers_the_perplexity(tmp_path: Path) -> None:
    one = training(tmp_path, small(max_steps=60, validate_every=15, dropout=0.0))
    one.run("test")
    rows = one.curve
    assert [row["step"] for row in rows] == [15, 30, 45, 60]
    assert rows[-1]["perplexity"] < rows[0]["perplexity"] and rows[-1]["train_loss"] < rows[0]["train_loss"]


def test_the_checkpoint_of_another_model_is_one_line(tmp_path: Path) -> None:
    training(tmp_path, small(max_steps=1)).run("test")
    for other in (small(max_steps=2, hidden_size=16), small(max_steps=2, num_layers=1)):
        with raises_input_error(file="last.ckpt"):
            training(tmp_path, other).run("test")


@pytest.mark.parametrize("segments", ["packed", "document"])
def test_perplexity_and_accuracy_are_those_of_a_plain_loop(tmp_path: Path, segments: str) -> None:
    one = training(tmp_path, small(segments=segments, accumulate=2, held_out=0.3, max_steps=40, validate_every=40))
    one.run("test")  # with weights of no meaning, no token is right
    one.network.eval()
    with torch.no_grad():
        (row, _), (again, _) = one.validate(), one.validate()
    assert row["perplexity"] == again["perplexity"]  # the masks stay the same
    order = sorted(one.held_out.tolist(), key=lambda segment: (int(one.segments.lengths[segment]), segment))
    losses, hits = [], []
    for number in range(-(-len(order) // 4)):
        masked = one.masked(np.array(order[4 * number : 4 * number + 4]), np.random.default_rng([1, 3, number]))
        places = dict(zip(masked.places.tolist(), masked.labels.tolist(), strict=True))
        for line in range(len(masked.inputs)):
            length = int((~masked.padding[line]).sum())
            with torch.no_grad():  # each segment for itself, without padding
                logits = one.network(torch.from_numpy(masked.inputs[line : line + 1, :length])).logits[0].double()
            for column in range(length):
                if (place := line * masked.inputs.shape[1] + column) in places:
                    losses.append(-functional.log_softmax(logits[column], -1)[places[place]].item())
                    hits.append(int(logits[column].argmax()) == places[place])
    assert len(losses) > 20 and any(hits)
    assert row["perplexity"] == pytest.approx(math.exp(np.mean(losses)), rel=1e-4)
    assert row["accuracy"] == pytest.approx(100 * np.mean(hits))


@pytest.mark.parametrize("segments", ["packed", "document"])
def test_parts_of_a_batch_give_the_same_step(tmp_path: Path, segments: str) -> None:
    steps = [{"accumulate": 1}, {"accumulate": 4}]
    weights = []
    for number, changes in enumerate(steps):
        folder = tmp_path / str(number)
        folder.mkdir()
        one = training(folder, small(segments=segments, dropout=0.0, **changes))
        one.train()
        one.compute(one.chosen[one.order.batch(0)])
        weights.append({name: parameter.grad for name, parameter in one.network.named_parameters()})
    for name, gradient in weights[0].items():
        torch.testing.assert_close(weights[1][name], gradient, atol=1e-6, rtol=1e-4)


def test_the_parts_of_a_batch_are_the_batch() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.integers(5, 50, (7, 9))
    places = np.sort(rng.choice(63, 20, replace=False))
    batch = MaskedBatch(inputs, places, inputs.reshape(-1)[places], inputs > 40)
    split = list(parts(batch, 3))
    assert [len(part.inputs) for part in split] == [3, 3, 1]
    found = [(part.inputs.reshape(-1)[part.places], part.labels) for part in split]
    assert all(np.array_equal(*pair) for pair in found)
    assert np.array_equal(np.concatenate([part.labels for part in split]), batch.labels)


def test_masks_are_drawn_anew_in_each_step(tmp_path: Path) -> None:
    one = training(tmp_path, small())
    batch = one.chosen[one.order.batch(0)]
    drawn = [one.masked(batch, np.random.default_rng([1, 2, step])).places.tolist() for step in range(3)]
    assert drawn[0] != drawn[1] != drawn[2]


def test_a_time_limit_ends_the_training_with_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = training(tmp_path, small(max_steps=None, max_minutes=1.0, validate_every=5))
    clock = iter(range(0, 10_000, 1))  # each look at the clock is a second later
    monkeypatch.setattr("mtl.training.trainer.time.monotonic", lambda: float(next(clock)))
    one.run("test")
    last = one.curve[-1]
    assert last["seconds"] >= 60 and last["step"] == one.step
    saved = torch.load(tmp_path / "last.ckpt", weights_only=True)
    assert saved["curve"][-1]["step"] == one.step
    again = training(tmp_path, small(max_steps=None, max_minutes=1.0, validate_every=5))
    again.run("test")  # it has ended: no further step
    assert again.step == one.step and again.curve == one.curve


def test_bfloat16_trains_weights_in_float32(tmp_path: Path) -> None:
    one = training(tmp_path, small(max_steps=2, precision="bf16-mixed", force_precision=True))
    kinds = []
    one.network.cls.predictions.decoder.register_forward_hook(lambda module, given, out: kinds.append(out.dtype))
    one.run("test")
    assert torch.bfloat16 in kinds and {parameter.dtype for parameter in one.network.parameters()} == {torch.float32}


def test_divergence_is_an_error_that_keeps_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = training(tmp_path, small())
    compute = one.compute
    monkeypatch.setattr(one, "compute", lambda batch: compute(batch) * (math.nan if one.step == 5 else 1))
    with pytest.raises(
        DivergedError, match=r"test: training diverged \(step 6: the loss is nan\); .*smaller learning_rate="
    ):
        one.run("test")
    assert torch.load(tmp_path / "last.ckpt", weights_only=True)["curve"][-1]["step"] == 4


def test_held_out_segments_are_not_trained_on(tmp_path: Path) -> None:
    one = training(tmp_path, small())
    assert not set(one.held_out) & set(one.chosen)
    assert len(one.held_out) + len(one.chosen) == len(one.segments)
    assert len(one.held_out) == math.ceil(0.1 * len(one.segments))


def test_too_little_text_is_an_error() -> None:
    with raises_input_error():
        held_out_segments(9, small(held_out=0.2))


def test_freed_memory_is_returned_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a process grows with batches of changing length."""
    returned: list[int] = []
    one = training(tmp_path, small(max_steps=25, validate_every=25))
    monkeypatch.setattr("mtl.vectors.pretraining.resumable.release_memory", lambda: returned.append(one.step))
    one.run("test")
    assert returned == [10, 20]
