"""The heads that a configuration describes, and whether networks fit this machine's memory."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

from mtl.base.memory import check_fits
from mtl.base.settings.schema import Config
from mtl.methods.overlap import FEATURES
from mtl.model.network import Heads
from mtl.tasks.task import Task

FLOAT = 4  # bytes of a number


def new_heads(config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], dim: int) -> Heads:
    """The heads that the configuration describes. Raises InputError if they do not fit this machine's memory.

    Args:
        outputs: the outputs of each task's head for one input, by task id.
        dim: the size of the encoder's outputs.
    """
    head = config.head
    attention, overlap = head.attention_size if head.attention else None, len(FEATURES) if head.overlap else 0
    settings = (head.hidden_size, head.dropout, attention, head.projection, overlap, head.pair == "cosine", head.crf)

    def make() -> Heads:
        return Heads(tasks, outputs, dim, *settings)

    check_size(make)
    return make()


def check_size(make: Callable[[], nn.Module], copies: int = 1, further: int = 0) -> None:
    """Raise InputError if so many copies of the weights of what `make` returns, and further numbers, do not fit this machine's memory."""
    with torch.device("meta"):  # it computes sizes alone, and draws no random numbers
        weights = sum(weight.numel() for weight in make().parameters())
    remedy = "set smaller sizes in encoder., embeddings. and head."
    check_fits(FLOAT * (copies * weights + further), "a network of these sizes", remedy)
