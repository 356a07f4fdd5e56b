"""The data files below a folder that are splits of tasks, by the words in their names and in those of their folders."""

import os
import re
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path, PurePosixPath

from mtl.base.files import numbered_alike
from mtl.base.untrusted import is_inside
from mtl.data.rows import PACKED, SUFFIXES
from mtl.tasks.suite import AVERAGE, SPLITS
from mtl.tasks.task import BESIDE, NUMBERED, PART

SCHEME = "hf://"  # before the name of a data set of the Hugging Face Hub
# Words that name splits, in GLUE, KLEJ, Superlim, on the Hugging Face Hub, and in the folders of shared tasks.
SPLIT_WORDS = {
    "train": ("train", "training", "trn", "trainset"),
    "dev": ("dev", "development", "devel", "valid", "validation", "val", "eval", "devset"),
    "test": ("test", "testing", "tst", "testset"),
}
SPLIT_OF = {word: split for split, words in SPLIT_WORDS.items() for word in words}
WORD = re.compile(rf"(?<![a-z])({'|'.join(sorted(SPLIT_OF, key=len, reverse=True))})(?![a-z])")
VERSION = re.compile(r"(?<![a-z])v\d+([._]\d+)*(?![a-z0-9])")
# How the number of one of several parts ends a name: train-00000-of-00003, part-0, train_0000; in the Hub's conversions nothing else is
# in it. Another number may be that of a part, too (`_merge_numbered`).
SHARD = re.compile(
    r"-\d+-of-\d+(-[0-9a-f]{16})?$|(^|[._-])(part|shard|chunk)[._-]?\d+$|^\d+$|[._-]0\d{2,}$", re.IGNORECASE
)
MOST_MEMBERS = 10_000  # of a zip that are looked at
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
    *(".tar", ".tgz", ".rar", ".7z", ".yaml", ".yml", ".dat", ".db", ".sqlite", ".html", ".feather", ".lst"),
}
NO_SPLIT = "files: no name has the word of a split: are these the training rows, of which some are held out?"
MOST_STEMS = 20  # of .txt files in a folder named after a split; if there are more, each is a document of its own


@dataclass(frozen=True)
class SplitFiles:
    """A task's files.

    Args:
        folder: the folder that they are in, below the data folder.
        files: by split, the names as a suite file has them: below the folder, two files joined by " + ", a part of a file after "#".
        twice: further files of the same splits.
        question: what the user has to decide about the files.
        notes: what the user should know about them.
        labels: by column, the names of the labels that its numbers stand for, where something else than the files says so.
    """

    id: str
    folder: str
    files: dict[str, str]
    twice: list[str] = field(default_factory=list)
    question: str | None = None
    notes: list[str] = field(default_factory=list)
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundFiles:
    """The tasks in the order of their folders, and what else is below the data folder."""

    tasks: list[SplitFiles]
    unused: list[str]  # data files that are named after no split, as paths below the data folder
    unreadable: list[str]  # files with a split in their name that no form reads


@dataclass(frozen=True)
class _Named:
    path: PurePosixPath  # below the data folder
    split: str
    folder: str
    task: str  # what is left of the name without the split
    role: str  # text, label, or empty
    in_folder: bool  # whether the folder of a .txt file is named after the split
    shard: bool  # whether the name has the number of a part
    masked: bool  # whether the name says that the labels are left out
    archive: PurePosixPath | None = None  # the zip that it is in, which is the first part of its path


def suffix_of(name: str) -> str:
    """The suffix of a data file's name, with that of its packing, in lower case: .jsonl.gz."""
    suffixes = PurePosixPath(name).suffixes
    if len(suffixes) > 1 and suffixes[-1].lower() in PACKED and suffixes[-2].lower() in SUFFIXES:
        return "".join(suffixes[-2:]).lower()
    return suffixes[-1].lower() if suffixes else ""


def is_data(name: str) -> bool:
    """Whether the suffix is that of a data file, perhaps a packed one, and the name is none of a file about the data."""
    if name in DESCRIPTIONS or NO_DATA & {word.lower() for word in re.findall("[A-Za-z]+", name.partition(".")[0])}:
        return False
    return f".{suffix_of(name)[1:].partition('.')[0]}" in SUFFIXES


def all_files(data_dir: Path) -> list[PurePosixPath]:
    """The paths of all files below a folder, but for hidden ones, hidden folders and links to folders."""
    return [PurePosixPath(folder, name) for folder, names in _folders(data_dir) for name in names]


