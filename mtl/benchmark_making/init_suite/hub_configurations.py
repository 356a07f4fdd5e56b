"""The configurations of a data set of the Hub, each of which is a task. What its card says in a form that the Hub does not document is ignored."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from posixpath import commonpath, dirname, relpath
from typing import Any

from mtl.base.errors import InputError, locating
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.named_file import SPLIT_WORD, split_in
from mtl.benchmark_making.init_suite.named_tasks import name_of_parts, task_id
from mtl.benchmark_making.init_suite.wording import quoted
from mtl.tasks.task import SPLIT_OF, SPLITS

DEFAULT = "default"  # the name of the configuration of a card that names none
LONGEST_PATTERN, MOST_STARS = 500, 8  # characters, and stars among them: more than any card needs
MOST_FILES = 3  # of a split in a message


@dataclass(frozen=True)
class Configuration:
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
    for entry in _items(card.get("configs")):
        if isinstance(entry, dict):
            name = str(entry.get("config_name", DEFAULT))
            with locating(unit=f"configuration {name}"):
                files_by_split = _files_by_split(entry, files)
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
    """The items of a list in a card, which may write an only item without the list."""
    return value if isinstance(value, list) else [value]


def _files_by_split(entry: Mapping[Any, Any], files: Collection[str]) -> dict[str, list[str]]:
    """The files of a configuration by split: as the card says, or by the last word of a split in their names or else paths; without one, train."""
    folder = str(entry.get("data_dir") or "")
    below = [path for path in sorted(files) if not folder or PurePosixPath(path).is_relative_to(folder)]
    patterns: list[Any] = []  # of files of any split
    patterns_by_split: dict[str, list[Any]] = {}  # a card may name a split several times
    for item in _items(entry.get("data_files") or []):
        if not isinstance(item, dict) or "split" not in item:
            patterns.append(item)
        elif item.get("path"):  # the Hub documents no split without one
            patterns_by_split.setdefault(str(item["split"]), []).extend(_items(item["path"]))
    if patterns_by_split:
        return {split: _matching(of_split, folder, below) for split, of_split in patterns_by_split.items()}
    visible = [path for path in below if not PurePosixPath(path).name.startswith((".", "README"))]
    files_by_split: dict[str, list[str]] = {}
    for path in _matching(patterns, folder, below) if patterns else visible:
        words = SPLIT_WORD.findall(PurePosixPath(path).stem.lower()) or SPLIT_WORD.findall(path.lower())
        split = SPLIT_OF[words[-1]] if words else "train"
        files_by_split.setdefault(split, []).append(path)
    return files_by_split


def _matching(patterns: Sequence[Any], folder: str, files: Sequence[str]) -> list[str]:
    """The files that patterns below a folder fit, in order, each once. Raises InputError for a pattern that fits none, or is beyond the limits."""
    matches: list[str] = []
    for item in patterns:
        pattern = str(PurePosixPath(folder, str(item)))
        fitting = [file for file in files if _fits(pattern, file)]
        if not fitting:
            raise InputError(f"no file of the data set fits {pattern[:200]}; name another revision: @REVISION")
        matches += fitting
    return list(dict.fromkeys(matches))


def _fits(pattern: str, path: str) -> bool:
    """Whether a pattern as data/**/train-*.csv fits a path. Each part of it, between slashes, fits one name, but ** fits any number of folders, or as
    the last part one name or more. All ways to do so are followed at once: to try one after another could take forever."""
    parts, names = pattern.split("/"), path.split("/")
    are_allowed = len(pattern) <= LONGEST_PATTERN and pattern.count("*") <= MOST_STARS
    if not are_allowed or any("**" in part and part != "**" for part in parts):
        return False
    ends = {0}  # the numbers of names, from the first on, that the parts so far can fit
    for part in parts:
        if part == "**":
            ends = set(range(min(ends, default=len(names)), len(names)))
        else:
            ends = {end + 1 for end in ends if end < len(names) and fnmatchcase(names[end], part)}
    return len(ends) > 0 if parts[-1] == "**" else len(names) in ends


def configured_tasks(chosen: Sequence[Configuration], dataset: str) -> list[Guess]:
    """Each configuration as a task, with a question where another one is meant or has the same files."""
    tasks: dict[str, Guess] = {}
    default = next((configuration.name for configuration in chosen if configuration.is_default), None)
    for configuration in chosen:
        name = dataset.rpartition("/")[2] if configuration.name == DEFAULT else configuration.name
        task = _task(task_id(name, tasks), configuration)
        tasks[task.id] = task
        paths = set(configuration.paths)
        sharing = [peer.name for peer in chosen if peer is not configuration and not paths.isdisjoint(peer.paths)]
        doubts = [f"has files of {', '.join(sorted(sharing))}, too"] if sharing else []
        if default not in (None, configuration.name):
            doubts.append(f"is not {default}, the data set's default")
        if doubts:
            remedy = f"delete this task if it is not one of its own, or name one: hf://{dataset}/CONFIGURATION"
            task.questions.append(f"files.train: configuration {configuration.name} {' and '.join(doubts)}; {remedy}")
    return list(tasks.values())


def _task(id: str, configuration: Configuration) -> Guess:
    """A configuration as a task, with the splits of the Hub whose names have the word of a split; an only split without a word is train."""
    splits = ", ".join(SPLITS)
    files_by_name = configuration.files_by_split
    names_by_split: dict[str, list[str]] = {}  # the names that the Hub gives what may be this split of the task
    for name in files_by_name:
        split = split_in(name) or ("train" if len(files_by_name) == 1 else "")
        names_by_split.setdefault(split, []).append(name)
    notes = [f"not read: split {quoted(name)}, which is none of {splits}" for name in names_by_split.pop("", [])]
    if not names_by_split:
        raise InputError(f"configuration {configuration.name} has no split {splits}")
    read = [path for names in names_by_split.values() for name in names for path in files_by_name[name]]
    guess = Guess(id, commonpath([dirname(path) for path in read]), {}, notes=notes)
    for split, names in names_by_split.items():
        paths_by_name = {name: [relpath(path, guess.folder) for path in files_by_name[name]] for name in names}
        _add_split(guess, split, paths_by_name)
    return guess


def _add_split(guess: Guess, split: str, paths_by_name: Mapping[str, Sequence[str]]) -> None:
    """Add a split to a task, whose files are those of the first of these splits of the Hub. It is a question whether they are, unless there is no
    other one, its whole name is the word of the split, and its files are parts of one."""
    first, *others = paths_by_name
    paths = paths_by_name[first]
    guess.files[split] = name_of_parts(paths) or paths[0]
    are_parts = all(map(name_of_parts, paths_by_name.values()))
    if others or first.lower() not in SPLIT_OF or not are_parts:
        ways = [f"{name} ({listed(files, MOST_FILES)})" for name, files in paths_by_name.items()]
        remedy = "" if are_parts else "; write the files of a split as one"
        guess.questions.append(f"files.{split}: may be the split {' or '.join(ways)}{remedy}")
