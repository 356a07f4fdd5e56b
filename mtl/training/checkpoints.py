"""The files of a training stage, and the weights in its checkpoints: how they are read, compared with those of a network, and loaded into it."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from torch import Tensor, nn

from mtl.base.arrays import read_checkpoint
from mtl.base.errors import InputError

# The file of the weights that a stage saves: those of its best validation, or of its last one.
WEIGHTS_FILES = {"best": "best.ckpt", "last": "final.ckpt"}
STATE_FILE = "last.ckpt"  # not weights alone, but the whole state of a stage that has not finished, to resume from
DONE_FILE = "done.json"  # written when a stage has finished
RESTORE_IT = "restore the file, or make the run again"


class CheckpointContent(TypedDict):
    """The file of the weights that a stage saves."""

    state_dict: dict[str, Any]
    threshold_shift: NotRequired[float | list[float]]  # see `mtl.methods.stage2`


def load_finished(network: nn.Module, folder: Path, checkpoint: Literal["best", "last"] = "best") -> bool:
    """If the stage in this folder has finished, load its weights into the network, which no longer drops out, and delete a state that is left over.
    Return whether it has finished. Raises InputError as `load_weights`."""
    if not (folder / DONE_FILE).exists():
        return False
    (folder / STATE_FILE).unlink(missing_ok=True)  # still there if the process was killed just after the stage finished
    remedy = f"restore the file, or delete {folder} and run this again"
    load_weights(network, folder / WEIGHTS_FILES[checkpoint], remedy)
    network.eval()
    return True


def load_weights(network: nn.Module, path: Path, remedy: str = RESTORE_IT) -> None:
    """Load the weights that a stage saved. Those that the file lacks, as they were not trained, stay. Raises as `read_weights` and `set_weights`."""
    set_weights(network, {**network.state_dict(), **read_weights(path, remedy)}, path, remedy)


def read_weights(path: Path, remedy: str = RESTORE_IT) -> dict[str, Tensor]:
    """The weights in a checkpoint, by name, on the CPU. Raises InputError if it does not exist or is damaged, and for a weight that is not finite."""
    weights: dict[str, Tensor] = read_checkpoint(path, CheckpointContent, f"; {remedy}")["state_dict"]
    for name, weight in weights.items():
        if not isinstance(weight, Tensor):
            raise InputError(f"{name} is not a tensor; {remedy}", path=path)
        if not weight.isfinite().all():
            raise InputError(f"{name} holds values that are not finite; {remedy}", path=path)
    return weights


def set_weights(network: nn.Module, weights: Mapping[str, Tensor], path: Path, remedy: str = RESTORE_IT) -> None:
    """Set all weights of the network, in place. Raises InputError, which names their file, if they are those of another network."""
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        # torch names the class in the first line, and then one reason on each line.
        first_reason = " ".join(str(error).splitlines()[1:2])
        reason = " ".join(first_reason.split())
        raise InputError(f"its weights are not those of this model: {reason[:200]}; {remedy}", path=path) from None


def is_checkpoint_of(network: nn.Module, path: Path) -> bool:
    """Whether the file has each weight of the network in its shape, and no other. False for a file that is damaged or does not exist."""
    try:
        return have_same_shapes(network, read_weights(path))
    except InputError:
        return False


def have_same_shapes(network: nn.Module, weights: Mapping[str, Any]) -> bool:
    """Whether there is each weight of the network in its shape, and no other. False for what are no weights."""
    shapes = {name: getattr(weight, "shape", None) for name, weight in weights.items()}
    return shapes == {name: weight.shape for name, weight in network.state_dict().items()}


def weights_of_part(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The weights of the part of a network whose names begin with the prefix, as in "encoder."; their names in the part lack it."""
    return {name.removeprefix(prefix): weight for name, weight in weights.items() if name.startswith(prefix)}


def update_hash(digest: "hashlib._Hash", weights: Mapping[str, Tensor]) -> None:
    """Add names, shapes and values of weights to a hash."""
    for name, weight in sorted(weights.items()):
        digest.update(f"{name} {tuple(weight.shape)}".encode())
        digest.update(weight.cpu().contiguous().numpy().data)
