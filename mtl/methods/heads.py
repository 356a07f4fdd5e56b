"""The heads that a configuration describes, new ones and trained ones, and a check that networks fit this machine's memory."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from mtl.base.memory import check_fits
from mtl.base.settings.schema import Config
from mtl.methods.method import Answers
from mtl.methods.overlap import FEATURES
from mtl.model.network import Heads
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import set_weights, weights_of_part

FLOAT = 4  # bytes of a number


def new_heads(config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], dim: int) -> Heads:
    """The heads that the configuration describes, for vectors of the size `dim`; `outputs` by task id. Raises InputError if memory is too small."""
    head = config.head
    attention = head.attention_size if head.attention else None
    overlap = len(FEATURES) if head.overlap else 0
    settings = (head.hidden_size, head.dropout, attention, head.projection, overlap, head.pair == "cosine", head.crf)
    make = partial(Heads, tasks, outputs, dim, *settings)
    check_size(make)
    return make()


def load_heads(
    config: Config, tasks: Sequence[Task], answers: Answers, dim: int, weights: dict[str, Tensor], path: Path
) -> Heads:
    """The heads of these tasks with their weights in the checkpoint `path`. Raises InputError for the weights of other heads."""
    outputs = {task.id: target_kind(task).head.outputs(answers.get(task.id, [])) for task in tasks}
    heads = new_heads(config, tasks, outputs, dim)
    set_weights(heads, weights_of_part(weights, "heads."), path)
    return heads


def check_size(make: Callable[[], nn.Module], copies: int = 1, further: int = 0) -> None:
    """Raise InputError if so many copies of the weights of what `make` returns, and further numbers, do not fit this machine's memory."""
    with torch.device("meta"):  # it computes sizes alone, and draws no random numbers
        weights = sum(weight.numel() for weight in make().parameters())
    remedy = "set smaller sizes in encoder., embeddings. and head."
    check_fits(FLOAT * (copies * weights + further), "a network of these sizes", remedy)
