"""Memory of this process: keep freed memory for reuse, measure the peak, and refuse what cannot fit. The number of its open files."""

import ctypes
import os
import sys

from mtl.base.errors import InputError
from mtl.base.files import format_bytes

# Constants of glibc's malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
OTHER_FILES = 256  # open files that a process needs beside those of its runs


def keep_memory() -> None:
    """Make the allocator keep large freed blocks for the next training step, where the system would clear every page again. The peak memory grows
    by up to a sixth. Only glibc has these settings; with other C libraries this does nothing."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_TOP_PAD, 2**26)):
            mallopt(option, value)


class _MemoryCounters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS of psapi.h."""

    _fields_ = [
        ("cb", ctypes.c_uint32),
        ("PageFaultCount", ctypes.c_uint32),
        ("PeakWorkingSetSize", ctypes.c_size_t),
        ("others", ctypes.c_size_t * 7),
    ]


def peak_memory() -> int:
    """The peak resident memory of this process so far, in bytes."""
    if sys.platform == "win32":
        counters = _MemoryCounters(cb=ctypes.sizeof(_MemoryCounters))
        kernel = ctypes.windll.kernel32  # type: ignore[attr-defined, unused-ignore]
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.K32GetProcessMemoryInfo.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32]
        kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(counters), counters.cb)
        return counters.PeakWorkingSetSize
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
        problem = (
            f"{what} needs {format_bytes(size)} of memory, {format_bytes(size - total)} more than this machine has"
        )
        raise InputError(f"{problem}; {remedy}", key=key)


def peak_gpu_memory() -> int | None:
    """The peak GPU memory of this process so far, in bytes; None without a CUDA GPU."""
    import torch  # here, so that a command can ask for the machine's memory at once

    return torch.cuda.max_memory_allocated() if torch.cuda.is_available() else None


def allow_open_files(number: int) -> None:
    """Let this process have `number` files open at once, in addition to OTHER_FILES for other purposes, as far as the system allows it."""
    if sys.platform == "win32":  # which has no such limit
        return
    import resource

    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = number + OTHER_FILES if highest == resource.RLIM_INFINITY else min(number + OTHER_FILES, highest)
    if limit != resource.RLIM_INFINITY and limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, highest))
