"""The files of a training stage, and how its weights are read."""

import pickle
from pathlib import Path

import torch
from torch import Tensor, nn

from mtl.errors import InputError

# The file of the weights that a stage saves: those of its best validation, or of its last one.
WEIGHTS = {"best": "best.ckpt", "last": "final.ckpt"}
RESUME = "last.ckpt"  # the whole state of a stage that has not finished
DONE = "done.json"  # written when a stage has finished


def load_finished(network: nn.Module, folder: Path, checkpoint: str = "best") -> bool:
    """If the stage in this folder has finished, load its weights into the network. Return whether it has finished."""
    if not (folder / DONE).exists():
        return False
    (folder / RESUME).unlink(missing_ok=True)  # still there if the process was killed just after the stage finished
    load_weights(network, folder / WEIGHTS[checkpoint])
    network.eval()
    return True


def load_weights(network: nn.Module, path: Path) -> None:
    """Load the weights that a stage saved into the network. Weights that the file lacks stay unchanged.

    Raises InputError as `read_weights` does.
    """
    network.load_state_dict({**network.state_dict(), **read_weights(path)})


def weights_fit(network: nn.Module, path: Path) -> bool:
    """Whether the file has each weight of the network in its shape, and no others. False for a file that is damaged or does not exist."""
    try:
        weights = read_weights(path)
        found = {name: weight.shape for name, weight in weights.items()}
    except (InputError, AttributeError):
        return False
    return found == {name: weight.shape for name, weight in network.state_dict().items()}


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights in a checkpoint, by name, on the CPU. Raises InputError if it does not exist or is damaged."""
    try:
        weights: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
    except (OSError, EOFError, RuntimeError, pickle.UnpicklingError, KeyError, TypeError) as error:
        reason = str(error).partition("\n")[0] or "it ends too early"
        raise InputError(f"{path}: not a checkpoint that can be read: {reason}") from None
    return weights


def weights_below(weights: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The weights whose names begin with the prefix, which is removed from the names."""
    return {name.removeprefix(prefix): tensor for name, tensor in weights.items() if name.startswith(prefix)}
