"""What is exported: the encoder of an LSTM as its weights, or a task's fine-tuned transformer, with what a model card says of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from mtl.base.errors import InputError
from mtl.embedders.new_words import WordReader
from mtl.methods.lstm.trained import TrainedLstm
from mtl.methods.method import Model
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task
from mtl.vectors.encoders.encoder import Description

if TYPE_CHECKING:
    from mtl.methods.transformer.trained import TrainedTransformer

TOLERANCE = 1e-5


@dataclass(frozen=True)
class EncoderParts:
    """The weights of an encoder, float32 on the CPU, and how it splits texts."""

    words: list[str]  # that have a vector, in the order of their ids, from `Vocabulary.FIRST`
    vectors: Tensor  # (ids, dim), of padding (zero), of the unknown word, and of `words`
    lstm: Mapping[str, Tensor]  # a state dict of `torch.nn.LSTM(bidirectional=True)`
    hidden_size: int
    num_layers: int
    join_input: bool  # see `Encoder`
    language: str  # of the Moses tokenizer
    max_length: int  # in tokens, without boundary words
    boundary_words: bool  # whether `mtl.data.text.BOUNDARIES` stand around each text
    all_words: bool  # whether the run looks new words up in its file of vectors

    @property
    def dim(self) -> int:
        """The size of a token's output."""
        return 2 * self.hidden_size + (self.vectors.shape[1] if self.join_input else 0)


@dataclass(frozen=True)
class CardFacts:
    """What the model card of an export says beside the model itself: the run's summary.json, and the licence if it is stated."""

    suite: Suite
    summary: Mapping[str, Any]
    license: str | None
    command: str


@dataclass(frozen=True)
class Export(CardFacts):
    """An encoder to export. Its centre, float32 (dim,), is subtracted from each vector; None: nothing is."""

    parts: EncoderParts
    pooling: str
    centre: np.ndarray | None
    description: Description


@dataclass(frozen=True)
class TaskExport(CardFacts):
    """A fine-tuned transformer with its head for a task to export, of one seed of the run."""

    model: "TrainedTransformer"
    task: Task
    seed: int


def encoder_parts(model: Model, words: Sequence[str]) -> EncoderParts:
    """The encoder of stage 1, with a vector for each word of the run and for these words, as training left them.

    Raises InputError if the encoder is no LSTM, and if its embeddings have no fixed vector for each word.
    """
    if not isinstance(model, TrainedLstm):
        raise InputError(
            "this run's encoder is a transformer, and this format takes an LSTM; mtl encode gives its vectors, and a fine-tuned one can be"
            " exported with --format transformers"
        )
    config, reader, lstm = model.config, model.reader, model.encoder.lstm
    if not isinstance(reader, WordReader):
        message = "a word's vector depends on its text, so other programs cannot look it up"
        raise InputError(message, key="embeddings", value=config.embeddings.name)
    reader.look_up(list(dict.fromkeys(words)))
    ids = torch.arange(len(reader.vocabulary), device=reader.embedder.table.weight.device)
    with torch.no_grad():
        vectors = reader.embedder(ids[None])[0].float().cpu()
    return EncoderParts(
        words=list(reader.vocabulary.words),
        vectors=vectors,
        lstm={name: weight.detach().float().cpu() for name, weight in lstm.state_dict().items()},
        hidden_size=lstm.hidden_size,
        num_layers=lstm.num_layers,
        join_input=model.encoder.join_input,
        language=model.language,
        max_length=config.max_length,
        boundary_words=config.boundary_words,
        all_words=reader.source is not None,
    )


def check_difference(values: np.ndarray, wanted: np.ndarray, name: str, format: str, scale: float = 1.0) -> None:
    """Raise InputError if the exported model gives other values than the run, by more than TOLERANCE of this scale."""
    difference = float(np.abs(values - wanted).max())
    if not difference <= TOLERANCE * scale:
        raise InputError(
            f"the exported model gives other {name} than the run (they differ by up to {difference:.2g}), so nothing is written;"
            " use the versions of constraints.txt",
            key=f"--format {format}",
        )
