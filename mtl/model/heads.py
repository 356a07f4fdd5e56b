"""The per-task classifiers on top of the shared encoder."""

import torch
from torch import Tensor, nn

from mtl.model.encoder import max_pool

OVERLAP_SCALE = 4.0  # shares of 0 to 1 become -2 to 2: about the scale of standardized features


class Head(nn.Module):
    """An MLP with one hidden layer (KLEJ, section 4.1; jiant's layers: linear, tanh, layer norm, dropout, linear).

    The last layer computes in its weights' precision under `torch.autocast` too: in bfloat16, which has 8 significant bits, many rows
    would have the same output.
    """

    reads_tokens = False

    def __init__(self, dim: int, outputs: int, pair: bool, hidden_size: int, dropout: float, overlap: int = 0) -> None:
        """dim: of a sentence vector. outputs: numbers for one input: one for each label, or a single one for a number or a candidate.
        overlap: the number of features of a pair's overlap (`mtl.data.overlap`) that a head for pairs reads beside the vectors."""
        super().__init__()
        self.pair = pair
        self.layers = nn.Sequential(
            nn.Linear(4 * dim if pair else dim, hidden_size),
            nn.Tanh(),
            nn.LayerNorm(hidden_size),
            nn.Dropout(dropout),
            nn.Linear(hidden_size, outputs),
        )
        # A layer of its own: among thousands of other inputs, few features would start with weights near 0.
        self.overlap = nn.Linear(overlap, hidden_size, bias=False) if pair and overlap else None

    @property
    def last(self) -> nn.Linear:
        """The layer that computes the outputs."""
        layer = self.layers[-1]
        assert isinstance(layer, nn.Linear)
        return layer

    def forward(self, vectors: Tensor, overlap: Tensor | None = None) -> Tensor:
        """Sentence vectors (sides * inputs, dim), all first sentences before all second ones, and the overlap (inputs, features)
        -> (inputs, outputs)."""
        first, *others, last = self.layers
        hidden = first(pair_features(*vectors.chunk(2)) if self.pair else vectors)
        if self.overlap is not None:
            assert overlap is not None
            hidden = hidden + self.overlap((overlap - 0.5) * OVERLAP_SCALE)
        for layer in others:
            hidden = layer(hidden)
        with torch.autocast(hidden.device.type, enabled=False):
            outputs: Tensor = last(hidden.to(last.weight.dtype))
        return outputs

    def read(self, states: Tensor, lengths: Tensor, overlap: Tensor | None = None) -> Tensor:
        """Encoder outputs (sides * inputs, time, dim), their lengths (sides * inputs,), and the overlap (inputs, features)
        -> (inputs, outputs)."""
        result: Tensor = self(max_pool(states, lengths), overlap)
        return result


class ProjectingHead(nn.Module):
    """A head that projects every token before the maximum over time (jiant's `Pooler` with `d_proj`: linear, then max).

    Its MLP reads vectors of the projected size.
    """

    reads_tokens = True

    def __init__(
        self, dim: int, outputs: int, pair: bool, hidden_size: int, dropout: float, projection: int, overlap: int = 0
    ) -> None:
        """dim: of an encoder output. projection: the projected size. The other arguments are as in `Head`."""
        super().__init__()
        self.projection = nn.Linear(dim, projection)
        self.head = Head(projection, outputs, pair, hidden_size, dropout, overlap)

    @property
    def last(self) -> nn.Linear:
        """The layer that computes the outputs."""
        return self.head.last

    def read(self, states: Tensor, lengths: Tensor, overlap: Tensor | None = None) -> Tensor:
        """As `Head.read`."""
        return self.head.read(self.projection(states), lengths, overlap)


def pair_features(u: Tensor, v: Tensor) -> Tensor:
    """[u; v; |u − v|; u ∗ v]: u and v (rows, dim) -> (rows, 4 * dim)."""
    return torch.cat([u, v, (u - v).abs(), u * v], dim=1)
