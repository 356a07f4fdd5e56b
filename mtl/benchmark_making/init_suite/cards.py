"""The configurations of a data set on the Hugging Face Hub: their splits, files and labels, as the YAML block of its card states them.

A card is not trusted: what is not of the form that the Hub documents ("Data files configuration") does not count."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from posixpath import commonpath
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted_yaml import read_yaml
from mtl.benchmark_making.init_suite.names import SPLIT_OF, WORD, SplitFiles, first_part
from mtl.benchmark_making.init_suite.tables import quoted_names
from mtl.tasks.task import SPLITS

DEFAULT = "default"
MOST_STARS = 8  # in a pattern
FRONT = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
# The parts of a pattern of data files that are not plain characters.
GLOB = re.compile(r"\*\*/|\*\*|\*|\?|\{[^{}/]*\}|\[[^\]/]+\]")


@dataclass(frozen=True)
class Configuration:
    """One configuration of a data set.

    Args:
        splits: by the name of a split on the Hub, its files, in order.
        labels: by column, the names of the labels that its numbers stand for.
        is_default: whether the card says that it is meant where nobody names one.
    """

    name: str
    splits: Mapping[str, Sequence[str]]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_default: bool = False


def read_card(readme: Path, copy: Path) -> dict[Any, Any]:
    """The YAML block at the start of a data set's README.md; empty if there is none. Raises InputError for one that is not YAML.

    `copy`: where the block alone may be written, with the same lines.
    """
    block = FRONT.match(readme.read_text(encoding="utf-8", errors="replace"))
    if block is None or not block[1].strip():
        return {}
    copy.write_text(f"\n{block[1]}", encoding="utf-8")
    return read_yaml(copy)


def configurations(card: Mapping[Any, Any], files: Collection[str]) -> list[Configuration]:
    """The configurations whose data files a card names. Raises InputError if there are no such files.

    Args:
        files: the paths of all files of the data set.
    """
    labels = {str(info.get("config_name", DEFAULT)): _labels(info) for info in _dictionaries(card.get("dataset_info"))}
    found = []
    for declared in _dictionaries(card.get("configs")):
        name, folder = str(declared.get("config_name", DEFAULT)), str(declared.get("data_dir") or "")
        below = [path for path in sorted(files) if not folder or PurePosixPath(path).is_relative_to(folder)]
        patterns = declared.get("data_files")
        splits: dict[str, list[str]] = {}
        if patterns is None:
            splits = _by_words([path for path in below if not PurePosixPath(path).name.startswith((".", "README"))])
        elif named := [item for item in _dictionaries(patterns) if "split" in item]:
            for item in named:
                splits[str(item["split"])] = _matching(item.get("path"), folder, below, name)
        else:
            splits = _by_words(_matching(patterns, folder, below, name))
        is_default = declared.get("default") is True or name == DEFAULT
        found.append(Configuration(name, splits, labels.get(name, {}), is_default))
    return found


def converted(files: Collection[str]) -> list[Configuration]:
    """The configurations in the Hub's own conversion of a data set to parquet, whose files are CONFIGURATION/SPLIT/0000.parquet."""
    splits: dict[str, dict[str, list[str]]] = {}
    for path in sorted(files):
        if found := re.fullmatch(r"([^/]+)/([^/]+)/\d+\.parquet", path):
            splits.setdefault(found[1], {}).setdefault(found[2], []).append(path)
    return [Configuration(name, of_name, is_default=name == DEFAULT) for name, of_name in splits.items()]


def class_labels(card: Mapping[Any, Any]) -> dict[str, list[str]]:
    """The names of labels by column, of a card that describes one configuration only."""
    infos = _dictionaries(card.get("dataset_info"))
    return _labels(infos[0]) if len(infos) == 1 else {}


