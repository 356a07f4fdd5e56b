"""Find the files below a folder that are splits of tasks, only by their names."""

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mtl.data.records import FORMATS
from mtl.tasks.suite import AVERAGE, SPLITS

# The names of splits in GLUE, KLEJ (test_features), Superlim and on the Hugging Face Hub.
SPLIT_NAMES = {
    "train": ("train", "training"),
    "dev": ("dev", "validation", "valid", "val"),
    "test": ("test", "test_features"),
}
_SPLIT = {name: split for split, names in SPLIT_NAMES.items() for name in names}
# "dev", "swefaq_dev", "my-task.dev", and the Hub's "dev-00000-of-00001", which is a whole split in one file.
_STEM = re.compile(rf"(?:(?P<task>.+)[_.-])?(?P<split>{'|'.join(_SPLIT)})(?:-00000-of-00001)?", re.IGNORECASE)


@dataclass(frozen=True)
class TaskFiles:
    """A task's files. folder: below the data folder; "" for the data folder itself. unused: further files of the same splits."""

    id: str
    folder: str
    files: dict[str, str]  # names by split
    unused: list[str]


@dataclass(frozen=True)
class Found:
    """The tasks in the order of their folders, and what else is below the data folder."""

    tasks: list[TaskFiles]
    unused: list[str]  # data files that are named after no split, as paths below the data folder
    empty: list[str]  # folders with files, of which none is named after a split


def find_tasks(data_dir: Path) -> Found:
    """Look for split files below a folder. Hidden files and folders are left out; links to folders are not followed.

    A task consists of the files in one folder whose names differ only in the split, as {train,dev,test}.tsv or mytask_{split}.jsonl.
    """
    splits: dict[tuple[str, str], dict[str, list[str]]] = {}
    unused, empty = [], []
    for folder, names in _folders(data_dir):
        usable = False
        for name in names:
            suffix = Path(name).suffix
            match = _STEM.fullmatch(name.removesuffix(suffix))
            if suffix.lower() not in FORMATS:
                continue
            if match is None:
                unused.append(f"{folder}/{name}".removeprefix("/"))
                continue
            usable = True
            files = splits.setdefault((folder, match["task"] or ""), {})
            files.setdefault(_SPLIT[match["split"].lower()], []).append(name)
        if names and not usable and folder:
            empty.append(folder)
    root = data_dir.resolve().name
    names = [stem or (Path(folder).name if folder else root) for folder, stem in splits]
    tasks = [
        TaskFiles(
            id,
            folder,
            {split: files[split][0] for split in SPLITS if split in files},
            [name for names in files.values() for name in names[1:]],
        )
        for id, ((folder, _), files) in zip(_ids(names, list(splits)), splits.items(), strict=True)
    ]
    return Found(tasks, unused, empty)


def _folders(data_dir: Path) -> Iterable[tuple[str, list[str]]]:
    """`data_dir` and each folder below it, as a path with slashes, and the names of its files; both sorted."""
    for folder, below, names in os.walk(data_dir):
        below[:] = sorted(name for name in below if not name.startswith("."))
        path = Path(folder).relative_to(data_dir).as_posix()
        visible = (name for name in names if not name.startswith(".") and Path(folder, name).is_file())
        yield ("" if path == "." else path), sorted(visible)


def _ids(names: list[str], places: list[tuple[str, str]]) -> list[str]:
    """A different id for each task; ids can be used in file names.

    A prefix of all names that ends in "_" or "-" is left out: klej_ar and klej_cbd become ar and cbd.
    Tasks of the same name get the names of their folders as a prefix.
    """
    prefixes = [names[0][: sign.end()] for sign in re.finditer("[_-]", names[0])] if len(set(names)) > 1 else []
    common = [prefix for prefix in prefixes if all(name.startswith(prefix) for name in names)]
    short = [name.removeprefix(common[-1] if common else "") or name for name in names]
    full = [
        "-".join([*folder.split("/"), stem]) if short.count(name) > 1 else name
        for name, (folder, stem) in zip(short, places, strict=True)
    ]
    ids: list[str] = []
    for name in full:
        base = file_name(name, "task")
        number = 1
        id = f"{base}-task" if base == AVERAGE else base
        while id in ids:
            number += 1
            id = f"{base}-{number}"
        ids.append(id)
    return ids


def file_name(name: str, otherwise: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", which names of suites and tasks may have. otherwise: if none remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or otherwise
