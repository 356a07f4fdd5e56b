"""A task's data from its copy on the Hugging Face Hub. Only data files are downloaded, into the cache of huggingface_hub, and no code of a dataset is
run. What they hold is not trusted: it is written to the task's files only after it has been read as a run reads it. `HF_TOKEN`, `HF_ENDPOINT` and
`HF_HOME` mean what they mean to huggingface_hub, which this module imports: import it only where the extra `hub` is installed."""

import logging
import re
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from huggingface_hub import DatasetCardData, HfApi, errors, hf_hub_download

from mtl.base.errors import InputError, resource_problem
from mtl.base.files import replacing
from mtl.base.untrusted import is_inside
from mtl.benchmark_making.data_files import SUFFIXES, write_records
from mtl.benchmark_making.init_suite.tables import parquet_labels
from mtl.data.columns import Value, printable_names
from mtl.data.examples import read_examples
from mtl.data.fetching.archives import UNPACKED_LIMIT
from mtl.data.hashes import GIT, checksum_problem
from mtl.data.records import read_records
from mtl.data.rows import numbered_names
from mtl.tasks.task import NUMBERED, SPLITS, HubSource, Task

# Words in file names that the Hub takes for one split (its documentation, "File names and splits").
SPLIT_WORDS = (("train", "training"), ("validation", "valid", "val", "dev"), ("test", "testing", "eval", "evaluation"))
TIMEOUT = 60.0  # the longest time in seconds to wait for the list of files; huggingface_hub has its own for their bytes
LISTED = 20  # files that an error message names at most
LOG_IN = "log in with `hf auth login` or set HF_TOKEN"
# What is wrong and what to do, by the error of huggingface_hub. The first that fits counts.
PROBLEMS: dict[type[Exception], str] = {
    errors.HFValidationError: "hub.dataset must be OWNER/NAME",
    errors.GatedRepoError: f"it is gated: ask for access on its page, and {LOG_IN}",  # also a RepositoryNotFoundError
    errors.RepositoryNotFoundError: f"there is no such dataset, or it is private; check its name, or {LOG_IN}",
    errors.RevisionNotFoundError: "it has no such revision; check its name",
    errors.OfflineModeIsEnabled: "HF_HUB_OFFLINE is set; unset it and run again",
}
# The data files of a dataset by path: the size in bytes, and the checksum, as `checksum_problem` takes it, if there is one.
HubFiles = dict[str, tuple[int, str | None]]

logger = logging.getLogger("mtl")


def fetch_from_hub(task: Task, hub: HubSource, data_dir: Path) -> None:
    """Write all files of a task from a dataset on the Hugging Face Hub: all or, on failure, none.

    They are those of the dataset's repository if it is a mirror of the task's folder. Otherwise a file has the columns that the task needs,
    and a test file has no targets unless the task is scored on it. Raises InputError if the dataset cannot be had, lacks a file, a split or
    a column, or holds rows that the task cannot read, for a revision that is no commit, and for an unknown split.
    """
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
    names = {split: files_of_split(data_files, split, hub) for split in paths}
    chosen = {name: data_files[name] for name in chain.from_iterable(names.values())}
    copies = download(hub.dataset, hub.revision, chosen, UNPACKED_LIMIT)
    contents = {}
    for split, path in paths.items():
        contents[path] = temporary / f"{split}{path.suffix}"
        _convert(task, hub, split, {name: copies[name] for name in names[split]}, contents[path])
    return contents


def list_files(dataset: str, revision: str) -> tuple[str, HubFiles, dict[str, Any]]:
    """The commit of a dataset's revision, its files, and its card. Raises InputError, from the error of huggingface_hub."""
    with _library_errors():
        info = HfApi(library_name="mtl").dataset_info(dataset, revision=revision, files_metadata=True, timeout=TIMEOUT)
        if not re.fullmatch("[0-9a-f]{40}", commit := str(info.sha)):
            raise ValueError("it names no commit")
        files: HubFiles = {}
        for file in info.siblings or ():
            if is_inside(file.rfilename):
                if not isinstance(file.size, int):
                    raise TypeError("it states no size")
                blob = GIT + file.blob_id if file.blob_id else None
                files[file.rfilename] = file.size, file.lfs.sha256 if file.lfs else blob
    return commit, files, info.card_data.to_dict() if isinstance(info.card_data, DatasetCardData) else {}


