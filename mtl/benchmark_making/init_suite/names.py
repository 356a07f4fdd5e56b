"""The data files below a folder that are splits of tasks, by the words in their names and in those of their folders."""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any

from mtl.base.files import listed, numbered_alike
from mtl.data.rows import PACKED, SUFFIXES
from mtl.tasks.suite import AVERAGE, SPLITS
from mtl.tasks.task import BESIDE, NUMBERED, PART, SPLIT_OF

GIVEN = "as given"  # why a key that the user names is taken
SCHEME = "hf://"  # before the name of a data set of the Hugging Face Hub
WORD = re.compile(rf"(?<![a-z])({'|'.join(sorted(SPLIT_OF, key=len, reverse=True))})(?![a-z])", re.IGNORECASE)
VERSION = re.compile(r"(?<![a-z])v\d+([._]\d+)*(?![a-z0-9])", re.IGNORECASE)
# How the number of one of several parts ends a name: train-00000-of-00003, part-0, train_0000; in the Hub's conversions nothing else is
# in it. Another number may be that of a part, too (`_merge_numbered`).
SHARD = re.compile(
    r"-\d+-of-\d+(-[0-9a-f]{16})?$|(^|[._-])(part|shard|chunk)[._-]?\d+$|^\d+$|[._-]0\d{2,}$", re.IGNORECASE
)
# Words beside that of the split that say what kind of file it is, not which task.
NEUTRAL = {
    *("features", "data", "dataset", "set", "split", "preprocess", "preprocessed", "masked", "gold", "final", "full", "file", "with", "no"),
    *("unlabeled", "unlabelled", "clean", "cleaned", "label", "labels"),
}  # fmt: skip
UNLABELLED = {"masked", "unlabeled", "unlabelled"}  # words in the names of files without labels
# Words in the names of files that are about the data, or of code.
NO_DATA = {"readme", "license", "licence", "requirements", "changelog", "notice", "citation", "config", "package", "vocab", "tokenizer"}  # fmt: skip
DESCRIPTIONS = {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}  # of the library datasets
TEXT_WORDS = {"text", "texts", "seq", "in", "sentence", "sentences", "input", "inputs", "data", "source"}
LABEL_WORDS = {"label", "labels", "target", "targets", "tag", "tags", "gold", "answer", "answers", "lst", "out"}
LINE_SUFFIXES = ("", ".txt", ".in", ".out", ".lst", ".label", ".labels")  # of files with one text or one label a line
OTHER_DATA = {
    *(".xml", ".xlsx", ".xls", ".ods", ".conll", ".conllu", ".iob", ".iob2", ".bio", ".arrow", ".pkl", ".pickle"),
    *(".yaml", ".yml", ".dat", ".db", ".sqlite", ".html", ".feather", ".lst"),
}
ARCHIVES = {".zip", ".tar", ".tgz", ".rar", ".7z"}
NO_SPLIT = "files.train: no name has the word of a split: are these the training rows, of which some are held out?"
MOST_STEMS = 20  # of .txt files in a folder whose names say no split; if there are more, each is a text


@dataclass
class Guess:
    """A task as the suite file will declare it."""

    id: str
    folder: str  # of its files, below the data folder
    # By split, the names as a suite file has them: below the folder, two files joined by " + ", a part of a file after "#"; None: no such split.
    files: dict[str, str | None]
    rows: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    keys: dict[str, Any] = field(default_factory=dict)  # the other keys of the suite file
    why: dict[str, str] = field(default_factory=dict)  # by key, what the guess is based on
    # What the user has to decide, as "key: message", with the key of the answer: the suite does not run before.
    questions: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what the user should know
    unread: dict[str, str] = field(default_factory=dict)  # by the name of a column that is not read, why
    problem: str | None = None  # why the task cannot be declared yet; a task with a problem becomes a comment

    @property
    def scored(self) -> str:
        """The split that is scored; without a dev file, dev is held out of train."""
        return str(self.keys.get("scored", "dev"))

    def declare(self, why: str, **keys: Any) -> None:
        """Set keys, and what all of them are based on."""
        self.keys |= keys
        self.why |= dict.fromkeys(keys, why)


@dataclass(frozen=True)
class FoundFiles:
    """The tasks in the order of their folders, and what else is below the data folder."""

    tasks: list[Guess]  # with their files alone, and what is to be said about these
    unused: list[str]  # data files that are named after no split, as paths below the data folder
    unreadable: list[str]  # files with a split in their name that no form reads


@dataclass(frozen=True)
class _Named:
    path: PurePosixPath  # below the data folder
    split: str
    folder: str
    task: str  # what is left of the name without the split
    role: str  # text, label, or empty
    shard: bool  # whether the name has the number of a part


