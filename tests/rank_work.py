"""What processes do that train together: functions of a module, which each process imports."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import torch
from stage_parts import CPU, DEV, TASK, batches, loader, stage
from torch.nn.utils import parameters_to_vector
from torch.optim import SGD

from mtl.model.network import Batch, Network
from mtl.tasks.task import ScoredRows
from mtl.training.module import MultitaskModule, Optimization, TaskScore
from mtl.training.ranks import gather, rank
from mtl.training.stage import fit


def train(network: Network, folder: Path, parts: int) -> None:
    """Fit a stage with plain gradient descent, whose batches have different numbers of rows. Rank 0 writes the weights of all ranks."""
    sizes = (8, 7, 1, 4)
    made = [
        Batch(batch.task, batch.rows[:size], batch.targets[:size], vectors=batch.vectors[:size])
        for batch, size in zip(batches(1, 4), sizes, strict=True)
        if batch.vectors is not None
    ]
    dev = ScoredRows(torch.cat([batch.targets for batch in DEV]).double().numpy())
    descent = Optimization(lambda trained: SGD(trained.parameters(), 0.1), lambda step: 1.0)
    module = MultitaskModule(network, {"t": TaskScore(TASK, dev, [])}, descent, parts)
    fit(module, replace(stage(folder / "stage", checkpoint="last"), epochs=3, train=lambda epoch: loader(made)), CPU)
    weights = gather([parameters_to_vector(network.parameters()).detach()])
    if rank() == 0:
        torch.save({"weights": weights, "curve": module.curve}, folder / "result.pt")


def fail(network: Network, how: str) -> None:
    """Let rank 1 fail while rank 0 waits for it."""
    if rank() == 1 and how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if rank() == 1:
        raise ValueError("no such number")
    gather([0])
