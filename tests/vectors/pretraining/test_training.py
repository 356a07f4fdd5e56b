import math
from pathlib import Path

import numpy as np
import pytest
import torch
from pretraining_parts import lines, small, tokenizer
from torch.nn import functional
from transformers import get_linear_schedule_with_warmup

from mtl.vectors.pretraining.masking import NOT_CHOSEN
from mtl.vectors.pretraining.network import new_bert
from mtl.vectors.pretraining.settings import PretrainingSettings
from mtl.vectors.pretraining.tokens import Segments, read_tokens, write_tokens
from mtl.vectors.pretraining.training import MaskedLanguageModelling, pass_batches
from mtl.vectors.pretraining.vocabulary import PAD, word_beginnings


def training(folder: Path, settings: PretrainingSettings) -> MaskedLanguageModelling:
    learnt = tokenizer()
    write_tokens(lines(), learnt, 0, folder)
    begins = word_beginnings(learnt)
    bert, segments = new_bert(settings, len(begins)), Segments(*read_tokens(folder), settings.chunk)
    return MaskedLanguageModelling(bert, segments, begins, settings, folder)


def test_perplexity_and_accuracy_are_those_of_a_plain_loop(tmp_path: Path) -> None:
    one = training(tmp_path, small(accumulate=2, held_out=0.3, max_steps=40, validate_every=40))
    one.run("test")  # with weights of no meaning, no token is right
    one.network.eval()
    with torch.no_grad():
        (row, _), (again, _) = one.validate(), one.validate()
    assert row["perplexity"] == again["perplexity"]  # the masks stay the same
    order = np.array(sorted(one.held_out_parts, key=lambda segment: (one.segments.lengths[segment], segment)))
    losses, hits = [], []
    for number in range(-(-len(order) // 4)):
        inputs, labels = one.mask_segments(order[4 * number : 4 * number + 4], np.random.default_rng([1, 3, number]))
        for line, label in zip(inputs, labels.tolist(), strict=True):
            length = int((line != PAD).sum())
            with torch.no_grad():  # each segment for itself, without padding
                logits = one.network(torch.from_numpy(line[None, :length])).logits[0].double()
            for column in range(length):
                if label[column] != NOT_CHOSEN:
                    losses.append(-functional.log_softmax(logits[column], -1)[label[column]].item())
                    hits.append(int(logits[column].argmax()) == label[column])
    assert len(losses) > 20 and any(hits)
    assert row["perplexity"] == pytest.approx(math.exp(np.mean(losses)), rel=1e-4)
    assert row["accuracy"] == pytest.approx(100 * np.mean(hits))


def test_parts_of_a_batch_give_the_same_step(tmp_path: Path) -> None:
    gradients = []
    for accumulate in (1, 4):
        one = training(tmp_path, small(dropout=0.0, accumulate=accumulate))
        one.train()
        one.loss_and_gradients(next(one.batches()))
        gradients.append({name: parameter.grad for name, parameter in one.network.named_parameters()})
    torch.testing.assert_close(*gradients, atol=1e-6, rtol=1e-4)


def test_held_out_segments_are_not_trained_on_and_bfloat16_trains_weights_in_float32(tmp_path: Path) -> None:
    one = training(tmp_path, small())
    assert not set(one.held_out_parts) & set(one.trained_parts)
    assert len(one.held_out_parts) + len(one.trained_parts) == len(one.segments)
    assert len(one.held_out_parts) == math.ceil(0.1 * len(one.segments))
    one = training(tmp_path, small(max_steps=2, precision="bf16-mixed"))
    one.trainer_config.force_precision = True  # on a CPU without such instructions, too
    kinds = []
    one.network.cls.predictions.decoder.register_forward_hook(lambda module, given, out: kinds.append(out.dtype))
    one.run("test")
    assert torch.bfloat16 in kinds and {parameter.dtype for parameter in one.network.parameters()} == {torch.float32}


@pytest.mark.parametrize("warmup", [0.1, 10])
def test_rates_are_those_of_transformers(tmp_path: Path, warmup: float) -> None:
    one = training(tmp_path, small(max_steps=100, warmup=warmup))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 5e-3)
    scheduler = get_linear_schedule_with_warmup(optimizer, 10, 100)
    for one.step in range(100):
        assert one.learning_rate() == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-9, abs=1e-15)
        optimizer.step()
        scheduler.step()


def test_a_pass_has_no_segment_twice_and_batches_differ_from_pass_to_pass() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 409)
    batches = [pass_batches(lengths, 10, [1, number]) for number in range(2)]
    assert all([len(batch) for batch in one] == [10] * 40 for one in batches)
    passes = [set(np.concatenate(one).tolist()) for one in batches]
    assert all(len(one) == 400 for one in passes)
    left_out = [set(range(409)) - one for one in passes]  # chosen before segments are sorted by length
    assert all(min(lengths[list(one)]) < 25 < max(lengths[list(one)]) for one in left_out)
    # Segments of similar length are together; the spread is 40 or so in batches of random ones.
    assert np.mean([np.ptp(lengths[batch]) for batch in batches[0]]) < 15
