"""The shared sentence encoder: embed, encode, pool."""

import math

import torch
from torch import Tensor, nn
from tqdm import tqdm

from mtl.data.batches import TokenTable
from mtl.model.lstm import BiLSTM

# Tokens in one batch when texts are encoded for good.
ENCODING_TOKENS = 8192


class Encoder(nn.Module):
    """Word embeddings, a BiLSTM and max pooling over time (KLEJ, section 4.1).

    Dropout falls on the embedded words and on the LSTM's output (jiant). A text's vector is the same in any batch.
    """

    def __init__(
        self, embedder: nn.Module, dim: int, hidden_size: int, num_layers: int, embedding_dropout: float, dropout: float
    ) -> None:
        """embedder: word numbers (batch, time) -> (batch, time, dim). hidden_size: units per direction."""
        super().__init__()
        self.embedder = embedder
        self.embedding_dropout = nn.Dropout(embedding_dropout)
        self.lstm = BiLSTM(dim, hidden_size, num_layers)
        self.dropout = nn.Dropout(dropout)
        self.output_size = 2 * hidden_size

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Word numbers (batch, time) and lengths (batch,) -> sentence vectors (batch, output_size)."""
        embedded = self.embedding_dropout(self.embedder(tokens))
        return max_pool(self.dropout(self.lstm(embedded, lengths)), lengths)

    @torch.no_grad()
    def encode(self, table: TokenTable, texts: Tensor, progress: str = "") -> Tensor:
        """The vectors of these texts of the table, float32 on the CPU, (texts, output_size), without dropout.

        Texts of like length are encoded together. `progress` is what a progress bar says.
        """
        training = self.training
        self.eval()
        device = next(self.lstm.parameters()).device
        vectors = torch.empty(len(texts), self.output_size)
        order = torch.argsort(table.lengths[texts], stable=True)
        with tqdm(
            total=len(texts), desc=progress, unit=" texts", leave=False, disable=None if progress else True
        ) as bar:
            done = 0
            while done < len(order):
                longest = int(table.lengths[texts[order[min(done + 255, len(order) - 1)]]])
                places = order[done : done + max(1, min(256, math.ceil(ENCODING_TOKENS / longest)))]
                tokens, lengths = table.gather(texts[places])
                vectors[places] = self(tokens.to(device), lengths).float().cpu()
                done += len(places)
                bar.update(len(places))
        self.train(training)
        return vectors


def max_pool(outputs: Tensor, lengths: Tensor) -> Tensor:
    """The largest value over time of each feature: (batch, time, dim), lengths (batch,) -> (batch, dim).

    Steps past a text's length take no part.
    """
    outside = torch.arange(outputs.shape[1], device=outputs.device) >= lengths.to(outputs.device)[:, None]
    return outputs.masked_fill(outside[:, :, None], -math.inf).amax(dim=1)
