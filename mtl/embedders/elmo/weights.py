"""Read and write a biLM's weights in the HDF5 layout of the original TensorFlow code, which AllenNLP reads as well."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor

from mtl.embedders.elmo.bilm import DIRECTIONS, BiLM
from mtl.embedders.elmo.options import Options
from mtl.errors import InputError
from mtl.files import replacing
from mtl.recurrence.projected import reorder_gates
from mtl.untrusted import UNPACKED_RATIO, open_regular

# The file has the gates in the order i, g (candidate), f, o; the model o, i, f, g. Indices for `reorder_gates`.
_TO_MODEL, _TO_FILE = (3, 0, 2, 1), (1, 3, 2, 0)

# The prefixes of a biLM's datasets. A file may hold other datasets, such as those of a softmax.
PREFIXES = ("char_embed", "CNN", "RNN_")


def read_weights(path: Path, options: Options) -> BiLM:
    """The network with these weights. Raises InputError that names the dataset that is missing or does not fit the options."""
    with torch.device("meta"):
        model = BiLM(options)  # shapes only
    expected = to_file(model)
    try:
        open_regular(path).close()
        with h5py.File(path, "r") as file:
            for name, value in expected.items():
                found = _dataset(path, file, name)
                if found.shape != value.shape:
                    raise InputError(
                        f"{path}: {name} is {_size(found.shape)}, but the options say {_size(value.shape)}; "
                        "take the options.json that belongs to these weights"
                    )
                if found.dtype.kind not in "fiu":
                    raise InputError(f"{path}: {name} holds no numbers; is it AllenNLP's weights.hdf5 of an ELMo?")
            # HDF5 compresses, and leaves out what was never written.
            if 4 * sum(map(Tensor.numel, expected.values())) > UNPACKED_RATIO * path.stat().st_size:
                raise InputError(f"{path}: its datasets are far larger than the file; download or copy it again")
            if unread := [name for name in _datasets(file) if name.startswith(PREFIXES) and name not in expected]:
                raise InputError(
                    f"{path}: has {unread[0]}, but the options have no such layer; take the options.json that belongs to these weights"
                )
            arrays = {name: np.asarray(file[name], dtype=np.float32) for name in expected}
            for name, array in arrays.items():
                if not np.isfinite(array).all():
                    raise InputError(f"{path}: {name} holds values that are not finite; download or copy it again")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, LookupError, ValueError, TypeError, RuntimeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{path}: cannot be read as HDF5, it may be truncated: {reason}") from None
    model.to_empty(device="cpu")
    _from_file(model, {name: torch.from_numpy(array) for name, array in arrays.items()})
    return model


def _dataset(path: Path, file: h5py.File, name: str) -> h5py.Dataset:
    """A dataset of numbers in the file itself. Raises InputError if there is none: links and storage outside lead to other files."""
    found: Any = file
    for part in name.split("/"):
        link = found.get(part, getlink=True) if isinstance(found, h5py.Group) else None
        if isinstance(link, h5py.SoftLink | h5py.ExternalLink):
            raise InputError(f"{path}: {name} is behind a link, which is not followed; write the dataset itself")
        found = None if link is None else found[part]
    if not isinstance(found, h5py.Dataset):
        raise InputError(f"{path}: has no dataset {name}; is it AllenNLP's weights.hdf5 of an ELMo?")
    if found.external or found.is_virtual:
        raise InputError(f"{path}: {name} is stored in other files, which are not read; write the dataset itself")
    return found


def _datasets(file: h5py.File) -> list[str]:
    """The names of all datasets in a file."""
    names: list[str] = []
    file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names


def write_weights(path: Path, model: BiLM) -> None:
    """Write the network's weights to a file, atomically."""
    # In memory first: with a full disk, HDF5 would end the process by a segmentation fault.
    with h5py.File(path, "w", driver="core", backing_store=False) as file:
        for name, value in to_file(model).items():
            file[name] = value.cpu().numpy()
        file.flush()
        content = file.id.get_file_image()
    with replacing(path) as partial:
        partial.write_bytes(content)


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
    for direction in DIRECTIONS:
        for i in range(model.options.n_layers):
            layer = f"directions.{direction}.{i}"
            joint = torch.cat([state[f"{layer}.w_input"], state[f"{layer}.w_state"]], dim=1)
            datasets[f"{_cell(direction, i)}/W_0"] = reorder_gates(joint, _TO_FILE).T
            datasets[f"{_cell(direction, i)}/B"] = reorder_gates(_add_forget(state[f"{layer}.bias"], -1.0), _TO_FILE)
            datasets[f"{_cell(direction, i)}/W_P_0"] = state[f"{layer}.w_projection"].T
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
    for direction in DIRECTIONS:
        for i in range(model.options.n_layers):
            layer = f"directions.{direction}.{i}"
            joint = reorder_gates(datasets[f"{_cell(direction, i)}/W_0"].T, _TO_MODEL)
            state[f"{layer}.w_input"], state[f"{layer}.w_state"] = joint.chunk(2, dim=1)
            state[f"{layer}.bias"] = _add_forget(reorder_gates(datasets[f"{_cell(direction, i)}/B"], _TO_MODEL), 1.0)
            state[f"{layer}.w_projection"] = datasets[f"{_cell(direction, i)}/W_P_0"].T
    model.load_state_dict(state)


def _cell(direction: int, layer: int) -> str:
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


def _add_forget(bias: Tensor, value: float) -> Tensor:
    """A bias (4 * lstm_dim,) in the model's gate order with `value` added to the forget gate, to which TensorFlow adds 1.0."""
    o, i, f, g = bias.chunk(4)
    return torch.cat([o, i, f + value, g])


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
