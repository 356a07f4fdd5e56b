"""The tasks below a folder: files that are named after splits, and files that hold the splits as keys, or in a column."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from mtl.base.errors import InputError
from mtl.base.untrusted import inside
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.guess import FoundFiles, Guess, task_id
from mtl.benchmark_making.init_suite.names import (
    ARCHIVES,
    LINE_SUFFIXES,
    OTHER_DATA,
    WORD,
    Named,
    first_part,
    is_data,
    read_name,
    suffix_of,
)
from mtl.benchmark_making.init_suite.sniffing import sniff
from mtl.benchmark_making.init_suite.tables import read_table
from mtl.data.files import data_lines
from mtl.data.json_rows import parse_object
from mtl.data.rows import form_of
from mtl.tasks.task import BESIDE, SPLIT_OF, SPLITS, Layout

NO_SPLIT = "files.train: no name has the word of a split: are these the training rows, of which some are held out?"
ONE_TEXT = "a text in each file; write one file for each split, with the columns text and label"
MOST_TEXTS = 20  # .txt files in a folder whose names say no split; if there are more, each is a text
MOST_FILES = 20  # that are tasks where no name says a split
MOST_PARTS = 20  # keys of an object with words of splits; more of them are the ids of rows
SPLIT_COLUMNS = ("split", "set", "partition", "fold", "subset")

Tasks = dict[tuple[str, str], dict[str, list[Named]]]  # by folder and name of a task, its files by split


def files_of_tasks(data_dir: Path) -> FoundFiles:
    """The tasks below a folder.

    A task consists of the files whose names and folders differ only in the word of the split: {train,dev,test}.tsv, xnli.{dev,test}.ko.tsv,
    or {train,valid}/data.csv. Else a file holds the splits as keys, or in a column. If nothing says a split, each file, or all that differ in
    their number alone, holds training rows, if the user agrees.
    """
    paths, root = all_files(data_dir), data_dir.resolve().name
    texts = [path for path in paths if path.suffix.lower() == ".txt" and not WORD.search(path.stem)]
    sizes = Counter(path.parent for path in texts)
    text_folders = sorted(str(folder) for folder, size in sizes.items() if size > MOST_TEXTS)
    single = {path for path in texts if sizes[path.parent] > MOST_TEXTS}
    named, unnamed, unreadable = list[Named](), list[str](), list[str]()
    for path in [path for path in paths if path not in single]:
        file = read_name(path)
        if is_data(path.name) or (file and file.role and suffix_of(path.name) in LINE_SUFFIXES):
            named.extend([file] if file else [])
            unnamed.extend([] if file else [str(path)])
        elif path.suffix.lower() in ARCHIVES or (file and suffix_of(path.name) in OTHER_DATA):
            unreadable.append(str(path))
    tasks = _named_tasks(named, root)
    if text_folders:
        problem = f"{listed([root if name == '.' else name for name in text_folders], 4)}: {ONE_TEXT}"
        tasks.append(Guess(task_id(root, [task.id for task in tasks]), "", {}, problem=problem))
    unused = []
    for name in unnamed:
        if parts := _splits_within(data_dir, name):
            folder, _, file_name = name.rpartition("/")
            files: dict[str, str | None] = {split: f"{file_name}#{keys[0]}" for split, keys in parts.items()}
            several = {split: " or ".join(keys) for split, keys in parts.items() if keys[1:]}
            asked = [f"files.{split}: may be {keys} of {file_name}" for split, keys in several.items()]
            tasks.append(Guess(_id_after(name, tasks), folder, files, questions=asked))
        else:
            unused.append(name)
    if all(task.problem for task in tasks) and len(groups := _alike(unused)) <= MOST_FILES:
        for group in groups:
            folder, _, file_name = str(first_part(group)).rpartition("/")
            tasks.append(Guess(_id_after(group[0], tasks), folder, {"train": file_name}, questions=[NO_SPLIT]))
        unused = []
    return FoundFiles(tasks, unused, unreadable)


def all_files(data_dir: Path) -> list[PurePosixPath]:
    """The paths of all files below a folder, sorted in each folder, but for hidden ones, hidden folders and links to folders. Raises OSError for
    a folder that cannot be read."""

    def stop(error: OSError) -> None:
        raise error

    paths = []
    for folder, below, names in os.walk(data_dir, onerror=stop):
        below[:] = sorted(name for name in below if not name.startswith("."))
        visible = sorted(name for name in names if not name.startswith(".") and Path(folder, name).is_file())
        paths += [PurePosixPath(Path(folder).relative_to(data_dir).as_posix(), name) for name in visible]
    return paths


def _named_tasks(named: Sequence[Named], root: str) -> list[Guess]:
    """The tasks of files whose names say their split, below a folder of this name."""
    tasks: Tasks = {}
    for file in named:
        tasks.setdefault((file.folder, file.task), {}).setdefault(file.split, []).append(file)
    _merge_numbered(tasks)
    stems = [task or PurePosixPath(folder).name or root for folder, task in tasks]
    items = zip(_ids(stems, tasks), tasks.items(), strict=True)
    return [_with_splits(id, folder, files) for id, ((folder, _), files) in items]


def _merge_numbered(tasks: Tasks) -> None:
    """Make one task of files of one split that differ in their number alone, as train_0.json and train_1.json: the user says whether they
    are parts. Numbered files of several splits are tasks, or folds."""
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


def _ids(names: Sequence[str], places: Iterable[tuple[str, str]]) -> list[str]:
    """A different id for each task, whose folder and name in it are its place; ids can be used in file names.

    A prefix of all names that ends in "_" or "-" is left out: klej_ar and klej_cbd become ar and cbd.
    Tasks of the same name get the names of their folders as a prefix.
    """
    prefixes = [names[0][: sign.end()] for sign in re.finditer("[_-]", names[0])] if len(set(names)) > 1 else []
    common = [prefix for prefix in prefixes if all(name.startswith(prefix) for name in names)]
    short = [name.removeprefix(common[-1] if common else "") or name for name in names]
    ids: list[str] = []
    for name, (folder, stem) in zip(short, places, strict=True):
        ids.append(task_id("-".join([*folder.split("/"), stem]) if short.count(name) > 1 else name, ids))
    return ids


def _with_splits(id: str, folder: str, files: dict[str, list[Named]]) -> Guess:
    """A task of these files by split; several of one split are a question."""
    guess = Guess(id, folder, {})
    labelled: dict[str, int] = {}  # by split, how many files of labels are beside its texts
    for split in [split for split in SPLITS if files.get(split)]:
        every = sorted(files[split], key=lambda file: (len(file.path.name), file.path.name))
        below = {file: file.path.relative_to(folder).as_posix() for file in every}
        ways = [*below.values()]
        texts, labels = ([file for file in every if file.role == role] for role in ("text", "label"))
        if len(texts) != 1 and len(labels) == 1 and len(every) == 2:  # PIQA: train.jsonl and train-labels.lst
            texts = [file for file in every if file not in labels]
        if len(texts) == 1 and labels:
            labelled[split] = len(labels)
            others = [below[file] for file in every if file not in (*texts, *labels)]
            ways = [*(BESIDE.join([below[texts[0]], below[file]]) for file in labels), *others]
        elif parts := first_part(ways):
            is_sure = all(file.is_part for file in every) or not ways[1:]
            ways = [parts] if is_sure else [ways[0], f"{len(ways)} numbered files, parts of one split: {parts}"]
        guess.files[split] = ways[0]
        guess.questions += [f"files.{split}: may be {' or '.join(ways)}"] if ways[1:] else []
    if max(labelled.values(), default=0) > 1:
        several = "several files of labels stand beside its texts, and a task reads one"
        guess.notes.append(f"{several}: write a task for each into the suite file")
        few = [split for split, files in labelled.items() if files == 1]
        guess.questions += [
            f"files.{split}: may be {guess.files[split]}, or null without labels of this kind" for split in few
        ]
    return guess


def _splits_within(data_dir: Path, name: str) -> dict[str, list[str]]:
    """The parts of a file that are splits, by split: keys of a JSON object whose values may hold rows, or values of a column."""
    parts: dict[str, list[str]] = {}
    try:
        path = inside(data_dir, name)
        if form_of(path, Layout()) == "json":
            text = "".join(data_lines(path, None))
            keys = [key for key, rows in (parse_object(path, text) or {}).items() if isinstance(rows, list | dict)]
            for key in sorted(keys, key=len):
                if len(splits := {SPLIT_OF[word] for word in WORD.findall(key.lower())}) == 1:
                    parts.setdefault(splits.pop(), []).append(key)
        if 0 < sum(map(len, parts.values())) <= MOST_PARTS:
            return parts
        parts, table = {}, read_table(path, Layout(reading=sniff(path).reading))
    except InputError:
        return {}
    for column in table.columns.values():
        if column.name.lower() in SPLIT_COLUMNS and {value.lower() for value in column.counts} <= set(SPLIT_OF):
            for value in column.counts:
                parts.setdefault(SPLIT_OF[value.lower()], []).append(f"{column.name}={value}")
            return parts
    return {}


def _alike(names: Sequence[str]) -> list[list[str]]:
    """The files that differ in their number alone, together; all others by themselves."""
    families = dict[str, list[str]]()
    for name in names:
        families.setdefault(re.sub(r"\d+(?=(\.[A-Za-z]+)*$)", "", name), []).append(name)
    groups = ([family] if first_part(family) else [[name] for name in family] for family in families.values())
    return list(chain.from_iterable(groups))


def _id_after(name: str, tasks: Sequence[Guess]) -> str:
    """An id after the name of a file, other than those of these tasks."""
    stem = PurePosixPath(name).name
    return task_id(stem.removesuffix(suffix_of(stem)), [task.id for task in tasks])
