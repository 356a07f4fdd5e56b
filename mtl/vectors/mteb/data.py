"""The rows of a task, on the Hub or in a local folder, which is not trusted: where they are, and whether they can be read."""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import datasets
import mteb
import yaml
from datasets import Dataset
from huggingface_hub import metadata_load
from mteb.abstasks import AbsTask

from mtl.base.errors import InputError, reason_of
from mtl.base.files import sha256
from mtl.base.untrusted import inside, is_inside, read_bytes
from mtl.base.untrusted_lines import open_lines
from mtl.base.untrusted_yaml import YAML_LIMIT
from mtl.data.files import decode_utf8
from mtl.data.json_rows import parse_row
from mtl.vectors.mteb.benchmark import Benchmark

CLOSED = "the client has been closed"  # what the Hub's client says in the end if there is no network
TEXT_COLUMNS = ("input_column_name", "input1_column_name", "input2_column_name")  # attributes of mteb's tasks
# The values of a column: their Python types, and what messages call one.
TEXT, NUMBER, TARGET = (str | list, "text"), (int | float, "number"), (object, "target")


class MtebRows(NamedTuple):
    folder: Path | None  # None means on the Hub
    revision: str  # mteb's name for the version of the rows
    files: Sequence[Path] = ()  # of the folder


def find_rows(benchmark: Benchmark, name: str, data_dir: Path | None) -> MtebRows:
    """Where a task's rows are: in the folder with its name below data_dir, or else on the Hub. Raises InputError as `fresh_task`, and
    for a link that leads out of the folder, a dataset card that names other files, or a .huggingface.yaml, which may name some."""
    folder = None if data_dir is None else data_dir / name
    if folder is None or not folder.is_dir():
        return MtebRows(None, str(fresh_task(benchmark, name).metadata.revision))
    files = sorted(inside(folder, str(path.relative_to(folder))) for path in folder.rglob("*") if path.is_file())
    digest = hashlib.sha256()
    for file in files:
        if file.name == ".huggingface.yaml":
            raise InputError("is not supported; move its content to README.md", path=file)
        if file.name == "README.md":
            _check_card(file)
        digest.update(f"{file.relative_to(folder).as_posix()}\0{sha256(file)}\n".encode())
    return MtebRows(folder, f"local-{digest.hexdigest()[:16]}", files)


def fresh_task(benchmark: Benchmark, name: str, split: str = "test", rows: MtebRows | None = None) -> AbsTask:
    """A new task object of mteb, which an evaluation changes, for this split and these rows. Raises InputError for an unknown task or language."""
    try:
        # Of a task in pairs of languages, such as STS22, only those parts count in which all texts are in the benchmark's languages.
        task = mteb.get_task(name, languages=benchmark.languages, exclusive_language_filter=True)
    except (KeyError, ValueError) as error:
        raise InputError(f"benchmark {benchmark.name}: mteb {mteb.__version__}: {name}: {reason_of(error)}") from None
    changes: dict[str, Any] = {"eval_splits": [split]}
    if rows is not None and rows.folder is not None:
        changes["dataset"] = {"path": str(rows.folder), "revision": rows.revision}
    task.metadata = task.metadata.model_copy(update=changes)
    return task


def load_rows(task: AbsTask, rows: MtebRows) -> None:
    """Load a task's rows. Raises InputError if they cannot be had, lack a split, or have another form than the task's."""
    if rows.folder is not None and not rows.files:
        example = rows.folder / task.metadata.eval_splits[0]
        raise InputError(f"has no files; put the task's rows there, as in {example}.jsonl", path=rows.folder)
    for file in rows.files:
        if file.suffix == ".jsonl":
            _check_json_lines(file)
    try:
        with cache_of(rows):
            task.load_data()
    except Exception as error:  # datasets, its client and mteb raise many kinds of exceptions
        raise unreadable(task, rows, error) from None
    dataset: Mapping[str, Any] = task.dataset or {}
    for split in read_splits(task, task.metadata.eval_splits):
        for subset in task.hf_subsets:
            by_split = dataset.get(subset, dataset)  # mteb keeps those of a task without subsets directly
            if split not in by_split:
                source = rows.folder or task.metadata.name
                raise InputError(f"{source}: has no split {split}; it has {', '.join(by_split)}")
            if rows.folder is not None:
                # Of a file with another name, errors name the folder.
                _check_columns(task, by_split[split], min(rows.folder.glob(f"{split}.*"), default=rows.folder))


