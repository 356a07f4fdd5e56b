"""The configurations of a data set of the Hugging Face Hub, from its card or the names of its files, and the tasks of a suite from them. A card is
not trusted: what is not of the form that the Hub documents ("Data files configuration") does not count."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from posixpath import commonpath
from typing import Any

from fsspec.utils import glob_translate

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_names import WORD, first_part, task_id
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.tasks.task import SPLIT_OF, SPLITS

DEFAULT = "default"
MOST_STARS = 8  # in a pattern


@dataclass(frozen=True)
class Configuration:
    """One configuration of a data set."""

    name: str
    splits: Mapping[str, Sequence[str]]  # by the name of a split on the Hub, its files, in order
    is_default: bool = False  # whether the card says that it is meant where nobody names one

    @property
    def paths(self) -> list[str]:
        return list(chain(*self.splits.values()))


def configurations(card: Mapping[Any, Any], files: Collection[str]) -> list[Configuration]:
    """The configurations whose data files, among those of the data set, a card names. Raises InputError if there are no such files."""
    declared = []
    for item in _dictionaries(card.get("configs")):
        name, patterns = str(item.get("config_name", DEFAULT)), item.get("data_files")
        folder = str(item.get("data_dir") or "")
        below = [path for path in sorted(files) if not folder or PurePosixPath(path).is_relative_to(folder)]
        splits: dict[str, list[str]] = {}
        if entries := [entry for entry in _dictionaries(patterns) if "split" in entry]:
            splits = {str(entry["split"]): _matching(entry.get("path"), folder, below, name) for entry in entries}
        else:
            visible = [path for path in below if not PurePosixPath(path).name.startswith((".", "README"))]
            # By the word of a split in their names, else in their folders; without any they are training rows, as on the Hub.
            for path in visible if patterns is None else _matching(patterns, folder, below, name):
                words = WORD.findall(PurePosixPath(path).stem.lower()) or WORD.findall(path.lower()) or ["train"]
                splits.setdefault(SPLIT_OF[words[-1]], []).append(path)
        declared.append(Configuration(name, splits, item.get("default") is True or name == DEFAULT))
    return declared


def converted(files: Collection[str]) -> list[Configuration]:
    """The configurations in the Hub's own conversion of a data set to parquet, whose files are CONFIGURATION/SPLIT/0000.parquet."""
    by_name: dict[str, dict[str, list[str]]] = {}
    for path in sorted(files):
        if parts := re.fullmatch(r"([^/]+)/([^/]+)/\d+\.parquet", path):
            by_name.setdefault(parts[1], {}).setdefault(parts[2], []).append(path)
    return [Configuration(name, splits, name == DEFAULT) for name, splits in by_name.items()]


def _dictionaries(value: Any) -> list[dict[Any, Any]]:
    """The dictionaries in a list, or the only one."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _matching(patterns: Any, folder: str, files: Sequence[str], name: str) -> list[str]:
    """The files of a configuration that a pattern, or one of a list, names, in order. Raises InputError for a pattern that names none."""
    matches = dict[str, None]()
    for item in patterns if isinstance(patterns, list) else [patterns]:
        pattern = str(PurePosixPath(folder, str(item)))
        try:
            # Longer patterns could take for ever.
            expression = glob_translate(pattern) if len(pattern) <= 500 and pattern.count("*") <= MOST_STARS else ""
            fitting = [file for file in files if re.match(expression, file)] if expression else []
        except (ValueError, re.error):
            fitting = []
        if not fitting:
            problem = f"configuration {name} names {pattern[:200]}, and no file of the data set fits"
            raise InputError(f"{problem}; name another revision: @REVISION")
        matches |= dict.fromkeys(fitting)
    return list(matches)


def configured_tasks(chosen: Sequence[Configuration], dataset: str, is_only: bool) -> list[Guess]:
    """Each configuration as a task, with a question where another one is meant or has the same files. The name of the only one says nothing."""
    tasks: list[Guess] = []
    default = next((configuration.name for configuration in chosen if configuration.is_default), None)
    for configuration in chosen:
        name = dataset.rpartition("/")[2] if is_only or configuration.name == DEFAULT else configuration.name
        task = _task(task_id(name, [task.id for task in tasks]), configuration)
        sharing = [rest.name for rest in chosen if rest is not configuration and {*rest.paths} & {*configuration.paths}]
        problem = ""
        if sharing:
            problem = f"configuration {configuration.name} has files of {', '.join(sorted(sharing))}, too"
        elif default not in (None, configuration.name):
            problem = f"the data set's configuration is {default}, and this is {configuration.name}"
        if problem:
            remedy = f"delete this task if it is not one of its own, or name one: hf://{dataset}/CONFIGURATION"
            task.questions.append(f"files.train: {problem}; {remedy}")
        tasks.append(task)
    return tasks


def _task(id: str, configuration: Configuration) -> Guess:
    """The files of a configuration as those of a task. What the names of its splits do not say is a question."""
    guess = Guess(id, "", {})
    by_split = _named_splits(guess, configuration)
    if not by_split:
        raise InputError(f"configuration {configuration.name} has no split {', '.join(SPLITS)}")
    all_paths = chain.from_iterable(paths for by_name in by_split.values() for paths in by_name.values())
    guess.folder = commonpath([PurePosixPath(path).parent.as_posix() for path in all_paths])
    for split, by_name in by_split.items():
        below = [[str(PurePosixPath(path).relative_to(guess.folder)) for path in paths] for paths in by_name.values()]
        files = below[0]
        parts = first_part(files) if len(files) > 1 else files[0]
        guess.files[split] = parts or files[0]
        if parts is None:
            many = f"{len(files)} files, {quoted_names(files, 4)}"
            guess.questions.append(f"files.{split}: the split is {many}; write them as one file")
        if len(by_name) > 1:
            splits = [f"{name} ({', '.join(paths[:2])})" for name, paths in zip(by_name, below, strict=True)]
            guess.questions.append(f"files.{split}: may be the split {' or '.join(splits)}")
    return guess


def _named_splits(guess: Guess, configuration: Configuration) -> dict[str, dict[str, Sequence[str]]]:
    """The files of a configuration by split, then by the name on the Hub: several may mean one split. The guess gets notes and questions."""
    by_split: dict[str, dict[str, Sequence[str]]] = {}
    for name, paths in configuration.splits.items():
        words = {SPLIT_OF[word] for word in WORD.findall(name.lower())}
        if len(words) == 1:
            (split,) = words
        elif len(configuration.splits) == 1:
            split = "train"
            guess.questions.append(f"files.train: the only split is called {name}: are these the training rows?")
        else:
            guess.notes.append(f"not read: split {quoted_names([name])}, which is none of {', '.join(SPLITS)}")
            continue
        by_split.setdefault(split, {})[name] = paths
        if name.startswith("partial-"):
            complete = name.removeprefix("partial-")
            guess.questions.append(f"files.{split}: the Hub has converted only a part of {complete}; do these rows do?")
    return by_split
