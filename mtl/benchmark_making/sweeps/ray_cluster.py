"""Units on a cluster, or on this machine, by Ray."""

import itertools
import os
import re
import socket
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mtl.base.display import log_to_standard_error
from mtl.base.errors import InputError, UserError
from mtl.base.extras import check_installed
from mtl.base.progress import hidden_progress
from mtl.base.terminal import standard_streams
from mtl.benchmark_making.sweeps.ray_nodes import Nodes, error_line, resources
from mtl.jobs.engines import Done, Needs, Unit, ready, result_or_error

RETRIES = 3  # of a unit whose process or node is lost
IN_FLIGHT = 2  # items that a worker has at once, so that it never waits for the next one
CONNECT_TIMEOUT = 10.0  # seconds within which the cluster's address must answer
LOOK_EVERY = 30.0  # seconds between two looks whether any node is left
ENVIRONMENT = {  # variables that Ray reads, where the user has not set them
    "RAY_AUTH_MODE": "token",  # Ray's own default only since 2.60
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",  # seeds log alike lines
    "RAY_worker_niceness": "0",  # Ray's 15 leaves training a few per cent of a CPU that others use, too
    "RAY_COLOR_PREFIX": "0",  # standard output shows control characters as text
}


class RayCluster:
    """`mtl.jobs.engines.Engine` on the cluster that RAY_ADDRESS names, or else on a new one on this machine. A unit whose process or node is lost
    begins again on another node, from the files of the first: all nodes must see data, cache, vectors and runs under the same paths."""

    def __init__(self) -> None:
        """Raises InputError if Ray is not installed."""
        if starts_cluster() and "ray" not in sys.modules:
            # Despite its name also on Linux: without other machines, Ray's processes listen on the loopback address alone.
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        check_installed("ray", key="engine", value="ray")
        import ray

        self.ray = ray

    def run(self, units: Sequence[Unit], at_a_time: int, done: Done) -> None:
        """As `mtl.jobs.engines.Engine.run`."""
        if not units:
            return
        waiting, ended = list(units), set[str]()
        running: dict[Any, Unit] = {}  # by Ray's reference to the result
        with self._connected(units):
            try:
                while waiting or running:
                    while len(running) < at_a_time and (unit := ready(waiting, ended)) is not None:
                        waiting.remove(unit)
                        running[self._submit(unit)] = unit
                    assert running, "units wait for each other"
                    reference = self._next_ended(list(running))
                    unit = running.pop(reference)
                    value = self._result(reference, unit.name)
                    ended.add(unit.name)
                    done(unit, value)
            finally:
                for reference in running:
                    with suppress(Exception):  # it may have ended meanwhile, or its node is lost
                        self.ray.cancel(reference, force=True)

    def map(self, maker: Unit, items: Iterable[Any], workers: int) -> Iterator[Any]:
        """As `mtl.jobs.engines.Mapper.map`."""
        actors = list[Any]()
        results = deque[Any]()  # Ray's references to them, in the order of the items
        with self._connected([maker]) as nodes:
            try:
                if (room := nodes.room(maker.needs)) < workers:
                    raise InputError(f"{workers} workers do not fit into the cluster, which has room for {room}")
                retries = {"max_restarts": RETRIES, "max_task_retries": RETRIES}
                remote = self.ray.remote(scheduling_strategy="SPREAD", **retries, **self._options(maker.needs))
                actors += [remote(_Worker).remote(maker) for _ in range(workers)]
                for worker, item in zip(itertools.cycle(actors), items, strict=False):
                    results.append(worker.work.remote(item))
                    if len(results) == IN_FLIGHT * workers:
                        yield self._result(self._next_ended([results.popleft()]), maker.name)
                while results:
                    yield self._result(self._next_ended([results.popleft()]), maker.name)
            finally:
                for worker in actors:
                    with suppress(Exception):  # it, or its node, may be lost
                        self.ray.kill(worker)

    @contextmanager
    def _connected(self, units: Sequence[Unit]) -> Iterator[Nodes]:
        """The nodes of the cluster, connected within the block. Raises InputError for no cluster, or for one that lacks what units need."""
        is_new = not self.ray.is_initialized()
        if is_new:
            address = os.environ.get("RAY_ADDRESS", "")
            try:
                check_listens(address)
                self.ray.init(log_to_driver=True, logging_level="warning", configure_logging=True)
            except (OSError, OverflowError, RuntimeError, ValueError) as error:
                where = f"RAY_ADDRESS={address}: " if address else ""
                raise InputError(f"engine=ray: {where}cannot be had: {error_line(error)}") from None
        try:
            nodes = Nodes(self.ray)
            for unit in units:
                nodes.check_needs(unit)
            for folder in sorted({unit.folder for unit in units if unit.folder is not None}):
                nodes.check_folder(folder)
            yield nodes
        finally:
            if is_new:
                self.ray.shutdown()

    def _submit(self, unit: Unit) -> Any:
        """Begin the unit in a process of its own, which settings of torch, and memory, do not outlive. Returns Ray's reference to its result."""
        options = {"max_calls": 1, "max_retries": RETRIES, "scheduling_strategy": "SPREAD", **self._options(unit.needs)}
        return self.ray.remote(**options)(_execute).options(name=unit.name).remote(unit)

    def _options(self, needs: Needs) -> dict[str, Any]:
        sizes = resources(self.ray, needs)
        return {"num_cpus": sizes["CPU"], "num_gpus": sizes["GPU"], "memory": needs.memory}

    def _next_ended(self, running: list[Any]) -> Any:
        """The first of these references whose unit ends. Raises InputError if no node is left, where Ray would wait for ever."""
        while not (ended := self.ray.wait(running, num_returns=1, timeout=LOOK_EVERY)[0]):
            if not any(node["Alive"] for node in self.ray.nodes()):
                again = "start it again, and run the same command again to continue"
                raise InputError(f"engine=ray: every node of the cluster is lost; {again}")
        return ended[0]

    def _result(self, reference: Any, name: str) -> Any:
        """The result of the unit with this name. Raises the UserError that it raised, and InputError if its process or the cluster was lost."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except errors.RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise error.cause from None
            raise
        except errors.RayError as error:
            lost = f"its process or the cluster was lost: {error_line(error)}"
            remedy = "if memory ran out, set resources.memory=; run the same command again to continue"
            raise InputError(f"engine=ray: {name}: {lost}; {remedy}") from None


def starts_cluster() -> bool:
    """Whether Ray starts a cluster of this machine alone: RAY_ADDRESS says so, or it is not set, and `ray start` has left none to join."""
    address = os.environ.get("RAY_ADDRESS")
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
    return address == "local" or not (address or Path(folder, "ray", "ray_current_cluster").exists())


def check_listens(address: str) -> None:
    """Raise OSError if nothing listens at an address HOST:PORT, where Ray would log for minutes. Ray checks other forms (auto, ray://…)."""
    if match := re.fullmatch(r"\[?([^/\[\]]+)\]?:(\d+)", address):
        host, port = match.groups()
        socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT).close()


class _Worker:
    """Works on items, in a process of its own on some node."""

    def __init__(self, maker: Unit) -> None:
        self._work = result_or_error(_execute, maker)

    def work(self, item: Any) -> Any:
        """The result for an item. Raises the UserError that making the work or the work itself raises."""
        if isinstance(self._work, UserError):
            raise self._work
        with standard_streams(), hidden_progress():
            return self._work(item)


def _execute(unit: Unit) -> Any:
    """Call what the unit says, in a process of its own on some node. Ray writes the unit's name before each line."""
    with standard_streams():
        log_to_standard_error()
        return unit.call(*unit.arguments)
