"""A discrete-event simulation of units of work on a cluster: workers, one driver, one shared file system, nodes that are lost."""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scale_sharing import FileSystem, Piece, Sharing


@dataclass(frozen=True)
class Work:
    """A unit. start: repeated whenever the unit begins again. segments: each ends with a checkpoint, from which the unit continues.
    resume: read when it continues. run: the number of its run. after: the place in the list of the unit that must end first."""

    start: Piece
    segments: tuple[Piece, ...]
    resume: Piece = field(default_factory=Piece)
    run: int = 0
    after: int | None = None

    @property
    def seconds(self) -> float:
        """Seconds of useful work."""
        return sum(piece.seconds for piece in self.segments)


@dataclass(frozen=True)
class Cluster:
    """loss: how often a node is lost, per second. away: seconds until a lost node is back."""

    workers: int
    per_node: int = 1
    loss: float = 0.0
    away: float = 0.0


@dataclass(frozen=True)
class Driver:
    """Seconds of the driver, which does one thing at a time: to submit a unit, to handle a finished unit, to sum up a finished run."""

    submit: float = 0.0
    unit: float = 0.0
    run: float = 0.0


@dataclass
class Outcome:
    """seconds: from the first submission until the last run is summed up. trace: times, and the bytes and
    files that were transferred until then."""

    seconds: float = 0.0
    driver_seconds: float = 0.0
    driver_longest: float = 0.0  # the longest time that a finished unit waited for the driver
    lost: int = 0  # units that began again
    most_lost: int = 0  # of one unit
    trace: list[tuple[float, float, float]] = field(default_factory=list)

    def peak(self, of: int, window: float = 60.0) -> float:
        """The largest mean per second over a window. of: 1 for bytes, 2 for files."""
        trace = np.array(self.trace)
        grid = np.arange(0.0, trace[-1, 0] + 2 * window, window)
        return float(np.diff(np.interp(grid, trace[:, 0], trace[:, of])).max() / window)

    def moved(self, of: int) -> float:
        """Bytes (1) or files (2) of all transfers."""
        return self.trace[-1][of]


def simulate(
    units: Sequence[Work],
    cluster: Cluster,
    files: FileSystem | None = None,
    driver: Driver | None = None,
    seed: int = 0,
) -> Outcome:
    """Execute the units, in the order of the list, each after the one that it names."""
    return _Simulation(units, cluster, files or FileSystem(), driver or Driver(), seed).run()


