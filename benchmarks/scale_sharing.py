"""A file system that many workers share, in a simulation.

A transfer needs a share of the file system: `bytes / bandwidth + files / rate` seconds of it, if it had the file system alone.
Transfers at the same time share it equally, and none is faster than its own client (`client_bandwidth`, `latency`).
"""

from dataclasses import dataclass

NEVER = float("inf")


@dataclass(frozen=True)
class Piece:
    """Seconds of work of a worker alone, then a transfer to or from the file system."""

    seconds: float = 0.0
    bytes: float = 0.0
    files: float = 0.0


@dataclass(frozen=True)
class FileSystem:
    """bandwidth: bytes per second of all transfers together. rate: files per second of all together. client_bandwidth: bytes per second
    of one worker. latency: seconds per file of one worker."""

    bandwidth: float = NEVER
    rate: float = NEVER
    client_bandwidth: float = NEVER
    latency: float = 0.0


class Transfers:
    """Transfers of one size that go on. All have the same share of the file system, so that the one that began first ends first.

    amount: seconds of the whole file system. most: the largest share that a client can use; 0 if only the client limits the transfer,
    whose amount is then what it takes alone.
    """

    def __init__(self, piece: Piece, files: FileSystem) -> None:
        amount = piece.bytes / files.bandwidth + piece.files / files.rate
        alone = max(amount, piece.bytes / files.client_bandwidth + piece.files * files.latency)
        self.amount, self.most = (amount, amount / alone) if amount else (alone, 0.0)
        self.content = (piece.bytes / self.amount, piece.files / self.amount) if self.amount else (0.0, 0.0)
        self.share = self.served = 0.0  # served: what each has got that has been there from the beginning
        self.ends: dict[int, float] = {}  # the value of `served` at the end, by worker, in the order of their begin


class Sharing:
    """The transfers that go on: a worker has at most one."""

    def __init__(self, files: FileSystem) -> None:
        self.files, self.time, self.changed = files, 0.0, False
        self.sizes: dict[tuple[float, float], Transfers] = {}
        self.of: dict[int, Transfers] = {}  # by worker
        self.flow = self.moved = (0.0, 0.0)  # bytes and files: per second, and until now
        self.trace = [(0.0, 0.0, 0.0)]

    def begin(self, worker: int, piece: Piece) -> bool:
        """Begin a transfer at the present time. Returns False if it takes no time."""
        key = piece.bytes, piece.files
        size = self.sizes.get(key) or self.sizes.setdefault(key, Transfers(piece, self.files))
        if not size.amount:
            return False
        size.ends[worker] = size.served + size.amount
        self.of[worker] = size
        self.changed = True
        return True

    def end(self, worker: int) -> None:
        """End the worker's transfer, if it has one."""
        if (size := self.of.pop(worker, None)) is not None:
            del size.ends[worker]
            self.changed = True

    def advance(self, time: float) -> None:
        passed = time - self.time
        if self.of and passed:
            if self.time > self.trace[-1][0]:  # nothing was transferred in between
                self.trace.append((self.time, *self.moved))
            for size in self.sizes.values():
                size.served += size.share * passed
            self.moved = self.moved[0] + self.flow[0] * passed, self.moved[1] + self.flow[1] * passed
            self.trace.append((time, *self.moved))
        self.time = time

    def next(self) -> tuple[float, int]:
        """When the next transfer ends, if nothing changes, and its worker. Called between changes and `advance`."""
        if self.changed:
            self._divide()
        first, of = NEVER, -1
        for size in self.sizes.values():
            if size.ends:
                worker, end = next(iter(size.ends.items()))
                if (seconds := (end - size.served) / size.share) < first:
                    first, of = seconds, worker
        return self.time + max(0.0, first), of

    def _divide(self) -> None:
        """Equal shares of 1, of which none is above the client's."""
        self.changed = False
        active = sorted((size for size in self.sizes.values() if size.ends), key=lambda size: size.most)
        left, waiting = 1.0, sum(len(size.ends) for size in active if size.most)
        for size in self.sizes.values():
            size.share = 0.0
        for size in active:
            if not size.most:
                size.share = 1.0
                continue
            size.share = min(size.most, left / waiting)
            left -= size.share * len(size.ends)
            waiting -= len(size.ends)
        rates = [(size.share * len(size.ends), size.content) for size in active]
        self.flow = sum(rate * of[0] for rate, of in rates), sum(rate * of[1] for rate, of in rates)