Tasks = dict[tuple[str, str], dict[str, list[_Named]]]  # by folder and name of a task, its files by split


def suffix_of(name: str) -> str:
    """The suffix of a data file's name, with that of its packing, in lower case: .jsonl.gz."""
    *_, inner, last = ["", "", *(suffix.lower() for suffix in PurePosixPath(name).suffixes)]
    return inner + last if last in PACKED and inner in SUFFIXES else last


def is_data(name: str) -> bool:
    """Whether the suffix is that of a data file, perhaps a packed one, and the name is none of a file about the data."""
    if name in DESCRIPTIONS or NO_DATA & {word.lower() for word in re.findall("[A-Za-z]+", name.partition(".")[0])}:
        return False
    return f".{suffix_of(name)[1:].partition('.')[0]}" in SUFFIXES


def all_files(data_dir: Path) -> list[PurePosixPath]:
    """The paths of all files below a folder, sorted in each folder, but for hidden ones, hidden folders and links to folders. Raises OSError for
    a folder that cannot be read."""

    def stop(error: OSError) -> None:
        raise error

    paths = []
    for folder, below, names in os.walk(data_dir, onerror=stop):
        below[:] = sorted(name for name in below if not name.startswith("."))
        visible = sorted(name for name in names if not name.startswith(".") and Path(folder, name).is_file())
        paths += [PurePosixPath(Path(folder).relative_to(data_dir).as_posix(), name) for name in visible]
    return paths


def find_tasks(data_dir: Path) -> FoundFiles:
    """Look for split files among the files below a folder.

    A task consists of the files whose names and folders differ only in the word of the split: {train,dev,test}.tsv, xnli.{dev,test}.ko.tsv,
    or {train,valid}/data.csv.
    """
    found, files = FoundFiles([], [], []), list[_Named]()
    paths = all_files(data_dir)
    sizes = Counter(path.parent for path in paths if path.suffix.lower() == ".txt" and not WORD.search(path.stem))
    of_texts = sorted(str(folder) for folder, size in sizes.items() if size > MOST_STEMS)
    for path in [path for path in paths if str(path.parent) not in of_texts]:
        file = _named(path)
        if is_data(path.name) or (file and file.role and suffix_of(path.name) in LINE_SUFFIXES):
            files.extend([file] if file else [])
            found.unused.extend([] if file else [str(path)])
        elif path.suffix.lower() in ARCHIVES or (file and suffix_of(path.name) in OTHER_DATA):
            found.unreadable.append(str(path))
    tasks: Tasks = {}
    for file in files:
        tasks.setdefault((file.folder, file.task), {}).setdefault(file.split, []).append(file)
    root = data_dir.resolve().name
    _merge_numbered(tasks)
    _part_label_files(tasks, root)
    stems = [task or PurePosixPath(folder).name or root for folder, task in tasks]
    items = zip(_ids(stems, tasks), tasks.items(), strict=True)
    found.tasks.extend(_split_files(id, folder, of_task) for id, ((folder, _), of_task) in items)
    if of_texts:
        problem = f"{listed(of_texts, 4)}: a text in each file; write one file for each split, with the columns text and label"
        found.tasks.append(Guess(task_id(root, [task.id for task in found.tasks]), "", {}, problem=problem))
    return found


def _merge_numbered(tasks: Tasks) -> None:
    """Make one task of files of one split that differ in their number alone, as train_0.json and train_1.json: the user says whether they
    are parts. Numbered files of several splits are tasks, or folds."""
    families: dict[tuple[str, str, str], list[str]] = {}
    for (folder, task), files in tasks.items():
        stem = re.sub(r"[._-]?\d+$", "", task)
        if stem != task and len(files) == 1:
            families.setdefault((folder, stem, next(iter(files))), []).append(task)
    for (folder, stem, split), numbered in families.items():
        parts = [file for task in numbered for file in tasks[folder, task][split]]
        into = tasks.get((folder, stem), {})
        if split not in into and len(parts) > 1 and first_part([file.path.name for file in parts]):
            for task in numbered:
                del tasks[folder, task]
            tasks[folder, stem] = {**into, split: parts}


def _part_label_files(tasks: Tasks, root: str) -> None:
    """Make a task of each kind of label where texts have several files of labels, as intents in label and slots in seq.out."""

    def kind(file: _Named) -> str:
        return WORD.sub("", file.path.name.lower()).strip("_.-") if file.role == "label" else ""

    for (folder, task), files in list(tasks.items()):
        every = list(chain(*files.values()))
        kinds = {*map(kind, every)} - {""}
        if len(kinds) > 1 and sum(file.role == "text" for file in every) == len(files):
            del tasks[folder, task]
            for each in sorted(kinds):
                of_kind = {split: [file for file in of if kind(file) in ("", each)] for split, of in files.items()}
                tasks[folder, f"{task or PurePosixPath(folder).name or root}-{each}"] = of_kind


