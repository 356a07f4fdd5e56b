"""A pretrained ELMo: computes all layers of every token of sentences."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence

from mtl.device import exact_arithmetic
from mtl.embedders.elmo.bilm import DIRECTIONS
from mtl.embedders.elmo.characters import BOUNDARIES, character_ids
from mtl.embedders.elmo.options import read_options
from mtl.embedders.elmo.weights import read_weights

# The number of distinct words, and of tokens, that are computed at once.
WORDS = 1024
TOKENS = 4096


class ELMo:
    """A pretrained ELMo in AllenNLP's format, with fixed weights (Peters et al. 2018).

    >>> elmo = ELMo("elmo-pl/options.json", "elmo-pl/weights.hdf5")  # doctest: +SKIP
    >>> elmo.layers([["Ala", "ma", "kota", "."]])[0].shape  # doctest: +SKIP
    torch.Size([3, 4, 1024])

    A sentence's vectors depend on its own words only: no state is carried from one call or batch to the next, unlike in
    AllenNLP's module.
    """

    def __init__(self, options_file: Path | str, weights_file: Path | str, exact: bool = True) -> None:
        """exact: compute in float64, so that the vectors, rounded to float32, do not depend on the batch or the machine;
        False: in float32, which is faster.

        Raises InputError for files that cannot be read or do not fit together.
        """
        self.options = read_options(Path(options_file))
        dtype = torch.float64 if exact else torch.float32
        self.model = read_weights(Path(weights_file), self.options).to(dtype).requires_grad_(False).eval()
        self.dtype = dtype
        self.device = torch.device("cpu")

    @property
    def dim(self) -> int:
        """The size of a token's vector in each layer."""
        return 2 * self.options.projection_dim

    @property
    def width(self) -> int:
        """The size of a token's row in `rows`."""
        return (2 * self.options.n_layers + 1) * self.options.projection_dim

    def to(self, device: torch.device) -> "ELMo":
        """Move the weights to a device and return self. Stays on the CPU for Apple GPUs, which have no float64."""
        device = torch.device("cpu") if device.type == "mps" else device
        self.model.to(device)
        self.device = device
        return self

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """All layers of each sentence: float32 (n_layers + 1, tokens, dim).

        The first is the token layer, without context, concatenated with itself; then the LSTM layers, each the forward
        states and then the backward states.
        """
        return [torch.stack(split_layers(rows, self.options.projection_dim)) for rows in self.rows(sentences)]

    @torch.no_grad()
    @exact_arithmetic()
    def rows(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """The layers of each sentence, concatenated, with the token layer only once: float32 (tokens, width).

        They are the same in a run with mixed precision.
        """
        with torch.autocast(self.device.type, enabled=False):
            return self._rows(sentences)

    def _rows(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        word_ids = {word: id for id, word in enumerate(dict.fromkeys(w for s in sentences for w in s), start=2)}
        vectors = self._token_vectors(list(word_ids))
        results: list[Tensor] = [torch.empty(0)] * len(sentences)
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        while order:
            batch = order[-max(1, TOKENS // (len(sentences[order[-1]]) + 2)) :][::-1]
            del order[-len(batch) :]
            ids = [[0, *(word_ids[word] for word in sentences[i]), 1] for i in batch]
            tokens = pack_sequence([vectors[row] for row in ids])
            columns = [tokens.data]
            by_direction = [self.model.states(tokens, direction) for direction in DIRECTIONS]
            for layer in zip(*by_direction, strict=True):
                columns += layer
            rows = torch.cat(columns, dim=1).float()
            # A sequence's row of a step: the first row of the step plus the sequence's position in the batch.
            starts = torch.cat([torch.zeros(1, dtype=torch.int64), tokens.batch_sizes.cumsum(0)])
            for position, i in enumerate(batch):
                results[i] = rows[(starts[1 : len(ids[position]) - 1] + position).to(rows.device)]
        return results

    def _token_vectors(self, words: Sequence[str]) -> Tensor:
        """The token layer of the two boundary words, then of these words: (2 + words, projection_dim)."""
        length = self.options.max_characters
        vectors = torch.empty(2 + len(words), self.options.projection_dim, dtype=self.dtype, device=self.device)
        order = np.argsort([len(word.encode("utf-8", "ignore")) for word in words], kind="stable")
        for part in np.split(order, range(WORDS, len(order), WORDS)):
            ids = torch.from_numpy(character_ids([words[i] for i in part], length))
            vectors[torch.from_numpy(part).to(self.device) + 2] = self.model.characters(ids.to(self.device))
        vectors[:2] = self.model.characters(torch.from_numpy(character_ids(list(BOUNDARIES), length)).to(self.device))
        return vectors


def split_layers(rows: Tensor, projection_dim: int) -> list[Tensor]:
    """Rows of `ELMo.rows` (…, width) -> the layers (…, 2 * projection_dim), the token layer first."""
    token = rows[..., :projection_dim]
    return [
        torch.cat([token, token], dim=-1),
        *rows[..., projection_dim:].split(2 * projection_dim, dim=-1),
    ]