def find_tasks(data_dir: Path, leave_out: Collection[str] = ()) -> FoundFiles:
    """Look for split files below a folder, but in these folders, and not in hidden files and folders or links to folders.

    A task consists of the files whose names and folders differ only in the word of the split: {train,dev,test}.tsv, xnli.{dev,test}.ko.tsv,
    or {train,valid}/data.csv.
    """
    files: list[_Named] = []
    unused: list[str] = []
    unreadable: list[str] = []
    for folder, names in _folders(data_dir):
        if folder in leave_out:
            continue
        paths = [(PurePosixPath(folder, name), None) for name in names]
        for path, archive in [*paths, *_members(data_dir, [path for path, _ in paths], unreadable)]:
            file = _named(path, archive)
            if file is None:
                unused += [_below(path, archive, PurePosixPath())] if is_data(path.name) else []
            elif is_data(path.name) or (file.role and suffix_of(path.name) in LINE_SUFFIXES):
                files.append(file)
            elif suffix_of(path.name) in OTHER_DATA or path.name in SPLIT_OF:
                unreadable.append(str(path))
    sizes = Counter(file.path.parent for file in files if file.in_folder)
    corpora = sorted(folder for folder, size in sizes.items() if size > MOST_STEMS)  # of documents, one text each
    unreadable += [f"{folder}/*.txt ({sizes[folder]:,} files of one text each)" for folder in corpora]
    named: dict[tuple[str, str], dict[str, list[_Named]]] = {}
    for file in files:
        if file.path.parent not in corpora:
            named.setdefault((file.folder, file.task), {}).setdefault(file.split, []).append(file)
    root = data_dir.resolve().name
    _merge_numbered(named)
    _part_label_files(named, root)
    stems = [task or (PurePosixPath(folder).name.removesuffix(".zip") if folder else root) for folder, task in named]
    items = zip(_ids(stems, named), named.items(), strict=True)
    tasks = [_split_files(id, folder, of_task) for id, ((folder, _), of_task) in items]
    return FoundFiles(tasks, unused, unreadable)


def _merge_numbered(named: dict[tuple[str, str], dict[str, list[_Named]]]) -> None:
    """Make one task of files of one split that differ in their number alone, as train_0.json and train_1.json: the user says whether they
    are parts. Numbered files of several splits are tasks, or folds."""
    families: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for (folder, task), files in named.items():
        stem = re.sub(r"[._-]?\d+$", "", task)
        if stem != task and len(files) == 1:
            families.setdefault((folder, stem, next(iter(files))), []).append((folder, task))
    for (folder, stem, split), keys in families.items():
        numbered = [file for key in keys for file in named[key][split]]
        into = named.get((folder, stem), {})
        if split not in into and len(numbered) > 1 and first_part([file.path.name for file in numbered]):
            for key in keys:
                del named[key]
            named[folder, stem] = {**into, split: numbered}


def _part_label_files(named: dict[tuple[str, str], dict[str, list[_Named]]], root: str) -> None:
    """Make a task of each kind of label where texts have several files of labels, as intents in label and slots in seq.out."""
    for (folder, task), files in list(named.items()):
        listed = [file for of_split in files.values() for file in of_split]
        kinds = {_label_kind(file) for file in listed if file.role == "label"}
        if len(kinds) < 2 or sum(file.role == "text" for file in listed) != len(files):
            continue
        del named[folder, task]
        for kind in sorted(kinds):
            named[folder, f"{task or PurePosixPath(folder).name or root}-{kind}"] = {
                split: [file for file in of_split if file.role != "label" or _label_kind(file) == kind]
                for split, of_split in files.items()
            }


def _label_kind(file: _Named) -> str:
    return WORD.sub("", file.path.name.lower()).strip("_.-")


def _members(
    data_dir: Path, paths: Sequence[PurePosixPath], unreadable: list[str]
) -> Iterable[tuple[PurePosixPath, PurePosixPath | None]]:
    """The files in the zips among these files, as if each zip were a folder, with the zip. A zip that cannot be read is added to a list."""
    for archive in paths:
        if archive.suffix.lower() != ".zip" or is_data(archive.name):
            continue  # is_data: one packed file, as train.csv.zip
        try:
            with zipfile.ZipFile(data_dir / archive) as content:
                members = sorted(member.filename for member in content.infolist() if not member.is_dir())
        except Exception:  # zipfile raises many kinds for a damaged one
            members = []
        members = [name for name in members if is_inside(name) and not re.search(r"(^|/)(\.|__MACOSX/)|[#\\]", name)]
        readable = [name for name in members if suffix_of(name) != ".parquet"]
        if not readable or len(members) > MOST_MEMBERS:
            unreadable.append(str(archive))
        else:
            yield from ((archive / name, archive) for name in readable)


def _named(path: PurePosixPath, archive: PurePosixPath | None) -> _Named | None:
    """The split, task and folder that a file's path says; None if it names no split, or two."""
    suffix, folder = suffix_of(path.name), path.parent
    of_folder = SPLIT_OF.get(folder.name.lower().removesuffix(".zip"))
    stem = path.name[: len(path.name) - len(suffix)]
    shard = SHARD.search(stem)
    if shard and (shard.start() or of_folder):
        stem = stem[: shard.start()]
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", stem).lower()
    splits = {SPLIT_OF[word] for word in WORD.findall(plain)}
    in_folder = not splits and suffix == ".txt"
    split = of_folder if not splits else splits.pop() if len(splits) == 1 else None
    if split is None:
        return None
    if of_folder == split:
        folder = folder.parent
    words = [word for word in re.split(r"[^a-z0-9]+", VERSION.sub("", WORD.sub("", plain))) if word]
    known = {*TEXT_WORDS, *LABEL_WORDS}
    role, parts = "", {*words, suffix.removeprefix(".")}
    if suffix in LINE_SUFFIXES and parts & known:
        role = "label" if parts & LABEL_WORDS else "text"
        words = [word for word in words if word not in known]
    task = _without_split(stem, [word for word in words if word not in NEUTRAL])
    below = "" if folder == PurePosixPath() else folder.as_posix()
    return _Named(path, split, below, task, role, in_folder, shard is not None, bool(UNLABELLED & {*words}), archive)


