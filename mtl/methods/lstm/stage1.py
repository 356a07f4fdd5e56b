"""Stage 1: train the encoder and all heads together on all tasks (KLEJ, section 4.1)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from mtl.base.settings.schema import Config
from mtl.embedders.interface import Embeddings
from mtl.methods.coded import Coded, fit_tasks
from mtl.methods.heads import check_size, new_heads
from mtl.methods.lstm.shared_stage1 import SharedStage1
from mtl.methods.lstm.trained import new_encoder
from mtl.methods.networks import TaskInput
from mtl.model.network import Network
from mtl.model.sequences import Sequences
from mtl.tasks.task import Task
from mtl.training.checkpoints import load_finished
from mtl.training.optimizers import falling_adam

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


def pretrain(
    config: Config, data: Coded, texts: Sequences, embeddings: Embeddings, seed: int, folder: Path, shared: SharedStage1
) -> Network:
    """The network with the weights of the best validation of stage 1. It is loaded if `folder` has a finished stage, else trained, or taken from
    another run that has trained the same stage 1. `folder` receives what `fit` writes, or the weights of the other run."""
    network = new_network(config, data.dataset.trained_tasks, data.outputs, embeddings, seed)
    if load_finished(network, folder):
        shared.record(folder)  # the process that finished it may have been killed before it did so
        return network
    title = f"seed {seed} · stage 1"
    with shared.reserved(title):
        if shared.take(folder, network, title):
            load_finished(network, folder)
            return network
        settings = config.pretrain
        fit_tasks(
            config,
            data,
            network,
            TaskInput(texts),
            {task.id: data.train(task, config.loss, seed) for task in data.dataset.trained_tasks},
            falling_adam(settings.learning_rate, settings.final_learning_rate, settings.max_steps),
            section="pretrain",
            epoch_steps=min(settings.validate_every, settings.max_steps),
            total_steps=settings.max_steps,
            seed=seed,
            sampling=settings.sampling,
            title=title,
            folder=folder,
            facts={"key": shared.key},
        )
        shared.record(folder)
    return network
