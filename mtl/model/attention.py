"""Attention between the words of a pair's two sentences (Conneau et al. 2017; KLEJ, section 4.1.3)."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mtl.model.encoder import past_end
from mtl.model.heads import Head
from mtl.model.lstm import BiLSTM


class AttentionHead(nn.Module):
    """A head for pairs in which each sentence attends to the other before pooling (as in jiant, after BiDAF).

    Scores are U Vᵀ over all encoder outputs of the two sentences. Each word attends to the other sentence with a softmax of
    its scores. [own; attended] runs through a one-layer BiLSTM that both sentences share, then max pooling.
    Padding has no weight.
    """

    reads_tokens = True

    def __init__(
        self,
        dim: int,
        outputs: int,
        hidden_size: int,
        dropout: float,
        attention_size: int,
        overlap: int = 0,
        spans: Sequence[int] = (),
    ) -> None:
        """dim: of an encoder output. hidden_size: units of the MLP. attention_size: units of the BiLSTM per direction.
        overlap, spans: as in `Head`."""
        super().__init__()
        self.lstm = BiLSTM(2 * dim, attention_size, num_layers=1)
        self.dropout = nn.Dropout(dropout)
        self.head = Head(2 * attention_size, outputs, True, hidden_size, dropout, overlap, spans)

    @property
    def last(self) -> nn.Linear:
        """The layer that computes the outputs."""
        return self.head.last

    def read(
        self, states: Tensor, lengths: Tensor, overlap: Tensor | None = None, spans: Tensor | None = None
    ) -> Tensor:
        """Encoder outputs (2 * inputs, time, dim), all first sentences before all second ones, their lengths in tokens
        (2 * inputs,), the overlap (inputs, features), and the spans (inputs, spans, 2) -> (inputs, outputs).

        The vector of a span is the maximum over the outputs of the BiLSTM above the attention.
        """
        u, v = states.chunk(2)
        u_past, v_past = past_end(states, lengths).chunk(2)
        scores = torch.bmm(u, v.transpose(1, 2))
        own = torch.cat([u, v])
        attended = torch.cat([attend(scores, v, v_past), attend(scores.transpose(1, 2), u, u_past)])
        modelled = self.dropout(self.lstm(torch.cat([own, attended], dim=2), lengths))
        return self.head.read(modelled, lengths, overlap, spans)


def attend(scores: Tensor, others: Tensor, past: Tensor) -> Tensor:
    """For each word the mean of the other sentence's words, weighted with the softmax of its scores: (rows, time, dim).

    scores: (rows, time, other time). others: (rows, other time, dim). past: bool (rows, other time), true past the other
    sentence's end.
    """
    return torch.bmm(scores.masked_fill(past[:, None, :], -math.inf).softmax(dim=2), others)
