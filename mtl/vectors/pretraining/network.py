"""The BERT that is pre-trained: its weights at the beginning, and its outputs at masked positions."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from mtl.base.errors import InputError
from mtl.vectors.pretraining.settings import PretrainingSettings
from mtl.vectors.pretraining.vocabulary import PAD

if TYPE_CHECKING:
    from transformers import BertForMaskedLM


def new_bert(settings: PretrainingSettings, vocabulary: int) -> "BertForMaskedLM":
    """A BERT with random weights that follow from the seed, for a vocabulary of this size. Raises InputError if it is too large."""
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=settings.hidden_size,
        num_hidden_layers=settings.num_layers,
        num_attention_heads=settings.num_heads,
        intermediate_size=4 * settings.hidden_size,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
        max_position_embeddings=settings.max_length,
        pad_token_id=PAD,
        initializer_range=settings.initial_deviation,
    )
    torch.manual_seed(settings.seed)
    try:
        model = BertForMaskedLM(config)
    except (RuntimeError, MemoryError) as error:
        reason = [*str(error).splitlines(), "no memory"][0]  # a MemoryError may have no text
        raise InputError(f"cannot create a BERT of this size: {reason}") from None
    if settings.positions == "sinusoids":
        weight = model.bert.embeddings.position_embeddings.weight
        weight.data.copy_(2 * settings.initial_deviation * sinusoids(*weight.shape))
    return model


def sinusoids(positions: int, dim: int) -> Tensor:
    """The positional encodings of Vaswani et al. 2017, section 3.5: (positions, dim), sines and cosines of wavelengths from 2π to 10,000 · 2π."""
    angles = torch.arange(positions)[:, None] * 10_000 ** (-torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :dim]


def masked_outputs(model: "BertForMaskedLM", inputs: Tensor, positions: Tensor, padding: Tensor | None) -> Tensor:
    """The outputs (positions, vocabulary) at these positions of the flattened inputs (segments, time): others do not enter the loss."""
    hidden = model.bert(input_ids=inputs, attention_mask=None if padding is None else ~padding).last_hidden_state
    return model.cls(hidden.flatten(0, 1)[positions])
