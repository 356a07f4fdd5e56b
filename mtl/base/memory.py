"""Memory of this process: keep freed memory for reuse or return it, measure the peak, and refuse what cannot fit."""

import ctypes
import os
import sys

from mtl.base.errors import InputError
from mtl.base.wording import format_bytes

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # constants of glibc's malloc.h


def keep_memory() -> None:
    """Make glibc's allocator keep large freed blocks for the next training step, not clear every page again. Peak memory grows by up to a sixth."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_TOP_PAD, 2**26)):
            mallopt(option, value)


def release_memory() -> None:
    """Return freed memory to the system, with glibc: between batches of changing length, freed blocks of one size are too small for the next."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def peak_memory() -> int:
    """The peak resident memory of this process so far, in bytes; 0 on Windows, where it is not known."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def machine_memory() -> int:
    """The memory of this machine, in bytes."""
    if sys.platform == "win32":
        kilobytes = ctypes.c_ulonglong()
        ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes))
        return 1024 * kilobytes.value
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_fits(size: int, what: str, remedy: str, key: str | None = None) -> None:
    """Raise InputError, which names the remedy and the key, if this machine has less memory than `what` needs, `size` bytes."""
    if size > (total := machine_memory()):
        lacking = format_bytes(size - total)
        problem = f"{what} needs {format_bytes(size)} of memory, {lacking} more than this machine has"
        raise InputError(f"{problem}; {remedy}", key=key)


def peak_gpu_memory() -> int | None:
    """The peak GPU memory of this process so far, in bytes; None without a CUDA GPU."""
    import torch  # here, so that a command can ask for the machine's memory at once

    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else None
