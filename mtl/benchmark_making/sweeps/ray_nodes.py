"""The nodes of a Ray cluster: what they have room for, and whether they see the folder of the results and have this machine's versions."""

import time
import uuid
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.version import VERSION
from mtl.base.wording import format_bytes
from mtl.jobs.engines import Needs, Unit

PROBE_TIMEOUT = 300.0  # seconds until a node must have answered
LOOKS = 10  # at a folder, since a network file system may show a new file late
LOOK_AGAIN = 0.5  # seconds between two of them
LONGEST_ERROR = 300  # characters of an error of Ray in a message
Description = dict[str, str | None]  # of a node: what it reads in the folder of the results, and its versions


class Nodes:
    """The nodes that are alive in the cluster to which Ray, a module, is connected."""

    def __init__(self, ray: Any) -> None:
        self.ray = ray
        self.alive = [node for node in ray.nodes() if node["Alive"]]

    def room(self, needs: Needs) -> int:
        """How many units with these needs the nodes have room for at once."""
        sizes = {name: size for name, size in resources(self.ray, needs).items() if size}
        by_node = [min(node["Resources"].get(name, 0) // size for name, size in sizes.items()) for node in self.alive]
        return int(sum(by_node))

    def check_needs(self, unit: Unit) -> None:
        """Raise InputError if no node has what the unit needs."""
        if self.room(unit.needs) > 0:
            return
        sizes = resources(self.ray, unit.needs)
        asked = [f"{size:g} {name}" for name, size in sizes.items() if size and name != "memory"]
        if unit.needs.memory:
            asked.append(f"{format_bytes(unit.needs.memory)} of memory")
        problem = f"no node of the cluster has what it asks for ({', '.join(asked)})"
        raise InputError(f"{unit.name}: {problem}; see trainer.threads and resources")

    def check_folder(self, folder: Path) -> None:
        """Let each node read a file that this process writes into the folder. Raise InputError if one does not, or has other versions."""
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{uuid.uuid4().hex}"
        probe.write_text(probe.name, encoding="utf-8")
        try:
            here = _describe(str(probe))
            for host, there in self._descriptions(probe):
                if there != here:
                    raise InputError(node_difference(host, folder, here, there))
        finally:
            probe.unlink(missing_ok=True)

    def _descriptions(self, probe: Path) -> Iterator[tuple[str, Description]]:
        """The name of each node, and what it says of itself. Raises InputError for one that does not answer, or cannot."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        describe = self.ray.remote(max_calls=1, num_cpus=0)(_describe)
        hosts = {}  # by Ray's reference to a node's answer
        for node in self.alive:
            strategy = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            hosts[describe.options(scheduling_strategy=strategy).remote(str(probe))] = node["NodeManagerHostname"]
        answered, silent = self.ray.wait(list(hosts), num_returns=len(hosts), timeout=PROBE_TIMEOUT)
        if silent:
            raise InputError(f"node {hosts[silent[0]]}: does not answer; see `ray status`")
        errors = self.ray.exceptions
        for reference in answered:
            try:
                yield hosts[reference], self.ray.get(reference)
            except (errors.TaskUnschedulableError, errors.NodeDiedError):
                continue  # Ray lists a lost node for some seconds; it gets no unit
            except errors.RayError as error:
                raise InputError(f"node {hosts[reference]}: cannot run mtl: {error_line(error)}") from None


def resources(ray: Any, needs: Needs) -> dict[str, float]:
    """What a unit takes of a node's resources, by Ray's name. `ray`: the module."""
    # A whole GPU if the unit asks for no share, and if the cluster has any.
    gpu = float("GPU" in ray.cluster_resources()) if needs.gpu is None else needs.gpu
    return {"CPU": needs.threads or 1, "GPU": gpu, "memory": needs.memory or 0}


def _describe(probe: str) -> Description:
    """What a node has: the content of a file in the folder of the results, and versions."""
    file = Path(probe)
    for _ in range(LOOKS):
        if file.exists():
            break
        time.sleep(LOOK_AGAIN)
    content = file.read_text(encoding="utf-8") if file.exists() else None
    return {"folder": content, "mtl": VERSION, "torch": version("torch")}


def node_difference(node: str, folder: Path, here: Description, there: Description) -> str:
    if there["folder"] != here["folder"]:
        return f"node {node}: does not see {folder}; results, data and caches must be in a file system that all nodes share"
    package = next(name for name in here if here[name] != there[name])
    versions = f"has {package} {there[package]}, and this machine {here[package]}"
    return f"node {node}: {versions}; install the same versions on all nodes"


def error_line(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:LONGEST_ERROR]
