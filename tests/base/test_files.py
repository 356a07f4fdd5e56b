import errno
import hashlib
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.torch
import torch
from input_errors import refused

from mtl.base.arrays import write_checkpoint
from mtl.base.errors import InputError
from mtl.base.files import check_space, replacing, sha256, without_empty_folders, write_text
from mtl.base.folders import new_folder


@contextmanager
def file_limit(size: int) -> Iterator[None]:
    """Within the block, no file that this process or its children write can be larger than `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_old_file_stays_and_an_error_names_the_path_and_not_the_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_text(path, "ołówek\r\n")
    assert path.read_bytes() == "ołówek\r\n".encode()
    assert sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(RuntimeError), replacing(path) as partial:
        partial.write_text("half", encoding="utf-8")
        raise RuntimeError
    assert path.read_bytes() == "ołówek\r\n".encode()
    assert list(path.parent.iterdir()) == [path]
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(IsADirectoryError) as caught:
        write_text(tmp_path / "taken", "text")
    assert caught.value.filename == str(tmp_path / "taken")
    with pytest.raises(FileExistsError) as unmade, new_folder(tmp_path / "file" / "new"):
        pass
    assert ".partial" not in str(unmade.value.filename)
    with without_empty_folders(tmp_path / "x/y/z"):
        (tmp_path / "x/y").mkdir(parents=True)
    assert not (tmp_path / "x").exists()


LARGE = torch.zeros(10_000)


def write_numbers(path: Path) -> None:
    with replacing(path) as partial, partial.open("wb") as file:
        np.savez(file, numbers=LARGE.numpy())


def write_in_folder(path: Path) -> None:
    with new_folder(path.parent / "new") as partial:
        write_text(partial / path.name, "x" * 40_000)


def write_by_a_library(path: Path) -> None:
    with new_folder(path) as partial:
        safetensors.torch.save_file({"numbers": LARGE}, partial / "weights.safetensors")


@pytest.mark.parametrize(
    ("write", "named"),
    [
        (lambda path: write_text(path, "x" * 40_000), "file"),
        (lambda path: write_checkpoint(path, {"numbers": LARGE}), "file"),
        (write_numbers, "file"),
        (write_in_folder, "new/file"),
        (write_by_a_library, "file"),
    ],
)
def test_a_failed_write_is_an_error_with_the_path(tmp_path: Path, write: Callable[[Path], None], named: str) -> None:
    with file_limit(20_000), pytest.raises(OSError, match="File too large") as caught:
        write(tmp_path / "file")
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(tmp_path / named))
    assert list(tmp_path.iterdir()) == []


def test_errors_of_other_kinds_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(ConnectionResetError) as reset, replacing(tmp_path / "file"):
        raise ConnectionResetError(errno.ECONNRESET, "reset")
    assert reset.value.filename is None
    with pytest.raises(FileNotFoundError) as missing, replacing(tmp_path / "file"):
        (tmp_path / "other").read_text(encoding="utf-8")
    assert missing.value.filename == str(tmp_path / "other")


def test_two_machines_may_write_one_file_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getpid", lambda: 7)  # on both
    with replacing(tmp_path / "file") as one:
        one.write_text("one", encoding="utf-8")
        with replacing(tmp_path / "file") as other:
            other.write_text("other", encoding="utf-8")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "one"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_full_disk_error_gives_the_size_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=2_500_000))
    check_space(tmp_path, 2_500_000, "x")
    refused(lambda: check_space(tmp_path, 7_500_000_000, "set a=1"), file="TMP")
    with pytest.raises(InputError, match="needs 3 MB of disk space, 1 MB more than is free"):
        check_space(tmp_path, 2_500_001, "x")
