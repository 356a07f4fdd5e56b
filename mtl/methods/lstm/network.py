"""The LSTM's network, with the sizes of the configuration."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from mtl.config.schema import Config
from mtl.embedders.kind import Embeddings
from mtl.methods.heads import new_heads
from mtl.methods.lstm.entry import check_fits_memory, check_trainable, lstm_weights
from mtl.model.encoder import Encoder
from mtl.model.network import Network
from mtl.tasks.task import Task


def new_network(
    config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], embeddings: Embeddings, seed: int
) -> Network:
    """The network before training, the same for the same seed. outputs: by task id, outputs of its head for one input.

    Raises InputError for a network that cannot be trained in this machine's memory.
    """
    check_trainable(config, embeddings.dim, embeddings.parameters())
    torch.manual_seed(seed)
    encoder = new_encoder(config, embeddings.embedder(), embeddings.dim)
    return Network(tasks, new_heads(config, tasks, outputs, encoder.output_size), encoder)


def new_encoder(config: Config, embedder: Any, dim: int) -> Encoder:
    """The encoder that the configuration describes. dim: the size of the embedder's vectors.

    Raises InputError for an encoder that no memory of this machine holds.
    """
    check_fits_memory(config, dim, lstm_weights(config, dim))
    return Encoder(
        embedder,
        dim,
        config.encoder.hidden_size,
        config.encoder.num_layers,
        config.embeddings.dropout,
        config.encoder.dropout,
        config.encoder.join_input,
    )
