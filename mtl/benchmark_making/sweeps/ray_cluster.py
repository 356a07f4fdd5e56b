"""Units on a cluster, or on this machine, by Ray."""

import itertools
import os
import re
import socket
import sys
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mtl.base.display import log_to_standard_error
from mtl.base.errors import InputError, UserError
from mtl.base.extras import check_installed
from mtl.base.progress import hidden_progress
from mtl.base.terminal import standard_streams
from mtl.base.version import VERSION
from mtl.base.wording import format_bytes
from mtl.jobs.engines import Done, Needs, Unit, ready, result_or_error

RETRIES = 3  # of a unit whose process or node is lost
IN_FLIGHT = 2  # items that a worker has at once, so that it never waits for the next one
PROBE_TIMEOUT = 300.0  # seconds until a node must have answered
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
    """`mtl.jobs.engines.Engine` on the cluster that RAY_ADDRESS names, or else on one that is started on this machine.

    A unit whose process or node is lost begins again on another node, which continues from the files of the first: data, cache, vectors
    and runs must be in a file system that all nodes share, under the same paths.
    """

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
        actors, waiting = list[Any](), deque[Any]()
        with self._connected([maker]) as nodes:
            try:
                room = sum(self._room(maker.needs, node) for node in nodes)
                if room < workers:
                    raise InputError(f"{workers} workers do not fit into the cluster, which has room for {room}")
                retries = {"max_restarts": RETRIES, "max_task_retries": RETRIES}
                remote = self.ray.remote(scheduling_strategy="SPREAD", **retries, **self._options(maker.needs))
                actors += [remote(_Worker).remote(maker) for _ in range(workers)]
                for worker, item in zip(itertools.cycle(actors), items, strict=False):
                    waiting.append(worker.work.remote(item))
                    if len(waiting) == IN_FLIGHT * workers:
                        yield self._result(self._next_ended([waiting.popleft()]), maker.name)
                while waiting:
                    yield self._result(self._next_ended([waiting.popleft()]), maker.name)
            finally:
                for worker in actors:
                    with suppress(Exception):  # it, or its node, may be lost
                        self.ray.kill(worker)

    @contextmanager
    def _connected(self, units: Sequence[Unit]) -> Iterator[list[Any]]:
        """The nodes of the cluster, to which a connection exists within the block. Raises InputError if there is no cluster, or if its nodes do not
        have what the units need."""
        is_new = not self.ray.is_initialized()
        if is_new:
            address = os.environ.get("RAY_ADDRESS", "")
            try:
                check_listens(address)
                self.ray.init(log_to_driver=True, logging_level="warning", configure_logging=True)
            except (OSError, OverflowError, RuntimeError, ValueError) as error:
                where = f"RAY_ADDRESS={address}: " if address else ""
                raise InputError(f"engine=ray: {where}cannot be had: {_line(error)}") from None
        try:
            nodes = [node for node in self.ray.nodes() if node["Alive"]]
            self._check_needs(units, nodes)
            for folder in sorted({unit.folder for unit in units if unit.folder is not None}):
                self._check_folder(folder, nodes)
            yield nodes
        finally:
            if is_new:
                self.ray.shutdown()

    def _submit(self, unit: Unit) -> Any:
        """Begin the unit in a process of its own, which settings of torch, and memory, do not outlive. Returns Ray's reference to its result."""
        options = {"max_calls": 1, "max_retries": RETRIES, "scheduling_strategy": "SPREAD", **self._options(unit.needs)}
        return self.ray.remote(**options)(_execute).options(name=unit.name).remote(unit)

    def _wanted(self, needs: Needs) -> dict[str, float]:
        """What a unit takes of a node's resources, by Ray's name."""
        # A whole GPU if the unit asks for no share, and if the cluster has any.
        gpu = float("GPU" in self.ray.cluster_resources()) if needs.gpu is None else needs.gpu
        return {"CPU": needs.threads or 1, "GPU": gpu, "memory": needs.memory or 0}

    def _room(self, needs: Needs, node: Mapping[str, Any]) -> int:
        """How many units with these needs a node has room for at once."""
        wanted = {name: size for name, size in self._wanted(needs).items() if size}
        return int(min(node["Resources"].get(name, 0) // size for name, size in wanted.items()))

    def _options(self, needs: Needs) -> dict[str, Any]:
        """What a unit takes of a node's resources, as options of Ray."""
        wanted = self._wanted(needs)
        return {"num_cpus": wanted["CPU"], "num_gpus": wanted["GPU"], "memory": needs.memory}

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
            problem = f"its process or the cluster was lost: {_line(error)}; if memory ran out, set resources.memory="
            raise InputError(f"engine=ray: {name}: {problem}; run the same command again to continue") from None

    def _check_needs(self, units: Sequence[Unit], nodes: Sequence[Any]) -> None:
        """Raise InputError if no node has what a unit needs."""
        for unit in units:
            wanted = self._wanted(unit.needs)
            if not any(all(node["Resources"].get(name, 0) >= size for name, size in wanted.items()) for node in nodes):
                asked = [f"{size:g} {name}" for name, size in wanted.items() if size and name != "memory"]
                asked += [f"{format_bytes(unit.needs.memory)} of memory"] if unit.needs.memory else []
                problem = f"no node of the cluster has what it asks for ({', '.join(asked)})"
                raise InputError(f"{unit.name}: {problem}; see trainer.threads and resources")

    def _check_folder(self, folder: Path, nodes: Sequence[Any]) -> None:
        """Let each node read a file that this process writes into the folder. Raise InputError if one does not, or has other versions."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{uuid.uuid4().hex}"
        probe.write_text(probe.name, encoding="utf-8")
        try:
            describe = self.ray.remote(max_calls=1, num_cpus=0)(_describe)
            hosts = {}  # by Ray's reference to a node's answer
            for node in nodes:
                strategy = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                hosts[describe.options(scheduling_strategy=strategy).remote(str(probe))] = node["NodeManagerHostname"]
            answered, silent = self.ray.wait(list(hosts), num_returns=len(hosts), timeout=PROBE_TIMEOUT)
            if silent:
                raise InputError(f"node {hosts[silent[0]]}: does not answer; see `ray status`")
            here = _describe(str(probe))
            for reference in answered:
                try:
                    remote = self.ray.get(reference)
                except (self.ray.exceptions.TaskUnschedulableError, self.ray.exceptions.NodeDiedError):
                    continue  # Ray lists a lost node for some seconds; it gets no unit
                except self.ray.exceptions.RayError as error:
                    raise InputError(f"node {hosts[reference]}: cannot run mtl: {_line(error)}") from None
                if remote != here:
                    raise InputError(node_difference(hosts[reference], folder, here, remote))
        finally:
            probe.unlink(missing_ok=True)


def starts_cluster() -> bool:
    """Whether Ray starts a cluster of this machine alone: RAY_ADDRESS says so, or it is not set, and `ray start` has left none to join."""
    address = os.environ.get("RAY_ADDRESS")
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
    return address == "local" or not (address or Path(folder, "ray", "ray_current_cluster").exists())


def check_listens(address: str) -> None:
    """Raise OSError if nothing listens at an address HOST:PORT, where Ray itself would repeat its messages for minutes. Other forms
    (auto, local, ray://…) are Ray's to check."""
    if match := re.fullmatch(r"\[?([^/\[\]]+)\]?:(\d+)", address):
        host, port = match.groups()
        socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT).close()


def _describe(probe: str) -> dict[str, str | None]:
    """What a node has: the content of a file in the folder of the results, and versions."""
    import torch

    file = Path(probe)
    for _ in range(10):  # a network file system may show a new file late
        if file.exists():
            break
        time.sleep(0.5)
    content = file.read_text(encoding="utf-8") if file.exists() else None
    return {"folder": content, "mtl": VERSION, "torch": torch.__version__}


def node_difference(node: str, folder: Path, here: dict[str, str | None], remote: dict[str, str | None]) -> str:
    """What a node lacks that this machine has, and what to do. `here` and `remote` are what `_describe` says on each."""
    if remote["folder"] != here["folder"]:
        return f"node {node}: does not see {folder}; results, data and caches must be in a file system that all nodes share"
    name = next(name for name in here if here[name] != remote[name])
    what = f"has {name} {remote[name]}, and this machine {here[name]}"
    return f"node {node}: {what}; install the same versions on all nodes"


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


def _line(error: BaseException) -> str:
    """An error as one line, which may be cut."""
    return (" ".join(str(error).split()) or type(error).__name__)[:300]
