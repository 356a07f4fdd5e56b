"""The shared sentence encoder: embed, encode, pool."""

import copy
import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from mtl.base.device import to_device
from mtl.base.progress import Progress
from mtl.model.lstm import BiLSTM
from mtl.model.sequences import Embedder, Sequences

# The size of a batch when texts are encoded without training.
ENCODING_TOKENS = 8192  # about so many tokens, with padding
ENCODING_TEXTS = 256  # at most so many texts


class Encoder(nn.Module):
    """Word embeddings, a BiLSTM and max pooling over time (KLEJ, section 4.1), with dropout of word embeddings and LSTM outputs (as in jiant)."""

    def __init__(
        self,
        embedder: Embedder,
        dim: int,
        hidden_size: int,
        num_layers: int,
        embedding_dropout: float,
        dropout: float,
        join_input: bool = False,
    ) -> None:
        """The embedder makes vectors (batch, time, dim) of what `Sequences.gather` returns. `hidden_size` is that of each direction. `join_input`:
        whether a token's output is [LSTM output; word embedding], each after its own dropout, as with jiant's `skip_embs`."""
        super().__init__()
        self.embedder = embedder
        self.embedding_dropout = nn.Dropout(embedding_dropout)
        self.lstm = BiLSTM(dim, hidden_size, num_layers)
        self.dropout = nn.Dropout(dropout)
        self.join_input = join_input
        self.output_size = 2 * hidden_size + (dim if join_input else 0)

    @property
    def device(self) -> torch.device:
        """The device of the LSTM's weights."""
        return next(self.lstm.parameters()).device

    def for_task(self) -> "Encoder":
        """A copy that stage 2 trains for one task; it shares the word vectors, which stage 2 does not train."""
        return copy.deepcopy(self, {id(self.embedder): self.embedder.for_task()})

    def outputs(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """A vector for each token, (batch, time, output_size), for the embedder's input (batch, time, …) with these lengths in tokens (batch,)."""
        embedded = self.embedding_dropout(self.embedder(tokens))
        states: Tensor = self.dropout(self.lstm(embedded, lengths))
        return torch.cat([states, embedded], dim=2) if self.join_input else states

    def encode(
        self, sequences: Sequences, texts: Tensor, title: str = "encoding texts", pooling: str = "max"
    ) -> Tensor:
        """Vectors of texts without dropout, float32 (texts, output_size), on the CPU. Texts are int64 indices; `pooling` names one of POOLINGS."""
        vectors = torch.empty(len(texts), self.output_size)
        for indices, states, lengths in self._encoded(sequences, texts, title):
            vectors[indices] = POOLINGS[pooling](states.float(), lengths).cpu()
        return vectors

    def encode_tokens(self, sequences: Sequences, texts: Tensor, rows: np.ndarray, title: str) -> None:
        """Write the output of each token of these texts to `rows`, (tokens, output_size) of any float type, text after text."""
        ends = sequences.lengths[texts].cumsum(0).tolist()
        for indices, states, lengths in self._encoded(sequences, texts, title):
            for index, length, outputs in zip(indices.tolist(), lengths.tolist(), states.float().cpu(), strict=True):
                rows[ends[index] - length : ends[index]] = outputs[:length].numpy()

    @torch.no_grad()
    def _encoded(self, sequences: Sequences, texts: Tensor, title: str) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Yield for batches of texts of similar length: indices into `texts`, outputs (batch, time, output_size), and lengths (batch,)."""
        training = self.training
        self.eval()
        with Progress(title, len(texts), "texts") as bar:
            for indices in batches_by_length(sequences.lengths[texts]):
                tokens, lengths = sequences.gather(texts[indices])
                yield indices, self.outputs(tokens.to(self.device), lengths), lengths
                bar.advance(len(indices))
        self.train(training)


def batches_by_length(lengths: Tensor) -> Iterator[Tensor]:
    """Batches of texts of similar length, the shortest first: int64 indices into `lengths`, which are in tokens, (texts,)."""
    order = torch.argsort(lengths, stable=True)
    done = 0
    while done < len(order):
        longest = int(lengths[order[done : done + ENCODING_TEXTS][-1]])
        size = max(1, min(ENCODING_TEXTS, math.ceil(ENCODING_TOKENS / longest)))
        yield order[done : done + size]
        done += size


def max_pool(outputs: Tensor, lengths: Tensor) -> Tensor:
    """The maximum of each feature over a text's steps: (batch, time, dim), lengths (batch,) -> (batch, dim)."""
    return outputs.masked_fill(past_end(outputs, lengths)[:, :, None], -math.inf).amax(dim=1)


def mean_pool(outputs: Tensor, lengths: Tensor) -> Tensor:
    """The mean of each feature over a text's steps: (batch, time, dim), lengths (batch,), at least 1 -> (batch, dim)."""
    summed = outputs.masked_fill(past_end(outputs, lengths)[:, :, None], 0).sum(dim=1)
    return summed / to_device(lengths, outputs.device)[:, None]


# How token outputs become a text's vector, by name: (batch, time, dim), lengths (batch,) -> (batch, dim). Training uses max.
POOLINGS = {"max": max_pool, "mean": mean_pool}


def max_pool_span(outputs: Tensor, span: Tensor) -> Tensor:
    """The maximum over the steps of a span: (batch, time, dim), start and stop of each text's span (batch, 2) -> (batch, dim)."""
    steps = torch.arange(outputs.shape[1], device=outputs.device)
    outside = (steps < span[:, :1]) | (steps >= span[:, 1:])
    return outputs.masked_fill(outside[:, :, None], -math.inf).amax(dim=1)


def past_end(outputs: Tensor, lengths: Tensor) -> Tensor:
    """True at the steps past a text's end: outputs (batch, time, dim), lengths (batch,) -> bool (batch, time)."""
    return torch.arange(outputs.shape[1], device=outputs.device) >= to_device(lengths, outputs.device)[:, None]
