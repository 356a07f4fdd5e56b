"""What the path of one data file says: the split and the task of the file, and whether its lines are texts or labels."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePosixPath

from mtl.data.forms import PACKED, SUFFIXES
from mtl.tasks.task import PART, SPLIT_OF

DATA_SUFFIXES = {suffix + packing for suffix in SUFFIXES for packing in ("", *PACKED)}
LINE_SUFFIXES = ("", ".txt", ".in", ".out", ".lst", ".label", ".labels")  # of files with one text or one label a line
# Parts of names that say nothing about the task: the word of a split, a version, the number of a part.
SPLIT_WORD = re.compile(rf"(?i)(?<![a-z])({'|'.join(sorted(SPLIT_OF, key=len, reverse=True))})(?![a-z])")
VERSION = re.compile(r"(?i)(?<![a-z])v\d+([._]\d+)*(?![a-z0-9])")
# As in train-00000-of-00003, part-0, train_0000, or 0000 alone; others, as in train_5, may be those of tasks or of folds.
PART_NUMBER = re.compile(r"(?i)-\d+-of-\d+(-[0-9a-f]{16})?$|(^|[._-])(part|shard|chunk)[._-]?\d+$|^\d+$|[._-]0\d{2,}$")
# Words in names of files: without labels, with labels, with texts, and those that say what kind of file it is, not which task.
UNLABELLED = {"masked", "unlabeled", "unlabelled"}
LABEL_WORDS = {"label", "labels", "target", "targets", "tag", "tags", "gold", "answer", "answers", "lst", "out"}
TEXT_WORDS = {"text", "texts", "seq", "in", "sentence", "sentences", "input", "inputs", "data", "source"}
NEUTRAL = {*UNLABELLED, "features", "data", "dataset", "set", "split", "preprocess", "preprocessed", "gold", "final", "full", "file", "with", "no",
           "clean", "cleaned", "label", "labels"}  # fmt: skip
# Words in the names of files that are about the data, or of code, and whole names of such files.
NO_DATA = {"readme", "license", "licence", "requirements", "changelog", "notice", "citation", "config", "package", "vocab", "tokenizer"}  # fmt: skip
DESCRIPTIONS = {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}  # of the library datasets


@dataclass(frozen=True)
class NamedFile:
    """A file, or a part of it, and what its path says."""

    path: PurePosixPath  # below the data folder
    split: str  # empty: the path names none, or two
    folder: str  # of the task: the file's folder, or the one above if the file's folder is named after the split
    task: str  # the words of the name that say which task it is
    role: str  # text, label, or empty
    is_numbered: bool  # whether the name ends as those of parts do
    suffix: str  # with that of its packing, in lower case
    part: str = ""  # of the file; empty: all of it

    @property
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
    """What a file's path says. Both nli/train/part-0.csv and nli/train-0000.csv.gz are numbered files of the split train in the folder nli."""
    packed_suffix = "".join(path.suffixes[-2:]).lower()
    suffix = packed_suffix if packed_suffix in DATA_SUFFIXES else path.suffix.lower()
    stem = path.name[: len(path.name) - len(suffix)]
    folder_split = SPLIT_OF.get(path.parent.name.lower(), "")
    number = PART_NUMBER.search(stem)
    # The name 5.csv is a number alone, which is that of a part only in the folder of a split.
    unnumbered = stem[: number.start()] if number and (number.start() or folder_split) else stem
    title = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", unnumbered)  # trainingSet: training_Set
    split = split_in(title) if SPLIT_WORD.search(title) else folder_split
    words = re.findall(r"[^\W_]+", VERSION.sub("", SPLIT_WORD.sub("", title)))
    role = _role(suffix, {word.lower() for word in words})
    neutral = NEUTRAL | TEXT_WORDS | LABEL_WORDS if role else NEUTRAL
    task = "-".join(word for word in words if word.lower() not in neutral)
    folder = path.parent.parent if split and split == folder_split else path.parent
    return NamedFile(path, split, "/".join(folder.parts), task, role, number is not None, suffix)


def split_in(name: str) -> str:
    """The split that a name says, as xnli.validation.tsv says dev; empty if it has no word of a split, or words of several splits."""
    splits = {SPLIT_OF[word.lower()] for word in SPLIT_WORD.findall(name)}
    return splits.pop() if len(splits) == 1 else ""


def _role(suffix: str, words: Collection[str]) -> str:
    """Whether a file with a text or a label on each line holds texts or labels, by exact words in its name; else empty."""
    hints = {suffix.removeprefix("."), *words}
    if suffix not in LINE_SUFFIXES or hints & UNLABELLED:
        return ""
    if hints & LABEL_WORDS:
        return "label"
    return "text" if hints & TEXT_WORDS else ""
