"""Stage 1: train the encoder and all heads together on all tasks (KLEJ, section 4.1)."""

import math
from pathlib import Path

from mtl.config.schema import Config
from mtl.embedders.kind import Embeddings
from mtl.embedders.sequences import Sequences
from mtl.methods.coded import Coded
from mtl.methods.joint_batches import JointBatches
from mtl.methods.lstm.network import new_network
from mtl.methods.lstm.shared_stage1 import SharedStage1
from mtl.model.network import Network
from mtl.training.batches import batch_rows
from mtl.training.checkpoints import load_finished
from mtl.training.fit import Stage, fit
from mtl.training.module import MultitaskModule
from mtl.training.optimizer import falling_adam


def pretrain(
    config: Config,
    data: Coded,
    sequences: Sequences,
    embeddings: Embeddings,
    seed: int,
    folder: Path,
    shared: SharedStage1,
) -> Network:
    """The network with the weights of the best validation of stage 1. It is trained, or loaded if `folder` has a finished stage.

    With `pretrain.checkpoint=last`, it has the weights of the last validation. `folder` receives what `fit` writes, or the weights of
    another run that has trained the same stage 1.
    """
    checkpoint = config.pretrain.checkpoint
    network = new_network(config, data.dataset.trained_tasks, data.outputs, embeddings, seed)
    if load_finished(network, folder, checkpoint):
        shared.record(folder)  # the process that finished it may have been killed before it did so
        return network
    title = f"seed {seed} · stage 1"
    with shared.reserved(title):
        if shared.take(folder, checkpoint, network, title):
            load_finished(network, folder, checkpoint)
            return network
        _train(network, config, data, sequences, seed, title, folder, shared.key)
        shared.record(folder)
    return network


def _train(
    network: Network,
    config: Config,
    data: Coded,
    sequences: Sequences,
    seed: int,
    title: str,
    folder: Path,
    key: str,
) -> None:
    settings = config.pretrain
    data.set_loss(network, config.loss)
    batches = JointBatches(config, data, sequences, seed, lambda rows: batch_rows(rows, settings.batch_size))
    schedule = batches.schedule(settings.max_steps, seed, settings.sampling)
    every = min(settings.validate_every, settings.max_steps)
    module = MultitaskModule(
        network,
        {task.id: data.dev_score(task) for task in data.dataset.trained_tasks},
        falling_adam(settings.learning_rate, settings.final_learning_rate, settings.max_steps, settings.warmup_steps),
    )
    fit(
        module,
        Stage(
            title=title,
            section="pretrain",
            folder=folder,
            seed=seed,
            epochs=math.ceil(settings.max_steps / every),
            total_steps=settings.max_steps,
            patience=settings.patience,
            gradient_clip=settings.gradient_clip,
            train=lambda epoch: batches.train(schedule, epoch * every, (epoch + 1) * every),
            dev=batches.dev(),
            checkpoint=settings.checkpoint,
            scale=data.scale,
            facts={"key": key},
        ),
        config.trainer,
    )
