from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from lstm_parts import TRAINED, lstm_parts

from mtl.base.errors import InputError
from mtl.methods.heads import new_heads
from mtl.methods.lstm.entry import LSTM, lstm_weights
from mtl.methods.lstm.trained import new_encoder, new_network


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
def test_absurd_sizes_are_refused_before_memory_is_spent(
    tmp_path: Path, section: str, change: dict[str, Any], message: str
) -> None:
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
    make = type(first)
    projection, attention = parts.config.head.projection, parts.config.head.attention_size
    sizes = (parts.config.head.hidden_size, parts.config.head.dropout, attention, projection)
    plain = make(TRAINED, parts.data.outputs, 8, *sizes)
    assert torch.equal(torch.random.get_rng_state(), after)
    for one, other in zip(first.parameters(), plain.parameters(), strict=True):
        assert torch.equal(one, other)
