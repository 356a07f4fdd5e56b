import math

import pytest
import torch
from input_errors import raises_input_error
from pretraining_parts import small
from torch.nn import functional

from mtl.vectors.pretraining.network import decayed_groups, masked_outputs, new_bert, parameter_count


@pytest.mark.parametrize("padded", [False, True])
def test_the_loss_at_masked_places_is_that_of_the_whole_model(padded: bool) -> None:
    model = new_bert(small(), 120).eval()
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randint(5, 120, (6, 16), generator=generator)
    chosen = torch.rand(6, 16, generator=generator) < 0.2
    padding = torch.zeros(6, 16, dtype=torch.bool)
    padding[2, 9:] = padded
    chosen &= ~padding
    labels = torch.randint(5, 120, (6, 16), generator=generator)
    plain = model(inputs, attention_mask=(~padding).long(), labels=labels.where(chosen, -100)).loss
    plain.backward()
    expected = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    places = chosen.flatten().nonzero()[:, 0]
    ours = functional.cross_entropy(
        masked_outputs(model, inputs, places, padding if padded else None), labels.flatten()[places]
    )
    ours.backward()
    assert ours.item() == pytest.approx(plain.item(), abs=1e-5)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(parameter.grad, expected[name], atol=1e-5, rtol=1e-4)


def test_sizes_are_counted_without_memory_for_them() -> None:
    settings = small(vocab_size=120)
    assert parameter_count(settings) == sum(parameter.numel() for parameter in new_bert(settings, 120).parameters())


def test_weights_follow_from_the_seed() -> None:
    one, two, other = (new_bert(small(seed=seed), 120).bert.embeddings.word_embeddings.weight for seed in (1, 1, 2))
    assert torch.equal(one, two) and not torch.equal(one, other)


def test_the_deviation_of_the_initial_weights() -> None:
    weights = (
        new_bert(small(initial_deviation=0.07, hidden_size=64), 120).bert.encoder.layer[0].intermediate.dense.weight
    )
    assert weights.std().item() == pytest.approx(0.07, rel=0.1)


def test_positions_may_begin_as_sinusoids() -> None:
    settings = small(initial_deviation=0.05, positions="sinusoids")
    vectors = new_bert(settings, 120).bert.embeddings.position_embeddings.weight
    dim = settings.hidden_size
    for position in (0, 1, 7):
        for place in (0, 1, 4, dim - 1):
            function = math.cos if place % 2 else math.sin
            expected = 0.1 * function(position / 10_000 ** ((place - place % 2) / dim))
            assert vectors[position, place].item() == pytest.approx(expected, abs=1e-6)
    assert vectors.requires_grad and parameter_count(settings) == parameter_count(small())


def test_biases_and_scales_do_not_decay() -> None:
    model = new_bert(small(), 120)
    decayed, others = (group["params"] for group in decayed_groups(model, 0.1))
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert all(names[id(parameter)].endswith("bias") or "LayerNorm" in names[id(parameter)] for parameter in others)
    assert not any("LayerNorm" in names[id(parameter)] for parameter in decayed)
    assert len(decayed) + len(others) == len(names)


def test_a_size_that_no_memory_has_is_one_line() -> None:
    with raises_input_error():
        new_bert(small(hidden_size=2**30), 2**30)
