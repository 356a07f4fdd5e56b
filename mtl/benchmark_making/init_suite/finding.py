"""The tasks below a folder: files that are named after splits, and files that hold the splits as keys, or in a column."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePosixPath
from posixpath import commonprefix
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import inside
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite import file_names
from mtl.benchmark_making.init_suite.file_names import NamedFile, first_part, suffix_of, task_id
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.sniffing import sniff
from mtl.benchmark_making.init_suite.tables import read_table
from mtl.data.files import data_lines
from mtl.data.forms import form_of
from mtl.data.json_rows import parse_object
from mtl.tasks.layout import Layout
from mtl.tasks.task import BESIDE, PART, SPLIT_OF, SPLITS

OTHER_DATA = {
    *(".xml", ".xlsx", ".xls", ".ods", ".conll", ".conllu", ".iob", ".iob2", ".bio", ".arrow", ".pkl", ".pickle"),
    *(".yaml", ".yml", ".dat", ".db", ".sqlite", ".html", ".feather", ".lst"),
}
ARCHIVES = {".zip", ".tar", ".tgz", ".rar", ".7z"}
NO_SPLIT = "files.train: no name has the word of a split: are these the training rows, of which some are held out?"
ONE_TEXT = "a text in each file; write one file for each split, with the columns text and label"
MOST_TEXTS = 20  # .txt files in a folder whose names say no split; if there are more, each is a text
MOST_FILES = 20  # that are tasks where no name says a split
MOST_PARTS = 20  # keys of an object with words of splits; more of them are the ids of rows
SPLIT_COLUMNS = ("split", "set", "partition", "fold", "subset")
FilesByTask = dict[tuple[str, str], dict[str, list[NamedFile]]]  # by folder and name of a task, its files by split


@dataclass(frozen=True)
class DataFolder:
    """A folder of data files, perhaps with those of a data set of the Hub: its tasks, and what else is there."""

    path: Path
    tasks: Sequence[Guess]  # with their files alone, and what is to be said about these
    unused: Sequence[str] = ()  # data files that are named after no split, as paths below the folder
    unreadable: Sequence[str] = ()  # files with a split in their name that no form reads
    address: str = ""  # of the data set of the Hub, with its commit
    keys: Mapping[str, Any] = field(default_factory=dict)  # of the suite file, which all tasks of the data set have
    language: str | None = None  # the only language that the data set's card names


def files_of_tasks(data_dir: Path) -> DataFolder:
    """A folder with its tasks. A task consists of the files whose names and folders differ only in the word of the split: {train,dev,test}.tsv,
    xnli.{dev,test}.ko.tsv, or {train,valid}/data.csv. Else a file holds the splits as keys, or in a column. If nothing says a split, each file, or
    all that differ in their number alone, holds training rows, if the user agrees."""
    paths, root = all_files(data_dir), data_dir.resolve().name
    documents = _documents(paths)
    named, unnamed, unreadable = _by_name([path for path in paths if path not in documents])
    tasks = _named_tasks(named, root)
    if documents:
        folders = sorted({str(path.parent) for path in documents})
        problem = f"{listed([root if name == '.' else name for name in folders], 4)}: {ONE_TEXT}"
        tasks.append(Guess(task_id(root, [task.id for task in tasks]), "", {}, problem=problem))
    unused = []
    for name in unnamed:
        if parts := _splits_within(data_dir, name):
            tasks.append(_with_parts(_id_after(name, tasks), name, parts))
        else:
            unused.append(name)
    groups = _alike(unused) if all(task.problem for task in tasks) else []
    if 0 < len(groups) <= MOST_FILES:
        for group in groups:
            folder, _, name = str(first_part(group)).rpartition("/")
            tasks.append(Guess(_id_after(group[0], tasks), folder, {"train": name}, questions=[NO_SPLIT]))
        unused = []
    return DataFolder(data_dir, tasks, unused, unreadable)


def all_files(data_dir: Path) -> list[PurePosixPath]:
    """The paths of all files below a folder, sorted in each, without hidden files and folders and links to folders. Raises OSError."""
    visible = sorted(path for path in data_dir.iterdir() if not path.name.startswith("."))
    paths = [PurePosixPath(path.name) for path in visible if path.is_file()]
    for folder in [path for path in visible if path.is_dir() and not path.is_symlink()]:
        paths += [PurePosixPath(folder.name, path) for path in all_files(folder)]
    return paths


def _by_name(paths: Sequence[PurePosixPath]) -> tuple[list[NamedFile], list[str], list[str]]:
    """The data files whose names say a split, those whose names say none, and the files that look like data but that no form reads."""
    named, unnamed, unreadable = list[NamedFile](), list[str](), list[str]()
    for path in paths:
        file = file_names.read_name(path)
        is_read = file_names.is_data(path.name) or (file and file.role)
        if file and is_read:
            named.append(file)
        elif is_read:
            unnamed.append(str(path))
        elif path.suffix.lower() in ARCHIVES or (file and suffix_of(path.name) in OTHER_DATA):
            unreadable.append(str(path))
    return named, unnamed, unreadable


def _documents(paths: Sequence[PurePosixPath]) -> set[PurePosixPath]:
    """The .txt files that are a text each: too many in one folder whose names say no split."""
    texts = [path for path in paths if path.suffix.lower() == ".txt" and not file_names.WORD.search(path.stem)]
    sizes = Counter(path.parent for path in texts)
    return {path for path in texts if sizes[path.parent] > MOST_TEXTS}


def _named_tasks(named: Sequence[NamedFile], root: str) -> list[Guess]:
    """The tasks of files whose names say their split, below a folder of this name."""
    tasks: FilesByTask = {}
    for file in named:
        tasks.setdefault((file.folder, file.task), {}).setdefault(file.split, []).append(file)
    _merge_numbered(tasks)
    stems = [task or PurePosixPath(folder).name or root for folder, task in tasks]
    items = zip(_ids(stems, tasks), tasks.items(), strict=True)
    return [_with_splits(id, folder, files) for id, ((folder, _), files) in items]


def _merge_numbered(tasks: FilesByTask) -> None:
    """Make one task of files of one split that differ in their number alone: they may be parts. Those of several splits are tasks, or folds."""
    families: dict[tuple[str, str, str], list[str]] = {}
    for (folder, task), files in tasks.items():
        stem = re.sub(r"[._-]?\d+$", "", task)
        if stem != task and len(files) == 1:
            families.setdefault((folder, stem, next(iter(files))), []).append(task)
    for (folder, stem, split), numbered in families.items():
        parts = [file for task in numbered for file in tasks[folder, task][split]]
        into = tasks.get((folder, stem), {})
        if split not in into and len(parts) > 1 and first_part([file.path.name for file in parts]):
            for task in numbered:
                del tasks[folder, task]
            tasks[folder, stem] = {**into, split: parts}


def _ids(names: Sequence[str], tasks: Iterable[tuple[str, str]]) -> list[str]:
    """A different id for each task: its name, without a prefix of all names that ends in "_" or "-" (klej_ar and klej_cbd become ar and cbd). Tasks
    of the same name get the names of their folders as a prefix."""
    shared = commonprefix(names) if len(set(names)) > 1 else ""
    common = shared[: max(shared.rfind("_"), shared.rfind("-")) + 1]
    short = [name.removeprefix(common) or name for name in names]
    ids: list[str] = []
    for name, (folder, stem) in zip(short, tasks, strict=True):
        ids.append(task_id("-".join([*folder.split("/"), stem]) if short.count(name) > 1 else name, ids))
    return ids


def _with_splits(id: str, folder: str, files: dict[str, list[NamedFile]]) -> Guess:
    """The task of these files by split. Several files of one split are a question."""
    guess = Guess(id, folder, {})
    label_files: dict[str, int] = {}  # by split, how many files of labels are beside its texts
    for split in [split for split in SPLITS if split in files]:
        ways, label_files[split] = _ways_to_read(files[split], folder)
        guess.files[split] = ways[0]
        if len(ways) > 1:
            guess.questions.append(f"files.{split}: may be {' or '.join(ways)}")
    if max(label_files.values(), default=0) > 1:
        several = "several files of labels stand beside its texts, and a task reads one"
        guess.notes.append(f"{several}: write a task for each into the suite file")
        for split in [split for split, number in label_files.items() if number == 1]:
            guess.questions.append(f"files.{split}: may be {guess.files[split]}, or null without labels of this kind")
    return guess


def _ways_to_read(files: Sequence[NamedFile], folder: str) -> tuple[list[str], int]:
    """What the files of one split may be, the most probable first: a file, texts beside labels, or parts. And how many files of labels it has."""
    candidates = sorted(files, key=lambda file: (len(file.path.name), file.path.name))
    names = {file: file.path.relative_to(folder).as_posix() for file in candidates}
    texts, labels = ([file for file in candidates if file.role == role] for role in ("text", "label"))
    if len(texts) != 1 and len(labels) == 1 and len(candidates) == 2:  # PIQA: train.jsonl and train-labels.lst
        texts = [file for file in candidates if file not in labels]
    if len(texts) == 1 and labels:
        rest = [names[file] for file in candidates if file not in (*texts, *labels)]
        return [*(BESIDE.join([names[texts[0]], names[file]]) for file in labels), *rest], len(labels)
    parts = first_part([*names.values()])
    if parts is None:
        return [*names.values()], 0
    if len(candidates) == 1 or all(file.is_part for file in candidates):
        return [parts], 0
    return [names[candidates[0]], f"{len(candidates)} numbered files, parts of one split: {parts}"], 0


def _with_parts(id: str, path: str, parts: Mapping[str, Sequence[str]]) -> Guess:
    """The task of a file whose parts are its splits. Several parts of one split are a question."""
    folder, _, name = path.rpartition("/")
    files: dict[str, str | None] = {split: f"{name}{PART}{keys[0]}" for split, keys in parts.items()}
    asked = [f"files.{split}: may be {' or '.join(keys)} of {name}" for split, keys in parts.items() if len(keys) > 1]
    return Guess(id, folder, files, questions=asked)


def _splits_within(data_dir: Path, name: str) -> dict[str, list[str]]:
    """The parts of a file that are splits, by split: keys of a JSON object whose values may hold rows, or values of a column."""
    try:
        path = inside(data_dir, name)
        return _splits_in_keys(path) or _splits_in_column(path)
    except InputError:
        return {}


def _splits_in_keys(path: Path) -> dict[str, list[str]]:
    """The keys of a JSON object whose values may hold the rows of a split, by split, the shortest first; none if they are too many."""
    if form_of(path, Layout()) != "json":
        return {}
    keys_by_split = dict[str, list[str]]()
    content = parse_object(path, "".join(data_lines(path, None))) or {}
    for key in sorted([key for key, rows in content.items() if isinstance(rows, list | dict)], key=len):
        splits = {SPLIT_OF[word] for word in file_names.WORD.findall(key.lower())}
        if len(splits) == 1:
            keys_by_split.setdefault(splits.pop(), []).append(key)
    return keys_by_split if sum(map(len, keys_by_split.values())) <= MOST_PARTS else {}


def _splits_in_column(path: Path) -> dict[str, list[str]]:
    """The values of the first column that has the words of splits alone, by split, as in split=train."""
    for column in read_table(path, Layout(reading=sniff(path).reading)).columns.values():
        if column.name.lower() in SPLIT_COLUMNS and {value.lower() for value in column.counts} <= set(SPLIT_OF):
            values_by_split = dict[str, list[str]]()
            for value in column.counts:
                values_by_split.setdefault(SPLIT_OF[value.lower()], []).append(f"{column.name}={value}")
            return values_by_split
    return {}


def _alike(names: Sequence[str]) -> list[list[str]]:
    """The names in groups: those that differ in their number alone, together, and all others by themselves."""
    families = dict[str, list[str]]()
    for name in names:
        families.setdefault(re.sub(r"\d+(?=(\.[A-Za-z]+)*$)", "", name), []).append(name)
    groups = ([family] if first_part(family) else [[name] for name in family] for family in families.values())
    return list(chain.from_iterable(groups))


def _id_after(name: str, tasks: Sequence[Guess]) -> str:
    """An id after the name of a file, other than those of these tasks."""
    file = PurePosixPath(name).name
    return task_id(file[: len(file) - len(suffix_of(file))], [task.id for task in tasks])