def split_files(id: str, configuration: Configuration) -> SplitFiles:
    """The files of a configuration as those of a task. What the names of its splits do not say is a question."""
    by_split: dict[str, dict[str, Sequence[str]]] = {}
    notes, questions = [], []
    for name, paths in configuration.splits.items():
        words = {SPLIT_OF[word] for word in WORD.findall(name.lower())}
        if len(words) == 1:
            by_split.setdefault(words.pop(), {})[name] = paths
            if name.startswith("partial-"):
                questions.append(
                    f"files: the Hub has converted only a part of {name.removeprefix('partial-')}; do these rows do?"
                )
        elif len(configuration.splits) == 1:
            questions.append(f"files: the only split is called {name}: are these the training rows?")
            by_split["train"] = {name: paths}
        else:
            notes.append(f"not read: split {quoted_names([name])}, which is none of {', '.join(SPLITS)}")
    if not by_split:
        raise InputError(f"configuration {configuration.name} has no split {', '.join(SPLITS)}")
    parents = [
        PurePosixPath(path).parent.as_posix()
        for named in by_split.values()
        for paths in named.values()
        for path in paths
    ]
    folder = commonpath(parents)
    chosen = {}
    for split, named in by_split.items():
        names = {name: [_below(path, folder) for path in paths] for name, paths in named.items()}
        first = next(iter(names.values()))
        file = first[0] if len(first) == 1 else first_part(first)
        if file is None:
            questions.append(f"files: {split} is {len(first)} files, {quoted_names(first, 4)}; write them as one file")
        if len(names) > 1:
            splits = [f"{name} ({', '.join(paths[:2])})" for name, paths in names.items()]
            questions.append(f"files: {split} may be the split {' or '.join(splits)}")
        chosen[split] = file or first[0]
    return SplitFiles(
        id, folder, chosen, question="; ".join(questions) or None, notes=notes, labels=configuration.labels
    )


def _below(path: str, folder: str) -> str:
    return PurePosixPath(path).relative_to(folder).as_posix()


def _dictionaries(value: Any) -> list[dict[Any, Any]]:
    """The dictionaries in a list, or the only one."""
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _labels(info: Mapping[Any, Any]) -> dict[str, list[str]]:
    """By column, the names of a ClassLabel, in the order of their numbers."""
    labels = {}
    for feature in _dictionaries(info.get("features")):
        kind = feature.get("dtype")
        names = kind.get("class_label", {}).get("names") if isinstance(kind, dict) and "class_label" in kind else None
        if isinstance(names, dict) and all(re.fullmatch("[0-9]{1,6}", str(number)) for number in names):
            names = [names[number] for number in sorted(names, key=lambda number: int(number))]
        if isinstance(names, list) and names:
            labels[str(feature.get("name"))] = [str(name) for name in names]
    return labels


def _by_words(paths: Sequence[str]) -> dict[str, list[str]]:
    """Files by the word of a split in their names, else in their folders; without any they are training rows, as on the Hub."""
    splits: dict[str, list[str]] = {}
    for path in paths:
        words = WORD.findall(PurePosixPath(path).stem.lower()) or WORD.findall(path.lower()) or ["train"]
        splits.setdefault(SPLIT_OF[words[-1]], []).append(path)
    return splits


def _matching(patterns: Any, folder: str, files: Sequence[str], name: str) -> list[str]:
    """The files that a pattern or a list of patterns names, in order. Raises InputError for a pattern that names none."""
    found: dict[str, None] = {}
    for pattern in patterns if isinstance(patterns, list) else [patterns]:
        path = str(PurePosixPath(folder, str(pattern)))
        try:
            expression = re.compile(_expression(path))
        except re.error:
            raise InputError(f"configuration {name} names {path[:200]}, which is no pattern of paths") from None
        matches = [file for file in files if expression.fullmatch(file)]
        matches = matches or [file for file in files if PurePosixPath(file).is_relative_to(path) and file != path]
        if not matches:
            raise InputError(
                f"configuration {name} names {path}, and no file of the data set fits; name another revision: @REVISION"
            )
        found |= dict.fromkeys(matches)
    return list(found)


def _expression(pattern: str) -> str:
    """The regular expression of a pattern of paths."""
    if len(pattern) > 500 or pattern.count("*") > MOST_STARS:
        raise re.error("too long")  # such a one could take for ever
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    written, last = "", 0
    for part in GLOB.finditer(pattern):
        inner = signs.get(part[0])
        if inner is None and part[0][0] == "{":
            inner = f"(?:{'|'.join(re.escape(choice) for choice in part[0][1:-1].split(','))})"
        elif inner is None:
            inner = (
                "["
                + ("^" if part[0][1] in "!^" else "")
                + re.sub(r"([\\[\]&~|])", r"\\\1", part[0][1:-1].lstrip("!^"))
                + "]"
            )
        written += re.escape(pattern[last : part.start()]) + inner
        last = part.end()
    return written + re.escape(pattern[last:])
