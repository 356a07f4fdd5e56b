"""The ids of tasks, after the names of files and folders."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain, count
from pathlib import PurePosixPath
from posixpath import commonprefix

from mtl.tasks.suite import AVERAGE


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
    if base == AVERAGE:
        base = f"{base}-task"
    numbered = (f"{base}-{number}" for number in count(2))
    return next(id for id in chain([base], numbered) if id not in taken)


def file_name(name: str, default: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; the default if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or default
