"""The LSTM's network, with the sizes of the configuration.

How long stage 1 takes on this machine, measured with steps of the encoder alone, before any training.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from mtl.base.device import device_of
from mtl.data.dataset import Dataset
from mtl.embedders.interface import Embeddings
from mtl.methods.coded import new_heads
from mtl.methods.lstm.entry import check_fits_memory, check_trainable, lstm_weights
from mtl.model.encoder import Encoder
from mtl.model.network import Network
from mtl.settings.schema import Config
from mtl.tasks.task import Task
from mtl.training.module import falling_adam
from mtl.training.precision import mixed_precision


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


SECONDS = 1.0  # the least time that is measured
DIM = 300  # of word vectors, if the configuration does not say it


def stage1_seconds(config: Config, dataset: Dataset) -> float:
    """The seconds of a seed's stage 1 on this machine: `pretrain.max_steps` times a training step of the encoder on a batch of mean size.

    Validations, heads, word vectors and the reading of files are not in it.
    """
    texts, words = mean_batch(config, dataset)
    return config.pretrain.max_steps * step_seconds(config, texts, words)


def mean_batch(config: Config, dataset: Dataset) -> tuple[int, int]:
    """The mean number of texts in a batch of stage 1, and of a text's words, cut at `max_length`: both at least 1.

    Words are what white space separates. Tasks count as often as `pretrain.sampling` draws them.
    """
    lengths = np.array([min(len(text.split()), config.max_length) for text in dataset.texts])
    parts = [dataset.splits[task.id]["train"] for task in dataset.trained_tasks]
    drawn = np.array([len(part) for part in parts], dtype=np.float64) ** config.pretrain.sampling
    drawn /= drawn.sum()
    sides = float(drawn @ [part.texts.shape[1] for part in parts])
    words = float(drawn @ [lengths[part.texts].sum(axis=1).mean() for part in parts])
    return max(1, round(config.pretrain.batch_size * sides)), max(1, round(words / sides))


def step_seconds(config: Config, texts: int, words: int) -> float:
    """Measured seconds of a training step of the encoder on random vectors: forward, backward, Adam. texts: in a batch. words: in a text."""
    device = device_of(config.trainer.accelerator)
    dim = getattr(config.embeddings, "dim", None) or DIM
    encoder = new_encoder(config, nn.Identity(), dim).to(device)
    optimizer = falling_adam(config.pretrain.learning_rate, 0.0, 1).optimizer(encoder)
    vectors = torch.randn(texts, words, dim, device=device, requires_grad=True)
    lengths = torch.full((texts,), words)

    def step() -> None:
        with mixed_precision(config.trainer, device):
            loss = encoder(vectors, lengths).float().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    threads = torch.get_num_threads()
    torch.set_num_threads(config.trainer.threads or threads)
    try:
        step()  # memory and kernels are set up
        steps, begun = 0, time.perf_counter()
        while (seconds := time.perf_counter() - begun) < SECONDS:
            step()
            steps += 1
        return seconds / steps
    finally:
        torch.set_num_threads(threads)
