"""The configurations of a data set of the Hub, each of which is a task, by its card or the names of its files. A card is not trusted: what is not of
the form that the Hub documents ("Data files configuration") does not count."""

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
from mtl.benchmark_making.init_suite.named_tasks import WORD, first_part, task_id
from mtl.tasks.task import SPLIT_OF, SPLITS

DEFAULT = "default"  # the name of the configuration of a card that names none
LONGEST_PATTERN, MOST_STARS = 500, 8  # characters, and stars, of a pattern of file names: others could take for ever
MOST_FILES = 3  # of a split in a message


@dataclass(frozen=True)
class Configuration:
    """One configuration of a data set."""

    name: str
    files_by_split: Mapping[str, Sequence[str]]  # by the name of a split on the Hub, in order
    is_default: bool  # whether the card says that it is meant where nobody names one

    @property
    def paths(self) -> list[str]:
        return [path for files in self.files_by_split.values() for path in files]


def configurations(card: Mapping[Any, Any], files: Collection[str]) -> list[Configuration]:
    """The configurations whose data files, among those of the data set, a card names, or those of the Hub's conversion, which has no card. Raises
    InputError if there are no such files."""
    declared = [] if card else _converted(files)
    for item in _dictionaries(card.get("configs")):
        name, folder = str(item.get("config_name", DEFAULT)), str(item.get("data_dir") or "")
        below = [path for path in sorted(files) if not folder or PurePosixPath(path).is_relative_to(folder)]
        with locating(unit=f"configuration {name}"):
            splits = _files_by_split(item.get("data_files"), folder, below)
        declared.append(Configuration(name, splits, item.get("default") is True or name == DEFAULT))
    return declared


def _converted(files: Collection[str]) -> list[Configuration]:
    """The configurations in the Hub's own conversion of a data set to parquet, whose files are CONFIGURATION/SPLIT/0000.parquet."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for path in sorted(files):
        if parts := re.fullmatch(r"([^/]+)/([^/]+)/\d+\.parquet", path):
            by_name.setdefault(parts[1], {}).setdefault(parts[2], []).append(path)
    return [Configuration(name, splits, name == DEFAULT) for name, splits in by_name.items()]


def _files_by_split(data_files: Any, folder: str, files: Sequence[str]) -> dict[str, list[str]]:
    """The files of a configuration by split: as the card says, else by the word of a split in their names, else in their folders. Without any they
    are training rows, as on the Hub. Raises InputError for a pattern that names none of the files in the configuration's folder."""
    if entries := [entry for entry in _dictionaries(data_files) if "split" in entry]:
        return {str(entry["split"]): _matching(entry.get("path"), folder, files) for entry in entries}
    if data_files is None:
        paths = [path for path in files if not PurePosixPath(path).name.startswith((".", "README"))]
    else:
        paths = _matching(data_files, folder, files)
    files_by_split: dict[str, list[str]] = {}
    for path in paths:
        words = WORD.findall(PurePosixPath(path).stem.lower()) or WORD.findall(path.lower()) or ["train"]
        files_by_split.setdefault(SPLIT_OF[words[-1]], []).append(path)
    return files_by_split


def _dictionaries(value: Any) -> list[dict[Any, Any]]:
    """The dictionaries in a list, or the only one."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _matching(patterns: Any, folder: str, files: Sequence[str]) -> list[str]:
    """The files that a pattern below a folder, or one of a list, names, in order. Raises InputError for a pattern that names none."""
    matches = dict[str, None]()
    for item in patterns if patterns and isinstance(patterns, list) else [patterns]:
        pattern = str(PurePosixPath(folder, str(item)))
        fitting: list[str] = []
        if len(pattern) <= LONGEST_PATTERN and pattern.count("*") <= MOST_STARS:
            with suppress(ValueError, re.error):
                expression = re.compile(glob_translate(pattern))
                fitting = [file for file in files if expression.match(file)]
        if not fitting:
            raise InputError(f"no file of the data set fits {pattern[:200]}; name another revision: @REVISION")
        matches |= dict.fromkeys(fitting)
    return list(matches)


def configured_tasks(chosen: Sequence[Configuration], dataset: str) -> list[Guess]:
    """Each configuration as a task, with a question where another one is meant or has the same files."""
    tasks: dict[str, Guess] = {}
    default = next((configuration.name for configuration in chosen if configuration.is_default), None)
    for configuration in chosen:
        name = dataset.rpartition("/")[2] if configuration.name == DEFAULT else configuration.name
        task = _task(task_id(name, tasks), configuration)
        paths = set(configuration.paths)
        sharing = [rest.name for rest in chosen if rest is not configuration and not paths.isdisjoint(rest.paths)]
        doubts = [f"has files of {', '.join(sorted(sharing))}, too"] if sharing else []
        doubts += [f"is not {default}, the data set's default"] if default not in (None, configuration.name) else []
        if doubts:
            remedy = f"delete this task if it is not one of its own, or name one: hf://{dataset}/CONFIGURATION"
            task.questions.append(f"files.train: configuration {configuration.name} {' and '.join(doubts)}; {remedy}")
        tasks[task.id] = task
    return [*tasks.values()]


def _task(id: str, configuration: Configuration) -> Guess:
    """The files of a configuration as those of a task. A split is certain if it is the only one that has its word, and this is its whole name."""
    guess = Guess(id, "", {})
    splits_by_name: dict[str, str] = {}
    for name in configuration.files_by_split:
        splits = {SPLIT_OF[word] for word in WORD.findall(name.lower())}
        if len(splits) == 1 or len(configuration.files_by_split) == 1:
            splits_by_name[name] = splits.pop() if len(splits) == 1 else "train"
        else:
            guess.notes.append(f"not read: split {quoted_names([name])}, which is none of {', '.join(SPLITS)}")
    if not splits_by_name:
        raise InputError(f"configuration {configuration.name} has no split {', '.join(SPLITS)}")
    files_by_name = {name: configuration.files_by_split[name] for name in splits_by_name}
    guess.folder = commonpath([dirname(path) for files in files_by_name.values() for path in files])
    for split in dict.fromkeys(splits_by_name.values()):
        names = [name for name in splits_by_name if splits_by_name[name] == split]
        below = [[relpath(path, guess.folder) for path in files_by_name[name]] for name in names]
        parts = [first_part(files) for files in below]
        guess.files[split] = parts[0] or below[0][0]
        if len(names) > 1 or names[0].lower() not in SPLIT_OF or None in parts:
            ways = [f"{name} ({listed(files, MOST_FILES)})" for name, files in zip(names, below, strict=True)]
            remedy = "; write the files of a split as one" if None in parts else ""
            guess.questions.append(f"files.{split}: may be the split {' or '.join(ways)}{remedy}")
    return guess
