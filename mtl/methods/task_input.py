"""What a task's head reads in stage 2."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from mtl.embedders.sequences import Sequences
from mtl.model.encoder import Encoder


@dataclass(frozen=True)
class TaskInput:
    """What one task's head reads in stage 2.

    encoder: runs in each step, either trained with the head or with dropout; None if the texts are already encoded.
    sequences: texts for the encoder, or its token outputs. vectors: float32 (texts, dim), for heads that read vectors of whole texts.
    lengths: int64 (texts,), in tokens, if batches hold rows of similar length; None if rows are shuffled freely.
    """

    encoder: Encoder | None
    sequences: Sequences | None
    vectors: Tensor | None
    lengths: np.ndarray | None
