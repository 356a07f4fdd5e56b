"""The heads of tasks, with the sizes of the configuration."""

from collections.abc import Mapping, Sequence
from functools import partial

import torch

from mtl.config.schema import Config
from mtl.data.overlap import FEATURES
from mtl.memory import check_fits
from mtl.model.network import Heads
from mtl.tasks.task import Task

FLOAT = 4  # bytes of a weight


def new_heads(config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], dim: int) -> Heads:
    """The heads of these tasks that the configuration describes. dim: the size of the encoder's outputs.

    outputs: by task id, the number of outputs of its head for one input. Raises InputError for heads that no memory of this machine holds.
    """
    attention_size = config.head.attention_size if config.head.attention else None
    make = partial(
        Heads,
        tasks,
        outputs,
        dim,
        config.head.hidden_size,
        config.head.dropout,
        attention_size,
        config.head.projection,
        len(FEATURES) if config.head.overlap else 0,
        config.head.pair == "cosine",
    )
    try:
        with torch.device("meta"):  # sizes alone, which draw no random numbers
            weights = sum(weight.numel() for weight in make().parameters())
    except RuntimeError:  # a size beyond 2**63
        weights = 2**63
    check_fits(FLOAT * weights, "head: a set of heads of this size", "set smaller sizes in head. and encoder.")
    return make()
