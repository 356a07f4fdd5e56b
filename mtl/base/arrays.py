"""Arrays and tensors on disk: caches of what can be computed again, and checkpoints. A file is not trusted (`mtl.base.untrusted`)."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import replacing
from mtl.base.untrusted import Content, check_form, open_regular

if TYPE_CHECKING:
    import torch


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays in a file that `write_arrays` wrote. Raises ValueError for any other file, OSError, and InputError as `open_regular`."""
    with open_regular(path) as file:
        try:
            check_stored(file)
            with np.load(file, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
        except Exception as error:  # a damaged zip, or a damaged array in it, raises errors of many kinds
            raise ValueError(str(error) or type(error).__name__) from None


def read_array(path: Path, mapped: bool = False) -> np.ndarray:
    """The array in a file that `numpy.save` wrote; if it is `mapped`, parts of the file are read when they are used. Errors: as `read_arrays`."""
    open_regular(path).close()  # a pipe would be waited for
    try:
        array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except Exception as error:  # as in `read_arrays`
        raise ValueError(str(error) or type(error).__name__) from None
    if not isinstance(array, np.ndarray):
        raise ValueError("holds several arrays")
    return array


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name, as `numpy.savez` does, beside the place and move them in. Raises OSError."""
    with replacing(path) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Write tensors and plain values as torch does, atomically."""
    import torch

    # If torch opens the file itself, it hides the error of a failed write. Of an open file, the error is in the chain of exceptions.
    with replacing(path) as partial, partial.open("wb") as file:
        torch.save(content, file)


def read_checkpoint(path: Path, form: type[Content], remedy: str = "", device: "torch.device | str" = "cpu") -> Content:
    """The content of a file that torch saved: tensors, put on `device`, and plain values alone, so that no code in it runs. `form` is a TypedDict in
    which tensors are `Any`; other keys are kept. Raises InputError if the file does not exist, is damaged, or of another form, with the `remedy`."""
    import torch

    try:
        with open_regular(path) as file:
            check_stored(file)
            content = torch.load(file, map_location=device, weights_only=True)
            _check_tensors(content, torch.device(device))
    except FileNotFoundError:
        raise InputError(f"no such file{remedy}", path=path) from None
    except InputError:
        raise
    except Exception as error:  # a damaged pickle raises errors of many kinds
        reason = without_advice(str(error)).partition("\n")[0] or "it ends too early"
        raise InputError(f"not a checkpoint that can be read: {reason}{remedy}", path=path) from None
    check_form(path, content, form, remedy)
    return cast(Content, content)


def without_advice(reason: str) -> str:
    """What torch says of a file that it does not read, without its advice to run the code in the file."""
    return "it is damaged, or holds other values than tensors" if "Weights only load failed" in reason else reason


def _check_tensors(content: object, device: "torch.device") -> None:
    """Raise ValueError for a tensor that is sparse, or larger than its numbers in the file: a few bytes can describe one of any size."""
    import torch

    known: set[int] = set()
    unchecked = [content]
    while unchecked:
        value = unchecked.pop()
        if isinstance(value, torch.Tensor):
            dense = value.layout == torch.strided and value.is_meta == (device.type == "meta")
            if not dense or value.numel() * value.element_size() > value.untyped_storage().nbytes():
                raise ValueError("it lacks numbers of a tensor")
        elif isinstance(value, dict | list | tuple) and id(value) not in known:  # a list may hold itself
            known.add(id(value))
            unchecked.extend(value.values() if isinstance(value, dict) else value)


def check_stored(file: IO[bytes]) -> None:
    """Raise ValueError for a zip whose members are compressed: torch and numpy store them as they are, so the file bounds what is read."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("its members are compressed, which torch and numpy never do")
    file.seek(0)