@contextlib.contextmanager
def cache_of(rows: MtebRows) -> Iterator[None]:
    """Within the block, datasets caches by the version of the rows. By path and time, replaced files (`cp -p`) would give old rows."""
    config = datasets.config
    before = Path(config.HF_DATASETS_CACHE)
    if rows.folder is not None:
        config.HF_DATASETS_CACHE = before / "mtl" / rows.revision
    try:
        yield
    finally:
        config.HF_DATASETS_CACHE = before


def read_splits(task: AbsTask, scored: Sequence[str]) -> list[str]:
    """The splits that an evaluation reads: the scored ones, and the training rows of tasks that train a classifier."""
    trained = getattr(task, "train_split", None)
    return list(dict.fromkeys([*scored, trained] if trained else scored))


def unreadable(task: AbsTask, rows: MtebRows, error: Exception) -> InputError:
    """The error for rows that mteb cannot have or read, as one line, from what mteb raised."""
    name = task.metadata.name
    if rows.folder is None:
        reason = "no connection" if CLOSED in str(error) else reason_of(error) or type(error).__name__
        problem = f"has no folder in data_dir, and the Hub's {task.metadata.dataset['path']} cannot be had: {reason}"
        return InputError(f"task {name}: {problem}; put its rows into data_dir/{name}")
    cause = error.__cause__ or error
    problem = f"not the rows of {name} in a form that mteb reads: {reason_of(cause) or type(cause).__name__}"
    return InputError(problem, path=rows.files[0] if len(rows.files) == 1 else rows.folder)


def _check_card(path: Path) -> None:
    """Raise InputError if a text below `configs` in the card of a dataset, where datasets finds the names of files, names none of its folder."""
    read_bytes(path, YAML_LIMIT)  # raises for a larger one
    try:
        configs = (metadata_load(path) or {}).get("configs")
    except (yaml.YAMLError, ValueError, RecursionError):  # datasets raises its own error
        return
    pending, known = [configs], set[int]()
    while pending:
        value = pending.pop()
        if isinstance(value, str) and (not is_inside(value) or ":" in value):  # an address, or a file system of fsspec
            raise InputError(f"{value!r} is no file of this folder; name one that is", path=path, key="configs")
        if isinstance(value, dict | list) and id(value) not in known:  # references may repeat it
            known.add(id(value))
            pending += value.values() if isinstance(value, dict) else value


def _check_json_lines(path: Path) -> None:
    """Raise InputError for a .jsonl file without rows, or with a line that is no row. datasets skips lines without text."""
    has_rows = False
    with open_lines(path) as lines:
        for line in lines:
            if line.strip():
                parse_row(path, lines.number, decode_utf8(line, str(path), lines.number - 1))
                has_rows = True
    if not has_rows:
        raise InputError("has no rows; write one JSON object a line", path=path)


def _check_columns(task: AbsTask, rows: Dataset, path: Path) -> None:
    """Raise InputError if the rows of this file lack a column of the task (by mteb's names), or a value there, or have one of another type."""
    if not isinstance(rows, Dataset):  # those of retrieval have other parts
        return
    for column, (types, title) in _columns(task).items():
        if column not in rows.column_names:
            raise InputError(f"has no column {column}; it has {', '.join(rows.column_names)}", path=path)
        for number, value in enumerate(rows[column], 1):
            if value is None or not isinstance(value, types):
                problem = "has no value" if value is None else f"{value!r} is not a {title}"
                raise InputError(f"row {number}: column {column}: {problem}; write one, or drop the row", path=path)


def _columns(task: AbsTask) -> dict[str, tuple[Any, str]]:
    """The columns that the task reads, by name, each with its values: TEXT, NUMBER or TARGET."""
    if task.metadata.type == "STS":
        return {**dict.fromkeys(task.column_names, TEXT), "score": NUMBER}
    columns: dict[str, tuple[Any, str]] = {}
    for attribute in TEXT_COLUMNS:
        name = getattr(task, attribute, None)
        if isinstance(name, str):  # tasks of other forms lack some
            columns[name] = TEXT
    target = getattr(task, "label_column_name", None)
    if isinstance(target, str):
        columns[target] = NUMBER if task.metadata.type == "PairClassification" else TARGET
    return columns
