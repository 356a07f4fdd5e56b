"""The heads of tasks on top of the shared encoder, with attention between the words of a pair (Conneau et al. 2017; KLEJ, section 4.1.3)."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mtl.model.encoder import max_pool, max_pool_span, past_end
from mtl.model.lstm import BiLSTM
from mtl.tasks.head_targets import PAST, WHOLE

MEAN_WEIGHT = 0.01  # the smallest weight of the mean vector of one step in the moving average over steps
OVERLAP_SCALE = 4.0  # shares of 0 to 1 become -2 to 2: about the scale of standardized features


class Head(nn.Module):
    """An MLP with one hidden layer (KLEJ, section 4.1; jiant's layers: linear, tanh, layer norm, dropout, linear)."""

    def __init__(
        self,
        dim: int,
        outputs: int,
        pair: bool,
        hidden_size: int,
        dropout: float,
        overlap: int = 0,
        spans: Sequence[int] = (),
        by_unit: bool = False,
        crf: bool = False,
    ) -> None:
        """
        Args:
            dim: the size of a sentence vector.
            outputs: numbers for one input: one for each label, or a single one for a number or a candidate.
            overlap: the number of features of a pair's overlap (`mtl.methods.overlap`) that a head for pairs reads beside the vectors.
            spans: for each marked span that the head reads beside the vectors, the text that it is in: 0, or 1 for a pair's second.
            by_unit: whether it has outputs for each unit of the last text, read as that text's vector.
            crf: whether it learns scores of pairs of neighbouring units' outputs, too."""
        super().__init__()
        self.by_unit, self.pair, self.spans = by_unit, pair, list(spans)
        sides = 2 if pair else 1
        compared = sides**2 + len(self.spans) ** 2  # of the sides and of the spans, each `with_comparisons`
        self.layers = nn.Sequential(
            nn.Linear(compared * dim, hidden_size),
            nn.Tanh(),
            nn.LayerNorm(hidden_size),
            nn.Dropout(dropout),
            nn.Linear(hidden_size, outputs),
        )
        # The overlap's few features have their own layer: among thousands of other inputs, their weights would start near 0.
        self.overlap = nn.Linear(overlap, hidden_size, bias=False) if pair and overlap else None
        # From each output, and from a row's start, to each output; and from each output to a row's end.
        self.transitions = nn.Parameter(torch.zeros(outputs + 2, outputs)) if by_unit and crf else None

    @property
    def reads_tokens(self) -> bool:
        """Whether the head needs the encoder's output for each token."""
        return self.by_unit or bool(self.spans)

    @property
    def last(self) -> nn.Linear:
        """The layer that computes the outputs."""
        layer = self.layers[-1]
        assert isinstance(layer, nn.Linear)
        return layer

    def forward(self, vectors: Tensor, overlap: Tensor | None = None, marked: Sequence[Tensor] = ()) -> Tensor:
        """The outputs (inputs, outputs) for vectors (sides * inputs, dim), of pairs all first sentences first. The overlap is (inputs, features),
        and `marked` has vectors (inputs, dim) for each span."""
        first, *middle, last = self.layers
        hidden = first(torch.cat([*with_comparisons(self._by_side(vectors)), *with_comparisons(marked)], dim=1))
        if self.overlap is not None:
            assert overlap is not None
            hidden = hidden + self.overlap((overlap - 0.5) * OVERLAP_SCALE)
        for layer in middle:
            hidden = layer(hidden)
        # Not in bfloat16, which has 8 significant bits: many rows would have the same output.
        with torch.autocast(hidden.device.type, enabled=False):
            return last(hidden.to(last.weight.dtype))

    def read(
        self,
        states: Tensor,
        lengths: Tensor,
        overlap: Tensor | None = None,
        spans: Tensor | None = None,
        units: Tensor | None = None,
    ) -> Tensor:
        """The outputs (inputs, outputs), or (units, outputs), for encoder outputs (sides * inputs, time, dim) with these lengths (sides * inputs,).
        The overlap is (inputs, features). `spans` are start and stop in steps, (inputs, spans, 2); `units` are as in `unit_vectors`."""
        if self.by_unit:
            assert units is not None
            vectors, rows = unit_vectors(states, lengths, units)
            return self(vectors, None if overlap is None else overlap[rows])
        marked: list[Tensor] = []
        if self.spans:
            assert spans is not None
            sides = self._by_side(states)
            marked = [max_pool_span(sides[side], spans[:, number]) for number, side in enumerate(self.spans)]
        return self(max_pool(states, lengths), overlap, marked)

    def _by_side(self, values: Tensor) -> tuple[Tensor, ...]:
        """The parts of (sides * inputs, …) that belong to the first and to the second sentences; for single texts, one part."""
        return values.chunk(2 if self.pair else 1)


class TokenHead(nn.Module):
    """A module that transforms every token, and a head that reads the transformed tokens."""

    reads_tokens = True
    head: Head

    @property
    def last(self) -> nn.Linear:
        return self.head.last

    @property
    def transitions(self) -> Tensor | None:
        return self.head.transitions

    @abstractmethod
    def transform(self, states: Tensor, lengths: Tensor) -> Tensor:
        """What the head reads in place of these encoder outputs, (sides * inputs, time, dim), which have the lengths (sides * inputs,)."""

    def read(self, states: Tensor, lengths: Tensor, *features: Tensor | None) -> Tensor:
        """As `Head.read`, which takes these features. The vector of a span is the maximum over its new tokens."""
        return self.head.read(self.transform(states, lengths), lengths, *features)


class ProjectingHead(TokenHead):
    """A head that projects every token before the maximum over time (jiant's `Pooler` with `d_proj`: linear, then max)."""

    def __init__(self, dim: int, projection: int, **layers: Any) -> None:
        """`dim` is the size of an encoder output, `projection` that of a projected token; `layers` are the other arguments of `Head`."""
        super().__init__()
        self.projection = nn.Linear(dim, projection)
        self.head = Head(projection, **layers)

    def transform(self, states: Tensor, lengths: Tensor) -> Tensor:
        return self.projection(states)


class AttentionHead(TokenHead):
    """A head for pairs in which each sentence attends to the other before pooling (as in jiant, after BiDAF). A word's attention is the softmax of
    its scores U Vᵀ, over all encoder outputs of the other sentence. [word; attended] runs through one BiLSTM layer that both sentences share."""

    def __init__(self, dim: int, attention_size: int, *, dropout: float, **layers: Any) -> None:
        """`attention_size` is that of the BiLSTM per direction, whose outputs have the dropout, too; `layers` are the other arguments of `Head`."""
        super().__init__()
        self.lstm = BiLSTM(2 * dim, attention_size, num_layers=1)
        self.dropout = nn.Dropout(dropout)
        self.head = Head(2 * attention_size, pair=True, dropout=dropout, **layers)

    def transform(self, states: Tensor, lengths: Tensor) -> Tensor:
        u, v = states.chunk(2)
        u_past, v_past = past_end(states, lengths).chunk(2)
        scores = torch.bmm(u, v.transpose(1, 2))
        attended = torch.cat([attend(scores, v, v_past), attend(scores.transpose(1, 2), u, u_past)])
        # Equal to `states`, whose gradients would be added in another order, with other last bits.
        both = torch.cat([u, v])
        return self.dropout(self.lstm(torch.cat([both, attended], dim=2), lengths))


class CosineHead(nn.Module):
    """For a pair whose target is a number: scale * cosine + shift, with the cosine of the two texts' vectors, as in Sentence-BERT (Reimers and
    Gurevych 2019, section 3).
    Scale and shift start at 1 and 0: a cosine of 0 to 1 stands for the target's range (`NumberHead.loss`). Vectors that are maxima over time point in
    similar directions, so they are centred first: in training by their mean over the batch, else by the moving average of these means."""

    reads_tokens = False
    transitions = None

    mean: Tensor
    steps: Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(dim))
        self.register_buffer("steps", torch.tensor(0.0))
        self.last = nn.Linear(1, 1)
        nn.init.ones_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, vectors: Tensor, overlap: Tensor | None = None) -> Tensor:
        """The outputs (inputs, 1) for the vectors of sentences, (2 * inputs, dim), all first ones first. The overlap is ignored."""
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = vectors.to(self.last.weight.dtype)
            mean = self.mean
            if self.training:
                mean = vectors.mean(dim=0)
                self.steps += 1
                self.mean.lerp_(mean.detach(), torch.clamp(1 / self.steps, min=MEAN_WEIGHT))
            u, v = (vectors - mean).chunk(2)
            return self.last(functional.cosine_similarity(u, v)[:, None])

    def read(self, states: Tensor, lengths: Tensor, *features: Tensor | None) -> Tensor:
        """The outputs (inputs, 1) for encoder outputs (2 * inputs, time, dim) with these lengths. The features of `Head.read` are ignored."""
        return self(max_pool(states, lengths))


