"""What the names of data files say: the split, the task, texts or labels, and the number of a part; and names of tasks after them."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import PurePosixPath

from mtl.benchmark_making.init_suite.file_column import TEXT_WORDS
from mtl.data.forms import PACKED, SUFFIXES
from mtl.data.numbered import numbered_names
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import NUMBERED, PART, SPLIT_OF

WORD = re.compile(rf"(?<![a-z])({'|'.join(sorted(SPLIT_OF, key=len, reverse=True))})(?![a-z])", re.IGNORECASE)
VERSION = re.compile(r"(?<![a-z])v\d+([._]\d+)*(?![a-z0-9])", re.IGNORECASE)
# How the number of a part ends a name: train-00000-of-00003, part-0, train_0000, or 0000 alone. Another number may be one, too (`_merge_numbered`).
SHARD = re.compile(r"(?i)-\d+-of-\d+(-[0-9a-f]{16})?$|(^|[._-])(part|shard|chunk)[._-]?\d+$|^\d+$|[._-]0\d{2,}$")
NEUTRAL = {  # words beside that of the split that say what kind of file it is, not which task
    *("features", "data", "dataset", "set", "split", "preprocess", "preprocessed", "masked", "gold", "final", "full", "file", "with", "no"),
    *("unlabeled", "unlabelled", "clean", "cleaned", "label", "labels"),
}  # fmt: skip
UNLABELLED = {"masked", "unlabeled", "unlabelled"}  # words in the names of files without labels
# Words in the names of files that are about the data, or of code.
NO_DATA = {"readme", "license", "licence", "requirements", "changelog", "notice", "citation", "config", "package", "vocab", "tokenizer"}  # fmt: skip
DESCRIPTIONS = {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}  # of the library datasets
LABEL_WORDS = {"label", "labels", "target", "targets", "tag", "tags", "gold", "answer", "answers", "lst", "out"}
LINE_SUFFIXES = ("", ".txt", ".in", ".out", ".lst", ".label", ".labels")  # of files with one text or one label a line


@dataclass(frozen=True)
class NamedFile:
    """A file, and what its name says."""

    path: PurePosixPath  # below the data folder
    split: str
    folder: str  # of the task: a folder that is named after a split is none
    task: str  # what is left of the name without the split
    role: str  # text, label, or empty
    is_part: bool  # whether the name has the number of a part


def read_name(path: PurePosixPath) -> NamedFile | None:
    """The split, task and folder that a file's path says; None if it names no split, or two."""
    suffix, folder = suffix_of(path.name), path.parent
    folder_split = SPLIT_OF.get(folder.name.lower())
    stem = path.name[: len(path.name) - len(suffix)]
    shard = SHARD.search(stem)
    if shard and (shard.start() or folder_split):
        stem = stem[: shard.start()]
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem)
    splits = {SPLIT_OF[word.lower()] for word in WORD.findall(stem)}
    split = next(iter(splits), folder_split)
    if split is None or len(splits) > 1:
        return None
    words = [word for word in re.split(r"[\W_]+", VERSION.sub("", WORD.sub("", stem))) if word]
    hints = {suffix.removeprefix("."), *map(str.lower, words)}
    role = ""
    if suffix in LINE_SUFFIXES and hints & (TEXT_WORDS | LABEL_WORDS) and not hints & UNLABELLED:
        role = "label" if hints & LABEL_WORDS else "text"
    neutral = NEUTRAL | (TEXT_WORDS | LABEL_WORDS if role else set())
    task = "-".join(word for word in words if word.lower() not in neutral)
    task_folder = (folder.parent if folder_split == split else folder).as_posix().removeprefix(".")
    return NamedFile(path, split, task_folder, task, role, shard is not None)


def suffix_of(name: str) -> str:
    """The suffix of a data file's name, with that of its packing, in lower case: .jsonl.gz."""
    inner, last = ["", "", *PurePosixPath(name.lower()).suffixes][-2:]
    return inner + last if last in PACKED and inner in SUFFIXES else last


def is_data(name: str) -> bool:
    """Whether the suffix is that of a data file, perhaps a packed one, and the name is none of a file about the data."""
    if name in DESCRIPTIONS or NO_DATA & {word.lower() for word in re.findall("[A-Za-z]+", name.partition(".")[0])}:
        return False
    return f".{suffix_of(name)[1:].partition('.')[0]}" in SUFFIXES


def first_part(names: Sequence[str]) -> str | None:
    """The name in a suite file of files that are parts of one split; None if something else than their number tells them apart."""
    first = min(names, key=lambda name: (len(name), name), default="")
    total = re.search(r"-of-(\d+)", first)
    if len(names) == 1 and (total is None or int(total[1]) < 2):
        return first
    try:
        is_whole = len(numbered_names(first, names)) == len(names)
    except ValueError:
        is_whole = total is not None  # the reader says what is missing
    return f"{first}{PART}{NUMBERED}" if is_whole else None


def task_id(name: str, taken: Sequence[str]) -> str:
    """An id after a name that is none of those taken; it can be used in file names."""
    base = file_name(name, "task")
    base = f"{base}-task" if base == AVERAGE else base
    return next(id for id in chain([base], (f"{base}-{number}" for number in count(2))) if id not in taken)


def file_name(name: str, default: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; the default if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or default
