"""A BERT of the settings' sizes, masks of whole words for a batch (Devlin et al. 2019), and the loss at the masked places alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from mtl.base.errors import InputError
from mtl.vectors.pretraining.settings import SPECIAL_TOKENS, PretrainingSettings
from mtl.vectors.pretraining.tokens import MASK, PAD

if TYPE_CHECKING:
    from transformers import BertForMaskedLM

MASK_SHARE = 0.15  # of the tokens: those to predict
MASKED, RANDOM = 0.8, 0.1  # of the chosen tokens: shares replaced by the mask, and by a random token; the others stay


@dataclass(frozen=True)
class MaskedBatch:
    """A batch to predict tokens in.

    Args:
        inputs: int64 (segments, time); `padding`, bool, has the same shape.
        places: int64 (chosen,), positions in the flattened inputs, in rising order.
        labels: int64 (chosen,), the tokens that stood there.
    """

    inputs: np.ndarray
    places: np.ndarray
    labels: np.ndarray
    padding: np.ndarray


class Masking:
    """Chooses the tokens to predict.

    Words are drawn in random order, as long as their tokens are at most MASK_SHARE of the batch's tokens of text: the share holds for the
    batch, not for each segment, so a step's cost does not vary. A word is a token that begins a word and all that follow it and do
    not; a segment that begins within a word has the rest of this word as its first one.
    """

    def __init__(self, begins: np.ndarray) -> None:
        """`begins` says of each entry of the vocabulary whether it begins a word, bool (vocabulary,)."""
        self.begins = begins

    def apply(self, ids: np.ndarray, is_text: np.ndarray, padding: np.ndarray, rng: np.random.Generator) -> MaskedBatch:
        """Mask a batch: ids, int64 (segments, time), and two masks of this shape. At least one word is chosen."""
        positions = np.flatnonzero(is_text)
        tokens = ids.reshape(-1)[positions]
        # A word cannot go on across a special token, which every segment begins with.
        first = self.begins[tokens] | (np.diff(positions, prepend=-2) > 1)
        words = np.cumsum(first) - 1
        sizes = np.bincount(words)
        order = rng.permutation(len(sizes))
        within = np.cumsum(sizes[order]) <= MASK_SHARE * len(tokens)
        within[:1] = True
        taken = np.zeros(len(sizes), dtype=bool)
        taken[order[within]] = True
        picked = taken[words]
        labels = tokens[picked]
        inputs = ids.copy()
        inputs.reshape(-1)[positions[picked]] = self._replaced(labels, rng)
        return MaskedBatch(inputs, positions[picked], labels, padding)

    def _replaced(self, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """What stands in the place of each chosen token: a mask, a random token that is not special, or the token itself."""
        draws = rng.random(len(labels))
        random = rng.integers(len(SPECIAL_TOKENS), len(self.begins), len(labels))
        replaced: np.ndarray = np.select([draws < MASKED, draws < MASKED + RANDOM], [MASK, random], labels)
        return replaced


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


def masked_outputs(model: "BertForMaskedLM", inputs: Tensor, positions: Tensor, padding: Tensor | None) -> Tensor:
    """The outputs over the vocabulary, (places, vocabulary), at these places of the flattened inputs (segments, time) alone: elsewhere
    they would not enter the loss. Padding has the shape of the inputs."""
    attended = None if padding is None else ~padding
    hidden = model.bert(input_ids=inputs, attention_mask=attended).last_hidden_state
    outputs: Tensor = model.cls(hidden.flatten(0, 1)[positions])
    return outputs


def decayed_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """The parameters for an optimizer: biases and the scales of normalisation layers have no weight decay (Devlin et al. 2019)."""
    matrices = [parameter for parameter in model.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in model.parameters() if parameter.ndim < 2]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
