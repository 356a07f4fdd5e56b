"""The tasks of files whose names say their split: which files belong to one task, what those of one split are, and the ids of tasks."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain, count
from pathlib import PurePosixPath
from posixpath import commonprefix

from mtl.benchmark_making.init_suite.file_names import NamedFile, first_part
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import BESIDE, SPLITS


def named_tasks(files: Sequence[NamedFile], root: str) -> list[Guess]:
    """The tasks of these files: those of a task differ in the word of the split alone. `root`: the name of the data folder."""
    files_by_task: dict[tuple[str, str], list[NamedFile]] = {}  # by the folder and the name of a task
    for file in files:
        files_by_task.setdefault((file.folder, file.task), []).append(file)
    _join_numbered_tasks(files_by_task)
    ids = task_ids(list(files_by_task), root)
    return [_guess(id, folder, files) for id, ((folder, _), files) in zip(ids, files_by_task.items(), strict=True)]


def _join_numbered_tasks(files_by_task: dict[tuple[str, str], list[NamedFile]]) -> None:
    """Make one task of those of one split whose names differ in a number alone, perhaps of parts. Those of several splits stay: they may be folds."""
    families: dict[tuple[str, str, str], list[str]] = {}
    for (folder, name), files in files_by_task.items():
        stem = re.sub(r"[._-]?\d+$", "", name)
        if stem != name and len({file.split for file in files}) == 1:
            families.setdefault((folder, stem, files[0].split), []).append(name)
    for (folder, stem, split), names in families.items():
        parts = [file for name in names for file in files_by_task[folder, name]]
        joined = files_by_task.get((folder, stem), [])
        has_split = any(file.split == split for file in joined)
        if len(parts) > 1 and not has_split and first_part([file.path.name for file in parts]):
            for name in names:
                del files_by_task[folder, name]
            files_by_task[folder, stem] = [*joined, *parts]


def _guess(id: str, folder: str, files: Sequence[NamedFile]) -> Guess:
    """The task of these files. Several ways to read those of one split are a question."""
    guess = Guess(id, folder, {})
    label_files: dict[str, int] = {}  # by split, how many files of labels are beside its texts
    for split in [split for split in SPLITS if any(file.split == split for file in files)]:
        ways = _ways_to_read([file for file in files if file.split == split], folder)
        guess.files[split] = ways[0]
        label_files[split] = sum(BESIDE in way for way in ways)
        if len(ways) > 1:
            guess.questions.append(f"files.{split}: may be {' or '.join(ways)}")
    if max(label_files.values()) > 1:
        several = "several files of labels stand beside its texts, and a task reads one"
        guess.notes.append(f"{several}: write a task for each into the suite file")
        for split in [split for split, number in label_files.items() if number == 1]:
            guess.questions.append(f"files.{split}: may be {guess.files[split]}, or null without labels of this kind")
    return guess


def _ways_to_read(files: Sequence[NamedFile], folder: str) -> list[str]:
    """What the files of one split may be, the most probable first: texts beside labels, parts of one file, or files of which one is read."""
    files = sorted(files, key=lambda file: (len(file.path.name), file.path.name))
    names = {file: file.path.relative_to(folder).as_posix() for file in files}
    texts = [file for file in files if file.role == "text"]
    labels = [file for file in files if file.role == "label"]
    if len(files) == 2 and len(labels) == 1:  # PIQA: train.jsonl and train-labels.lst
        texts = [file for file in files if file.role != "label"]
    if len(texts) == 1 and labels:
        beside = [names[texts[0]] + BESIDE + names[file] for file in labels]
        return beside + [names[file] for file in files if file not in texts and file not in labels]
    parts = first_part(list(names.values()))
    if parts is None:
        return list(names.values())
    if len(files) == 1 or all(file.is_part for file in files):
        return [parts]
    return [names[files[0]], f"{len(files)} numbered files, parts of one split: {parts}"]


def task_ids(tasks: Sequence[tuple[str, str]], root: str) -> list[str]:
    """A different id for each task, from its folder and its name, in place of which the folder's stands, or `root`, that of the data folder. A prefix
    of all names that ends in "_" or "-" is left out (klej_ar and klej_cbd become ar and cbd); folders tell tasks of the same name apart."""
    titles = [name or PurePosixPath(folder).name or root for folder, name in tasks]
    shared = commonprefix(titles) if len(set(titles)) > 1 else ""
    prefix = shared[: max(shared.rfind("_"), shared.rfind("-")) + 1]
    titles = [title.removeprefix(prefix) or title for title in titles]
    ids: list[str] = []
    for title, (folder, name) in zip(titles, tasks, strict=True):
        if titles.count(title) > 1:
            title = "-".join([*folder.split("/"), name])
        ids.append(task_id(title, ids))
    return ids


def task_id(name: str, taken: Sequence[str]) -> str:
    """An id after a name that is none of those taken; it can be used in file names."""
    base = file_name(name, "task")
    base = f"{base}-task" if base == AVERAGE else base
    ids = chain([base], (f"{base}-{number}" for number in count(2)))
    return next(id for id in ids if id not in taken)


def file_name(name: str, default: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; the default if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or default
