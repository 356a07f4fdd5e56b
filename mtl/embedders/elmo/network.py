"""The network of an ELMo (Peters et al. 2018, section 3): a character encoder, and language models in both directions."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from allennlp_light.modules.highway import Highway
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from mtl.embedders.elmo.options import Options
from mtl.model.packing import Step, packed_steps

# Words are read as character ids, one per byte. They are those of AllenNLP's model: 0 pads a batch, 1 to 256 are the bytes 0 to 255,
# then follow these markers. The original TensorFlow code's ids are smaller by one.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = range(257, 262)
CHARACTERS = 262  # rows of the model's character embedding, including id 0
FORWARD, BACKWARD = DIRECTIONS = (0, 1)


class CharacterEncoder(nn.Module):
    """Computes a word's vector from its bytes: convolutions, max pooling, highway layers, a projection."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        dim = options.char_cnn.embedding.dim
        self.embedding = nn.Embedding(CHARACTERS, dim, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(dim, number, width) for width, number in options.char_cnn.filters)
        self.widest = max(width for width, _ in options.char_cnn.filters)
        self.activation = {"relu": torch.relu, "tanh": torch.tanh}[options.char_cnn.activation]
        self.highway = Highway(options.char_cnn.n_filters, options.char_cnn.n_highway, activation=torch.relu)
        self.projection = nn.Linear(options.char_cnn.n_filters, options.lstm.projection_dim)

    def forward(self, characters: Tensor) -> Tensor:
        """Character ids (words, max_characters) -> (words, projection_dim)."""
        # Windows that hold only padding all give the same value: one per width is enough for the maximum.
        used = int((characters != PADDING).sum(1).max()) if len(characters) else 0
        embedded = self.embedding(characters[:, : used + self.widest]).transpose(1, 2)
        pooled = torch.cat([convolution(embedded).amax(dim=2) for convolution in self.convolutions], dim=1)
        return self.projection(self.highway(self.activation(pooled)))


class Recurrence(NamedTuple):
    """What a layer has computed for all rows: its result, and what its gradient follows from."""

    states: Tensor  # projected, (rows, projection_size)
    gates: Tensor  # (rows, 4 * hidden), in the order o, i, f, g
    cells: Tensor  # (rows, hidden)
    tanh_cells: Tensor  # (rows, hidden)
    outputs: Tensor  # (rows, hidden), before the projection


def run_layer(data: Tensor, steps: list[Step], weights: Sequence[Tensor], clips: Sequence[float | None]) -> Recurrence:
    """Run an LSTM layer with a projected state, in one direction, over packed data (rows, input_size), without a gradient.
    Everything that does not depend on the previous step is one matrix product over all rows. No library has a layer that clips the cell and
    the state and trains at this speed; allennlp-light's layer computes each product step by step.
    The gates o, i, f are sigmoids and the candidate g is a tanh, each of a linear function of the input and the previous
    state h: c = clip(f * c + i * g, cell_clip), h = clip(P (o * tanh(c)), state_clip).
    The steps are as in `packed_steps`, the weights w_input (4 * hidden, input_size), w_state (4 * hidden, projection_size), bias (4 * hidden,) with
    gates in the order o, i, f, g, and w_projection (projection_size, hidden), the clips cell_clip and state_clip; None means no clipping."""
    w_input, w_state, bias, w_projection = weights
    cell_clip, state_clip = clips
    hidden = w_projection.shape[1]
    gates = torch.addmm(bias, data, w_input.T)
    cells = gates.new_empty(len(data), hidden)
    tanh_cells, outputs = torch.empty_like(cells), torch.empty_like(cells)
    states = gates.new_empty(len(data), len(w_projection))
    for rows, before, carried, _ in steps:
        gate, cell, tanh_cell, output = gates[rows], cells[rows], tanh_cells[rows], outputs[rows]
        gate[:carried].addmm_(states[before], w_state.T)
        gate[:, : 3 * hidden].sigmoid_()
        gate[:, 3 * hidden :].tanh_()
        o, i, f, g = gate.split(hidden, 1)
        torch.mul(i, g, out=cell)
        cell[:carried].addcmul_(f[:carried], cells[before])
        if cell_clip is not None:
            cell.clamp_(-cell_clip, cell_clip)
        torch.tanh(cell, out=tanh_cell)
        torch.mul(o, tanh_cell, out=output)
        torch.mm(output, w_projection.T, out=states[rows])
        if state_clip is not None:
            states[rows].clamp_(-state_clip, state_clip)
    return Recurrence(states, gates, cells, tanh_cells, outputs)


class ProjectedLSTM(nn.Module):
    """One layer in one direction, with gates in the order o, i, f, g. The forget gate's bias includes the 1.0 that TensorFlow's cell adds."""

    def __init__(self, options: Options, reverse: bool) -> None:
        super().__init__()
        self.reverse = reverse
        self.clips = options.lstm.cell_clip or None, options.lstm.proj_clip or None
        wide, narrow = 4 * options.lstm.dim, options.lstm.projection_dim
        self.w_input = nn.Parameter(torch.empty(wide, narrow))
        self.w_state = nn.Parameter(torch.empty(wide, narrow))
        self.bias = nn.Parameter(torch.empty(wide))
        self.w_projection = nn.Parameter(torch.empty(narrow, options.lstm.dim))

    @property
    def weights(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.w_input, self.w_state, self.bias, self.w_projection

    def forward(self, data: Tensor, sizes: list[int]) -> Tensor:
        """Packed rows (rows, projection_dim), and the number of sequences that have each step -> (rows, projection_dim), without a gradient."""
        return run_layer(data, packed_steps(sizes, self.reverse), self.weights, self.clips).states


class BiLM(nn.Module):
    """The bidirectional language model without its softmax."""

    def __init__(self, options: Options, dropout: float = 0.0, layer: type[ProjectedLSTM] = ProjectedLSTM) -> None:
        """`dropout` is on the input of each LSTM layer, and `layer` makes these layers."""
        super().__init__()
        self.options = options
        self.characters = CharacterEncoder(options)
        self.directions = nn.ModuleList(
            nn.ModuleList(layer(options, reverse=direction == BACKWARD) for _ in range(options.lstm.n_layers))
            for direction in DIRECTIONS
        )
        self.dropout = nn.Dropout(dropout)

    def states(self, tokens: PackedSequence, direction: int) -> list[Tensor]:
        """Token vectors of sentences with their boundary words -> packed rows (rows, projection_dim) of each layer, from a zero state."""
        data, sizes = tokens.data, tokens.batch_sizes.tolist()
        stack = self.directions[direction]
        assert isinstance(stack, nn.ModuleList)
        layers = []
        for number, layer in enumerate(stack):
            states = layer(self.dropout(data), sizes)
            data = states + data if number and self.options.lstm.use_skip_connections else states
            layers.append(data)
        return layers
