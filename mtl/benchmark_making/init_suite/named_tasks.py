"""The tasks of files whose names say their split: which files belong to one task, and what the files of one split are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mtl.benchmark_making.init_suite.file_names import NamedFile, first_part
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.task_names import task_ids
from mtl.tasks.task import BESIDE, SPLITS

FilesByTask = dict[tuple[str, str], list[NamedFile]]  # by the folder of a task and its name, which may be empty


@dataclass(frozen=True)
class SplitFiles:
    """What the files of one split may be."""

    ways: Sequence[str]  # as a suite file says it, the most probable first
    label_files: int = 0  # files with a label in each line, beside one with the texts


def named_tasks(files: Sequence[NamedFile], root: str) -> list[Guess]:
    """The tasks of these files: those of a task differ in the word of the split alone. `root`: the name of the data folder."""
    files_by_task: FilesByTask = {}
    for file in files:
        files_by_task.setdefault((file.folder, file.task), []).append(file)
    _join_numbered_tasks(files_by_task)
    ids = task_ids(list(files_by_task), root)
    return [_guess(id, folder, files) for id, ((folder, _), files) in zip(ids, files_by_task.items(), strict=True)]


def _join_numbered_tasks(files_by_task: FilesByTask) -> None:
    """Make one task of tasks of one split whose names differ in a number alone: their files may be parts. Numbered tasks of several splits stay: they
    may be folds."""
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
    splits = [split for split in SPLITS if any(file.split == split for file in files)]
    label_files: dict[str, int] = {}  # by split
    for split in splits:
        read = _split_files([file for file in files if file.split == split], folder)
        guess.files[split] = read.ways[0]
        label_files[split] = read.label_files
        if len(read.ways) > 1:
            guess.questions.append(f"files.{split}: may be {' or '.join(read.ways)}")
    if max(label_files.values()) > 1:
        several = "several files of labels stand beside its texts, and a task reads one"
        guess.notes.append(f"{several}: write a task for each into the suite file")
        for split in splits:
            if label_files[split] == 1:
                without = "or null without labels of this kind"
                guess.questions.append(f"files.{split}: may be {guess.files[split]}, {without}")
    return guess


def _split_files(files: Sequence[NamedFile], folder: str) -> SplitFiles:
    """What the files of one split may be: texts beside labels, the parts of one file, or files of which one is read."""
    files = sorted(files, key=lambda file: (len(file.path.name), file.path.name))
    names = {file: file.path.relative_to(folder).as_posix() for file in files}
    texts = [file for file in files if file.role == "text"]
    labels = [file for file in files if file.role == "label"]
    if len(files) == 2 and len(labels) == 1:  # PIQA: train.jsonl and train-labels.lst
        texts = [file for file in files if file.role != "label"]
    if len(texts) == 1 and labels:
        beside = [names[texts[0]] + BESIDE + names[file] for file in labels]
        rest = [names[file] for file in files if file not in texts and file not in labels]
        return SplitFiles([*beside, *rest], len(labels))
    part = first_part([*names.values()])
    if part is None:
        return SplitFiles([*names.values()])
    if len(files) == 1 or all(file.is_part for file in files):
        return SplitFiles([part])
    return SplitFiles([names[files[0]], f"{len(files)} numbered files, parts of one split: {part}"])
