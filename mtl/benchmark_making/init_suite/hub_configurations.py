"""The configurations of a data set of the Hub, each of which is a task. What its card says in a form that the Hub does not document is ignored."""

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import commonpath, dirname, relpath
from typing import Any

from fsspec.utils import glob_translate

from mtl.base.errors import InputError, locating
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.benchmark_making.init_suite.named_file import SPLIT_WORD, split_in
from mtl.benchmark_making.init_suite.named_tasks import name_of_parts, task_id
from mtl.tasks.task import SPLIT_OF, SPLITS

DEFAULT = "default"  # the name of the configuration of a card that names none
LONGEST_PATTERN, MOST_STARS = 500, 8  # characters and stars: each star multiplies the time that matching may take
MOST_FILES = 3  # of a split in a message


@dataclass(frozen=True)
class Configuration:
    """One configuration of a data set."""

    name: str
    files_by_split: Mapping[str, Sequence[str]]  # paths in order, by the name that the Hub gives a split
    is_default: bool  # whether the card says that it is meant where nobody names one

    @property
    def paths(self) -> list[str]:
        return [path for files in self.files_by_split.values() for path in files]


def configurations(card: Mapping[Any, Any], files: Collection[str]) -> list[Configuration]:
    """The configurations that a card declares, or without a card those of the Hub's conversion; perhaps none. Raises InputError as `_matching`."""
    if not card:
        return _converted(files)
    declared: list[Configuration] = []
    for entry in [entry for entry in _items(card.get("configs")) if isinstance(entry, dict)]:
        name, folder = str(entry.get("config_name", DEFAULT)), str(entry.get("data_dir") or "")
        below = [path for path in sorted(files) if not folder or PurePosixPath(path).is_relative_to(folder)]
        with locating(unit=f"configuration {name}"):
            files_by_split = _files_by_split(_items(entry.get("data_files") or []), folder, below)
        declared.append(Configuration(name, files_by_split, entry.get("default") is True or name == DEFAULT))
    return declared


def _converted(files: Collection[str]) -> list[Configuration]:
    """The configurations in the Hub's own conversion of a data set to parquet, whose files are CONFIGURATION/SPLIT/0000.parquet."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for path in sorted(files):
        if parts := re.fullmatch(r"([^/]+)/([^/]+)/\d+\.parquet", path):
            by_name.setdefault(parts[1], {}).setdefault(parts[2], []).append(path)
    return [Configuration(name, files_by_split, name == DEFAULT) for name, files_by_split in by_name.items()]


def _items(value: Any) -> list[Any]:
    """The items of a list; a card may write an only item without the list."""
    return value if isinstance(value, list) else [value]


def _files_by_split(data_files: Sequence[Any], folder: str, files: Sequence[str]) -> dict[str, list[str]]:
    """The files of a configuration by split: as its card says, of which several entries may name one split; else by the words in their paths."""
    patterns_by_split: dict[str, list[Any]] = {}
    for entry in data_files:
        if isinstance(entry, dict) and "split" in entry:
            patterns_by_split.setdefault(str(entry["split"]), []).extend(_items(entry.get("path") or None))
    if patterns_by_split:
        return {split: _matching(patterns, folder, files) for split, patterns in patterns_by_split.items()}
    visible = [path for path in files if not PurePosixPath(path).name.startswith((".", "README"))]
    files_by_split: dict[str, list[str]] = {}
    for path in _matching(data_files, folder, files) if data_files else visible:
        words = SPLIT_WORD.findall(PurePosixPath(path).stem.lower()) or SPLIT_WORD.findall(path.lower()) or ["train"]
        files_by_split.setdefault(SPLIT_OF[words[-1]], []).append(path)
    return files_by_split


def _matching(patterns: Sequence[Any], folder: str, files: Sequence[str]) -> list[str]:
    """The files that patterns below a folder fit, in order. Raises InputError for a pattern that fits none, or is malformed, or beyond the limits."""
    matches: list[str] = []
    for item in patterns:
        pattern = str(PurePosixPath(folder, str(item)))
        fitting: list[str] = []
        if len(pattern) <= LONGEST_PATTERN and pattern.count("*") <= MOST_STARS:
            with suppress(ValueError, re.error):
                expression = re.compile(glob_translate(pattern))
                fitting = [file for file in files if expression.match(file)]
        if not fitting:
            raise InputError(f"no file of the data set fits {pattern[:200]}; name another revision: @REVISION")
        matches += fitting
    return list(dict.fromkeys(matches))  # a file that several patterns fit is read once


def configured_tasks(chosen: Sequence[Configuration], dataset: str) -> list[Guess]:
    """Each configuration as a task, with a question where another one is meant or has the same files."""
    tasks: dict[str, Guess] = {}
    default = next((configuration.name for configuration in chosen if configuration.is_default), None)
    for configuration in chosen:
        name = dataset.rpartition("/")[2] if configuration.name == DEFAULT else configuration.name
        task = _task(task_id(name, tasks), configuration)
        tasks[task.id] = task
        paths = set(configuration.paths)
        sharing = [rest.name for rest in chosen if rest is not configuration and not paths.isdisjoint(rest.paths)]
        doubts = [f"has files of {', '.join(sorted(sharing))}, too"] if sharing else []
        doubts += [f"is not {default}, the data set's default"] if default not in (None, configuration.name) else []
        if doubts:
            remedy = f"delete this task if it is not one of its own, or name one: hf://{dataset}/CONFIGURATION"
            task.questions.append(f"files.train: configuration {configuration.name} {' and '.join(doubts)}; {remedy}")
    return list(tasks.values())


def _task(id: str, configuration: Configuration) -> Guess:
    """A configuration as a task. A split of the task is certain if only one of the Hub's has its word, and this word is the whole name."""
    guess = Guess(id, "", {})
    hub_splits: dict[str, list[str]] = {}  # the names that the Hub gives what may be a split of the task
    for name in configuration.files_by_split:
        split = split_in(name) or ("train" if len(configuration.files_by_split) == 1 else "")
        if split:
            hub_splits.setdefault(split, []).append(name)
        else:
            guess.notes.append(f"not read: split {quoted_names([name])}, which is none of {', '.join(SPLITS)}")
    if not hub_splits:
        raise InputError(f"configuration {configuration.name} has no split {', '.join(SPLITS)}")
    read = [path for names in hub_splits.values() for name in names for path in configuration.files_by_split[name]]
    guess.folder = commonpath([dirname(path) for path in read])
    for split, names in hub_splits.items():
        files = {name: [relpath(path, guess.folder) for path in configuration.files_by_split[name]] for name in names}
        guess.files[split] = name_of_parts(files[names[0]]) or files[names[0]][0]
        are_parts = all(map(name_of_parts, files.values()))
        if len(names) > 1 or names[0].lower() not in SPLIT_OF or not are_parts:
            ways = [f"{name} ({listed(files[name], MOST_FILES)})" for name in names]
            remedy = "" if are_parts else "; write the files of a split as one"
            guess.questions.append(f"files.{split}: may be the split {' or '.join(ways)}{remedy}")
    return guess
