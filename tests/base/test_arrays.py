import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from input_errors import refused
from mutations import damaged

from mtl.base.arrays import read_array, read_arrays, write_arrays


def test_arrays_are_read_as_they_were_written(tmp_path: Path) -> None:
    arrays = {"plain": np.arange(3), "task/dev": np.array(["ą", "b"])}
    write_arrays(tmp_path / "a.npz", arrays)
    read = read_arrays(tmp_path / "a.npz")
    assert {name: array.tolist() for name, array in read.items()} == {"plain": [0, 1, 2], "task/dev": ["ą", "b"]}
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_one_array(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(4))
    for mapped in (False, True):
        assert read_array(path, mapped).tolist() == [0, 1, 2, 3]
    for content in (path.read_bytes()[:-1], b"", b"text", b"PK\x03\x04text", path.read_bytes()[:40] + b"(3,\n"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"."):
            read_array(path)
    np.savez(tmp_path / "several.npz", x=np.arange(4))
    with pytest.raises(ValueError, match="several arrays"):
        read_array(tmp_path / "several.npz")
    os.mkfifo(tmp_path / "pipe")
    refused(lambda: read_array(tmp_path / "pipe"), file="pipe")


def test_damaged_arrays_raise_value_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.arange(5), y=np.array(["a", "b"]))
    assert read_arrays(path)["x"].tolist() == [0, 1, 2, 3, 4]
    for _ in damaged(path, 300):
        with suppress(ValueError):
            read_arrays(path)
    np.savez_compressed(path, x=np.arange(5))
    with pytest.raises(ValueError, match="its members are compressed"):
        read_arrays(path)
