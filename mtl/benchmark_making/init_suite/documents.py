"""Folders of texts, one in each file, that are named after the labels of their texts: train/pos/0_9.txt."""

import re
from collections import Counter
from collections.abc import Collection
from pathlib import PurePosixPath

from mtl.benchmark_making.init_suite.names import MOST_STEMS, NO_SPLIT, SPLIT_OF, SplitFiles, task_id
from mtl.benchmark_making.init_suite.tables import quoted_names
from mtl.tasks.task import PART

NAME = re.compile("[^{},#]+")  # of a folder, as a part of a file's name in a suite file


def document_tasks(paths: Collection[PurePosixPath], root: str) -> tuple[list[SplitFiles], set[PurePosixPath]]:
    """The tasks whose texts stand in files of their own, in two folders or more of more than MOST_STEMS files each, and these folders.

    Args:
        paths: of all files, below the data folder.
        root: the data folder's name.
    """
    texts = [path for path in paths if path.suffix == ".txt"]
    first = {path.parent: path for path in sorted(texts, reverse=True)}
    sizes = Counter(path.parent for path in texts)
    tasks: dict[PurePosixPath, dict[str, list[PurePosixPath]]] = {}
    for folder, size in sorted(sizes.items()):
        if size > MOST_STEMS and NAME.fullmatch(folder.name) and folder.name.lower() not in SPLIT_OF:
            split = SPLIT_OF.get(folder.parent.name.lower())
            home = folder.parent.parent if split else folder.parent
            tasks.setdefault(home, {}).setdefault(split or "", []).append(folder)
    made: list[SplitFiles] = []
    used = set[PurePosixPath]()
    for home, folders in tasks.items():
        shared = set.intersection(*({folder.name for folder in named} for named in folders.values()))
        if len(shared) < 2:
            continue
        used |= {folder for named in folders.values() for folder in named}
        files, odd = dict[str, str](), dict[str, None]()
        for split, named in folders.items():
            further = [folder.name for folder in named if folder.name not in shared]
            odd |= dict.fromkeys(further)
            part = f"{{{','.join(sorted(shared))}}}/*" if further else "*/*"
            start = next(folder for folder in named if folder.name in shared)
            files[split or "train"] = f"{first[start].relative_to(home).as_posix()}{PART}{part}"
        question = NO_SPLIT if "" in folders else None
        if odd:
            question = f"files: single splits have the folders {quoted_names(odd)}, too, which are left out; name them if they are labels"
        id = task_id(home.name or root, [task.id for task in made])
        below = "" if home == PurePosixPath() else home.as_posix()
        made.append(SplitFiles(id, below, files, question=question))
    return made, used
