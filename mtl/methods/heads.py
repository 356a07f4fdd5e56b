"""The heads of tasks, with the sizes of the configuration."""

from collections.abc import Mapping, Sequence

from mtl.config.schema import Config
from mtl.data.overlap import FEATURES
from mtl.model.network import Heads
from mtl.tasks.task import Task


def new_heads(config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], dim: int) -> Heads:
    """The heads of these tasks that the configuration describes. dim: the size of the encoder's outputs.

    outputs: by task id, the number of outputs of its head for one input.
    """
    attention_size = config.head.attention_size if config.head.attention else None
    return Heads(
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
