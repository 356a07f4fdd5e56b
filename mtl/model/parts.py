"""A trained encoder as plain weights, in the form that other programs know."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class EncoderParts:
    """The weights of an encoder, float32 on the CPU, and how it splits texts.

    words: those with a vector of their own, in the order of their ids, from `Vocabulary.FIRST`. vectors: (ids, dim), of padding (zero), of
    the unknown word, and of `words`. lstm: a state dict of `torch.nn.LSTM(bidirectional=True)`. join_input: see
    `mtl.model.encoder.Encoder`. language: of the Moses tokenizer. max_length: in tokens, without boundary words. boundary_words: whether
    `mtl.data.text.BOUNDARIES` stand around each text. all_words: whether the run looks new words up in its file of vectors.
    """

    words: list[str]
    vectors: Tensor
    lstm: Mapping[str, Tensor]
    hidden_size: int
    num_layers: int
    join_input: bool
    language: str
    max_length: int
    boundary_words: bool
    all_words: bool

    @property
    def dim(self) -> int:
        """The size of a token's output."""
        return 2 * self.hidden_size + (self.vectors.shape[1] if self.join_input else 0)
