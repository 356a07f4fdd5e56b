"""A task's data from its copy on the Hugging Face Hub.

The Hub is not trusted: only data files are downloaded, into a temporary folder, and no code of a dataset is run. What
they hold is written to the task's own files only after it has been read as a run reads it."""

import json
import logging
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, cast
from urllib.parse import quote

import requests

from mtl.base.errors import InputError
from mtl.base.files import check_space, replacing
from mtl.data.columns import Value, listed, parquet_labels
from mtl.data.examples import read_examples, span_end
from mtl.data.fetching.archives import UNPACKED_LIMIT
from mtl.data.fetching.download import TIMEOUT, download
from mtl.data.records import FORMATS, is_typed, read_records, write_records
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLITS, HubSource, Task

ADDRESS = "https://huggingface.co"
"""The Hub's address; the environment variable HF_ENDPOINT names another one, as for the Hub's own library."""
CONVERTED = "refs/convert/parquet"
"""The revision under which the Hub keeps its own conversion of a dataset to parquet."""
SPLIT_WORDS = (("train", "training"), ("validation", "valid", "val", "dev"), ("test", "testing", "eval", "evaluation"))
"""Words in file names that the Hub takes for one split (its documentation, "File names and splits")."""
ANSWER_LIMIT = 2**26
"""The most bytes that the Hub may answer with when it is asked for a list of files."""
LISTED = 20
"""How many files an error message names at most."""

logger = logging.getLogger("mtl")


@dataclass(frozen=True)
class RepositoryFile:
    """A data file of a dataset: its address, its size in bytes, and its SHA-256 where the Hub states it."""

    url: str
    size: int
    sha256: str | None


@dataclass(frozen=True)
class Repository:
    """A dataset at one commit: its data files by path."""

    commit: str
    files: dict[str, RepositoryFile]


def fetch_from_hub(task: Task, hub: HubSource, data_dir: Path) -> None:
    """Write all files of a task from a dataset on the Hugging Face Hub: all or, on failure, none.

    A file has the columns that the task needs. A test file has no targets unless the task is scored on it.
    Raises InputError when the dataset cannot be had, lacks a split or a column, or holds rows that the task cannot read.
    """
    wanted = {split: name for split, name in task.files.items() if name is not None}
    with (
        TemporaryDirectory(prefix="mtl-hub-") as temporary,
        _errors(hub.dataset, Path(temporary)),
        ExitStack() as stack,
    ):
        folder = Path(temporary)
        repository = _repository(hub)
        files = {split: files_of_split(repository, split, hub) for split in wanted}
        copies = _download(repository, [path for paths in files.values() for path in paths], folder)
        written = {split: folder / f"{split}{PurePosixPath(name).suffix}" for split, name in wanted.items()}
        for split, path in written.items():
            _convert(task, hub, split, {name: copies[name] for name in files[split]}, path)
        for split, path in written.items():
            target = task.path(split, data_dir)
            assert target is not None
            shutil.copyfile(path, stack.enter_context(replacing(target)))
    logger.info("%s: written to %s from %s, commit %s", task.id, data_dir / task.folder, hub.dataset, repository.commit)


def _repository(hub: HubSource) -> Repository:
    """The dataset's data files: of its revision, or of main, or where main has none, of the Hub's conversion."""
    if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)?", hub.dataset):
        raise InputError("hub.dataset must be OWNER/NAME")
    if unknown := set(hub.splits) - set(SPLITS):
        raise InputError(f"unknown split {', '.join(sorted(unknown))}, expected {', '.join(SPLITS)}", key="hub.splits")
    for revision in [hub.revision] if hub.revision else ["main", CONVERTED]:
        answer = _answer(f"{_address()}/api/datasets/{hub.dataset}/revision/{quote(revision, safe='')}?blobs=true")
        try:
            commit = quote(answer["sha"], safe="")
            files = {
                (path := file["rfilename"]): RepositoryFile(
                    f"{_address()}/datasets/{hub.dataset}/resolve/{commit}/{quote(path)}",
                    int(file["size"]),
                    (file.get("lfs") or {}).get("sha256"),
                )
                for file in answer["siblings"]
                if PurePosixPath(file["rfilename"]).suffix in FORMATS
            }
        except (AttributeError, KeyError, TypeError, ValueError):
            raise InputError("the Hub's answer is not a list of files; check HF_ENDPOINT") from None
        if files:
            return Repository(commit, files)
    raise InputError(f"it has no {', '.join(FORMATS)} file")


def _address() -> str:
    return os.environ.get("HF_ENDPOINT", ADDRESS).rstrip("/")


def _answer(url: str) -> Any:
    """The JSON value that the Hub answers with."""
    try:
        with requests.get(url, timeout=TIMEOUT, stream=True) as response:
            response.raise_for_status()
            content = bytearray()
            for chunk in response.iter_content(2**16):
                content += chunk
                if len(content) > ANSWER_LIMIT:
                    raise InputError(f"{url}: the answer has more than {ANSWER_LIMIT // 2**20} MiB; check HF_ENDPOINT")
        return json.loads(content)
    except requests.HTTPError as error:
        raise InputError(
            f"{error}; check hub.dataset and hub.revision; a dataset that needs a login must be downloaded by hand"
        ) from None
    except (requests.ConnectionError, requests.Timeout):
        raise InputError(f"{url}: the server does not answer; check the network and run again") from None
    except (requests.RequestException, ValueError, RecursionError) as error:
        raise InputError(f"{url}: {error}; check HF_ENDPOINT") from None


