"""Stage 1: train the encoder and all heads together on all tasks (KLEJ, section 4.1)."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from mtl.config.schema import Config
from mtl.device import device_of
from mtl.embedders.kind import Embeddings
from mtl.embedders.sequences import Sequences
from mtl.methods.coded import Coded
from mtl.methods.lstm.network import new_encoder, new_heads
from mtl.methods.lstm.shared_stage1 import SharedStage1
from mtl.model.network import Network
from mtl.tasks.task import Task
from mtl.training.batches import BatchDataset, Schedule, ScheduleSampler, SortedSampler, batch_rows, row_lengths
from mtl.training.checkpoints import load_finished
from mtl.training.fit import Stage, fit
from mtl.training.module import MultitaskModule
from mtl.training.optimizer import falling_adam


def new_network(
    config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], embeddings: Embeddings, seed: int
) -> Network:
    """The network before training, the same for the same seed. outputs: by task id, outputs of its head for one input."""
    torch.manual_seed(seed)
    encoder = new_encoder(config, embeddings.embedder(), embeddings.dim)
    return Network(tasks, new_heads(config, tasks, outputs, encoder.output_size), encoder)


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
        return network
    title = f"seed {seed} · stage 1"
    with shared.reserved(title):
        if shared.take(folder, checkpoint, title):
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
    tasks = data.dataset.trained_tasks
    data.set_loss(network, config.loss)
    parts = {
        "train": {task.id: data.train(task, config.loss, seed) for task in tasks},
        "dev": {task.id: data.splits[task.id]["dev"] for task in tasks},
    }
    token_counts = sequences.lengths.numpy()
    lengths = {split: {id: row_lengths(part, token_counts) for id, part in of.items()} for split, of in parts.items()}
    sizes = {
        split: {id: batch_rows(part, settings.batch_size) for id, part in of.items()} for split, of in parts.items()
    }
    schedule = Schedule(lengths["train"], sizes["train"], settings.max_steps, seed, settings.sampling)
    pin_memory = device_of(config.trainer.accelerator).type == "cuda"
    batches = {split: BatchDataset(of, sequences) for split, of in parts.items()}
    every = min(settings.validate_every, settings.max_steps)
    module = MultitaskModule(
        network,
        {task.id: data.dev_score(task) for task in tasks},
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
            train=lambda epoch: batches["train"].loader(
                ScheduleSampler(schedule, epoch * every, (epoch + 1) * every), pin_memory
            ),
            dev=batches["dev"].loader(SortedSampler(lengths["dev"], sizes["dev"]), pin_memory),
            checkpoint=settings.checkpoint,
            saved=("best", "last"),  # a run that shares this training may use the other one
            scale=data.scale,
            facts={"key": key},
        ),
        config.trainer,
    )
