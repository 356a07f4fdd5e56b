"""The names of a sweep's runs: the method's folder, then the settings that set a run apart, as in "shared,seed=1,tasks=ar+cbd"."""

import json
import re
from collections.abc import Mapping
from typing import Any

from mtl.runs.records import Summary


def run_name(method_folder: str, settings: Mapping[str, Any]) -> str:
    """The name of a run with these settings, by dotted keys."""
    return ",".join([method_folder, *(f"{key}={_as_name(value)}" for key, value in settings.items())])


def setting_name(name: str, summary: Summary) -> str:
    """The name of a run without what all runs that a task chooses from have in common: the method's folder and, at the end, the tasks."""
    tasks = _as_name([*(summary["config"].get("tasks") or ())])
    return name.removesuffix(f",tasks={tasks}").removeprefix(f"{summary['folder']},")


def _as_name(value: Any) -> str:
    """A value as a part of a folder's name."""
    if isinstance(value, list):
        return "+".join(map(_as_name, value))
    return re.sub(r"[^\w.+-]", "-", value if isinstance(value, str) else json.dumps(value))
