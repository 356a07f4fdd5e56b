"""A task's data from its copy on the Hugging Face Hub. Only data files are downloaded, no code of a dataset is run, and what they hold is written
only after it has been read as a run reads it. This module imports huggingface_hub: import it only where the extra `hub` is installed."""

import re
import shutil
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from mtl.base.errors import InputError, locating
from mtl.base.files import replacing
from mtl.base.log import logger
from mtl.benchmark_making.data_files import SUFFIXES, write_records
from mtl.benchmark_making.hub_files import LISTED, HubFiles, download, list_files, naming_the_dataset
from mtl.data.columns import Value, printable_names
from mtl.data.examples import read_examples
from mtl.data.fetching.archives import UNPACKED_LIMIT
from mtl.data.numbered import numbered_names
from mtl.data.parquet import labels_of, parquet_features
from mtl.data.records import read_records
from mtl.tasks.sources import HubSource
from mtl.tasks.task import NUMBERED, SPLITS, Task

# Words in file names that the Hub takes for one split (its documentation, "File names and splits").
SPLIT_WORDS = (("train", "training"), ("validation", "valid", "val", "dev"), ("test", "testing", "eval", "evaluation"))
SAME_SPLIT = {word: words for words in SPLIT_WORDS for word in words}
NUMBER_OR_HASH = re.compile(r"(?:[0-9a-f]{16}|\d+)(?=[^/]*$)")  # in which the names of a split's parts differ


def fetch_from_hub(task: Task, hub: HubSource, data_dir: Path) -> None:
    """Write all files of a task from the Hugging Face Hub, or on failure none: those of a mirror as they are, else files with the columns that it
    needs, a test file that is not scored without targets. Raises InputError for what is missing or unreadable, and a bad revision or split."""
    if not re.fullmatch("[0-9a-f]{40}", hub.revision):
        where = "which the data set's page shows under Files, History"
        problem = f"must be a commit (40 hexadecimal digits), {where}; what a branch or a tag names can change"
        raise InputError(problem, key=f"tasks.{task.id}.hub.revision")
    if unknown := set(hub.splits) - set(SPLITS):
        problem = f"unknown split {', '.join(sorted(unknown))}, expected {', '.join(SPLITS)}"
        raise InputError(problem, key=f"tasks.{task.id}.hub.splits")
    with TemporaryDirectory(prefix="mtl-hub-") as temporary, naming_the_dataset(hub.dataset, Path(temporary)):
        _, files, _ = list_files(hub.dataset, hub.revision)
        if hub.mirror:
            contents = _mirrored(task, hub, files, data_dir)
        else:
            contents = _converted(task, hub, files, data_dir, Path(temporary))
        with ExitStack() as stack:  # all files move in at its end
            for path, content in contents.items():
                shutil.copyfile(content, stack.enter_context(replacing(path)))
    logger.info("%s: written to %s from %s, commit %s", task.id, data_dir / task.folder, hub.dataset, hub.revision)


def _mirrored(task: Task, hub: HubSource, files: HubFiles, data_dir: Path) -> dict[Path, Path]:
    """By the path of each of the task's files its copy, which is the same in the dataset. Raises InputError if that lacks one."""
    task_files: HubFiles = {}
    for split in task.files:
        names = task.relative_paths(split)
        if task.layout(split, Path()).part == NUMBERED:
            try:
                names = numbered_names(names[0], files)
            except ValueError as error:
                raise InputError(f"{names[0]}: {error}; check files and hub.revision") from None
        for name in names:
            if name not in files:
                raise InputError(f"it has no {name}; check folder, files and hub.revision")
            task_files[name] = files[name]
    copies = download(hub.dataset, hub.revision, task_files, UNPACKED_LIMIT)
    return {data_dir / name: copy for name, copy in copies.items()}


