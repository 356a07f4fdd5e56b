"""A pretrained ELMo, its network (Peters et al. 2018, section 3), and its weights in the HDF5 layout that AllenNLP reads."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import torch
from allennlp_light.modules.highway import Highway
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from mtl.base.device import exact_arithmetic
from mtl.base.errors import InputError
from mtl.base.untrusted import open_regular
from mtl.base.untrusted_lines import UNPACKED_RATIO
from mtl.embedders.elmo.options import Options, read_options
from mtl.model.packing import Step, packed_steps

WORDS, TOKENS = 1024, 4096  # distinct words, and tokens, that are computed at once

# Words are read as character ids, one per byte. They are those of AllenNLP's model: 0 pads a batch, 1 to 256 are the bytes 0 to 255,
# then follow these markers. The original TensorFlow code's ids are smaller by one.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = range(257, 262)
BOUNDARIES = {"<S>": BEGIN_SENTENCE, "</S>": END_SENTENCE}  # the words that are added before and after every sentence
CHARACTERS = 262  # rows of the model's character embedding, including id 0

FORWARD, BACKWARD = DIRECTIONS = (0, 1)
# The file has the gates in the order i, g (candidate), f, o; the model o, i, f, g. Indices for `reorder_gates`.
_TO_MODEL, _TO_FILE = (3, 0, 2, 1), (1, 3, 2, 0)
# The prefixes of a biLM's datasets. A file may hold other datasets, such as those of a softmax.
PREFIXES = ("char_embed", "CNN", "RNN_")
_MATCH = "take the options.json that belongs to these weights"


class ELMo:
    """A pretrained ELMo in AllenNLP's format, with fixed weights (Peters et al. 2018).

    Examples:
        >>> elmo = ELMo("elmo-pl/options.json", "elmo-pl/weights.hdf5")  # doctest: +SKIP
        >>> elmo.layers([["Ala", "ma", "kota", "."]])[0].shape  # doctest: +SKIP
        torch.Size([3, 4, 1024])

    A sentence's vectors depend on its own words only: no state is carried from one call or batch to the next, unlike in
    AllenNLP's module."""

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
        return 2 * self.options.projection_dim

    @property
    def width(self) -> int:
        """The size of a token's row in `rows`."""
        return (2 * self.options.n_layers + 1) * self.options.projection_dim

    def to(self, device: torch.device) -> "ELMo":
        """Move the weights to a device and return self. Stays on the CPU for Apple GPUs, which have no float64."""
        device = torch.device("cpu") if device.type == "mps" else device
        self.model, self.device = self.model.to(device), device
        return self

    def layers(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """All layers of each sentence: float32 (n_layers + 1, tokens, dim). The first is the token layer, without context, concatenated with itself;
        then the LSTM layers, each the forward states and then the backward states."""
        return [torch.stack(split_layers(rows, self.options.projection_dim)) for rows in self.rows(sentences)]

    @torch.no_grad()
    @exact_arithmetic()
    def rows(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """The layers of each sentence, concatenated, with the token layer only once: float32 (tokens, width), also with mixed precision."""
        # The ids 0 and 1 are those of the boundary words.
        word_ids = {word: id for id, word in enumerate(dict.fromkeys(chain.from_iterable(sentences)), start=2)}
        rows: list[Tensor] = [torch.empty(0)] * len(sentences)
        left = sorted(range(len(sentences)), key=lambda number: len(sentences[number]))
        with torch.autocast(self.device.type, enabled=False):
            vectors = self.token_vectors(list(word_ids))
            while left:
                batch = left[-max(1, TOKENS // (len(sentences[left[-1]]) + 2)) :][::-1]  # the longest first
                del left[-len(batch) :]
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


class CharacterEncoder(nn.Module):
    """Computes a word's vector from its bytes: convolutions, max pooling, highway layers, a projection."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        dim = options.character_dim
        self.embedding = nn.Embedding(CHARACTERS, dim, padding_idx=0)
        self.convolutions = nn.ModuleList(nn.Conv1d(dim, number, width) for width, number in options.filters)
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

    Args:
        steps: as `packed_steps` gives them.
        weights: as `ProjectedLSTM.weights`: w_input (4 * hidden, input_size), w_state (4 * hidden, projection_size) and bias (4 * hidden,), with
            their gates in the order o, i, f, g, and w_projection (projection_size, hidden).
        clips: cell_clip and state_clip; None means no clipping.
    """
    w_input, w_state, bias, w_projection = weights
    cell_clip, state_clip = clips
    hidden = w_projection.shape[1]
    gates = torch.addmm(bias, data, w_input.T)
    cells = gates.new_empty(len(data), hidden)
    tanh_cells, outputs = torch.empty_like(cells), torch.empty_like(cells)
    states = gates.new_empty(len(data), len(w_projection))
    for rows, before, carried, _ in steps:
        gate, cell, tanh_cell, output = gates[rows], cells[rows], tanh_cells[rows], outputs[rows]
        if carried:
            gate[:carried].addmm_(states[before], w_state.T)
        gate[:, : 3 * hidden].sigmoid_()
        gate[:, 3 * hidden :].tanh_()
        o, i, f, g = gate.split(hidden, 1)
        torch.mul(i, g, out=cell)
        if carried:
            cell[:carried].addcmul_(f[:carried], cells[before])
        if cell_clip is not None:
            cell.clamp_(-cell_clip, cell_clip)
        torch.tanh(cell, out=tanh_cell)
        torch.mul(o, tanh_cell, out=output)
        torch.mm(output, w_projection.T, out=states[rows])
        if state_clip is not None:
            states[rows].clamp_(-state_clip, state_clip)
    return Recurrence(states, gates, cells, tanh_cells, outputs)


def reorder_gates(weight: Tensor, order: tuple[int, ...]) -> Tensor:
    """A weight or bias (4 * hidden, …) with its four gates in another order: result's gate n is gate `order[n]`."""
    return torch.cat([weight.chunk(4)[gate] for gate in order])


class ProjectedLSTM(nn.Module):
    """One layer in one direction. The order of its gates is output, input, forget, candidate. The forget gate's bias includes the 1.0 that
    TensorFlow's cell adds. The weights are to be loaded."""

    def __init__(self, options: Options, reverse: bool) -> None:
        super().__init__()
        self.reverse = reverse
        self.clips = options.cell_clip, options.state_clip
        wide, narrow = 4 * options.lstm_dim, options.projection_dim
        self.w_input = nn.Parameter(torch.empty(wide, narrow))
        self.w_state = nn.Parameter(torch.empty(wide, narrow))
        self.bias = nn.Parameter(torch.empty(wide))
        self.w_projection = nn.Parameter(torch.empty(narrow, options.lstm_dim))

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
            nn.ModuleList(layer(options, reverse=direction == BACKWARD) for _ in range(options.n_layers))
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
            data = states + data if number and self.options.skip_connections else states
            layers.append(data)
        return layers


def read_weights(path: Path, options: Options) -> BiLM:
    """The network with these weights. Raises InputError that names the dataset that is missing or does not fit the options."""
    with torch.device("meta"):
        model = BiLM(options)  # shapes only
    expected = to_file(model)
    try:
        open_regular(path).close()
        with h5py.File(path, "r") as file:
            for name, value in expected.items():
                dataset = _dataset(path, file, name)
                if dataset.shape != value.shape:
                    in_file, expected_shape = (" × ".join(map(str, shape)) for shape in (dataset.shape, value.shape))
                    raise InputError(f"{name} is {in_file}, but the options say {expected_shape}; {_MATCH}", path=path)
                if dataset.dtype.kind not in "fiu":
                    raise InputError(f"{name} holds no numbers; is it AllenNLP's weights.hdf5 of an ELMo?", path=path)
            # HDF5 compresses, and leaves out what was never written.
            if 4 * sum(map(Tensor.numel, expected.values())) > UNPACKED_RATIO * path.stat().st_size:
                raise InputError("its datasets are far larger than the file; download or copy it again", path=path)
            names: list[str] = []
            file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
            if unread := [name for name in names if name.startswith(PREFIXES) and name not in expected]:
                raise InputError(f"has {unread[0]}, but the options have no such layer; {_MATCH}", path=path)
            arrays = {name: np.asarray(file[name], dtype=np.float32) for name in expected}
            for name, array in arrays.items():
                if not np.isfinite(array).all():
                    raise InputError(f"{name} holds values that are not finite; download or copy it again", path=path)
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except (OSError, LookupError, ValueError, TypeError, RuntimeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"cannot be read as HDF5, it may be truncated: {reason}", path=path) from None
    model.to_empty(device="cpu")
    _from_file(model, {name: torch.from_numpy(array) for name, array in arrays.items()})
    return model


def _dataset(path: Path, file: h5py.File, name: str) -> h5py.Dataset:
    """A dataset of numbers in the file itself. Raises InputError if there is none: links and storage outside lead to other files."""
    item: Any = file
    for part in name.split("/"):
        link = item.get(part, getlink=True) if isinstance(item, h5py.Group) else None
        if isinstance(link, h5py.SoftLink | h5py.ExternalLink):
            raise InputError(f"{name} is behind a link, which is not followed; write the dataset itself", path=path)
        item = None if link is None else item[part]
    if not isinstance(item, h5py.Dataset):
        raise InputError(f"has no dataset {name}; is it AllenNLP's weights.hdf5 of an ELMo?", path=path)
    if item.external or item.is_virtual:
        raise InputError(f"{name} is stored in other files, which are not read; write the dataset itself", path=path)
    return item


def to_file(model: BiLM) -> dict[str, Tensor]:
    """Convert the model's weights to the file's datasets, by name."""
    state = model.state_dict()
    datasets = {"char_embed": state["characters.embedding.weight"][1:]}  # without the row of padding
    for i in range(len(model.options.filters)):
        # (filters, in, width) -> (1, width, in, filters)
        datasets[f"CNN/W_cnn_{i}"] = state[f"characters.convolutions.{i}.weight"].permute(2, 1, 0)[None]
        datasets[f"CNN/b_cnn_{i}"] = state[f"characters.convolutions.{i}.bias"]
    for i in range(model.options.n_highway):
        # The file's gate is the share that is transformed, Highway's gate the share that is carried.
        w_transform, w_carry = state[f"characters.highway._layers.{i}.weight"].chunk(2)
        b_transform, b_carry = state[f"characters.highway._layers.{i}.bias"].chunk(2)
        parts = {"W_carry": -w_carry.T, "b_carry": -b_carry, "W_transform": w_transform.T, "b_transform": b_transform}
        datasets |= {f"CNN_high_{i}/{name}": value for name, value in parts.items()}
    datasets["CNN_proj/W_proj"] = state["characters.projection.weight"].T
    datasets["CNN_proj/b_proj"] = state["characters.projection.bias"]
    for layer, cell in _layer_names(model.options):
        joint = torch.cat([state[f"{layer}.w_input"], state[f"{layer}.w_state"]], dim=1)
        datasets[f"{cell}/W_0"] = reorder_gates(joint, _TO_FILE).T
        datasets[f"{cell}/B"] = reorder_gates(_add_forget(state[f"{layer}.bias"], -1.0), _TO_FILE)
        datasets[f"{cell}/W_P_0"] = state[f"{layer}.w_projection"].T
    return {name: value.contiguous() for name, value in datasets.items()}


def _from_file(model: BiLM, datasets: dict[str, Tensor]) -> None:
    """Load the file's datasets into the model: the inverse of `to_file`."""
    characters = datasets["char_embed"]
    state = {"characters.embedding.weight": torch.cat([torch.zeros_like(characters[:1]), characters])}
    for i in range(len(model.options.filters)):
        state[f"characters.convolutions.{i}.weight"] = datasets[f"CNN/W_cnn_{i}"][0].permute(2, 1, 0)
        state[f"characters.convolutions.{i}.bias"] = datasets[f"CNN/b_cnn_{i}"]
    for i in range(model.options.n_highway):
        part = {name: datasets[f"CNN_high_{i}/{name}"] for name in ("W_carry", "b_carry", "W_transform", "b_transform")}
        layer = f"characters.highway._layers.{i}"
        state[f"{layer}.weight"] = torch.cat([part["W_transform"].T, -part["W_carry"].T])
        state[f"{layer}.bias"] = torch.cat([part["b_transform"], -part["b_carry"]])
    state["characters.projection.weight"] = datasets["CNN_proj/W_proj"].T
    state["characters.projection.bias"] = datasets["CNN_proj/b_proj"]
    for layer, cell in _layer_names(model.options):
        joint = reorder_gates(datasets[f"{cell}/W_0"].T, _TO_MODEL)
        state[f"{layer}.w_input"], state[f"{layer}.w_state"] = joint.chunk(2, dim=1)
        state[f"{layer}.bias"] = _add_forget(reorder_gates(datasets[f"{cell}/B"], _TO_MODEL), 1.0)
        state[f"{layer}.w_projection"] = datasets[f"{cell}/W_P_0"].T
    model.load_state_dict(state)


def _layer_names(options: Options) -> Iterator[tuple[str, str]]:
    """The name of each LSTM layer in the model, and in the file."""
    for direction in DIRECTIONS:
        for layer in range(options.n_layers):
            yield f"directions.{direction}.{layer}", f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


def _add_forget(bias: Tensor, value: float) -> Tensor:
    """A bias (4 * lstm_dim,) in the model's gate order with `value` added to the forget gate, to which TensorFlow adds 1.0."""
    o, i, f, g = bias.chunk(4)
    return torch.cat([o, i, f + value, g])