def with_comparisons(vectors: Sequence[Tensor]) -> list[Tensor]:
    """The n vectors, and |u − v| and u ∗ v of each two of them: n² in all. Of a pair: u, v, |u − v| and u ∗ v."""
    return [*vectors, *(feature for u, v in combinations(vectors, 2) for feature in ((u - v).abs(), u * v))]


def unit_vectors(states: Tensor, lengths: Tensor, units: Tensor) -> tuple[Tensor, Tensor]:
    """The vectors that a head reads for the units of all rows, (sides * units, dim), and the row of each unit, int64 (units,).
    Of a pair, a unit has the vector of the row's whole first text, too. These vectors come first. `states` and `lengths` are as in `Head.read`.
    `units` has the step of each unit in the row's last text, int64 (inputs, longest). WHOLE means all its steps, PAST that there is no unit."""
    rows, numbers = (units != PAST).nonzero(as_tuple=True)
    steps = units[rows, numbers]
    *first_texts, last_text = max_pool(states, lengths).chunk(len(states) // len(units))
    last_states = states[len(states) - len(units) :]
    vectors = last_states[rows, steps.clamp(min=0)]
    vectors = torch.where((steps == WHOLE)[:, None], last_text[rows], vectors)
    return torch.cat([*(text[rows] for text in first_texts), vectors]), rows


def attend(scores: Tensor, words: Tensor, past: Tensor) -> Tensor:
    """For each word the mean of the other sentence's words, weighted with the softmax of its scores: scores (rows, time, other time), words of the
    other sentence (rows, other time, dim), bool (rows, other time), true past its end -> (rows, time, dim)."""
    return torch.bmm(scores.masked_fill(past[:, None, :], -math.inf).softmax(dim=2), words)