def _named(path: PurePosixPath) -> _Named | None:
    """The split, task and folder that a file's path says; None if it names no split, or two."""
    suffix, folder = suffix_of(path.name), path.parent
    of_folder = SPLIT_OF.get(folder.name.lower())
    stem = path.name[: len(path.name) - len(suffix)]
    shard = SHARD.search(stem)
    if shard and (shard.start() or of_folder):
        stem = stem[: shard.start()]
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem)
    split, *others = {SPLIT_OF[word.lower()] for word in WORD.findall(stem)} or [of_folder]
    if split is None or others:
        return None
    words = [word for word in re.split(r"[\W_]+", VERSION.sub("", WORD.sub("", stem))) if word]
    role, kinds = "", {*(word.lower() for word in words), suffix.removeprefix(".")}
    if suffix in LINE_SUFFIXES and kinds & (TEXT_WORDS | LABEL_WORDS) and not kinds & UNLABELLED:
        role = "label" if kinds & LABEL_WORDS else "text"
    neutral = NEUTRAL | (TEXT_WORDS | LABEL_WORDS if role else set())
    task = "-".join(word for word in words if word.lower() not in neutral)
    below = (folder.parent if of_folder == split else folder).as_posix().removeprefix(".")
    return _Named(path, split, below, task, role, shard is not None)


def _split_files(id: str, folder: str, files: dict[str, list[_Named]]) -> Guess:
    guess = Guess(id, folder, {})
    for split in [split for split in SPLITS if files.get(split)]:
        every = sorted(files[split], key=lambda file: (len(file.path.name), file.path.name))
        below = {file: file.path.relative_to(folder).as_posix() for file in every}
        ways = [*below.values()]
        if pair := _pair(every):
            ways = [BESIDE.join(below[file] for file in pair), *(below[file] for file in every if file not in pair)]
        elif parts := first_part(ways):
            is_sure = all(file.shard for file in every) or not ways[1:]
            ways = [parts] if is_sure else [ways[0], f"{len(ways)} numbered files, parts of one split: {parts}"]
        guess.files[split] = ways[0]
        guess.questions += [f"files.{split}: may be {' or '.join(ways)}"] if ways[1:] else []
    return guess


def _pair(named: Sequence[_Named]) -> list[_Named]:
    """The file of texts and the one of their labels; empty if there are no such two."""
    texts, labels = ([file for file in named if file.role == role] for role in ("text", "label"))
    if len(texts) != 1 and len(labels) == 1 and len(named) == 2:  # PIQA: train.jsonl and train-labels.lst
        texts = [file for file in named if file not in labels]
    return [*texts, *labels] if len(texts) == len(labels) == 1 else []


def first_part(names: Sequence[str]) -> str | None:
    """The name in a suite file of files that are parts of one split; None if something else than their number tells them apart."""
    first = min(names, key=lambda name: (len(name), name), default="")
    total = re.search(r"-of-(\d+)", first)
    if len(names) == 1 and (total is None or int(total[1]) < 2):
        return first
    try:
        is_whole = len(numbered_alike(first, names)) == len(names)
    except ValueError:
        is_whole = total is not None  # the reader says what is missing
    return f"{first}{PART}{NUMBERED}" if is_whole else None


def _ids(names: Sequence[str], places: Iterable[tuple[str, str]]) -> list[str]:
    """A different id for each task, whose folder and name in it are its place; ids can be used in file names.

    A prefix of all names that ends in "_" or "-" is left out: klej_ar and klej_cbd become ar and cbd.
    Tasks of the same name get the names of their folders as a prefix.
    """
    prefixes = [names[0][: sign.end()] for sign in re.finditer("[_-]", names[0])] if len(set(names)) > 1 else []
    common = [prefix for prefix in prefixes if all(name.startswith(prefix) for name in names)]
    short = [name.removeprefix(common[-1] if common else "") or name for name in names]
    ids: list[str] = []
    for name, (folder, stem) in zip(short, places, strict=True):
        ids.append(task_id("-".join([*folder.split("/"), stem]) if short.count(name) > 1 else name, ids))
    return ids


def task_id(name: str, others: Sequence[str]) -> str:
    """An id after a name, other than these; it can be used in file names."""
    base = file_name(name, "task")
    base = f"{base}-task" if base == AVERAGE else base
    return next(id for id in chain([base], (f"{base}-{number}" for number in count(2))) if id not in others)


def file_name(name: str, otherwise: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; `otherwise` if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or otherwise
