"""Arrays on disk: caches of what can be computed again, and parts of checkpoints. A file is not trusted."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mtl.base.files import replacing
from mtl.base.untrusted import check_stored, open_regular


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
    except EOFError as error:
        raise ValueError(str(error)) from None
    if not isinstance(array, np.ndarray):
        raise ValueError("holds several arrays")
    return array


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays by name, as `numpy.savez` does, beside the place and move them in. Raises OSError."""
    with replacing(path) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
