"""The tasks below a folder: of files whose names say a split, and of files that hold the splits; else of all files, which may be training rows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import inside
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.named_file import DATA_SUFFIXES, SPLIT_WORD, NamedFile, read_name, split_in
from mtl.benchmark_making.init_suite.named_tasks import named_tasks
from mtl.benchmark_making.init_suite.sniffing import sniff
from mtl.benchmark_making.init_suite.tables import read_table
from mtl.data.files import data_lines
from mtl.data.forms import form_of
from mtl.data.json_rows import parse_object
from mtl.tasks.layout import Layout
from mtl.tasks.task import SPLIT_OF

ARCHIVES = {".zip", ".tar", ".tgz", ".rar", ".7z"}
NO_SPLIT = "no name has the word of a split: are these the training rows, of which some are held out?"
MOST_TEXTS = 20  # .txt files in a folder whose names say no split; if there are more, each is a text
MOST_TASKS = 20  # of files where nothing says a split
# Why files are of no task.
WHY_TEXT = "of a text each (write one file for each split, with the columns text and label)"
WHY_NAMELESS = "named after no split"
WHY_FORM = "of a form that is not read (unpack archives)"


@dataclass(frozen=True)
class DataFolder:
    """A folder of data files, perhaps with those of a data set of the Hub: its tasks, and what else is there."""

    path: Path
    tasks: Sequence[Guess]  # with their files alone, and what is to be said about these
    unread: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by reason, the paths of files of no task
    address: str = ""  # of the data set of the Hub, with its commit
    keys: Mapping[str, Any] = field(default_factory=dict)  # of the suite file, which all tasks of the data set have
    language: str | None = None  # the only language that the data set's card names


def find_tasks(data_dir: Path) -> DataFolder:
    """A folder with its tasks. The files of a task differ only in the word of the split: {train,dev,test}.tsv, xnli.{dev,test}.ko.tsv, or
    {train,valid}/data.csv. Else a file holds the splits as keys, or in a column. If nothing says a split, each file may hold training rows."""
    root = data_dir.resolve().name
    files = [read_name(path) for path in all_files(data_dir)]
    texts = _single_texts(files)
    data = [file for file in files if file.may_be_data and file not in texts]
    tasks = named_tasks([file for file in data if file.split], root)
    nameless = [file for file in data if not file.split]
    for file in nameless:  # one with splits within stays, too: `unread_files_lines` drops the files that tasks read
        if parts := _splits_within(data_dir, file):
            tasks += named_tasks(parts, root, {task.id for task in tasks})
    if not tasks:
        tasks = _training_tasks(nameless, root)
        nameless = [] if tasks else nameless
    others = [file for file in files if not file.may_be_data and file.suffix not in DATA_SUFFIXES]
    other_forms = [file for file in others if file.split or file.suffix in ARCHIVES]
    unread = {WHY_TEXT: [file for file in files if file in texts], WHY_NAMELESS: nameless, WHY_FORM: other_forms}
    return DataFolder(data_dir, tasks, {why: [str(file.path) for file in group] for why, group in unread.items()})


def all_files(data_dir: Path) -> list[PurePosixPath]:
    """The paths of all files below a folder, sorted in each, without hidden files and folders and links to folders. Raises OSError."""
    paths: list[PurePosixPath] = []
    folders = [PurePosixPath()]
    while folders:
        folder = folders.pop()
        visible = sorted(path for path in (data_dir / folder).iterdir() if not path.name.startswith("."))
        paths += [folder / path.name for path in visible if path.is_file()]
        folders += [folder / path.name for path in reversed(visible) if path.is_dir() and not path.is_symlink()]
    return paths


def _single_texts(files: Sequence[NamedFile]) -> set[NamedFile]:
    """The .txt files that are a text each: too many in one folder whose names say no split."""
    texts = [file for file in files if file.path.suffix.lower() == ".txt" and not SPLIT_WORD.search(file.path.stem)]
    texts_by_folder = Counter(file.path.parent for file in texts)
    return {file for file in texts if texts_by_folder[file.path.parent] > MOST_TEXTS}


def _training_tasks(files: Sequence[NamedFile], root: str) -> list[Guess]:
    """The tasks of files that may hold training rows, each with the question whether they do; an empty list if they are too many."""
    tasks = named_tasks([replace(file, split="train") for file in files], root)
    for task in tasks:
        task.questions.append(f"files.train: may be {task.files['train']}: {NO_SPLIT}")
    return tasks if len(tasks) <= MOST_TASKS else []


def _splits_within(data_dir: Path, file: NamedFile) -> list[NamedFile]:
    """The parts of a file that are splits: below keys of its object, or the rows with each value of its column split. Empty if it cannot be read."""
    try:
        path = inside(data_dir, str(file.path))
        splits_by_part = _splits_by_key(path) or _splits_by_value(path)
    except InputError:
        return []
    return [replace(file, part=part, split=split) for part, split in splits_by_part.items()]


def _splits_by_key(path: Path) -> dict[str, str]:
    """The split of each key of a JSON object that has the word of one and may hold rows; empty if no key is that word alone."""
    if form_of(path, Layout()) != "json":
        return {}
    content = parse_object(path, "".join(data_lines(path, None))) or {}
    splits = {key: split_in(key) for key, rows in content.items() if split_in(key) and isinstance(rows, list | dict)}
    return splits if any(key.lower() in SPLIT_OF for key in splits) else {}


def _splits_by_value(path: Path) -> dict[str, str]:
    """The split of each value of the column split, as in split=train; empty if one of them is no word of a split."""
    column = read_table(path, Layout(reading=sniff(path).reading)).columns.get("split")
    values = {} if column is None else column.counts
    are_splits = all(value.lower() in SPLIT_OF for value in values)
    return {f"split={value}": SPLIT_OF[value.lower()] for value in values} if are_splits else {}
