"""What the path of a data file says: its split, its task, whether it holds texts or labels, and whether it is a part of several."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from mtl.benchmark_making.init_suite.file_column import TEXT_WORDS
from mtl.data.forms import PACKED, SUFFIXES
from mtl.data.numbered import numbered_names
from mtl.tasks.task import NUMBERED, PART, SPLIT_OF

WORD = re.compile(rf"(?<![a-z])({'|'.join(sorted(SPLIT_OF, key=len, reverse=True))})(?![a-z])", re.IGNORECASE)
VERSION = re.compile(r"(?<![a-z])v\d+([._]\d+)*(?![a-z0-9])", re.IGNORECASE)
# How the number of a part ends a name: train-00000-of-00003, part-0, train_0000, or 0000 alone. Another number may be one, too (`named_tasks`).
PART_NUMBER = re.compile(r"(?i)-\d+-of-\d+(-[0-9a-f]{16})?$|(^|[._-])(part|shard|chunk)[._-]?\d+$|^\d+$|[._-]0\d{2,}$")
UNLABELLED = {"masked", "unlabeled", "unlabelled"}  # words in the names of files without labels
LABEL_WORDS = {"label", "labels", "target", "targets", "tag", "tags", "gold", "answer", "answers", "lst", "out"}
NEUTRAL = UNLABELLED | {  # words beside that of the split that say what kind of file it is, not which task
    "features", "data", "dataset", "set", "split", "preprocess", "preprocessed", "gold", "final", "full", "file", "with", "no",
    "clean", "cleaned", "label", "labels",
}  # fmt: skip
# Words in the names of files that are about the data, or of code.
NO_DATA = {"readme", "license", "licence", "requirements", "changelog", "notice", "citation", "config", "package", "vocab", "tokenizer"}  # fmt: skip
DESCRIPTIONS = {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}  # of the library datasets
LINE_SUFFIXES = ("", ".txt", ".in", ".out", ".lst", ".label", ".labels")  # of files with one text or one label a line
DATA_SUFFIXES = {suffix + packing for suffix in SUFFIXES for packing in ("", *PACKED)}


@dataclass(frozen=True)
class NamedFile:
    """A file, or a part of it, and what its path says."""

    path: PurePosixPath  # below the data folder
    split: str  # empty: the path names none, or two
    folder: str  # of the task: a folder that is named after a split is none
    task: str  # what is left of the name without the split
    role: str  # text, label, or empty
    is_numbered: bool  # whether the name ends as those of parts do
    suffix: str  # with that of its packing, in lower case
    part: str = ""  # of the file; empty: all of it

    @cached_property
    def name(self) -> str:
        """The file as a suite file names it."""
        return self.path.relative_to(self.folder).as_posix() + (PART + self.part if self.part else "")

    @property
    def may_be_data(self) -> bool:
        """Whether it has the suffix of data and is not about the data, or is a split of lines with texts or labels."""
        words = {word.lower() for word in re.findall("[A-Za-z]+", self.path.name.partition(".")[0])}
        is_about_data = self.path.name in DESCRIPTIONS or not words.isdisjoint(NO_DATA)
        return (self.suffix in DATA_SUFFIXES and not is_about_data) or bool(self.split and self.role)


def read_name(path: PurePosixPath) -> NamedFile:
    """What a file's path says, of which the folder may name the split, too."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = "".join(suffixes[-2:])
    suffix, folder = packed if packed in DATA_SUFFIXES else "".join(suffixes[-1:]), path.parent
    folder_split = SPLIT_OF.get(folder.name.lower(), "")
    stem = path.name[: len(path.name) - len(suffix)]
    number = PART_NUMBER.search(stem)
    if number and (number.start() or folder_split):
        stem = stem[: number.start()]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem)  # trainingSet: training_Set
    splits = {SPLIT_OF[word.lower()] for word in WORD.findall(spaced)} or {folder_split}
    split = splits.pop() if len(splits) == 1 else ""
    words = [word for word in re.split(r"[\W_]+", VERSION.sub("", WORD.sub("", spaced))) if word]
    role = _role(suffix, {word.lower() for word in words})
    neutral = NEUTRAL | TEXT_WORDS | LABEL_WORDS if role else NEUTRAL
    task = "-".join(word for word in words if word.lower() not in neutral)
    task_folder = folder.parent if split and split == folder_split else folder
    folder_name = "" if task_folder == PurePosixPath() else str(task_folder)
    return NamedFile(path, split, folder_name, task, role, number is not None, suffix)


def _role(suffix: str, words: Collection[str]) -> str:
    """Whether a file with a text or a label on each line holds texts or labels, by exact words in its name; else empty."""
    hints = {suffix.removeprefix("."), *words}
    if suffix not in LINE_SUFFIXES or hints & UNLABELLED:
        return ""
    if hints & LABEL_WORDS:
        return "label"
    return "text" if hints & TEXT_WORDS else ""


def first_part(names: Sequence[str]) -> str | None:
    """The name in a suite file of files that are parts of one split; None if something else than their number tells them apart."""
    first = min(names, key=lambda name: (len(name), name))
    total = re.search(r"-of-(\d+)", first)
    if len(names) == 1 and (total is None or int(total[1]) < 2):
        return first
    try:
        are_parts = len(numbered_names(first, names)) == len(names)
    except ValueError:
        are_parts = total is not None  # the reader says what is missing
    return f"{first}{PART}{NUMBERED}" if are_parts else None
