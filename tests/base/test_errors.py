import errno
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from command_line import job
from input_errors import raises_input_error
from processes import CONTEXT, wait_for
from small_suite import small_settings

from mtl.api.making import run_job
from mtl.base.errors import DivergedError, InputError, resources_as_input
from mtl.base.typed import UnknownKey


def raising(error: Exception) -> str:
    with pytest.raises(InputError) as caught, resources_as_input():
        raise error
    return str(caught.value)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "No space left on device; free some space; the same command continues"),
        (errno.EFBIG, "File too large; raise the limit of a file's size (ulimit -f); the same command continues"),
        (errno.EMFILE, "Too many open files; raise the limit of open files (ulimit -n); the same command continues"),
        (errno.EACCES, "Permission denied; change its permissions, or name another place"),
        (errno.EROFS, "Read-only file system; name another place"),
        (errno.ENOTDIR, "Not a directory; move away what stands there, or name another place"),
        (errno.EINVAL, "Invalid argument"),
        (errno.ECONNRESET, "Connection reset by peer"),
    ],
)
def test_an_error_of_a_file_names_it_and_what_to_do(number: int, remedy: str) -> None:
    reason = remedy.partition(";")[0]
    assert raising(OSError(number, reason, "a/b.ckpt")) == f"a/b.ckpt: {remedy}"


def test_of_two_files_the_one_that_is_written_is_named() -> None:
    error = OSError(errno.ENOSPC, "No space left on device", "from.yaml", None, "to.yaml")
    assert raising(error).startswith("to.yaml: No space")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("Unable to allocate 14.9 GiB for an array with shape (2000000000,)"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        torch.OutOfMemoryError("CUDA error. Tried to allocate 20.00 GiB."),
        ImportError("libtorch.so: failed to map segment from shared object"),
    ],
)
def test_memory_that_runs_out_is_one_line(error: Exception) -> None:
    assert raising(error).startswith("memory ran out") and "the same command continues" in raising(error)


def test_memory_that_torch_cannot_allocate_is_one_line() -> None:
    with raises_input_error(), resources_as_input():
        torch.zeros(10**14)


@pytest.mark.parametrize("error", [BrokenPipeError(), RuntimeError("x"), ImportError("y"), DivergedError("z")])
def test_other_errors_stay_what_they_are(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, resources_as_input():
        raise error
    assert caught.value is error


def test_an_error_says_where_and_keeps_it_between_processes() -> None:
    error = InputError("must be 1", path=Path("a/train.tsv"), line=3, key="x.y", value=None)
    assert str(error) == "a/train.tsv:3: x.y=None: must be 1"
    assert str(InputError("must be 1", key="x")) == "x: must be 1"
    assert str(InputError("must be 1", value=3)) == "3: must be 1"
    for other in (pickle.loads(pickle.dumps(error)), error.located(line=3)):
        assert str(other) == str(error) and (other.path, other.line, other.key) == ("a/train.tsv", 3, "x.y")
    foreign = InputError(f"unknown label {'x' * 10**6}\x1b[2J\n\udcff, expected one of a, b", key="x")
    shown = str(foreign)
    assert len(shown) == 1000 and shown.endswith("x\\x1b[2J\\n\\udcff, expected one of a, b") and " … " in shown
    unknown = UnknownKey("sede", {"seed"}, "s.")
    for other in (pickle.loads(pickle.dumps(unknown)), unknown.located(path="own.yaml")):
        assert (type(other), other.unknown, other.known) == (UnknownKey, "sede", {"seed"})
    assert str(unknown.located(path="own.yaml")) == f"own.yaml: {unknown}"


LONG = ["pretrain.max_steps=100000", "pretrain.patience=100000"]


def exit_with_7(*_: object) -> None:
    sys.exit(7)


def run_for_ever(settings: Sequence[str], own_handler: bool) -> None:
    """A program that goes on after an interruption."""
    signal.signal(signal.SIGTERM, exit_with_7 if own_handler else signal.SIG_DFL)
    while True:
        try:
            run_job(job(settings), "")
        except KeyboardInterrupt:
            continue


@pytest.mark.slow
@pytest.mark.parametrize(("own_handler", "status"), [(False, -signal.SIGTERM), (True, 7)])
def test_sigterm_is_as_without_mtl(tmp_path: Path, own_handler: bool, status: int) -> None:
    settings = [*small_settings(tmp_path), *LONG]
    process = CONTEXT.Process(target=run_for_ever, args=(settings, own_handler))
    process.start()
    wait_for(tmp_path / "run/seed-1/pretrain/last.ckpt", process)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGTERM)
    process.join(120)
    try:
        assert process.exitcode == status
    finally:
        process.kill()
