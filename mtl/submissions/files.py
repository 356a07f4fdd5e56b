"""The files of a submission, zipped or in a folder: what they are called, and the content of those that are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.untrusted import check_plain_folder, read_bytes, read_errors
from mtl.data.fetching.archives import read_zip
from mtl.data.files import split_lines
from mtl.runs.folder import FILE
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

SPLITS = ("dev", "test")  # of a submission
JSON_LINES = "{split}_pred_{task}.jsonl"
JSON_BY_ID = "{split}_pred_{task}.json"
CSV = "{split}_pred_{task}.csv"
NAMES = (FILE, JSON_LINES, CSV, JSON_BY_ID)  # of files of predictions
SUBMISSION_LIMIT = 2**28  # bytes of all files of predictions together, unpacked
MOST_PREDICTIONS = 2_000_000  # lines of a file of predictions whose rows are not known
MOST_FOREIGN = 10  # files of other names that are listed


@dataclass(frozen=True)
class PredictionFile:
    """A file of predictions before it is read."""

    task: Task  # that the predictions are of
    name: str  # the path of the file, for messages; its suffix says which form it has
    content: bytes
    ids: Sequence[str]  # what its column of ids may be called, beside `mtl.submissions.lines.ID_COLUMNS`
    most: int  # lines that it may have
    has_rows: bool = False  # whether its lines are the data's rows with predictions

    @cached_property
    def lines(self) -> list[str]:
        """Its lines without their ends. Raises InputError for too many of them."""
        return split_lines(self.content, self.name, most=self.most)

    def error(self, message: str, line: int) -> InputError:
        """The error on a line, from 1."""
        return InputError(message, path=self.name, line=line)


@dataclass(frozen=True)
class SubmissionFiles:
    """The files of a zip or a folder."""

    path: Path  # of the zip or the folder
    contents: Mapping[str, bytes]  # of the files that are read, by their path in it
    unread: Sequence[str]  # the paths of all other files in it

    def of_rows(self, task: Task, ids: Sequence[str] = ()) -> dict[str, PredictionFile]:
        """The files of the rows of a task, by split. `ids` are those of `PredictionFile`."""
        names = {split: rows_name(task, split) for split in SPLITS if rows_name(task, split) in self.contents}
        return {split: self.file(name, task, ids, MOST_PREDICTIONS, has_rows=True) for split, name in names.items()}

    def file(self, name: str, task: Task, ids: Sequence[str], most: int, has_rows: bool = False) -> PredictionFile:
        """The file of this name, which has predictions of a task. The arguments are those of `PredictionFile`."""
        return PredictionFile(task, f"{self.path}/{name}", self.contents[name], ids, most, has_rows)

    def foreign_problems(self, suite: Suite, what: str) -> list[str]:
        """A line for each file that is not read, since it is none of `what`, as in "test predictions"; after MOST_FOREIGN, their number."""
        listed, further = self.unread[:MOST_FOREIGN], len(self.unread) - MOST_FOREIGN
        problems = [f"{self.path}/{name}: not a file of {what} of suite {suite.name}" for name in listed]
        return problems if further <= 0 else [*problems, f"{self.path}: {further} further files of other names"]


def read_files(path: Path, wanted: Callable[[str], bool]) -> SubmissionFiles:
    """The files of a zip or a folder, of which the wanted ones are read. Raises InputError for another path, and for what is unsafe to read."""
    with read_errors(path, " or folder"):
        if path.is_file() and path.suffix in {Path(name).suffix for name in NAMES}:
            remedy = f"name it as in {CSV.format(split='dev', task='TASK')}, put it in a folder, and name the folder"
            raise InputError(f"is one file; {remedy}", path=path)
        contents, unread = _read_folder(path, wanted) if path.is_dir() else read_zip(path, wanted, SUBMISSION_LIMIT)
    if not contents:
        _check_top(path, unread, wanted)
    return SubmissionFiles(path, contents, unread)


def _read_folder(path: Path, wanted: Callable[[str], bool]) -> tuple[dict[str, bytes], list[str]]:
    """The content of the wanted files in a folder, by their path in it, and the paths of all other files."""
    check_plain_folder(path)
    files = {file.relative_to(path).as_posix(): file for file in sorted(path.rglob("*")) if file.is_file()}
    names = [name for name in files if wanted(name)]
    if sum(files[name].stat().st_size for name in names) > SUBMISSION_LIMIT:
        raise InputError(f"its files have more than {SUBMISSION_LIMIT} bytes; no submission does", path=path)
    contents = {name: read_bytes(files[name], SUBMISSION_LIMIT) for name in names}
    return contents, [name for name in files if name not in contents]


def _check_top(path: Path, names: Sequence[str], wanted: Callable[[str], bool]) -> None:
    """Raise InputError if files that are wanted at the top of a zip or a folder stand in a folder there, which was zipped in place of its files."""
    for name in sorted(names):
        folder, _, inner_name = name.partition("/")
        if inner_name and wanted(inner_name):
            remedy = f"name the folder {path / folder}" if path.is_dir() else "zip the files, not their folder"
            raise InputError(f"has {name} where {inner_name} is expected; {remedy}", path=path)


def read_submission(path: Path, suite: Suite) -> SubmissionFiles:
    """The files of a submission, of which entries and the rows of the suite's tasks are read. Raises InputError as `read_files`."""
    rows = {rows_name(task, split) for task in suite.tasks.values() for split in SPLITS}
    return read_files(path, lambda name: name in rows or is_entry(name))


def predicted_splits(files: SubmissionFiles, suite: Suite, allowed: Callable[[str], object]) -> set[tuple[str, str]]:
    """The tasks and splits that the unread files have predictions of. Raises InputError for a file that has none and is not allowed."""
    known = prediction_names(suite)
    predicted = {known[name] for name in files.unread if name in known}
    if foreign := [name for name in files.unread if name not in known and not allowed(name)]:
        if not predicted:
            _check_top(files.path, foreign, known.__contains__)
        examples = ", ".join(name.format(split="dev", task="TASK") for name in (FILE, CSV, JSON_LINES))
        rule = f"such files are called {examples} or TASK/dev.jsonl, for dev or test, and TASK is one of {', '.join(suite.tasks)}"
        raise InputError(f"is no file of predictions of suite {suite.name}; {rule}", path=f"{files.path}/{foreign[0]}")
    return predicted


def prediction_names(suite: Suite) -> dict[str, tuple[str, str]]:
    """The names that files of predictions may have, each with the task's id and the split."""
    names: dict[str, tuple[str, str]] = {}
    for task in suite.tasks.values():
        for split in SPLITS:
            task_names = [name.format(split=split, task=task.id) for name in NAMES]
            if suite.submission.format == "glue" and split == "test":
                task_names.append(glue_name(task))
            names |= dict.fromkeys([*task_names, rows_name(task, split)], (task.id, split))
    return names


def rows_name(task: Task, split: str) -> str:
    """The name of a file of the data's rows with predictions."""
    return f"{task.id}/{split}.jsonl"


def glue_name(task: Task) -> str:
    """The name of a task's file of test predictions with an index."""
    return f"{task.title}.tsv"


def is_entry(name: str) -> bool:
    """Whether a file of this name in a submission is the leaderboard's entry."""
    return "/" not in name and name.endswith(".json")
