"""The LSTM's network as its configuration describes it, before training."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from mtl.base.settings.schema import Config
from mtl.embedders.interface import Embeddings
from mtl.methods.heads import check_size, new_heads
from mtl.model.encoder import Encoder
from mtl.model.lstm import BiLSTM
from mtl.model.network import Network
from mtl.tasks.task import Task

TRAINED = 4  # numbers for a weight in training: itself, its gradient, and Adam's two moments


def new_network(
    config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], embeddings: Embeddings, seed: int
) -> Network:
    """The network before training, the same for the same seed; `outputs` are those of heads for one input, by task id. Raises InputError for a
    network that cannot be trained in this machine's memory."""
    table = embeddings.parameters() * (TRAINED if getattr(config.embeddings, "trainable", False) else 1)
    check_size(lambda: new_encoder(config, nn.Identity(), embeddings.dim), TRAINED, table)
    torch.manual_seed(seed)
    encoder = new_encoder(config, embeddings.embedder(), embeddings.dim)
    return Network(tasks, new_heads(config, tasks, outputs, encoder.output_size), encoder)


def new_encoder(config: Config, embedder: Any, dim: int) -> Encoder:
    """The encoder that the configuration describes, for vectors of the size `dim`. Raises InputError if this machine's memory does not hold it."""
    encoder = config.encoder
    sizes, dropouts = (encoder.hidden_size, encoder.num_layers), (config.embeddings.dropout, encoder.dropout)
    check_size(lambda: BiLSTM(dim, *sizes))
    return Encoder(embedder, dim, *sizes, *dropouts, encoder.join_input)
