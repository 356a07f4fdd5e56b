"""Engines: one registry entry for each way to execute units of work."""

from collections.abc import Callable

from mtl.base.lazy import lazy
from mtl.base.wings import Registry
from mtl.jobs.engines.engine import Engine

# By the name that `engine` has in a configuration.
ENGINES: Registry[Callable[[], Engine]] = Registry(
    {"processes": lazy("mtl.jobs.engines.processes:Processes")}, "engines"
)
