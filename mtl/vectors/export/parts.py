"""The encoder of an LSTM as its weights, for other programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from mtl.base.errors import InputError
from mtl.embedders.new_words import WordReader
from mtl.methods.lstm.trained import TrainedLstm
from mtl.methods.method import Model


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