def files_of_split(repository: Repository, split: str, hub: HubSource) -> list[str]:
    """The files of a split, in order: the one that `splits` names, or those whose name or folder has the split's name."""
    name = hub.splits.get(split, split)
    if name in repository.files:
        return [name]
    folder, _, word = name.rpartition("/")
    words = next((words for words in SPLIT_WORDS if word in words), (word,))
    pattern = re.compile(rf"(?<![A-Za-z])({'|'.join(map(re.escape, words))})(?![A-Za-z])")
    paths = [path for path in sorted(repository.files) if not folder or path.startswith(f"{folder}/")]
    matches = [path for path in paths if pattern.search(PurePosixPath(path).stem)]
    matches = matches or [path for path in paths if pattern.search(path[len(folder) :].rpartition("/")[0])]
    remedy = f"name one of its files in hub.splits.{split}: {listed(list(repository.files)[:LISTED])}"
    if not matches:
        raise InputError(f"it has no file of split {name!r}; {remedy}")
    # The parts of one split differ in their number and, in some datasets, in a hash.
    if len({re.sub(r"(?:[0-9a-f]{16}|\d+)(?=[^/]*$)", "#", path) for path in matches}) > 1:
        raise InputError(f"split {name!r} may be any of {listed(matches[:LISTED])}; {remedy}")
    return matches


def _download(repository: Repository, paths: Sequence[str], folder: Path) -> dict[str, Path]:
    """Download files to `folder`, by path. Their names on disk are ours: a path of the Hub could lead anywhere."""
    total = sum(repository.files[path].size for path in paths)
    if total > UNPACKED_LIMIT:
        raise InputError(f"its files have {total} bytes, over the limit of {UNPACKED_LIMIT}")
    check_space(folder, total, "set TMPDIR to a folder on another disk")
    copies = {}
    for number, path in enumerate(paths):
        file = repository.files[path]
        copies[path] = folder / f"copy-{number}{PurePosixPath(path).suffix}"
        download(file.url, copies[path], file.sha256, file.size)
    return copies


def _convert(task: Task, hub: HubSource, split: str, copies: dict[str, Path], path: Path) -> None:
    """Write the rows of a split's copies (by path on the Hub) to `path`, and check that a run can read them."""
    targets = task.has_targets(split)
    further = [task.target, *([task.group] if task.group else []), *task.further_columns] if targets else []
    columns = list(dict.fromkeys([*task.text_columns, *task.span_columns, *further]))
    rows = [values for copy in copies.items() for values in _rows(task, hub, columns, *copy, typed=is_typed(path))]
    if changed := write_records(path, columns, rows):
        logger.warning("%s: %d texts of split %s have tabs or line ends; each becomes a space", task.id, changed, split)
    read_examples(task, path, targets)
    if (published := task.rows.get(split)) not in (None, len(rows)):
        logger.warning(
            "%s: split %s of %s has %d rows where %d are published", task.id, split, hub.dataset, len(rows), published
        )


def _rows(
    task: Task, hub: HubSource, columns: Sequence[str], path: str, copy: Path, typed: bool
) -> Iterator[Sequence[Value]]:
    """The values of the task's columns in one file of the copy. Indices of labels are replaced by the task's labels.

    typed: whether the values are for a file with types, so that targets and spans from a file without them get one.
    """
    names = [hub.columns.get(column, column) for column in columns]
    try:
        records = read_records(copy, names)
    except InputError as error:
        raise error.located(path=path) from None
    target = columns.index(task.target) if task.target in columns else None
    labels = [] if target is None else _indexed_labels(task, copy, names[target])
    ends = [columns.index(column) for column in task.span_columns] if typed and not is_typed(copy) else []
    for record in records:
        values = list(record.values)
        for end in ends:
            values[end] = span_end(values[end])
        if target is not None and isinstance(index := values[target], int) and 0 <= index < len(labels):
            values[target] = labels[index]
        elif target is not None and typed and not is_typed(copy):
            values[target] = _with_type(task, str(values[target]))
        yield values


def _with_type(task: Task, cell: str) -> Value:
    """The target in a cell of a file without types, with a type that the task's targets have; the cell itself if it has none."""
    for type_of_target in target_kind(task).cells.types:
        try:
            return cast(Value, type_of_target(cell))
        except ValueError:
            continue
    return cell


def _indexed_labels(task: Task, copy: Path, column: str) -> list[str]:
    """The labels that the integers of a column are indices of, if these are the task's labels; else none."""
    if task.labels is None or copy.suffix != ".parquet":
        return []
    labels = parquet_labels(copy, column)
    return labels if set(task.labels) <= set(labels) else []


@contextmanager
def _errors(dataset: str, folder: Path) -> Iterator[None]:
    """Errors name the dataset instead of the temporary folder."""
    try:
        yield
    except OSError as error:
        file = Path(error.filename).name if error.filename else "the disk"
        raise InputError(f"the Hugging Face Hub's dataset {dataset}: {file}: {error.strerror or error}") from None
    except InputError as error:
        if error.path is not None and Path(error.path).is_relative_to(folder) and Path(error.path) != folder:
            error = error.located(path=Path(error.path).relative_to(folder))
        raise InputError(f"the Hugging Face Hub's dataset {dataset}: {error}") from None
