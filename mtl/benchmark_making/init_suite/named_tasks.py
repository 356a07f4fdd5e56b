"""What the paths of data files say: the split of each file, which files are one task, how those of one split are read, and the ids of tasks."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import commonprefix

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.file_column import TEXT_WORDS
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.data.forms import PACKED, SUFFIXES
from mtl.data.numbered import numbered_names
from mtl.tasks.suite import AVERAGE
from mtl.tasks.task import BESIDE, NUMBERED, PART, SPLIT_OF, SPLITS

WORD = re.compile(rf"(?<![a-z])({'|'.join(sorted(SPLIT_OF, key=len, reverse=True))})(?![a-z])", re.IGNORECASE)
VERSION = re.compile(r"(?<![a-z])v\d+([._]\d+)*(?![a-z0-9])", re.IGNORECASE)
# How the number of a part ends a name: train-00000-of-00003, part-0, train_0000, or 0000 alone. Others: `_with_joined_numbers`.
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
MOST_WAYS = 20  # to read a split that a question names
ONE_KIND = "a task reads one kind of labels; write a task for each kind into the suite file"
Place = tuple[str, str]  # the folder of a task, and its name in this folder


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


def split_in(name: str) -> str:
    """The split that a name says, as xnli.validation.tsv says dev; empty if it has no word of a split, or words of several splits."""
    splits = {SPLIT_OF[word.lower()] for word in WORD.findall(name)}
    return splits.pop() if len(splits) == 1 else ""


def read_name(path: PurePosixPath) -> NamedFile:
    """What a file's path says. Both nli/train/part-0.csv and nli/train-0000.csv.gz are numbered files of the split train in the folder nli."""
    packed_suffix = "".join(path.suffixes[-2:]).lower()
    suffix = packed_suffix if packed_suffix in DATA_SUFFIXES else path.suffix.lower()
    stem = path.name[: len(path.name) - len(suffix)]
    folder_split = SPLIT_OF.get(path.parent.name.lower(), "")
    number = PART_NUMBER.search(stem)
    unnumbered = stem[: number.start()] if number and (number.start() or folder_split) else stem  # not of 5.csv alone
    title = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", unnumbered)  # trainingSet: training_Set
    split = split_in(title) if WORD.search(title) else folder_split
    words = re.findall(r"[^\W_]+", VERSION.sub("", WORD.sub("", title)))
    role = _role(suffix, {word.lower() for word in words})
    neutral = NEUTRAL | TEXT_WORDS | LABEL_WORDS if role else NEUTRAL
    task = "-".join(word for word in words if word.lower() not in neutral)
    folder = path.parent.parent if split and split == folder_split else path.parent
    return NamedFile(path, split, "/".join(folder.parts), task, role, number is not None, suffix)


def _role(suffix: str, words: Collection[str]) -> str:
    """Whether a file with a text or a label on each line holds texts or labels, by exact words in its name; else empty."""
    hints = {suffix.removeprefix("."), *words}
    if suffix not in LINE_SUFFIXES or hints & UNLABELLED:
        return ""
    if hints & LABEL_WORDS:
        return "label"
    return "text" if hints & TEXT_WORDS else ""


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


def named_tasks(files: Sequence[NamedFile], root: str, taken: Collection[str] = ()) -> list[Guess]:
    """The tasks of these files: those of a task differ in the word of the split alone. `root`: the data folder's name; `taken`: ids of others."""
    files_by_place: dict[Place, list[NamedFile]] = {}
    for file in files:
        files_by_place.setdefault((file.folder, file.task), []).append(file)
    joined = _with_joined_numbers(files_by_place)
    ids = _task_ids(list(joined), root, taken)
    return [_guess(id, files) for id, files in zip(ids, joined.values(), strict=True)]


def _with_joined_numbers(files_by_place: Mapping[Place, list[NamedFile]]) -> dict[Place, list[NamedFile]]:
    """The tasks, those of one same split whose names differ in a number alone as one: they may be its parts. Those of several splits may be folds."""
    families: dict[tuple[Place, str], list[Place]] = {}  # by the place without the number, and the split
    for (folder, name), files in files_by_place.items():
        unnumbered = re.sub(r"[._-]?\d+$", "", name)
        if unnumbered != name and len({file.split for file in files}) == 1:
            families.setdefault(((folder, unnumbered), files[0].split), []).append((folder, name))
    joined = dict(files_by_place)
    for (place, split), family in families.items():
        parts = [file for numbered_place in family for file in joined[numbered_place]]
        are_parts = len(parts) > 1 and name_of_parts([file.path.name for file in parts])
        if are_parts and all(file.split != split for file in joined.get(place, [])):
            for numbered_place in family:
                del joined[numbered_place]
            joined[place] = [*joined.get(place, []), *parts]
    return joined


def _guess(id: str, files: Sequence[NamedFile]) -> Guess:
    """The task of these files. Several ways to read those of a split are a question, as is any split with labels if one has several kinds of them."""
    files_by_split = {split: [file for file in files if file.split == split] for split in SPLITS}
    ways_by_split = {split: _ways_to_read(of_split) for split, of_split in files_by_split.items() if of_split}
    guess = Guess(id, files[0].folder, {split: ways[0] for split, ways in ways_by_split.items()})
    has_several_labels = any(sum(BESIDE in way for way in ways) > 1 for ways in ways_by_split.values())
    for split, ways in ways_by_split.items():
        further = f", or null; {ONE_KIND}" if has_several_labels and BESIDE in ways[0] else ""
        if len(ways) > 1 or further:
            number = f"{len(files_by_split[split])} numbered files, parts of one split: "
            shown = [number + way if way.endswith(f"{PART}{NUMBERED}") else way for way in ways]
            guess.questions.append(f"files.{split}: may be {listed(shown, MOST_WAYS, ' or ')}{further}")
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


def _task_ids(places: Sequence[Place], root: str, taken: Collection[str]) -> list[str]:
    """A different id for each task: its name, or else the name of its folder, or else `root`, the name of the data folder. A prefix of all names that
    ends in "_" or "-" is left out: klej_ar and klej_cbd become ar and cbd. Tasks of the same name have their folders in their ids, too."""
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
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(id for id in numbered if id not in taken)


def file_name(name: str, default: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; the default if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or default
