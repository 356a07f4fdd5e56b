"""A task's data from its copy on the Hugging Face Hub. Only data files are downloaded, no code of a dataset is run, and what they hold is written
only after it has been read as a run reads it. This module imports huggingface_hub: import it only where the extra `hub` is installed."""

import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from mtl.base.errors import InputError, locating
from mtl.base.files import replacing
from mtl.base.log import logger
from mtl.benchmark_making.data_files import SUFFIXES, write_records
from mtl.benchmark_making.hub_files import LISTED, HubFiles, download, list_files, naming_the_dataset
from mtl.benchmark_making.init_suite.tables import labels_of, parquet_features
from mtl.data.columns import Value, printable_names
from mtl.data.examples import read_examples
from mtl.data.fetching.archives import UNPACKED_LIMIT
from mtl.data.numbered import numbered_names
from mtl.data.records import read_records
from mtl.tasks.sources import HubSource
from mtl.tasks.task import NUMBERED, SPLITS, Task

# Words in file names that the Hub takes for one split (its documentation, "File names and splits").
SPLIT_WORDS = (("train", "training"), ("validation", "valid", "val", "dev"), ("test", "testing", "eval", "evaluation"))


def fetch_from_hub(task: Task, hub: HubSource, data_dir: Path) -> None:
    """Write all files of a task from a dataset on the Hugging Face Hub: all or, on failure, none.
    They are those of the dataset's repository if it is a mirror of the task's folder. Otherwise a file has the columns that the task needs,
    and a test file has no targets unless the task is scored on it. Raises InputError if the dataset cannot be had, lacks a file, a split or
    a column, or holds rows that the task cannot read, for a revision that is no commit, and for an unknown split."""
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
            mirrored = {path: files[path] for path in _mirrored(task, files)}
            copies = download(hub.dataset, hub.revision, mirrored, UNPACKED_LIMIT)
            contents = {data_dir / path: copy for path, copy in copies.items()}
        else:
            contents = _converted(task, hub, files, data_dir, Path(temporary))
        with ExitStack() as stack:  # all files move in at its end
            for path, content in contents.items():
                shutil.copyfile(content, stack.enter_context(replacing(path)))
    logger.info("%s: written to %s from %s, commit %s", task.id, data_dir / task.folder, hub.dataset, hub.revision)


def _converted(task: Task, hub: HubSource, files: HubFiles, data_dir: Path, temporary: Path) -> dict[Path, Path]:
    """By the path of each of the task's files a file with its content, in the temporary folder."""
    data_files = {path: files[path] for path in files if PurePosixPath(path).suffix in SUFFIXES}
    if not data_files:
        raise InputError(f"it has no {', '.join(SUFFIXES)} file")
    paths = {split: path for split in task.files if (path := task.path(split, data_dir)) is not None}
    layouts = {split: task.layout(split, data_dir) for split in paths}
    if shared := [split for split, layout in layouts.items() if layout.part is not None or layout.beside is not None]:
        problem = "must be a file with the split's rows alone, unless the dataset is a mirror (hub.mirror=true)"
        raise InputError(problem, key=f"tasks.{task.id}.files.{shared[0]}")
    names = {split: files_of_split(data_files, split, hub) for split in paths}
    chosen = {name: data_files[name] for name in chain.from_iterable(names.values())}
    copies = download(hub.dataset, hub.revision, chosen, UNPACKED_LIMIT)
    contents = {}
    for split, path in paths.items():
        contents[path] = temporary / f"{split}{path.suffix}"
        _convert(task, hub, split, {name: copies[name] for name in names[split]}, contents[path])
    return contents


def _mirrored(task: Task, files: Collection[str]) -> list[str]:
    """The paths of the task's files, which are the same in its folder and in the dataset. Raises InputError if it lacks one."""
    paths: dict[str, None] = {}
    for split in task.files:
        names = task.relative_paths(split)
        if task.layout(split, Path()).part == NUMBERED:
            try:
                names = numbered_names(names[0], files)
            except ValueError as error:
                raise InputError(f"{names[0]}: {error}; check files and hub.revision") from None
        paths |= dict.fromkeys(names)
    if absent := [path for path in paths if path not in files]:
        raise InputError(f"it has no {absent[0]}; check folder, files and hub.revision")
    return list(paths)


def files_of_split(files: Collection[str], split: str, hub: HubSource) -> list[str]:
    """The files of a split, in order: the one that `splits` names, or those whose name or folder has the split's name."""
    name = hub.splits.get(split, split)
    if name in files:
        return [name]
    folder, _, word = name.rpartition("/")
    words = next((words for words in SPLIT_WORDS if word in words), (word,))
    pattern = re.compile(rf"(?<![A-Za-z])({'|'.join(map(re.escape, words))})(?![A-Za-z])")
    paths = [path for path in sorted(files) if not folder or path.startswith(f"{folder}/")]
    matches = [path for path in paths if pattern.search(PurePosixPath(path).stem)]
    matches = matches or [path for path in paths if pattern.search(path[len(folder) :].rpartition("/")[0])]
    remedy = f"name one of its files in hub.splits.{split}: {printable_names(list(files)[:LISTED])}"
    if not matches:
        raise InputError(f"it has no file of split {name!r}; {remedy}")
    # The parts of one split differ in their number and, in some datasets, in a hash.
    if len({re.sub(r"(?:[0-9a-f]{16}|\d+)(?=[^/]*$)", "#", path) for path in matches}) > 1:
        raise InputError(f"split {name!r} may be any of {printable_names(matches[:LISTED])}; {remedy}")
    return matches


def _convert(task: Task, hub: HubSource, split: str, copies: dict[str, Path], path: Path) -> None:
    """Write the rows of a split's copies (by path on the Hub) to `path`, and check that a run can read them."""
    targets = task.has_targets(split)
    columns = list(dict.fromkeys(task.read_columns(targets)))
    rows: list[Sequence[Value]] = []
    for path_on_hub, copy in copies.items():
        rows += _rows(task, hub, columns, path_on_hub, copy)
    if changed := write_records(path, columns, rows):
        logger.warning("%s: %d texts of split %s have tabs or line ends; each becomes a space", task.id, changed, split)
    read_examples(task, path, targets)
    if (published := task.rows.get(split)) not in (None, len(rows)):
        message = "%s: split %s of %s has %d rows where %d are published"
        logger.warning(message, task.id, split, hub.dataset, len(rows), published)


def _rows(task: Task, hub: HubSource, columns: Sequence[str], path: str, copy: Path) -> Iterator[Sequence[Value]]:
    """The values of the task's columns in one file of the copy. Indices of labels are replaced by the task's labels."""
    names = [hub.columns.get(column, column) for column in columns]
    with locating(path=path):
        records = read_records(copy, names)
    target = columns.index(task.target) if task.target in columns else None
    labels: list[str] = []
    if target is not None and task.labels is not None and copy.suffix == ".parquet":
        labels = labels_of(parquet_features(copy), names[target])
        if not set(task.labels) <= set(labels):  # then the integers are the labels themselves
            labels = []
    for record in records:
        values = list(record.values)
        if target is not None and isinstance(index := values[target], int) and 0 <= index < len(labels):
            values[target] = labels[index]
        yield values
