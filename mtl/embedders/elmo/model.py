"""A pretrained ELMo (Peters et al. 2018): all layers of tokens, computed for batches of sentences of similar length."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence

from mtl.base.device import exact_arithmetic
from mtl.embedders.elmo.network import BEGIN_SENTENCE, BEGIN_WORD, DIRECTIONS, END_SENTENCE, END_WORD, PADDING
from mtl.embedders.elmo.options import read_options
from mtl.embedders.elmo.weights import read_weights

WORDS, TOKENS = 1024, 4096  # distinct words, and tokens, that are computed at once

BOUNDARIES = {"<S>": BEGIN_SENTENCE, "</S>": END_SENTENCE}  # the words that are added before and after every sentence


class ELMo:
    """A pretrained ELMo in AllenNLP's format, with fixed weights (Peters et al. 2018).

    Examples:
        >>> elmo = ELMo("elmo-pl/options.json", "elmo-pl/weights.hdf5")  # doctest: +SKIP
        >>> elmo.layers([["Ala", "ma", "kota", "."]])[0].shape  # doctest: +SKIP
        torch.Size([3, 4, 1024])

    A sentence's vectors depend on its own words only: unlike in AllenNLP's module, no state is carried from one call or batch to the next."""

    def __init__(self, options_file: Path | str, weights_file: Path | str, exact: bool = True) -> None:
        """Load files in AllenNLP's format; if exact, compute in float64, so that the vectors, rounded to float32, are always the same. Float32 is
        faster; its results depend on the batch and the machine. Raises InputError for files that cannot be read or do not fit."""
        self.options = read_options(Path(options_file))
        self.dtype = torch.float64 if exact else torch.float32
        self.model = read_weights(Path(weights_file), self.options).to(self.dtype).requires_grad_(False).eval()
        self.device = torch.device("cpu")

    @property
    def dim(self) -> int:
        """The size of a token's vector in each layer."""
        return 2 * self.options.lstm.projection_dim

    @property
    def width(self) -> int:
        """The size of a token's row in `rows`."""
        return (2 * self.options.lstm.n_layers + 1) * self.options.lstm.projection_dim

    def to(self, device: torch.device) -> "ELMo":
        """Move the weights to a device and return self. In place of an Apple GPU, which has no float64, it is the CPU, in either precision."""
        device = torch.device("cpu") if device.type == "mps" else device
        self.model, self.device = self.model.to(device), device
        return self

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """All layers of each sentence: float32 (n_layers + 1, tokens, dim). The first is the token layer, without context, concatenated with itself;
        then the LSTM layers, each the forward states and then the backward states."""
        return [torch.stack(split_layers(rows, self.options.lstm.projection_dim)) for rows in self.rows(sentences)]

    @torch.no_grad()
    @exact_arithmetic()
    def rows(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """The layers of each sentence, concatenated, with the token layer only once: float32 (tokens, width), also with mixed precision."""
        # The ids 0 and 1 are those of the boundary words.
        word_ids = {word: id for id, word in enumerate(dict.fromkeys(chain.from_iterable(sentences)), start=2)}
        rows: list[Tensor] = [torch.empty(0)] * len(sentences)
        with torch.autocast(self.device.type, enabled=False):
            vectors = self.token_vectors(list(word_ids))
            for batch in batches(list(map(len, sentences))):
                ids = [[0, *(word_ids[word] for word in sentences[number]), 1] for number in batch]
                tokens = pack_sequence([vectors[sentence] for sentence in ids])
                by_direction = [self.model.states(tokens, direction) for direction in DIRECTIONS]
                packed = torch.cat([tokens.data, *chain.from_iterable(zip(*by_direction, strict=True))], dim=1).float()
                # The row of a sentence's step: the first row of the step plus the sentence's position in the batch.
                starts = torch.cat([torch.zeros(1, dtype=torch.int64), tokens.batch_sizes.cumsum(0)])
                for position, number in enumerate(batch):
                    rows[number] = packed[(starts[1 : len(ids[position]) - 1] + position).to(packed.device)]
        return rows

    def token_vectors(self, words: Sequence[str]) -> Tensor:
        """The token layer of the two boundary words, then of these words: (2 + words, projection_dim)."""
        length = self.options.char_cnn.max_characters_per_token
        vectors = torch.empty(2 + len(words), self.options.lstm.projection_dim, dtype=self.dtype, device=self.device)
        order = np.argsort([len(word.encode("utf-8", "ignore")) for word in words], kind="stable")
        for part in np.split(order, range(WORDS, len(order), WORDS)):
            ids = torch.from_numpy(character_ids([words[i] for i in part], length))
            vectors[torch.from_numpy(part).to(self.device) + 2] = self.model.characters(ids.to(self.device))
        vectors[:2] = self.model.characters(torch.from_numpy(character_ids(list(BOUNDARIES), length)).to(self.device))
        return vectors


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The numbers of the sentences that are computed at once, the longest first: at most TOKENS tokens with boundary words, or one sentence."""
    ascending = sorted(range(len(lengths)), key=lambda number: lengths[number])
    while ascending:
        first = max(0, len(ascending) - max(1, TOKENS // (lengths[ascending[-1]] + 2)))
        yield ascending[first:][::-1]
        del ascending[first:]


def split_layers(rows: Tensor, projection_dim: int) -> list[Tensor]:
    """Rows of `ELMo.rows` (…, width) -> the layers (…, 2 * projection_dim), the token layer first."""
    token = rows[..., :projection_dim]
    return [torch.cat([token, token], dim=-1), *rows[..., projection_dim:].split(2 * projection_dim, dim=-1)]


def character_ids(words: Sequence[str], length: int) -> np.ndarray:
    """Each word between begin-of-word and end-of-word ids, padded: int64 (words, length). The words <S> and </S> are the sentence boundaries. A
    word's UTF-8 bytes beyond length − 2 are cut off, even inside a character, as in the original code, and lone surrogates are left out."""
    ids = np.full((len(words), length), PADDING, dtype=np.int64)
    for row, word in enumerate(words):
        characters = [BOUNDARIES[word]] if word in BOUNDARIES else [b + 1 for b in word.encode("utf-8", "ignore")]
        inner = characters[: length - 2]
        ids[row, : len(inner) + 2] = [BEGIN_WORD, *inner, END_WORD]
    return ids
