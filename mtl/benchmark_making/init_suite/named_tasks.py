"""Which data files are one task, and how those of one split are read, by their names alone: files of a task differ in the word of the split."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import commonprefix

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.named_file import NamedFile
from mtl.data.numbered import numbered_names
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import BESIDE, NUMBERED, PART, SPLITS

MOST_WAYS = 20  # to read a split that a question names
ONE_KIND = "a task reads one kind of labels; write a task for each kind into the suite file"
Location = tuple[str, str]  # the folder of a task, and its name in this folder


def named_tasks(files: Sequence[NamedFile], root: str, taken: Collection[str] = ()) -> list[Guess]:
    """The tasks of these files, in which each names a split. `root`: the name of the data folder; `taken`: ids of other tasks."""
    files_by_location: dict[Location, list[NamedFile]] = {}
    for file in files:
        files_by_location.setdefault((file.folder, file.task), []).append(file)
    files_by_location = _with_joined_numbers(files_by_location)
    ids = _task_ids(list(files_by_location), root, taken)
    return [_guess(id, of_task) for id, of_task in zip(ids, files_by_location.values(), strict=True)]


def _with_joined_numbers(files_by_location: Mapping[Location, list[NamedFile]]) -> dict[Location, list[NamedFile]]:
    """The files by task, where tasks become one whose files are of one split and differ in a number alone: train_0 and train_1 may be its parts.
    If there are dev_0 and dev_1, too, nothing is joined: the numbers may be those of folds."""
    numbered: dict[tuple[Location, str], list[Location]] = {}  # by the location without the number, and the split
    for (folder, name), files in files_by_location.items():
        unnumbered = re.sub(r"[._-]?\d+$", "", name)
        if unnumbered != name and len({file.split for file in files}) == 1:
            numbered.setdefault(((folder, unnumbered), files[0].split), []).append((folder, name))
    joined = dict(files_by_location)
    for (location, split), locations in numbered.items():
        parts = [file for numbered_location in locations for file in joined[numbered_location]]
        are_parts = len(parts) > 1 and name_of_parts([file.path.name for file in parts]) is not None
        if are_parts and split not in {file.split for file in joined.get(location, [])}:
            for numbered_location in locations:
                del joined[numbered_location]
            joined[location] = [*joined.get(location, []), *parts]
    return joined


def name_of_parts(names: Sequence[str]) -> str | None:
    """How a suite file names the files of one split, as train-0.csv#* for numbered ones. None if more than their numbers tells them apart."""
    first = min(names, key=lambda name: (len(name), name))
    total = re.search(r"-of-(\d+)", first)
    if len(names) == 1 and (total is None or int(total[1]) < 2):
        return first
    try:
        are_parts = len(numbered_names(first, names)) == len(names)
    except ValueError:
        are_parts = total is not None  # the reader says what is missing
    return f"{first}{PART}{NUMBERED}" if are_parts else None


def _guess(id: str, files: Sequence[NamedFile]) -> Guess:
    """The task of these files. How a split is read is a question where there are several ways, or where its labels are one of several kinds."""
    files_by_split = {split: [file for file in files if file.split == split] for split in SPLITS}
    ways_by_split = {split: _ways_to_read(of_split) for split, of_split in files_by_split.items() if of_split}
    guess = Guess(id, files[0].folder, {split: ways[0] for split, ways in ways_by_split.items()})
    has_kinds_of_labels = any(sum(BESIDE in way for way in ways) > 1 for ways in ways_by_split.values())
    for split, ways in ways_by_split.items():
        remedy = f", or null; {ONE_KIND}" if has_kinds_of_labels and BESIDE in ways[0] else ""
        if len(ways) > 1 or remedy:
            numbered = f"{len(files_by_split[split])} numbered files, parts of one split: "
            shown = [numbered + way if way.endswith(f"{PART}{NUMBERED}") else way for way in ways]
            guess.questions.append(f"files.{split}: may be {listed(shown, MOST_WAYS, ' or ')}{remedy}")
    return guess


def _ways_to_read(files: Sequence[NamedFile]) -> list[str]:
    """What a suite file may say of the files of one split, the most probable first: texts beside labels, parts of one file, or one of the files."""
    files = sorted(files, key=lambda file: (len(file.name), file.name))
    names = [file.name for file in files]
    labels = [file for file in files if file.role == "label"]
    texts = [file for file in files if file.role == "text"] or [file for file in files if file.role != "label"]
    if labels and len(texts) == 1:  # in PIQA, train-labels.lst stands beside train.jsonl
        beside = [f"{texts[0].name}{BESIDE}{file.name}" for file in labels]
        return beside + [file.name for file in files if file.role == "" and file is not texts[0]]
    parts = name_of_parts(names)
    if parts is None or files[0].part:
        return names
    are_certain = len(files) == 1 or all(file.is_numbered for file in files)
    return [parts] if are_certain else [names[0], parts]


def _task_ids(locations: Sequence[Location], root: str, taken: Collection[str]) -> list[str]:
    """A different id for each task: its name, or else the name of its folder, or else `root`, the name of the data folder. A prefix of all names that
    ends in "_" or "-" is left out: klej_ar and klej_cbd become ar and cbd. Tasks of the same name have their folders in their ids, too."""
    titles = [name or PurePosixPath(folder).name or root for folder, name in locations]
    shared = commonprefix(titles) if len(set(titles)) > 1 else ""
    prefix = shared[: max(shared.rfind("_"), shared.rfind("-")) + 1]
    titles = [title.removeprefix(prefix) or title for title in titles]
    tasks_by_title = Counter(titles)
    ids, known = [], set(taken)
    for title, (folder, name) in zip(titles, locations, strict=True):
        is_shared = tasks_by_title[title] > 1
        ids.append(task_id("-".join([*folder.split("/"), name]) if is_shared else title, known))
        known.add(ids[-1])
    return ids


def task_id(name: str, taken: Collection[str] = ()) -> str:
    """An id after a name that is none of those taken; it can be used in file names."""
    base = file_name(name, "task")
    base = f"{base}-task" if base == AVERAGE else base
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(id for id in numbered if id not in taken)


def file_name(name: str, default: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; the default if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or default
