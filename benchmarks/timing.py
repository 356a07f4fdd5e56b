"""Functions that the benchmarks share: alternating runs, ratios with their range, the machine's matrix product."""

import statistics
import time
from collections.abc import Callable, Sequence

import torch


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def alternate(calls: Sequence[Callable[[], object]], runs: int) -> list[list[float]]:
    """Seconds of each call, (calls, runs). Every run makes all calls, one after the other."""
    columns = [[seconds(call) for call in calls] for _ in range(runs)]
    return [list(side) for side in zip(*columns, strict=True)]


def ratio(ours: Sequence[float], theirs: Sequence[float], *, digits: int = 1) -> str:
    """The ratios of their seconds to ours, run by run: the median and, for several runs, the range. digits: after the point."""
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    spread = f" ({min(ratios):.{digits}f} – {max(ratios):.{digits}f})" if len(ratios) > 1 else ""
    return f"{statistics.median(ratios):.{digits}f}{spread}"


def matrix_product(size: int = 2048, dtype: torch.dtype = torch.float32) -> float:
    """The speed of a matrix product, size × size, in operations per second: the best of four."""
    a, b = torch.randn(2, size, size).to(dtype)
    return 2 * size**3 / min(seconds(lambda: torch.mm(a, b)) for _ in range(4))
