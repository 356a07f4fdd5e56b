"""The tasks of files whose names say their split: which files belong to one task, what those of one split are, and the ids of tasks."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, count
from pathlib import PurePosixPath
from posixpath import commonprefix

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.file_names import NamedFile, first_part
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import BESIDE, SPLITS

MOST_WAYS = 20  # to read a split that a question names
ONE_KIND = "a task reads one kind of labels; write a task for each kind into the suite file"
Place = tuple[str, str]  # of a task: its folder, and its name in it


def named_tasks(files: Sequence[NamedFile], root: str, taken: Collection[str] = ()) -> list[Guess]:
    """The tasks of these files: those of a task differ in the word of the split alone. `root`: the data folder's name; `taken`: ids of others."""
    files_by_place: dict[Place, list[NamedFile]] = {}
    for file in files:
        files_by_place.setdefault((file.folder, file.task), []).append(file)
    joined = _with_joined_numbers(files_by_place)
    ids = _task_ids(list(joined), root, taken)
    return [_guess(id, folder, files) for id, ((folder, _), files) in zip(ids, joined.items(), strict=True)]


def _with_joined_numbers(files_by_place: Mapping[Place, list[NamedFile]]) -> dict[Place, list[NamedFile]]:
    """Tasks of one and the same split whose names differ in a number alone, as one: they may be parts. Those of several splits may be folds."""
    families: dict[tuple[Place, str], list[Place]] = {}
    for (folder, name), files in files_by_place.items():
        stem = re.sub(r"[._-]?\d+$", "", name)
        if stem != name and len({file.split for file in files}) == 1:
            families.setdefault(((folder, stem), files[0].split), []).append((folder, name))
    joined = dict(files_by_place)
    for (place, split), numbered in families.items():
        parts = [file for numbered_place in numbered for file in joined[numbered_place]]
        files = joined.get(place, [])
        has_split = any(file.split == split for file in files)
        if len(parts) > 1 and not has_split and first_part([file.path.name for file in parts]):
            for numbered_place in numbered:
                del joined[numbered_place]
            joined[place] = [*files, *parts]
    return joined


def _guess(id: str, folder: str, files: Sequence[NamedFile]) -> Guess:
    """The task of these files. Several ways to read those of one split are a question."""
    files_by_split = {split: [file for file in files if file.split == split] for split in SPLITS}
    ways_by_split = {split: _ways_to_read(of_split) for split, of_split in files_by_split.items() if of_split}
    guess = Guess(id, folder, {split: ways[0] for split, ways in ways_by_split.items()})
    has_several_labels = any(sum(BESIDE in way for way in ways) > 1 for ways in ways_by_split.values())
    for split, ways in ways_by_split.items():
        is_labelled = has_several_labels and BESIDE in ways[0]
        if len(ways) > 1 or is_labelled:
            further = f", or null; {ONE_KIND}" if is_labelled else ""
            guess.questions.append(f"files.{split}: may be {listed(ways, MOST_WAYS, ' or ')}{further}")
    return guess


def _ways_to_read(files: Sequence[NamedFile]) -> list[str]:
    """What the files of one split may be, the most probable first: texts beside labels, parts of one file, or files of which one is read."""
    files = sorted(files, key=lambda file: (len(file.name), file.name))
    labels = [file for file in files if file.role == "label"]
    texts = [file for file in files if file.role == "text"] or [file for file in files if file.role != "label"]
    if labels and len(texts) == 1:  # in PIQA, train-labels.lst stands beside train.jsonl
        beside = [f"{texts[0].name}{BESIDE}{file.name}" for file in labels]
        return beside + [file.name for file in files if file.role == "" and file is not texts[0]]
    names = [file.name for file in files]
    parts = first_part(names)
    if parts is None or files[0].part:
        return names
    if len(files) == 1 or all(file.is_numbered for file in files):
        return [parts]
    return [names[0], f"{len(files)} numbered files, parts of one split: {parts}"]


def _task_ids(places: Sequence[Place], root: str, taken: Collection[str]) -> list[str]:
    """A different id for each task, from its folder and its name, in place of which the folder's stands, or `root`, that of the data folder. A prefix
    of all names that ends in "_" or "-" is left out (klej_ar and klej_cbd become ar and cbd); folders tell tasks of the same name apart."""
    titles = [name or PurePosixPath(folder).name or root for folder, name in places]
    shared = commonprefix(titles) if len(set(titles)) > 1 else ""
    prefix = shared[: max(shared.rfind("_"), shared.rfind("-")) + 1]
    titles = [title.removeprefix(prefix) or title for title in titles]
    tasks_by_title = Counter(titles)
    ids, known = [], set(taken)
    for title, (folder, name) in zip(titles, places, strict=True):
        is_shared = tasks_by_title[title] > 1
        ids.append(task_id("-".join([*folder.split("/"), name]) if is_shared else title, known))
        known.add(ids[-1])
    return ids


def task_id(name: str, taken: Collection[str] = ()) -> str:
    """An id after a name that is none of those taken; it can be used in file names."""
    base = file_name(name, "task")
    base = f"{base}-task" if base == AVERAGE else base
    ids = chain([base], (f"{base}-{number}" for number in count(2)))
    return next(id for id in ids if id not in taken)


def file_name(name: str, default: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; the default if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or default
