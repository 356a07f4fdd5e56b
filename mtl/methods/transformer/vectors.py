"""The vectors of texts: the outputs of a transformer's last layer, pooled over a text's tokens."""

from typing import Any

import torch
from torch import Tensor

from mtl.embedders.sequences import ArraySequences
from mtl.methods.transformer.network import body_input
from mtl.methods.transformer.pretrained import Pretrained
from mtl.model.encoder import POOLINGS, batches_by_length
from mtl.progress import Progress


@torch.no_grad()
def encode_texts(
    body: Any, pretrained: Pretrained, sequences: ArraySequences, pooling: str, title: str = "encoding texts"
) -> Tensor:
    """The vectors of all sequences, float32 on the CPU, (texts, dim), without dropout.

    body: on the device to compute on. pretrained: says what the body reads. pooling: a name in `mtl.model.encoder.POOLINGS`; over all
    tokens of a text, also those that the tokenizer puts around it, as in sentence-transformers.
    """
    body.eval()
    device = next(body.parameters()).device
    vectors = torch.empty(len(sequences.lengths), pretrained.dim)
    with Progress(title, len(vectors), "texts") as shown:
        for places in batches_by_length(sequences.lengths):
            tokens, lengths = sequences.gather(places)
            given = body_input(tokens.to(device), lengths, pretrained.padding, pretrained.has_types)
            states = body(**given).last_hidden_state
            vectors[places] = POOLINGS[pooling](states.float(), lengths).cpu()
            shown.advance(len(places))
    return vectors
