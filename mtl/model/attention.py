"""Attention between the words of a pair's two sentences (Conneau et al. 2017; KLEJ, section 4.1.3)."""

import math

import torch
from torch import Tensor, nn

from mtl.model.encoder import max_pool, past_end
from mtl.model.heads import Head
from mtl.model.lstm import BiLSTM


class AttentionHead(nn.Module):
    """A head for pairs in which each sentence reads the other before they are pooled (jiant's, after BiDAF).

    Scores U Vᵀ between all encoder outputs of the two sentences; each side reads the other through a softmax of them;
    [own; read] runs through a one-layer BiLSTM that both sides share, then max pooling. Padding has no weight.
    """

    reads_tokens = True

    def __init__(self, dim: int, outputs: int, hidden_size: int, dropout: float, attention_size: int) -> None:
        """dim: of an encoder output. hidden_size: of the MLP. attention_size: of the BiLSTM, units per direction."""
        super().__init__()
        self.lstm = BiLSTM(2 * dim, attention_size, num_layers=1)
        self.dropout = nn.Dropout(dropout)
        self.head = Head(2 * attention_size, outputs, pair=True, hidden_size=hidden_size, dropout=dropout)

    def read(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Encoder outputs (2 * rows, time, dim), all first sides before all second ones, and their lengths in tokens
        (2 * rows,) -> (rows, outputs)."""
        u, v = states.chunk(2)
        u_past, v_past = past_end(states, lengths).chunk(2)
        scores = torch.bmm(u, v.transpose(1, 2))
        own = torch.cat([u, v])
        read = torch.cat([attend(scores, v, v_past), attend(scores.transpose(1, 2), u, u_past)])
        modelled = self.dropout(self.lstm(torch.cat([own, read], dim=2), lengths))
        result: Tensor = self.head(max_pool(modelled, lengths))
        return result


def attend(scores: Tensor, others: Tensor, past: Tensor) -> Tensor:
    """What each word reads of the other sentence: their mean, weighted with the softmax of its scores.

    scores: (rows, time, others' time). others: (rows, others' time, dim). past: bool (rows, others' time), where the other
    sentence has ended. -> (rows, time, dim)
    """
    return torch.bmm(scores.masked_fill(past[:, None, :], -math.inf).softmax(dim=2), others)
