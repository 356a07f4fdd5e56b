"""The weights of an ELMo in the HDF5 layout that AllenNLP reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor

from mtl.base.errors import InputError
from mtl.base.untrusted import open_regular
from mtl.base.untrusted_lines import UNPACKED_RATIO
from mtl.embedders.elmo.network import DIRECTIONS, BiLM
from mtl.embedders.elmo.options import Options

# The file has the gates in the order i, g (candidate), f, o; the model o, i, f, g. Indices for `reorder_gates`.
TO_MODEL, TO_FILE = (3, 0, 2, 1), (1, 3, 2, 0)
PREFIXES = ("char_embed", "CNN", "RNN_")  # of a biLM's datasets; a file may hold others, such as those of a softmax
MATCH = "take the options.json that belongs to these weights"


def read_weights(path: Path, options: Options) -> BiLM:
    """The network with these weights. Raises InputError that names the dataset that is missing or does not fit the options."""
    with torch.device("meta"):
        model = BiLM(options)  # shapes only
    try:
        open_regular(path).close()
        with h5py.File(path, "r") as file:
            datasets = _read_datasets(path, file, to_file(model))
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except (OSError, LookupError, ValueError, TypeError, RuntimeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"cannot be read as HDF5, it may be truncated: {reason}", path=path) from None
    model.to_empty(device="cpu")
    _from_file(model, datasets)
    return model


def _read_datasets(path: Path, file: h5py.File, expected: dict[str, Tensor]) -> dict[str, Tensor]:
    """The datasets of these names and shapes, float32. Raises InputError for others, before memory holds them, and for numbers not finite."""
    for name, value in expected.items():
        dataset = _dataset(path, file, name)
        if dataset.shape != value.shape:
            in_file, expected_shape = (" × ".join(map(str, shape)) for shape in (dataset.shape, value.shape))
            raise InputError(f"{name} is {in_file}, but the options say {expected_shape}; {MATCH}", path=path)
        if dataset.dtype.kind not in "fiu":
            raise InputError(f"{name} holds no numbers; is it AllenNLP's weights.hdf5 of an ELMo?", path=path)
    # HDF5 compresses, and leaves out what was never written.
    if 4 * sum(map(Tensor.numel, expected.values())) > UNPACKED_RATIO * path.stat().st_size:
        raise InputError("its datasets are far larger than the file; download or copy it again", path=path)
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    if unread := [name for name in names if name.startswith(PREFIXES) and name not in expected]:
        raise InputError(f"has {unread[0]}, but the options have no such layer; {MATCH}", path=path)
    arrays = {name: np.asarray(file[name], dtype=np.float32) for name in expected}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise InputError(f"{name} holds values that are not finite; download or copy it again", path=path)
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


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
    for i in range(len(model.options.char_cnn.filters)):
        # (filters, in, width) -> (1, width, in, filters)
        datasets[f"CNN/W_cnn_{i}"] = state[f"characters.convolutions.{i}.weight"].permute(2, 1, 0)[None]
        datasets[f"CNN/b_cnn_{i}"] = state[f"characters.convolutions.{i}.bias"]
    for i in range(model.options.char_cnn.n_highway):
        # The file's gate is the share that is transformed, Highway's gate the share that is carried.
        w_transform, w_carry = state[f"characters.highway._layers.{i}.weight"].chunk(2)
        b_transform, b_carry = state[f"characters.highway._layers.{i}.bias"].chunk(2)
        parts = {"W_carry": -w_carry.T, "b_carry": -b_carry, "W_transform": w_transform.T, "b_transform": b_transform}
        datasets |= {f"CNN_high_{i}/{name}": value for name, value in parts.items()}
    datasets["CNN_proj/W_proj"] = state["characters.projection.weight"].T
    datasets["CNN_proj/b_proj"] = state["characters.projection.bias"]
    for layer, cell in _layer_names(model.options):
        joint = torch.cat([state[f"{layer}.w_input"], state[f"{layer}.w_state"]], dim=1)
        datasets[f"{cell}/W_0"] = reorder_gates(joint, TO_FILE).T
        datasets[f"{cell}/B"] = reorder_gates(_add_forget(state[f"{layer}.bias"], -1.0), TO_FILE)
        datasets[f"{cell}/W_P_0"] = state[f"{layer}.w_projection"].T
    return {name: value.contiguous() for name, value in datasets.items()}


def _from_file(model: BiLM, datasets: dict[str, Tensor]) -> None:
    """Load the file's datasets into the model: the inverse of `to_file`."""
    characters = datasets["char_embed"]
    state = {"characters.embedding.weight": torch.cat([torch.zeros_like(characters[:1]), characters])}
    for i in range(len(model.options.char_cnn.filters)):
        state[f"characters.convolutions.{i}.weight"] = datasets[f"CNN/W_cnn_{i}"][0].permute(2, 1, 0)
        state[f"characters.convolutions.{i}.bias"] = datasets[f"CNN/b_cnn_{i}"]
    for i in range(model.options.char_cnn.n_highway):
        part = {name: datasets[f"CNN_high_{i}/{name}"] for name in ("W_carry", "b_carry", "W_transform", "b_transform")}
        layer = f"characters.highway._layers.{i}"
        state[f"{layer}.weight"] = torch.cat([part["W_transform"].T, -part["W_carry"].T])
        state[f"{layer}.bias"] = torch.cat([part["b_transform"], -part["b_carry"]])
    state["characters.projection.weight"] = datasets["CNN_proj/W_proj"].T
    state["characters.projection.bias"] = datasets["CNN_proj/b_proj"]
    for layer, cell in _layer_names(model.options):
        joint = reorder_gates(datasets[f"{cell}/W_0"].T, TO_MODEL)
        state[f"{layer}.w_input"], state[f"{layer}.w_state"] = joint.chunk(2, dim=1)
        state[f"{layer}.bias"] = _add_forget(reorder_gates(datasets[f"{cell}/B"], TO_MODEL), 1.0)
        state[f"{layer}.w_projection"] = datasets[f"{cell}/W_P_0"].T
    model.load_state_dict(state)


def _layer_names(options: Options) -> Iterator[tuple[str, str]]:
    """The name of each LSTM layer in the model, and in the file."""
    for direction in DIRECTIONS:
        for layer in range(options.lstm.n_layers):
            yield f"directions.{direction}.{layer}", f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


def _add_forget(bias: Tensor, value: float) -> Tensor:
    """A bias (4 * lstm_dim,) in the model's gate order with `value` added to the forget gate, to which TensorFlow adds 1.0."""
    o, i, f, g = bias.chunk(4)
    return torch.cat([o, i, f + value, g])


def reorder_gates(weight: Tensor, order: tuple[int, ...]) -> Tensor:
    """A weight or bias (4 * hidden, …) with its four gates in another order: result's gate n is gate `order[n]`."""
    return torch.cat([weight.chunk(4)[gate] for gate in order])
