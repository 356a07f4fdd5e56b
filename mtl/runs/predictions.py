"""Read prediction files: check whether a leaderboard can accept them, and pair them with gold targets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.untrusted import check_plain_folder, read_bytes
from mtl.data.examples import Example, read_examples, read_rows, read_targets
from mtl.data.fetching.archives import UNPACKED_LIMIT, read_zip
from mtl.data.files import split_lines
from mtl.data.records import has_column
from mtl.data.splits import read_task
from mtl.runs.folder import RunFolder
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

FILE = "{split}_pred_{task}.tsv"
MOST_FOREIGN = 10  # files of other names that are listed

Plain = Callable[[str, Sequence[str]], list[str]]


def read_files(path: Path, wanted: Callable[[str], bool]) -> tuple[dict[str, bytes], list[str]]:
    """The content of the wanted files in a zip or a folder, by their path in it, and the paths of all other files, which are not
    read.

    Raises InputError if the path is neither, for a folder that holds links, pipes or devices, and as `mtl.data.fetching.archives.read_zip` does.
    """
    try:
        if not path.is_dir():
            return read_zip(path, wanted)
        check_plain_folder(path)
        files = {file.relative_to(path).as_posix(): file for file in sorted(path.rglob("*")) if file.is_file()}
        names = [name for name in files if wanted(name)]
        if sum(files[name].stat().st_size for name in names) > UNPACKED_LIMIT:
            raise InputError(f"its files have more than {UNPACKED_LIMIT} bytes; no submission does", path=path)
        contents = {name: read_bytes(files[name], UNPACKED_LIMIT) for name in names}
        return contents, [name for name in files if name not in contents]
    except FileNotFoundError:
        raise InputError("no such file or folder", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None


def foreign_problems(path: Path, suite: Suite, names: Sequence[str], what: str) -> list[str]:
    """One problem for each file that does not belong in a submission. The first MOST_FOREIGN files are named, and the others are
    counted.

    Args:
        what: what the files of the submission hold, as in "test predictions".
    """
    problems = [f"{path}/{name}: not a file of {what} of suite {suite.name}" for name in names[:MOST_FOREIGN]]
    further = len(names) - MOST_FOREIGN
    return problems if further <= 0 else [*problems, f"{path}: {further} further files of other names"]


def submission_problems(
    path: Path, suite: Suite, data_dir: Path, wanted: Mapping[str, Task], plain: Plain | None = None
) -> list[str]:
    """The problems for which the leaderboard would refuse this zip or folder, as "file:line: message"; empty if there are none.

    The numbers of rows must be the published ones, or, if none are published, those of the test files in `data_dir`.

    Args:
        wanted: the tasks by the names of the files that it must have.
        plain: what makes lines with one prediction each of a file's name and lines; None: they are such lines.
    """
    contents, others = read_files(path, wanted.__contains__)
    if not contents and others and all("/" in name for name in others):
        return [f"{path}: its files are in a folder, as in {others[0]}; zip the files without a folder"]
    problems = [f"{path}/{name}: is missing" for name in wanted if name not in contents]
    problems += foreign_problems(path, suite, others, "test predictions")
    for name, task in wanted.items():
        if name in contents:
            lines = split_lines(contents[name], f"{path}/{name}")
            try:
                lines = plain(f"{path}/{name}", lines) if plain else lines
            except InputError as error:
                problems.append(str(error))
                continue
            problems += [f"{path}/{name}{problem}" for problem in file_problems(task, lines, _rows(task, data_dir))]
    return problems


def file_problems(
    task: Task, lines: Sequence[str], rows: int | None, candidates: np.ndarray | None = None
) -> list[str]:
    """The problems of a prediction file, as ":line: message".

    Args:
        rows: the number of rows that it must have; None: unknown.
        candidates: int64 (rows,), the number of candidates of each row of a choice; None: unknown.
    """
    if not lines:
        return [":1: the file is empty; it needs a header and one prediction for each row"]
    problems, kind = [], target_kind(task)
    if lines[0] not in (task.target, "target"):
        names = " or ".join(dict.fromkeys([repr(task.target), "'target'"]))
        problems.append(f":1: the header is {lines[0]!r}; it must be {names}")
    for number, line in enumerate(lines[1:], start=2):
        try:
            counted = candidates is not None and number - 2 < len(candidates)
            count = int(candidates[number - 2]) if counted and candidates is not None else None
            kind.cells.parse_prediction(kind.cells.line_cell(line), count)
        except ValueError as error:
            problems.append(f":{number}: {error}")
    if rows is not None and len(lines) - 1 != rows:
        problems.append(f":{len(lines)}: {len(lines) - 1} predictions for {rows} test rows")
    return problems


def submission_remarks(path: Path, files: Mapping[str, Task], plain: Plain | None = None) -> list[str]:
    """What the user should know of the valid test predictions in a zip or folder, as "file: message", one line a file at most.

    Args:
        files, plain: `wanted` and `plain` of `submission_problems`.
    """
    lines = {
        name: split_lines(content, f"{path}/{name}")
        for name, content in read_files(path, files.__contains__)[0].items()
    }
    predictions = {
        name: read_targets_of_lines(files[name], plain(f"{path}/{name}", own) if plain else own)
        for name, own in lines.items()
    }
    return [
        f"{path}/{name}: {remark}"
        for name, predicted in predictions.items()
        if (remark := target_kind(files[name]).cells.remark(predicted))
    ]


def read_targets_of_lines(task: Task, lines: Sequence[str]) -> np.ndarray:
    """The targets (rows,) that the lines of a file of valid predictions mean."""
    kind = target_kind(task)
    return np.array(
        [kind.cells.parse_prediction(kind.cells.line_cell(line)) for line in lines[1:]], dtype=kind.cells.dtype
    )


def _rows(task: Task, data_dir: Path) -> int | None:
    if "test" in task.rows:
        return task.rows["test"]
    path = task.path("test", data_dir)
    return len(read_rows(task, path)) if path is not None and path.is_file() else None


def gold_and_predictions(
    path: Path,
    suite: Suite,
    tasks: Sequence[Task],
    gold_dir: Path,
    held_out: float,
    submitted: Mapping[str, Task] | None = None,
    plain: Plain | None = None,
) -> dict[str, tuple[str, np.ndarray, ScoredRows]]:
    """For each of these tasks that has predictions and gold targets, by task id: the split, the predictions (rows,) and the rows
    with gold targets.

    Test predictions are used if test has gold targets, otherwise dev predictions. If a task has no dev file, its dev
    rows are the held-out rows.

    Args:
        path: a zip or folder of predictions.
        gold_dir: a data folder whose files have the target column (a test file may also be named test.tsv), or the
            `gold` folder of a run.
        held_out: the share of training rows that is held out.
        submitted: tasks by the names of files of test predictions in the form of their leaderboard.
        plain: makes lines with one prediction each of such a file's name and lines.

    Raises:
        InputError: for missing folders, and for predictions that do not fit their gold rows.
    """
    if not gold_dir.is_dir():
        raise InputError("no such folder; --gold names a data folder with targets", path=gold_dir)
    names = {FILE.format(split=split, task=task.id) for task in tasks for split in ("test", "dev")}
    others = {name: FILE.format(split="test", task=task.id) for name, task in (submitted or {}).items()}
    contents, _ = read_files(path, lambda name: name in names or name in others)
    lines = {}
    for name, content in contents.items():
        own = split_lines(content, f"{path}/{name}")
        lines[others.get(name, name)] = plain(f"{path}/{name}", own) if plain and name in others else own
    pairs = {}
    for task in tasks:
        for split in ("test", "dev"):
            name = FILE.format(split=split, task=task.id)
            gold = _gold(task, split, gold_dir, held_out) if name in lines else None
            if gold is None:
                continue
            if problems := file_problems(task, lines[name], len(gold.targets), gold.candidates):
                raise InputError(f"{path}/{name}{problems[0].replace(' test rows', ' gold rows')}")
            pairs[task.id] = split, read_targets_of_lines(task, lines[name]), gold
            break
    if not pairs:
        example = Path(tasks[0].folder, tasks[0].files["test"] or "test.tsv")
        raise InputError(
            f"no predictions of suite {suite.name} with gold targets in {gold_dir}; files are called"
            f" {FILE.format(split='test', task='TASK')} or dev_pred_… (in a run: seed-1/predictions), gold targets"
            f" are in files like {example}, with a column {tasks[0].target!r}, or in a run's gold folder",
            path=path,
        )
    return pairs


def _gold(task: Task, split: str, gold_dir: Path, held_out: float) -> ScoredRows | None:
    """The rows of a split with their gold targets, or None if there are none."""
    of_run = gold_dir / f"{split}_{task.id}.tsv"
    if of_run.is_file():
        return recorded_rows(task, read_targets(task, of_run), RunFolder(gold_dir.parent))
    task = replace(task, breakdown=None)  # a score needs no such columns
    if split == "test":
        names = [task.files.get("test"), "test.tsv"]
        paths = [gold_dir / task.folder / name for name in names if name]
        with_gold = [path for path in paths if path.is_file() and has_column(path, task.target, task.header)]
        return scored_rows(task, read_examples(task, with_gold[0])) if with_gold else None
    path = task.path("dev", gold_dir) or task.path("train", gold_dir)
    if path is None or not path.is_file():
        return None
    return scored_rows(task, read_task(_without_test(task), gold_dir, held_out).rows["dev"])


def recorded_rows(task: Task, targets: np.ndarray, folder: RunFolder) -> ScoredRows:
    """The rows that a run's task is scored on: these targets, with the candidates and columns that the run recorded.

    Raises InputError if the record is damaged.
    """
    recorded = folder.read_scored_rows().get(task.id)
    candidates = recorded.get("candidates") if recorded else None
    columns = recorded.get("columns", {}) if recorded else {}
    counts = {len(values) for values in (targets if candidates is None else candidates, *columns.values())}
    if counts != {len(targets)} or not set(task.columns or ()) <= set(columns):
        raise InputError(f"{task.id}: not rows as mtl baseline records them", path=folder.scored_rows)
    return ScoredRows(targets, None if candidates is None else np.array(candidates), columns)


def scored_rows(task: Task, examples: Sequence[Example]) -> ScoredRows | None:
    """These rows, which all have targets, as metrics read them; None if there are none."""
    if not examples:
        return None
    targets = np.array([example.target for example in examples], dtype=target_kind(task).cells.dtype)
    candidates = None if task.candidates is None else np.array([len(example.inputs) for example in examples])
    columns = {
        name: [example.columns[number] for example in examples] for number, name in enumerate(task.further_columns)
    }
    return ScoredRows(targets, candidates, columns)


def _without_test(task: Task) -> Task:
    return replace(task, files={**task.files, "test": None})
