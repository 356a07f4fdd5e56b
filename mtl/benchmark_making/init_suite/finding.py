"""The tasks below a folder: files that are named after splits, files that hold the splits, and others, which may be training rows."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import inside
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.file_names import WORD, NamedFile, first_part, is_data, read_name, suffix_of
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.named_tasks import named_tasks, task_id
from mtl.benchmark_making.init_suite.sniffing import sniff
from mtl.benchmark_making.init_suite.tables import read_table
from mtl.data.files import data_lines
from mtl.data.forms import form_of
from mtl.data.json_rows import parse_object
from mtl.tasks.layout import Layout
from mtl.tasks.task import PART, SPLIT_OF

OTHER_DATA = {  # suffixes of data files that no form reads
    ".xml", ".xlsx", ".xls", ".ods", ".conll", ".conllu", ".iob", ".iob2", ".bio", ".arrow", ".pkl", ".pickle", ".yaml", ".yml",
    ".dat", ".db", ".sqlite", ".html", ".feather", ".lst",
}  # fmt: skip
ARCHIVES = {".zip", ".tar", ".tgz", ".rar", ".7z"}
NO_SPLIT = "files.train: no name has the word of a split: are these the training rows, of which some are held out?"
ONE_TEXT = "a text in each file; write one file for each split, with the columns text and label"
MOST_TEXTS = 20  # .txt files in a folder whose names say no split; if there are more, each is a text
MOST_FILES = 20  # that are tasks where no name says a split
MOST_PARTS = 20  # keys of an object with words of splits; more of them are the ids of rows
SPLIT_COLUMNS = ("split", "set", "partition", "fold", "subset")


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
    tasks = named_tasks(named, root)
    if documents:
        folders = [root if folder == "." else folder for folder in sorted({str(path.parent) for path in documents})]
        id = task_id(root, [task.id for task in tasks])
        tasks.append(Guess(id, "", {}, problem=f"{listed(folders, 4)}: {ONE_TEXT}"))
    unused = []
    for path in unnamed:
        parts = _splits_within(data_dir, path)
        if parts:
            tasks.append(_task_of_parts(_id_after(path, tasks), path, parts))
        else:
            unused.append(path)
    groups = _groups_of_parts(unused)
    if 0 < len(groups) <= MOST_FILES and all(task.problem for task in tasks):  # nothing says a split
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


def _documents(paths: Sequence[PurePosixPath]) -> set[PurePosixPath]:
    """The .txt files that are a text each: too many in one folder whose names say no split."""
    texts = [path for path in paths if path.suffix.lower() == ".txt" and not WORD.search(path.stem)]
    texts_by_folder = Counter(path.parent for path in texts)
    return {path for path in texts if texts_by_folder[path.parent] > MOST_TEXTS}


def _by_name(paths: Sequence[PurePosixPath]) -> tuple[list[NamedFile], list[str], list[str]]:
    """The data files whose names say a split, those whose names say none, and the files that look like data but that no form reads."""
    named: list[NamedFile] = []
    unnamed: list[str] = []
    unreadable: list[str] = []
    for path in paths:
        file = read_name(path)
        is_read = is_data(path.name) or (file is not None and file.role != "")
        if is_read and file:
            named.append(file)
        elif is_read:
            unnamed.append(str(path))
        elif path.suffix.lower() in ARCHIVES or (file and suffix_of(path.name) in OTHER_DATA):
            unreadable.append(str(path))
    return named, unnamed, unreadable


def _id_after(path: str, tasks: Sequence[Guess]) -> str:
    """An id after the name of a file, other than those of these tasks."""
    name = PurePosixPath(path).name
    return task_id(name[: len(name) - len(suffix_of(name))], [task.id for task in tasks])


def _groups_of_parts(paths: Sequence[str]) -> list[list[str]]:
    """Files in groups: those that differ in their number alone, together, and all others by themselves."""
    families: dict[str, list[str]] = {}
    for path in paths:
        without_number = re.sub(r"\d+(?=(\.[A-Za-z]+)*$)", "", path)
        families.setdefault(without_number, []).append(path)
    groups = [[family] if first_part(family) else [[path] for path in family] for family in families.values()]
    return list(chain.from_iterable(groups))


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
    content = parse_object(path, "".join(data_lines(path, None))) or {}
    keys_by_split: dict[str, list[str]] = {}
    for key in sorted(content, key=len):
        splits = {SPLIT_OF[word] for word in WORD.findall(key.lower())}
        if len(splits) == 1 and isinstance(content[key], list | dict):
            keys_by_split.setdefault(splits.pop(), []).append(key)
    return keys_by_split if sum(map(len, keys_by_split.values())) <= MOST_PARTS else {}


def _splits_in_column(path: Path) -> dict[str, list[str]]:
    """The values of the first column that has the words of splits alone, by split, as in split=train."""
    for column in read_table(path, Layout(reading=sniff(path).reading)).columns.values():
        if column.name.lower() in SPLIT_COLUMNS and {value.lower() for value in column.counts} <= set(SPLIT_OF):
            values_by_split: dict[str, list[str]] = {}
            for value in column.counts:
                values_by_split.setdefault(SPLIT_OF[value.lower()], []).append(f"{column.name}={value}")
            return values_by_split
    return {}


def _task_of_parts(id: str, path: str, parts: Mapping[str, Sequence[str]]) -> Guess:
    """The task of a file whose parts are its splits. Several parts of one split are a question."""
    folder, _, name = path.rpartition("/")
    files: dict[str, str | None] = {split: f"{name}{PART}{keys[0]}" for split, keys in parts.items()}
    questions = [
        f"files.{split}: may be {' or '.join(keys)} of {name}" for split, keys in parts.items() if len(keys) > 1
    ]
    return Guess(id, folder, files, questions=questions)
