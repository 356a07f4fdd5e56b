"""The configurations of a data set of the Hub, by its card or the names of its files. A card is not trusted: what is not of the form that the Hub
documents ("Data files configuration") does not count."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from fsspec.utils import glob_translate

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_names import WORD
from mtl.tasks.task import SPLIT_OF

DEFAULT = "default"  # the name of the configuration of a card that names none
LONGEST_PATTERN, MOST_STARS = 500, 8  # characters, and stars, of a pattern of file names: others could take for ever


@dataclass(frozen=True)
class Configuration:
    """One configuration of a data set."""

    name: str
    splits: Mapping[str, Sequence[str]]  # by the name of a split on the Hub, its files, in order
    is_default: bool = False  # whether the card says that it is meant where nobody names one

    @property
    def paths(self) -> list[str]:
        return [path for paths in self.splits.values() for path in paths]


def configurations(card: Mapping[Any, Any], files: Collection[str]) -> list[Configuration]:
    """The configurations whose data files, among those of the data set, a card names. Raises InputError if there are no such files."""
    declared = []
    for item in _dictionaries(card.get("configs")):
        name, folder = str(item.get("config_name", DEFAULT)), str(item.get("data_dir") or "")
        below = [path for path in sorted(files) if not folder or PurePosixPath(path).is_relative_to(folder)]
        splits = _splits(item.get("data_files"), name, folder, below)
        declared.append(Configuration(name, splits, item.get("default") is True or name == DEFAULT))
    return declared


def converted(files: Collection[str]) -> list[Configuration]:
    """The configurations in the Hub's own conversion of a data set to parquet, whose files are CONFIGURATION/SPLIT/0000.parquet."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for path in sorted(files):
        if parts := re.fullmatch(r"([^/]+)/([^/]+)/\d+\.parquet", path):
            by_name.setdefault(parts[1], {}).setdefault(parts[2], []).append(path)
    return [Configuration(name, splits, name == DEFAULT) for name, splits in by_name.items()]


def _splits(data_files: Any, name: str, folder: str, files: Sequence[str]) -> dict[str, list[str]]:
    """The files of a configuration by split: as the card says, else by the word of a split in their names, else in their folders. Without any they
    are training rows, as on the Hub. Raises InputError for a pattern that names none of the files in the configuration's folder."""
    entries = [entry for entry in _dictionaries(data_files) if "split" in entry]
    if entries:
        return {str(entry["split"]): _matching(entry.get("path"), folder, files, name) for entry in entries}
    if data_files is None:
        paths = [path for path in files if not PurePosixPath(path).name.startswith((".", "README"))]
    else:
        paths = _matching(data_files, folder, files, name)
    splits: dict[str, list[str]] = {}
    for path in paths:
        words = WORD.findall(PurePosixPath(path).stem.lower()) or WORD.findall(path.lower()) or ["train"]
        splits.setdefault(SPLIT_OF[words[-1]], []).append(path)
    return splits


def _dictionaries(value: Any) -> list[dict[Any, Any]]:
    """The dictionaries in a list, or the only one."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _matching(patterns: Any, folder: str, files: Sequence[str], name: str) -> list[str]:
    """The files of a configuration that a pattern, or one of a list, names, in order. Raises InputError for a pattern that names none."""
    matches: list[str] = []
    for item in patterns if isinstance(patterns, list) else [patterns]:
        pattern = str(PurePosixPath(folder, str(item)))
        fitting = _fitting(pattern, files)
        if not fitting:
            problem = f"configuration {name} names {pattern[:200]}, and no file of the data set fits"
            raise InputError(f"{problem}; name another revision: @REVISION")
        matches += fitting
    return list(dict.fromkeys(matches))


def _fitting(pattern: str, files: Sequence[str]) -> list[str]:
    """The files whose paths fit a pattern; none for one that is not valid, or so long that it could take for ever."""
    if len(pattern) <= LONGEST_PATTERN and pattern.count("*") <= MOST_STARS:
        with suppress(ValueError, re.error):
            expression = re.compile(glob_translate(pattern))
            return [file for file in files if expression.match(file)]
    return []
