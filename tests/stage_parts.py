"""A small stage: batches of vectors with labels, a head on them, and how it is trained."""

from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader

from mtl.base.settings.schema import TrainerConfig
from mtl.model.network import Batch, Heads, Network
from mtl.tasks.task import ScoredRows, Task
from mtl.training.module import MultitaskModule, TaskScore
from mtl.training.optimizers import falling_adam
from mtl.training.stage import Stage

CPU = TrainerConfig("cpu", "32-true")
TASK = Task(id="t", kind="labels", text=["x"], target="y", labels=["a", "b"], metric="accuracy")


class Cut(Exception):
    pass


def batches(key: int, count: int) -> list[Batch]:
    """Batches of eight rows, numbered through, whose label says whether two numbers have the same sign."""
    generator = torch.Generator().manual_seed(key)
    made = []
    for number in range(count):
        vectors = torch.randn(8, 6, generator=generator)
        rows = torch.arange(8 * number, 8 * number + 8)
        made.append(Batch("t", rows, (vectors[:, 0] * vectors[:, 1] > 0).float(), vectors=vectors))
    return made


DEV = batches(99, 5)


def network() -> Network:
    torch.manual_seed(3)
    return Network([TASK], Heads([TASK], {"t": 2}, 6, 8, 0.5), None)


def module(learning_rate: float = 0.02, kind: type[MultitaskModule] = MultitaskModule) -> MultitaskModule:
    dev = ScoredRows(torch.cat([batch.targets for batch in DEV]).double().numpy())
    return kind(network(), {"t": TaskScore(TASK, dev, [])}, falling_adam(learning_rate, learning_rate / 10, 40))


def assert_same_weights(one: MultitaskModule, other: MultitaskModule) -> None:
    for name, tensor in one.network.state_dict().items():
        assert torch.equal(tensor, other.network.state_dict()[name]), name


def stage(
    folder: Path, patience: int = 100, cut: int | None = None, checkpoint: str = "best", validate_first: bool = False
) -> Stage:
    def train(epoch: int) -> DataLoader[Batch]:
        if epoch == cut:
            raise Cut
        return loader(batches(epoch + 1, 4))

    size: dict[str, Any] = {"epochs": 10, "total_steps": 40, "patience": patience, "gradient_clip": 5.0, "seed": 1}
    read: dict[str, Any] = {"train": train, "dev": loader(DEV)}
    kept: dict[str, Any] = {"folder": folder, "checkpoint": checkpoint, "validate_first": validate_first}
    return Stage(title="test", section="pretrain", **size, **read, **kept)


def loader(made: list[Batch]) -> DataLoader[Batch]:
    return DataLoader(made, batch_size=None)  # type: ignore[arg-type]
