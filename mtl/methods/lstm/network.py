"""The LSTM's network, with the sizes of the configuration."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from mtl.config.schema import Config
from mtl.embedders.kind import Embeddings
from mtl.methods.heads import new_heads
from mtl.model.encoder import Encoder
from mtl.model.network import Network
from mtl.tasks.task import Task


def new_network(
    config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], embeddings: Embeddings, seed: int
) -> Network:
    """The network before training, the same for the same seed. outputs: by task id, outputs of its head for one input."""
    torch.manual_seed(seed)
    encoder = new_encoder(config, embeddings.embedder(), embeddings.dim)
    return Network(tasks, new_heads(config, tasks, outputs, encoder.output_size), encoder)


def new_encoder(config: Config, embedder: Any, dim: int) -> Encoder:
    """The encoder that the configuration describes. dim: the size of the embedder's vectors."""
    return Encoder(
        embedder,
        dim,
        config.encoder.hidden_size,
        config.encoder.num_layers,
        config.embeddings.dropout,
        config.encoder.dropout,
        config.encoder.join_input,
    )
