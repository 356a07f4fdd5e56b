"""Engines: one registry entry for each way to execute units of work."""

from collections.abc import Callable

from mtl.jobs.engines.kind import Engine


def _processes() -> Engine:
    from mtl.jobs.engines.processes import Processes

    return Processes()


def _ray() -> Engine:
    from mtl.jobs.engines.ray_cluster import RayCluster

    return RayCluster()


# By the name that `engine` has in a configuration.
ENGINES: dict[str, Callable[[], Engine]] = {"processes": _processes, "ray": _ray}
