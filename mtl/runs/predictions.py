"""Read prediction files: check whether a leaderboard can accept them, and pair them with gold targets."""

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from mtl.data.examples import Example, read_examples, read_rows, read_targets
from mtl.data.lines import split_lines
from mtl.data.records import has_column
from mtl.data.splits import read_task
from mtl.errors import InputError
from mtl.files import read_json
from mtl.runs.folder import RunFolder
from mtl.tasks.scored import ScoredRows
from mtl.tasks.suite import Suite
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

FILE = "{split}_pred_{task}.tsv"


def read_predictions(path: Path) -> dict[str, list[str]]:
    """The lines of every file in a zip or a folder, by the file's name.

    Raises InputError if the path is neither, if the zip is damaged, and if a file is not UTF-8.
    """
    if path.is_dir():
        contents = {file.name: file.read_bytes() for file in sorted(path.iterdir()) if file.is_file()}
    else:
        contents = read_zip(path)
    return {name: split_lines(content, f"{path}/{name}") for name, content in contents.items()}


def read_zip(path: Path) -> dict[str, bytes]:
    """The content of every file in a zip, by name. Raises InputError if it is not there, no zip, or damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file or folder") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: not a zip, or a damaged one: {error}") from None


def submission_problems(path: Path, suite: Suite, data_dir: Path) -> list[str]:
    """The problems for which the leaderboard would refuse this zip or folder, as "file:line: message"; empty if there are none.

    The numbers of rows must be the published ones, or, if none are published, those of the test files in `data_dir`.
    """
    found = read_predictions(path)
    wanted = {
        FILE.format(split="test", task=id): task for id, task in suite.tasks.items() if task.files["test"] is not None
    }
    if found and all("/" in name for name in found):
        return [f"{path}: its files are in a folder, as in {next(iter(found))}; zip the files without a folder"]
    problems = [f"{path}/{name}: is missing" for name in wanted if name not in found]
    problems += [
        f"{path}/{name}: not a file of test predictions of suite {suite.name}" for name in found if name not in wanted
    ]
    for name, task in wanted.items():
        if name in found:
            problems += [
                f"{path}/{name}{problem}" for problem in file_problems(task, found[name], _rows(task, data_dir))
            ]
    return problems


def file_problems(
    task: Task, lines: Sequence[str], rows: int | None, candidates: np.ndarray | None = None
) -> list[str]:
    """The problems of a prediction file, as ":line: message". rows: the number of rows that it must have; None: unknown.

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
            known = candidates is not None and number - 2 < len(candidates)
            kind.from_line(line, int(candidates[number - 2]) if known and candidates is not None else None)
        except ValueError as error:
            problems.append(f":{number}: {error}")
    if rows is not None and len(lines) - 1 != rows:
        problems.append(f":{len(lines)}: {len(lines) - 1} predictions for {rows} test rows")
    return problems


def _rows(task: Task, data_dir: Path) -> int | None:
    if "test" in task.rows:
        return task.rows["test"]
    path = task.path("test", data_dir)
    return len(read_rows(task, path)) if path is not None and path.is_file() else None


def gold_and_predictions(
    path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out: float
) -> dict[str, tuple[str, np.ndarray, ScoredRows]]:
    """By task id, for those of these tasks that have predictions: the split, the predictions (rows,) and the rows with gold targets.

    path: a zip or folder of predictions. gold_dir: a data folder whose files have the target column (a test file may also be named
    test.tsv), or the `gold` folder of a run. Test predictions are used if test has gold targets, otherwise dev predictions. If a
    task has no dev file, its dev rows are the held-out rows. held_out: the share of training rows that is held out.
    Raises InputError for missing folders, and for predictions that do not fit their gold rows.
    """
    if not gold_dir.is_dir():
        raise InputError(f"{gold_dir}: no such folder; --gold names a data folder with targets")
    found = read_predictions(path)
    pairs = {}
    for task in tasks:
        for split in ("test", "dev"):
            name = FILE.format(split=split, task=task.id)
            gold = _gold(task, split, gold_dir, held_out) if name in found else None
            if gold is None:
                continue
            if problems := file_problems(task, found[name], len(gold.targets), gold.candidates):
                raise InputError(f"{path}/{name}{problems[0].replace(' test rows', ' gold rows')}")
            kind = target_kind(task)
            pairs[task.id] = split, np.array([kind.from_line(line) for line in found[name][1:]], dtype=kind.dtype), gold
            break
    if not pairs:
        example = Path(tasks[0].folder, tasks[0].files["test"] or "test.tsv")
        raise InputError(
            f"{path}: no predictions of suite {suite.name} with gold targets in {gold_dir}; files are called "
            f"{FILE.format(split='test', task='TASK')} or dev_pred_… (in a run: seed-1/predictions), gold targets are "
            f"in files like {example}, with a column {tasks[0].target!r}, or in a run's gold folder"
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
        with_gold = [path for path in paths if path.is_file() and has_column(path, task.target)]
        return scored_rows(task, read_examples(task, with_gold[0])) if with_gold else None
    path = task.path("dev", gold_dir) or task.path("train", gold_dir)
    if path is None or not path.is_file():
        return None
    return scored_rows(task, read_task(_without_test(task), gold_dir, held_out).rows["dev"])


def recorded_rows(task: Task, targets: np.ndarray, folder: RunFolder) -> ScoredRows:
    """The rows that a run's task is scored on: these targets, with the candidates and columns that the run recorded.

    Raises InputError if the record is damaged.
    """
    try:
        recorded = read_json(folder.scored_rows).get(task.id, {}) if folder.scored_rows.exists() else {}
        candidates, columns = recorded.get("candidates"), recorded.get("columns", {})
        counts = {len(values) for values in (targets if candidates is None else candidates, *columns.values())}
        texts = all(isinstance(value, str) for values in columns.values() for value in values)
        whole = texts and counts == {len(targets)} and set(task.columns or ()) <= set(columns)
    except (AttributeError, TypeError):
        whole = False
    if not whole:
        raise InputError(f"{folder.scored_rows}: {task.id}: not rows as mtl baseline records them")
    return ScoredRows(targets, None if candidates is None else np.array(candidates), columns)


def scored_rows(task: Task, examples: Sequence[Example]) -> ScoredRows | None:
    """These rows, which all have targets, as metrics read them; None if there are none."""
    if not examples:
        return None
    targets = np.array([example.target for example in examples], dtype=target_kind(task).dtype)
    candidates = None if task.candidates is None else np.array([len(example.inputs) for example in examples])
    columns = {
        name: [example.columns[place] for example in examples] for place, name in enumerate(task.further_columns)
    }
    return ScoredRows(targets, candidates, columns)


def _without_test(task: Task) -> Task:
    return replace(task, files={**task.files, "test": None})
