import itertools
import math
from unittest.mock import Mock

import pytest
import torch
from input_errors import raises_input_error
from pretraining_parts import small
from torch.nn import functional

from mtl.vectors.pretraining.network import masked_outputs, new_bert


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
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    places = chosen.flatten().nonzero()[:, 0]
    outputs = masked_outputs(model, inputs, places, padding if padded else None)
    ours = functional.cross_entropy(outputs, labels.flatten()[places])
    ours.backward()
    torch.testing.assert_close(ours, plain, atol=1e-5, rtol=0)
    torch.testing.assert_close([weight.grad for weight in model.parameters()], expected, atol=1e-5, rtol=1e-4)


def test_weights_follow_from_the_seed_and_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, other = (new_bert(small(seed=seed), 120).bert.embeddings.word_embeddings.weight for seed in (1, 1, 2))
    assert torch.equal(one, two) and not torch.equal(one, other)
    bert = new_bert(small(initial_deviation=0.07, hidden_size=64), 120).bert
    weights = bert.encoder.layer[0].intermediate.dense.weight
    assert weights.std().item() == pytest.approx(0.07, rel=0.1)
    with raises_input_error():
        new_bert(small(hidden_size=2**30), 2**30)
    monkeypatch.setattr("transformers.BertForMaskedLM", Mock(side_effect=MemoryError))  # which has no text
    with raises_input_error():
        new_bert(small(), 120)


def test_positions_may_begin_as_sinusoids() -> None:
    settings = small(initial_deviation=0.05, positions="sinusoids")
    vectors = new_bert(settings, 120).bert.embeddings.position_embeddings.weight
    for position, place in itertools.product((0, 1, 7), (0, 1, 4, 31)):
        function = math.cos if place % 2 else math.sin
        expected = 0.1 * function(position / 10_000 ** ((place - place % 2) / 32))
        assert vectors[position, place].item() == pytest.approx(expected, abs=1e-6)
    assert vectors.requires_grad