class _Simulation:
    def __init__(self, units: Sequence[Work], cluster: Cluster, files: FileSystem, driver: Driver, seed: int) -> None:
        self.units, self.cluster, self.driver = units, cluster, driver
        self.random = np.random.default_rng(seed)
        self.sharing = Sharing(files)
        self.outcome = Outcome()
        self.events: list[tuple[float, int, str, int, int]] = []  # time, order, what, whose, its begin (of workers)
        self.order = 0
        self.ready: deque[int] = deque()
        self.idle = deque(range(cluster.workers))
        self.unit: list[int | None] = [None] * cluster.workers
        self.pieces: list[deque[Piece]] = [deque() for _ in range(cluster.workers)]
        self.began = [
            0
        ] * cluster.workers  # how often the worker has begun something, so that events of lost units are ignored
        self.done = [0] * len(units)  # segments
        self.losses = [0] * len(units)
        self.away: set[int] = set()
        self.left = len(units)
        self.left_of_run = dict[int, int]()
        self.followers = dict[int, list[int]]()
        for place, unit in enumerate(units):
            self.left_of_run[unit.run] = self.left_of_run.get(unit.run, 0) + 1
            if unit.after is not None:
                self.followers.setdefault(unit.after, []).append(place)

    def run(self) -> Outcome:
        handle = {"ready": self._make_ready, "worked": self._worked, "lost": self._lose, "back": self._return}
        for place, unit in enumerate(self.units):
            if unit.after is None:
                self._at(self._drive(0.0, self.driver.submit), "ready", place)
        if self.cluster.loss:
            for node in range(-(-self.cluster.workers // self.cluster.per_node)):
                self._next_loss(0.0, node)
        while self.left:
            self._begin_units()
            end, worker = self.sharing.next()
            if self.events and self.events[0][0] <= end:
                time, _, what, whose, begin = heapq.heappop(self.events)
                self.sharing.advance(time)
                if what != "worked" or begin == self.began[whose]:
                    handle[what](whose)
            else:
                self.sharing.advance(end)
                self._transferred(worker)
        self.outcome.seconds = max(self.sharing.time, self.free)
        self.outcome.trace = self.sharing.trace
        self.outcome.most_lost = max(self.losses, default=0)
        return self.outcome

    free = 0.0  # when the driver has done all that it was given

    def _drive(self, time: float, seconds: float) -> float:
        """The time at which the driver has done something that it is given now."""
        self.outcome.driver_longest = max(self.outcome.driver_longest, self.free - time)
        self.free = max(time, self.free) + seconds
        self.outcome.driver_seconds += seconds
        return self.free

    def _at(self, time: float, what: str, whose: int, begin: int = 0) -> None:
        self.order += 1
        heapq.heappush(self.events, (time, self.order, what, whose, begin))

    def _make_ready(self, place: int) -> None:
        self.ready.append(place)

    def _begin_units(self) -> None:
        while self.ready and self.idle:
            place, worker = self.ready.popleft(), self.idle.popleft()
            unit, done = self.units[place], self.done[place]
            self.unit[worker] = place
            self.pieces[worker] = deque([unit.start, *([unit.resume] if done else []), *unit.segments[done:]])
            self._begin_piece(worker)

    def _begin_piece(self, worker: int) -> None:
        self.began[worker] += 1
        self._at(self.sharing.time + self.pieces[worker][0].seconds, "worked", worker, self.began[worker])

    def _worked(self, worker: int) -> None:
        if not self.sharing.begin(worker, self.pieces[worker][0]):
            self._end_piece(worker)

    def _transferred(self, worker: int) -> None:
        self.sharing.end(worker)
        self._end_piece(worker)

    def _end_piece(self, worker: int) -> None:
        place, pieces = self.unit[worker], self.pieces[worker]
        assert place is not None
        pieces.popleft()
        segments = len(self.units[place].segments)
        self.done[place] = max(self.done[place], segments - len(pieces))
        if pieces:
            self._begin_piece(worker)
            return
        self.unit[worker] = None
        self.idle.append(worker)
        self._end_unit(place)

    def _end_unit(self, place: int) -> None:
        self.left -= 1
        run = self.units[place].run
        self.left_of_run[run] -= 1
        handled = self._drive(self.sharing.time, self.driver.unit + self.driver.run * (not self.left_of_run[run]))
        for follower in self.followers.get(place, ()):
            handled = self._drive(handled, self.driver.submit)
            self._at(handled, "ready", follower)

    def _next_loss(self, time: float, node: int) -> None:
        self._at(time + self.random.exponential(1 / self.cluster.loss), "lost", node)

    def _workers(self, node: int) -> range:
        first = node * self.cluster.per_node
        return range(first, min(first + self.cluster.per_node, self.cluster.workers))

    def _lose(self, node: int) -> None:
        """The units of the node wait at the end of the queue; the node comes back."""
        for worker in self._workers(node):
            place = self.unit[worker]
            self.began[worker] += 1
            self.sharing.end(worker)
            if place is None:
                self.idle.remove(worker)
            else:
                self.unit[worker] = None
                self.ready.append(place)
                self.losses[place] += 1
                self.outcome.lost += 1
        self._at(self.sharing.time + self.cluster.away, "back", node)

    def _return(self, node: int) -> None:
        self.idle.extend(self._workers(node))
        self._next_loss(self.sharing.time, node)
