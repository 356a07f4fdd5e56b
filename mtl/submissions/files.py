"""The files of a submission, zipped or in a folder: their content, and which of them hold predictions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.untrusted import check_plain_folder, read_bytes, read_errors
from mtl.data.fetching.archives import read_zip
from mtl.runs.folder import FILE
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

SPLITS = ("dev", "test")  # of a submission
JSON_LINES = "{split}_pred_{task}.jsonl"
JSON_BY_ID = "{split}_pred_{task}.json"
CSV = "{split}_pred_{task}.csv"
SUBMISSION_LIMIT = 2**28  # bytes of all files of predictions together, unpacked
MOST_PREDICTIONS = 2_000_000  # lines of a file of predictions whose rows are not known
MOST_FOREIGN = 10  # files of other names that are listed


def rows_name(task: Task, split: str) -> str:
    """The name of a file of the data's rows with predictions."""
    return f"{task.id}/{split}.jsonl"


def row_contents(path: Path, contents: Mapping[str, bytes], task: Task) -> Iterator[tuple[str, str, bytes]]:
    """The split, the path and the content of each file of the task's rows in the submission at `path`, whose files have these contents."""
    for split in SPLITS:
        if (content := contents.get(name := rows_name(task, split))) is not None:
            yield split, f"{path}/{name}", content


def test_name(task: Task) -> str:
    """The name of a task's file of test predictions."""
    return FILE.format(split="test", task=task.id)


def glue_name(task: Task) -> str:
    """The name of a task's file of test predictions with an index."""
    return f"{task.title}.tsv"


def is_entry(name: str) -> bool:
    """Whether a file of this name in a submission is the leaderboard's entry."""
    return "/" not in name and name.endswith(".json")


def prediction_names(suite: Suite) -> dict[str, tuple[str, str]]:
    """The names that files of predictions may have, each with the task's id and the split."""
    names: dict[str, tuple[str, str]] = {}
    for task in suite.tasks.values():
        for split in SPLITS:
            forms = [form.format(split=split, task=task.id) for form in (FILE, JSON_LINES, CSV, JSON_BY_ID)]
            indexed = [glue_name(task)] if suite.submission.format == "glue" and split == "test" else []
            names |= dict.fromkeys([*forms, *indexed, rows_name(task, split)], (task.id, split))
    return names


def predicted_splits(
    path: Path, names: Sequence[str], suite: Suite, is_allowed: Callable[[str], object]
) -> set[tuple[str, str]]:
    """The tasks and splits that a zip or a folder with these files predicts. Raises InputError for a foreign file that `is_allowed` does not take."""
    known = prediction_names(suite)
    if foreign := [name for name in names if name not in known and not is_allowed(name)]:
        if not known.keys() & {*names}:
            check_top(path, foreign, known.__contains__)
        forms = ", ".join(form.format(split="dev", task="TASK") for form in (FILE, CSV, JSON_LINES))
        names_taken = f"{forms} or TASK/dev.jsonl, for dev or test, and TASK is one of {', '.join(suite.tasks)}"
        problem = f"is no file of predictions of suite {suite.name}; such files are called {names_taken}"
        raise InputError(problem, path=f"{path}/{foreign[0]}")
    return {known[name] for name in names if name in known}


def read_files(path: Path, wanted: Callable[[str], bool]) -> tuple[dict[str, bytes], list[str]]:
    """The content of the wanted files in a zip or a folder, by their path in it, and the paths of all other files, which are not read. Raises
    InputError if the path is neither, for a folder that holds links, pipes or devices, and as `mtl.data.fetching.archives.read_zip` does."""
    with read_errors(path, " or folder"):
        if path.is_file() and path.suffix in {Path(form).suffix for form in (FILE, JSON_LINES, CSV, JSON_BY_ID)}:
            example = CSV.format(split="dev", task="TASK")
            problem = f"is one file; name it as in {example}, put it in a folder, and name the folder"
            raise InputError(problem, path=path)
        contents, others = _read_folder(path, wanted) if path.is_dir() else read_zip(path, wanted, SUBMISSION_LIMIT)
    if not contents:
        check_top(path, others, wanted)
    return contents, others


def _read_folder(path: Path, wanted: Callable[[str], bool]) -> tuple[dict[str, bytes], list[str]]:
    """As `read_files`, of a folder."""
    check_plain_folder(path)
    files = {file.relative_to(path).as_posix(): file for file in sorted(path.rglob("*")) if file.is_file()}
    names = [name for name in files if wanted(name)]
    if sum(files[name].stat().st_size for name in names) > SUBMISSION_LIMIT:
        raise InputError(f"its files have more than {SUBMISSION_LIMIT} bytes; no submission does", path=path)
    contents = {name: read_bytes(files[name], SUBMISSION_LIMIT) for name in names}
    return contents, [name for name in files if name not in contents]


def read_submission(path: Path, suite: Suite) -> tuple[dict[str, bytes], list[str]]:
    """The entries and the rows of the suite's tasks in a submission, by path, and the paths of all other files. Raises InputError as `read_files`."""
    rows = {rows_name(task, split) for task in suite.tasks.values() for split in SPLITS}
    return read_files(path, lambda name: name in rows or is_entry(name))


def check_top(path: Path, names: Sequence[str], wanted: Callable[[str], object]) -> None:
    """Raise InputError if files that are wanted at the top of a zip or a folder stand in a folder there, which was zipped in place of its files."""
    for name in sorted(names):
        folder, _, inner_name = name.partition("/")
        if inner_name and wanted(inner_name):
            remedy = f"name the folder {path / folder}" if path.is_dir() else "zip the files, not their folder"
            raise InputError(f"has {name} where {inner_name} is expected; {remedy}", path=path)


def foreign_problems(path: Path, suite: Suite, names: Sequence[str], what: str) -> list[str]:
    """One problem for each file that does not belong in a submission of `what`, as in "test predictions"; after MOST_FOREIGN, their number."""
    problems = [f"{path}/{name}: not a file of {what} of suite {suite.name}" for name in names[:MOST_FOREIGN]]
    further = len(names) - MOST_FOREIGN
    return problems if further <= 0 else [*problems, f"{path}: {further} further files of other names"]