def _converted(task: Task, hub: HubSource, files: HubFiles, data_dir: Path, temporary: Path) -> dict[Path, Path]:
    """By the path of each of the task's files a file with its content, in the temporary folder. Raises InputError for a file of several splits."""
    data_files = {name: file for name, file in files.items() if PurePosixPath(name).suffix in SUFFIXES}
    if not data_files:
        raise InputError(f"it has no {', '.join(SUFFIXES)} file")
    paths = {split: path for split in task.files if (path := task.path(split, data_dir)) is not None}
    for split in paths:
        layout = task.layout(split, data_dir)
        if layout.part is not None or layout.beside is not None:
            problem = "must be a file with the split's rows alone, unless the dataset is a mirror (hub.mirror=true)"
            raise InputError(problem, key=f"tasks.{task.id}.files.{split}")
    names = {split: files_of_split(data_files, split, hub) for split in paths}
    task_files = {name: data_files[name] for split_names in names.values() for name in split_names}
    copies = download(hub.dataset, hub.revision, task_files, UNPACKED_LIMIT)
    contents = {}
    for split, path in paths.items():
        contents[path] = temporary / f"{split}{path.suffix}"
        _write_split(task, hub, split, {name: copies[name] for name in names[split]}, contents[path])
    return contents


def files_of_split(files: Collection[str], split: str, hub: HubSource) -> list[str]:
    """The files of a split, in order: the one that `splits` names, or those whose name or folder has the split's name."""
    name = hub.splits.get(split, split)
    if name in files:
        return [name]
    folder, _, word = name.rpartition("/")
    words = "|".join(re.escape(synonym) for synonym in SAME_SPLIT.get(word, (word,)))
    pattern = re.compile(rf"(?<![A-Za-z])({words})(?![A-Za-z])")
    paths = [path for path in sorted(files) if not folder or path.startswith(f"{folder}/")]
    by_name = [path for path in paths if pattern.search(PurePosixPath(path).stem)]
    matches = by_name or [path for path in paths if pattern.search(path[len(folder) :].rpartition("/")[0])]
    remedy = f"name one of its files in hub.splits.{split}: {printable_names(list(files)[:LISTED])}"
    if not matches:
        raise InputError(f"it has no file of split {name!r}; {remedy}")
    if len({NUMBER_OR_HASH.sub("#", path) for path in matches}) > 1:
        raise InputError(f"split {name!r} may be any of {printable_names(matches[:LISTED])}; {remedy}")
    return matches


def _write_split(task: Task, hub: HubSource, split: str, copies: dict[str, Path], path: Path) -> None:
    """Write the rows of a split's copies (by path on the Hub) to `path`, and check that a run can read them."""
    targets = task.has_targets(split)
    columns = list(dict.fromkeys(task.read_columns(targets)))
    rows: list[Sequence[Value]] = []
    for name, copy in copies.items():
        rows += _read_rows(task, hub, columns, name, copy)
    if changed := write_records(path, columns, rows):
        logger.warning("%s: %d texts of split %s have tabs or line ends; each becomes a space", task.id, changed, split)
    read_examples(task, path, targets)
    published = task.rows.get(split, len(rows))
    if published != len(rows):
        message = "%s: split %s of %s has %d rows where %d are published"
        logger.warning(message, task.id, split, hub.dataset, len(rows), published)


def _read_rows(task: Task, hub: HubSource, columns: Sequence[str], name: str, copy: Path) -> list[list[Value]]:
    """The values of the task's columns in the copy of a file on the Hub. Indices of labels are replaced by the task's labels."""
    names = [hub.columns.get(column, column) for column in columns]
    with locating(path=name):
        rows = [list(record.values) for record in read_records(copy, names)]
    if task.target not in columns or task.labels is None or copy.suffix != ".parquet":
        return rows
    target = columns.index(task.target)
    labels = labels_of(parquet_features(copy), names[target])
    if not set(task.labels) <= set(labels):  # the integers are the labels themselves
        return rows
    for row in rows:
        index = row[target]
        if isinstance(index, int) and 0 <= index < len(labels):
            row[target] = labels[index]
    return rows
