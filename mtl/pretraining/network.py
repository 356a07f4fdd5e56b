"""A BERT of the settings' sizes, and its loss at the masked places alone."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from mtl.errors import InputError
from mtl.pretraining.settings import PretrainingSettings
from mtl.pretraining.vocabulary import PAD

if TYPE_CHECKING:
    from transformers import BertForMaskedLM


def new_bert(settings: PretrainingSettings, vocabulary: int) -> "BertForMaskedLM":
    """A BERT with random weights that follow from the seed. vocabulary: its number of entries. Raises InputError if it is too large."""
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=settings.hidden_size,
        num_hidden_layers=settings.num_layers,
        num_attention_heads=settings.num_heads,
        intermediate_size=settings.intermediate_size or 4 * settings.hidden_size,
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
        raise InputError(f"cannot create a BERT of this size: {str(error).splitlines()[0]}") from None
    if settings.positions == "sinusoids":
        weight = model.bert.embeddings.position_embeddings.weight
        weight.data.copy_(2 * settings.initial_deviation * sinusoids(*weight.shape))
    return model


def sinusoids(positions: int, dim: int) -> Tensor:
    """Vaswani et al. 2017, section 3.5: (positions, dim), alternately sine and cosine, of wavelengths from 2π to 10,000 · 2π."""
    angles = torch.arange(positions)[:, None] * 10_000 ** (-torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :dim]


def parameter_count(settings: PretrainingSettings) -> int:
    """The parameters of a BERT of these sizes, without memory for them."""
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in new_bert(settings, settings.vocab_size).parameters())


def masked_outputs(model: "BertForMaskedLM", inputs: Tensor, places: Tensor, padding: Tensor | None) -> Tensor:
    """The outputs over the vocabulary, (places, vocabulary), at these places alone: elsewhere they would not enter the loss.

    inputs: int64 (segments, time). places: int64 (places,), in the flattened inputs. padding: bool (segments, time), or None for none.
    """
    attended = None if padding is None else ~padding
    hidden = model.bert(input_ids=inputs, attention_mask=attended).last_hidden_state
    outputs: Tensor = model.cls(hidden.flatten(0, 1)[places])
    return outputs


def decayed_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """The parameters for an optimizer: biases and the scales of normalisation layers have no weight decay (Devlin et al. 2019)."""
    parameters = list(model.parameters())
    return [
        {"params": [parameter for parameter in parameters if parameter.ndim > 1], "weight_decay": weight_decay},
        {"params": [parameter for parameter in parameters if parameter.ndim < 2], "weight_decay": 0.0},
    ]
