"""Stage 1: train the encoder and all heads together on all tasks (KLEJ, section 4.1)."""

import math
from pathlib import Path

from mtl.base.settings.schema import Config
from mtl.embedders.interface import Embeddings
from mtl.methods.coded import Coded, fit_tasks
from mtl.methods.lstm.network import new_network
from mtl.methods.lstm.shared_stage1 import SharedStage1
from mtl.methods.networks import TaskInput
from mtl.model.network import Network
from mtl.model.sequences import Sequences
from mtl.training.checkpoints import load_finished
from mtl.training.optimizers import falling_adam


def pretrain(
    config: Config,
    data: Coded,
    sequences: Sequences,
    embeddings: Embeddings,
    seed: int,
    folder: Path,
    shared: SharedStage1,
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
        epoch_steps = min(settings.validate_every, settings.max_steps)
        fit_tasks(
            config,
            data,
            network,
            TaskInput(sequences),
            {task.id: data.train(task, config.loss, seed) for task in data.dataset.trained_tasks},
            falling_adam(settings.learning_rate, settings.final_learning_rate, settings.max_steps),
            batch_size=settings.batch_size,
            dev_batch_size=settings.batch_size,
            epoch_steps=epoch_steps,
            total_steps=settings.max_steps,
            seed=seed,
            sampling=settings.sampling,
            title=title,
            section="pretrain",
            folder=folder,
            epochs=math.ceil(settings.max_steps / epoch_steps),
            patience=settings.patience,
            gradient_clip=settings.gradient_clip,
            facts={"key": shared.key},
        )
        shared.record(folder)
    return network
