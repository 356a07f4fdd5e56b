"""The files of a training stage, and how its weights are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from torch import Tensor, nn

from mtl.base.arrays import read_checkpoint
from mtl.base.errors import InputError

# The file of the weights that a stage saves: those of its best validation, or of its last one.
WEIGHTS = {"best": "best.ckpt", "last": "final.ckpt"}
RESUME = "last.ckpt"  # the whole state of a stage that has not finished
DONE = "done.json"  # written when a stage has finished
RESTORE = "restore the file, or make the run again"


class Checkpoint(TypedDict):
    """The file of the weights that a stage saves."""

    state_dict: dict[str, Any]
    threshold_shift: NotRequired[float | list[float]]  # see `mtl.methods.stage2`


def load_finished(network: nn.Module, folder: Path, checkpoint: str = "best") -> bool:
    """Load the weights of the stage in this folder into the network if it has finished, and return whether. Raises InputError as `load_weights`."""
    if not (folder / DONE).exists():
        return False
    (folder / RESUME).unlink(missing_ok=True)  # still there if the process was killed just after the stage finished
    load_weights(network, folder / WEIGHTS[checkpoint], f"restore the file, or delete {folder} and run this again")
    network.eval()
    return True


def load_weights(network: nn.Module, path: Path, remedy: str = RESTORE) -> None:
    """Load the weights that a stage saved into the network; those that the file lacks stay unchanged. Errors: as `read_weights` and `fill`."""
    fill(network, {**network.state_dict(), **read_weights(path, remedy)}, path, remedy)


def fill(network: nn.Module, weights: Mapping[str, Tensor], path: Path, remedy: str = RESTORE) -> None:
    """Load all weights of the network, in place. Raises InputError, which names their file, if they are those of another network."""
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        reason = " ".join(" ".join(str(error).splitlines()[1:2]).split())
        raise InputError(f"its weights are not those of this model: {reason[:200]}; {remedy}", path=path) from None


def weights_fit(network: nn.Module, path: Path) -> bool:
    """Whether the file has each weight of the network in its shape, and no others. False for a file that is damaged or does not exist."""
    try:
        return are_weights_of(network, read_weights(path))
    except InputError:
        return False


def are_weights_of(network: nn.Module, weights: Mapping[str, Tensor]) -> bool:
    """Whether there is each weight of the network in its shape, and no other. False for what are no weights."""
    shapes = {name: getattr(weight, "shape", None) for name, weight in weights.items()}
    return shapes == {name: weight.shape for name, weight in network.state_dict().items()}


def read_weights(path: Path, remedy: str = RESTORE) -> dict[str, Tensor]:
    """The weights in a checkpoint, by name, on the CPU. Raises InputError if it does not exist or is damaged, and for a weight that is not finite."""
    weights: dict[str, Tensor] = read_checkpoint(path, Checkpoint, f"; {remedy}")["state_dict"]
    for name, weight in weights.items():
        if not isinstance(weight, Tensor):
            raise InputError(f"{name} is not a tensor; {remedy}", path=path)
        if not weight.isfinite().all():
            raise InputError(f"{name} holds values that are not finite; {remedy}", path=path)
    return weights


def weights_below(weights: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The weights whose names begin with the prefix, which is removed from the names."""
    return {name.removeprefix(prefix): tensor for name, tensor in weights.items() if name.startswith(prefix)}


def update_with_weights(digest: Any, weights: Mapping[str, Tensor]) -> None:
    """Add names, shapes and values of weights to a hash."""
    for name, weight in sorted(weights.items()):
        digest.update(f"{name} {tuple(weight.shape)}".encode())
        digest.update(weight.cpu().contiguous().numpy().data)