def _mirrored(task: Task, files: Collection[str]) -> list[str]:
    """The paths of the task's files, which are the same in its folder and in the dataset. Raises InputError if it lacks one."""
    paths: dict[str, None] = {}
    for split in task.files:
        names = [PurePosixPath(task.folder, name).as_posix() for name in task.file_names(split)]
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


def download(dataset: str, commit: str, files: HubFiles, limit: int) -> dict[str, Path]:
    """These files, by path, in the cache of huggingface_hub, which continues an interrupted download. Raises InputError, also if they have
    more bytes than the limit."""
    total = sum(size for size, _ in files.values())
    if total > limit:
        raise InputError(f"its files have {total} bytes, over the limit of {limit}")
    copies = {}
    for path, (stated, checksum) in files.items():
        with _library_errors():
            copy = Path(hf_hub_download(dataset, path, repo_type="dataset", revision=commit, library_name="mtl"))
        size = copy.stat().st_size
        problem = checksum_problem(copy, checksum) if checksum is not None and size == stated else None
        if size != stated:
            problem = f"has {size} bytes, not the {stated} that the Hub lists"
        if problem is not None:
            copy.resolve().unlink()  # else the cache would give this file again
            raise InputError(f"{problem}; it was damaged on the way; run again", path=path)
        copies[path] = copy
    return copies


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
    try:
        records = read_records(copy, names)
    except InputError as error:
        raise error.located(path=path) from None
    target = columns.index(task.target) if task.target in columns else None
    labels: list[str] = []
    if target is not None and task.labels is not None and copy.suffix == ".parquet":
        labels = parquet_labels(copy, names[target])
        if not set(task.labels) <= set(labels):  # then the integers are the labels themselves
            labels = []
    for record in records:
        values = list(record.values)
        if target is not None and isinstance(index := values[target], int) and 0 <= index < len(labels):
            values[target] = labels[index]
        yield values


@contextmanager
def naming_the_dataset(dataset: str, folder: Path) -> Iterator[None]:
    """Within the block, an error is one line that names the dataset, and a file in the temporary folder by its name."""
    try:
        yield
    except OSError as error:
        raise InputError(f"the Hugging Face Hub's dataset {dataset}: {resource_problem(error)}") from error
    except InputError as error:
        if error.path is not None and Path(error.path).is_relative_to(folder) and Path(error.path) != folder:
            error = error.located(path=Path(error.path).relative_to(folder))
        raise InputError(f"the Hugging Face Hub's dataset {dataset}: {error}") from None


@contextmanager
def _library_errors() -> Iterator[None]:
    """Within the block, an error of huggingface_hub is an InputError."""
    try:
        yield
    except Exception as error:  # of many kinds, for an answer that is not the Hub's
        raise InputError(_problem(error)) from error


def _problem(error: Exception) -> str:
    """What is wrong with the dataset, the Hub, the network or the disk, and what to do."""
    if isinstance(error, errors.LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # it is not in the cache because the Hub did not give it
    for kind, problem in PROBLEMS.items():
        if isinstance(error, kind):
            return problem
    if isinstance(error, errors.HfHubHTTPError):
        advice = LOG_IN if error.response.status_code in (401, 403) else "check HF_ENDPOINT, or run again later"
        return f"the Hub answers {error.response.status_code} {error.response.reason_phrase}; {advice}"
    if isinstance(error, OSError) and error.errno is not None:
        return str(resource_problem(error))
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    advice = "check the network and HF_ENDPOINT, and run again to continue"
    return f"the Hub does not answer as it should ({reason}); {advice}"
