"""ELMo's network: a character CNN and LSTMs in both directions (Peters et al. 2018, section 3)."""

import torch
from allennlp_light.modules.highway import Highway
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from mtl.embedders.elmo.characters import CHARACTERS, PADDING
from mtl.embedders.elmo.options import Options
from mtl.recurrence.projected import ProjectedLSTMLayer

FORWARD, BACKWARD = DIRECTIONS = (0, 1)


class CharacterEncoder(nn.Module):
    """Computes a word's vector from its bytes: convolutions, max pooling, highway layers, a projection."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.embedding = nn.Embedding(CHARACTERS, options.character_dim, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(options.character_dim, number, width) for width, number in options.filters
        )
        self.widest = max(width for width, _ in options.filters)
        self.activation = {"relu": torch.relu, "tanh": torch.tanh}[options.activation]
        self.highway = Highway(options.n_filters, options.n_highway, activation=torch.relu)
        self.projection = nn.Linear(options.n_filters, options.projection_dim)

    def forward(self, characters: Tensor) -> Tensor:
        """Character ids (words, max_characters) -> (words, projection_dim)."""
        # Windows that hold only padding all give the same value: one per width is enough for the maximum.
        used = int((characters != PADDING).sum(1).max()) if len(characters) else 0
        embedded = self.embedding(characters[:, : used + self.widest]).transpose(1, 2)
        pooled = torch.cat([convolution(embedded).amax(dim=2) for convolution in self.convolutions], dim=1)
        return self.projection(self.highway(self.activation(pooled)))


class ProjectedLSTM(nn.Module):
    """One layer in one direction. The order of its gates is output, input, forget, candidate.

    The forget gate's bias includes the 1.0 that TensorFlow's cell adds.
    """

    def __init__(self, options: Options, reverse: bool) -> None:
        super().__init__()
        self.reverse = reverse
        self.clips = options.cell_clip, options.state_clip
        wide, narrow = 4 * options.lstm_dim, options.projection_dim
        self.w_input = nn.Parameter(torch.empty(wide, narrow))
        self.w_state = nn.Parameter(torch.empty(wide, narrow))
        self.bias = nn.Parameter(torch.zeros(wide))
        self.w_projection = nn.Parameter(torch.empty(narrow, options.lstm_dim))
        # Glorot's uniform distribution over the joint matrix, as TensorFlow draws it.
        for weight, fan in ((self.w_input, 2 * narrow + wide), (self.w_state, 2 * narrow + wide)):
            nn.init.uniform_(weight, -((6 / fan) ** 0.5), (6 / fan) ** 0.5)
        nn.init.xavier_uniform_(self.w_projection)
        with torch.no_grad():
            self.bias[2 * options.lstm_dim : 3 * options.lstm_dim] = 1.0

    def forward(self, data: Tensor, sizes: list[int]) -> Tensor:
        """Packed rows (rows, projection_dim), and the number of sequences that have each step -> (rows, projection_dim)."""
        weights = self.w_input, self.w_state, self.bias, self.w_projection
        result: Tensor = ProjectedLSTMLayer.apply(data, sizes, self.reverse, *weights, *self.clips)
        return result


class BiLM(nn.Module):
    """The bidirectional language model without its softmax."""

    def __init__(self, options: Options, dropout: float = 0.0) -> None:
        """dropout: on the input of each LSTM layer."""
        super().__init__()
        self.options = options
        self.characters = CharacterEncoder(options)
        self.directions = nn.ModuleList(
            nn.ModuleList(ProjectedLSTM(options, reverse=direction == BACKWARD) for _ in range(options.n_layers))
            for direction in DIRECTIONS
        )
        self.dropout = nn.Dropout(dropout)

    def states(self, tokens: PackedSequence, direction: int) -> list[Tensor]:
        """Token vectors of sentences with their boundary words -> packed rows (rows, projection_dim) of each layer.

        Every sequence starts with a zero state.
        """
        data, sizes = tokens.data, tokens.batch_sizes.tolist()
        stack = self.directions[direction]
        assert isinstance(stack, nn.ModuleList)
        layers = []
        for number, layer in enumerate(stack):
            states = layer(self.dropout(data), sizes)
            data = states + data if number and self.options.skip_connections else states
            layers.append(data)
        return layers
