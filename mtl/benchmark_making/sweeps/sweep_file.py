"""The content of a sweep file: the settings of each run that it lists, and whether to choose among the runs."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.settings.layers import check_names_no_code, flatten
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.sweeps.selection import has_choice

SECTIONS = ("title", "settings", "grid", "runs", "select")
MOST_RUNS = 100_000  # of a grid
EACH = "each"  # the value of tasks: in a sweep file that makes a run for each task


@dataclass(frozen=True)
class RunEntry:
    """A run of a sweep file, or with `tasks: each` a run for each task."""

    label: str | None  # its name, if the file gives one
    naming: Sequence[str]  # the keys that its name is made from otherwise: those that the file sets for this run alone
    settings: Mapping[str, Any]  # by dotted keys


def read_sweep_file(path: Path) -> tuple[str, list[RunEntry], bool]:
    """The title of a sweep file, its runs, and whether it chooses among them. Raises InputError, which names the section, for another form."""
    content = read_yaml(path)
    if unknown := [str(key) for key in content if key not in SECTIONS]:
        raise InputError(f"unknown key {unknown[0]!r}; a sweep has {', '.join(SECTIONS)}", path=path)
    shared = _settings(path, "settings", content.get("settings"))
    entries = _grid_entries(path, content.get("grid"), shared)
    entries += _listed_entries(path, content.get("runs") or [], shared)
    if not entries:
        raise InputError("has no runs; list them under runs:, or values of keys under grid:", path=path)
    return str(content.get("title") or path.stem), entries, has_choice(content, path)


def _grid_entries(path: Path, section: Any, shared: Mapping[str, Any]) -> list[RunEntry]:
    """A run for each combination of the values of the section `grid`, beside the settings that all runs share."""
    grid = _settings(path, "grid", section)
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise InputError(f"{key}={values}: must be a list of values", path=path, key="grid")
    if not grid:
        return []
    if (number := math.prod(len(values) for values in grid.values())) > MOST_RUNS:
        raise InputError(f"has {number:,} runs; a sweep takes at most {MOST_RUNS:,}", path=path, key="grid")
    combinations = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    return [RunEntry(None, list(grid), {**shared, **combination}) for combination in combinations]


def _listed_entries(path: Path, section: Any, shared: Mapping[str, Any]) -> list[RunEntry]:
    """The runs of the section `runs`, whose settings replace those that all runs share."""
    if not isinstance(section, list):
        raise InputError("must be a list", path=path, key="runs")
    entries = []
    for number, keys in enumerate(section, 1):
        settings = _settings(path, f"runs: {number}", keys)
        name = settings.pop("name", None)
        label = None if name is None else str(name)
        if label is not None and not re.fullmatch(r"\w[\w.,=+-]*", label):
            message = f"{number}: name={label}: must be fit for a folder: letters, digits, _ . , = + -"
            raise InputError(message, path=path, key="runs")
        entries.append(RunEntry(label, list(settings), {**shared, **settings}))
    return entries


def _settings(path: Path, where: str, section: Any) -> dict[str, Any]:
    """Settings by dotted keys, from dotted or nested keys. Raises InputError for anything else."""
    if not isinstance(section, dict | None):
        raise InputError(f"{where}: must hold keys and values", path=path)
    settings = flatten(section or {})
    check_names_no_code(path, settings)
    return settings