def _without_split(stem: str, rest: Sequence[str]) -> str:
    """What a file's name has beside the split, as it is written: my-nli of my-nli.train."""
    if not rest:
        return ""
    without = WORD.sub(lambda match: " " * len(match[0]), stem.lower())
    first = without.find(rest[0])
    last = without.rfind(rest[-1]) + len(rest[-1])
    inner = stem[first:last] if first >= 0 and last > first else "-".join(rest)
    short = re.sub(rf"[_.-]?{WORD.pattern}", "", inner, flags=re.IGNORECASE)
    return short.strip("_.-") or "-".join(rest)


def _split_files(id: str, folder: str, files: dict[str, list[_Named]]) -> SplitFiles:
    chosen: dict[str, str] = {}
    twice: list[str] = []
    questions = []
    home = PurePosixPath(folder)
    archives = [file.archive for listed in files.values() for file in listed if file.archive is not None]
    if within := next((archive for archive in archives if home.is_relative_to(archive)), None):
        home = within.parent
    for split in [split for split in SPLITS if files.get(split)]:
        listed = sorted(files[split], key=lambda file: (file.masked, len(file.path.name), file.path.name))
        names = [_below(file.path, file.archive, home) for file in listed]
        labelled = sum(not file.masked for file in listed) or len(listed)
        pair = _pair(listed[:labelled])
        twice += names[labelled:]
        names = names[:labelled]
        if pair:
            chosen[split] = BESIDE.join(_below(file.path, None, home) for file in pair)
            twice += [name for name, file in zip(names, listed, strict=False) if file not in pair]
            continue
        parts = first_part(names)
        if parts and all(file.shard for file in listed[:labelled]):
            chosen[split] = parts
            continue
        chosen[split] = names[0]
        twice += names[1:]
        if names[1:]:
            numbered = f"{names[0]} or {len(names)} numbered files, parts of one split: {parts}"
            questions.append(f"files: {split} may be {numbered if parts else ' or '.join(names)}")
    below = "" if home == PurePosixPath() else home.as_posix()
    return SplitFiles(id, below, chosen, twice, "; ".join(questions) or None)


def _pair(named: Sequence[_Named]) -> list[_Named]:
    """The file of texts and the one of their labels; empty if there are no such two, or they are in a zip."""
    texts, labels = ([file for file in named if file.role == role] for role in ("text", "label"))
    if len(texts) != 1 and len(labels) == 1 and len(named) == 2:  # PIQA: train.jsonl and train-labels.lst
        texts = [file for file in named if file not in labels]
    paired = [*texts, *labels]
    return paired if len(texts) == len(labels) == 1 and not any(file.archive for file in paired) else []


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


def _below(path: PurePosixPath, archive: PurePosixPath | None, home: PurePosixPath) -> str:
    """A file's name as a suite file has it, below a folder."""
    if archive is None:
        return path.relative_to(home).as_posix()
    return f"{archive.relative_to(home).as_posix()}{PART}{path.relative_to(archive).as_posix()}"


def _folders(data_dir: Path) -> Iterable[tuple[str, list[str]]]:
    """`data_dir` and each folder below it, as a path with slashes, and the names of its files; both sorted. Raises OSError for a folder that
    cannot be read."""

    def stop(error: OSError) -> None:
        raise error

    for folder, below, names in os.walk(data_dir, onerror=stop):
        below[:] = sorted(name for name in below if not name.startswith("."))
        path = Path(folder).relative_to(data_dir).as_posix()
        visible = (name for name in names if not name.startswith(".") and Path(folder, name).is_file())
        yield ("" if path == "." else path), sorted(visible)


def _ids(names: Sequence[str], positions: Iterable[tuple[str, str]]) -> list[str]:
    """A different id for each task; ids can be used in file names.

    A prefix of all names that ends in "_" or "-" is left out: klej_ar and klej_cbd become ar and cbd.
    Tasks of the same name get the names of their folders as a prefix.
    """
    prefixes = [names[0][: sign.end()] for sign in re.finditer("[_-]", names[0])] if len(set(names)) > 1 else []
    common = [prefix for prefix in prefixes if all(name.startswith(prefix) for name in names)]
    short = [name.removeprefix(common[-1] if common else "") or name for name in names]
    full = [
        "-".join([*folder.split("/"), stem]) if short.count(name) > 1 else name
        for name, (folder, stem) in zip(short, positions, strict=True)
    ]
    ids: list[str] = []
    for name in full:
        ids.append(task_id(name, ids))
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
