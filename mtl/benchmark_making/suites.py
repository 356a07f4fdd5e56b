"""Suites of one's own, from data files or from data in memory."""

import hashlib
import json
import logging
import math
import re
import shutil
from collections.abc import Mapping
from datetime import date
from functools import cached_property
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import yaml

from mtl.api.show import MarkdownText, frame
from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.folders import new_folder
from mtl.base.interface import checked, foreign
from mtl.base.names import is_file_name, text_problem
from mtl.base.settings.layers import find_suite
from mtl.base.untrusted import is_deep
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wording import inert, markdown_table
from mtl.benchmark_making.data_files import write_records
from mtl.data.files import read_bytes
from mtl.tasks import suite as tasks_suite
from mtl.tasks.task import SPLIT_OF, SPLITS

if TYPE_CHECKING:
    from pandas import DataFrame

logger = logging.getLogger("mtl")
FRAMES_FORMAT = 1  # increase it when `Suite.from_frames` writes other files of the same frames
FRAMES = "as in {'train': frame, 'dev': frame}"
# What tasks= may declare of a task, by the start of the problem that it solves.
DECLARED = {
    r"kind: \d+ whole": ("'kind': 'labels'", "'kind': 'number'"),
    **dict.fromkeys(("target: ", "text: ", "no column looks like"), ("'text': […], 'target': …",)),
}
COLUMNS = ("task", "kind", "metric", "text", "target", *SPLITS)  # of the table of a suite's tasks

Frame: TypeAlias = Any
"""The rows of one split: a DataFrame, a Dataset of the library datasets, or a dictionary with a list of values for each column."""


class Suite:
    """A suite file and the folder of its data: a value for `suite` of `mtl.run` and `mtl.audit`. A notebook shows its tasks.

    Attributes:
        path: the suite file.
        data_dir: the folder of the data files.
        notes: what was guessed of each task, and what is left to decide; empty for a suite that was not guessed.
        indices: by task id and split, the index of the DataFrame that the rows are of, as a list.

    Examples:
        >>> mtl.Suite("klej-sample").tasks.loc[0, ["task", "kind", "metric"]].tolist()
        ['nkjp-ner', 'labels', 'accuracy']
    """

    @checked
    def __init__(
        self, suite: str | PathLike[str], data_dir: str | PathLike[str] | None = None, notes: str = ""
    ) -> None:
        """Read a suite file.

        Args:
            suite: a name, or the path of a suite file.
            data_dir: the folder of its data; None: what the file says, or data/{suite}.

        Raises:
            mtl.InputError: for an unknown name, and a file that is no suite file.
        """
        self.path = find_suite(str(suite))
        self.content = tasks_suite.load_suite(self.path)
        self.data_dir = self.content.data_dir if data_dir is None else Path(data_dir)
        self.notes = notes
        self.indices: dict[tuple[str, str], list[Any]] = {}

    @classmethod
    @checked
    def from_folder(
        cls,
        data_dir: str | PathLike[str],
        *,
        language: str | None = None,
        name: str | None = None,
        tasks: Mapping[str, Mapping[str, Any]] | None = None,
        out: str | PathLike[str] | None = None,
    ) -> "Suite":
        """Guess a suite file from a folder of data files, and write it, as `mtl init-suite` does. Read its comments and its notes.

        Args:
            data_dir: a folder with data files below it, named after splits.
            language: of the tokenizer, as in "sv"; None: en.
            name: of the suite; None: the folder's.
            tasks: by task id, keys of the suite file that are known and need no guess: the answers to questions.
            out: the file to write; None: NAME.yaml in the working directory.

        Raises:
            mtl.InputError: for a folder without data files, a question that is not answered, and a suite file that exists already.
        """
        from mtl.benchmark_making.init_suite.init_suite import init_suite

        path = None if out is None else Path(out)
        made = init_suite(Path(data_dir), language, name, path, tasks, undecided=False)
        for line in made.warnings:
            logger.warning("suite %s: %s", made.path.stem, line)
        return cls(made.path.resolve(), data_dir, made.summary)

    @classmethod
    @checked
    def from_frames(
        cls,
        frames: Annotated[Mapping[str, Frame | Mapping[str, Frame]], FRAMES],
        *,
        name: str,
        language: str | None = None,
        tasks: Mapping[str, Mapping[str, Any]] | None = None,
        out: str | PathLike[str] | None = None,
        cache_dir: str | PathLike[str] = "cache",
    ) -> "Suite":
        """Make a suite of data in memory. Its tasks are guessed from the columns, as `mtl init-suite` guesses them; read `notes`.

        The examples are written as JSON Lines beside a suite file, and read as those of every suite. The same frames are the same suite: a run on
        them continues.

        Args:
            frames: by split (train, dev, test) the examples of one task, or such a dictionary for each task id. A DatasetDict is one, and
                splits may be called validation, eval and so on. Without dev, examples of train are held out. Cells are texts, numbers, truth values
                (written as the texts true and false), lists of these, or missing.
            name: of the suite, and of its only task.
            language: of the tokenizer, as in "sv"; None: en.
            tasks: by task id, keys of the suite file that are known and need no guess, as in
                {"reviews": {"text": ["title", "body"], "target": "stars", "kind": "number", "metric": "spearman"}}.
            out: the folder to write; None: a folder below `cache_dir`, named after the content.

        Raises:
            mtl.InputError: for cells that no data file can hold, tasks that cannot be guessed, and an `out` with other content.

        Examples:
            >>> words = ["sun", "tea", "sea", "day", "cat", "hat", "bee", "oak", "ink", "map"]
            >>> texts = [f"{one} and {other} are {how}" for one in words for other in words for how in ("good", "bad")]
            >>> rows = {"text": texts, "label": ["pos", "neg"] * 100}
            >>> suite = mtl.Suite.from_frames({"train": rows, "dev": rows}, name="reviews", tasks={"reviews": {"metric": "accuracy"}})
            >>> suite.tasks.loc[0, ["task", "kind", "metric", "text", "target"]].tolist()
            ['reviews', 'labels', 'accuracy', 'text', 'label']
            >>> mtl.run(suite=suite, method="logistic").scores.iloc[0, 0].item()
            100.0
        """
        by_task = _by_task(frames, name)
        known = {task: dict(keys) for task, keys in (tasks or {}).items()}
        with TemporaryDirectory(prefix="mtl-frames-") as folder:
            for task, by_split in by_task.items():
                Path(folder, "data", task).mkdir(parents=True)
                for split, rows in by_split.items():
                    path = Path(folder, "data", task, f"{split}.jsonl")
                    write_records(path, *_records(f"{task}.{split}", rows))
            with foreign("tasks"):
                parts = [FRAMES_FORMAT, name, language, known, _marks(folder)]
                made_of = json.dumps(parts, sort_keys=True, default=str)
            in_cache = Path(cache_dir, "frames", f"{name}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}")
            suite = _write(Path(folder), in_cache if out is None else Path(out), name, language, known)
        for task, by_split in by_task.items():
            indexed = {split: rows.index for split, rows in by_split.items() if hasattr(rows, "index")}
            suite.indices |= {(task, split): index.tolist() for split, index in indexed.items()}
        return suite

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.content.name

    @property
    def settings(self) -> dict[str, str]:
        """The settings that name the suite: its file and the folder of its data."""
        return {"suite": str(self.path), "data_dir": str(self.data_dir)}

    @cached_property
    def _rows(self) -> list[list[Any]]:
        return [
            [task.id, task.kind, task.metric, ", ".join(task.text), task.target]
            + [task.rows.get(split) for split in SPLITS]
            for task in self.content.tasks.values()
        ]

    @property
    def tasks(self) -> "DataFrame":
        """The columns task, kind, metric, text, target, and the examples of train, dev and test. Raises InputError without pandas."""
        return frame(COLUMNS, self._rows)

    def table(self) -> MarkdownText:
        """The tasks as a table, and the notes."""
        body = [[inert("" if cell is None else str(cell)) for cell in row] for row in self._rows]
        notes = "\n".join(f"- {inert(line)}" for line in self.notes.splitlines())
        heading = f"## {inert(self.content.title or self.name)}"
        return MarkdownText("\n\n".join(filter(None, [heading, markdown_table([COLUMNS, *body], left=5), notes])))

    def __repr__(self) -> str:
        return f"Suite({self.name}: {', '.join(self.content.tasks)})"

    def _repr_markdown_(self) -> str:
        return self.table()._repr_markdown_()


def _by_task(frames: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Frame]]:
    """The frames by task and split. Raises InputError for names that are not valid, and without frames."""
    if not frames:
        raise InputError("must be a dictionary of the splits of one task, or of tasks", key="frames")
    if not is_file_name(name):
        raise InputError(f"{name!r} names files; use letters, digits, '.', '_' and '-'", key="name")
    by_task: dict[str, Any] = {name: _by_split(frames)}
    if not set(by_task[name]) <= set(SPLITS):
        by_task = {task: _by_split(by_split) for task, by_split in frames.items()}
    for task, by_split in by_task.items():
        if not is_file_name(task):
            raise InputError(f"{task!r} names files; use letters, digits, '.', '_' and '-'", key="frames")
        if not isinstance(by_split, Mapping) or not by_split or not set(by_split) <= set(SPLITS):
            raise InputError(f"must be a dictionary with the keys {', '.join(SPLITS)}", key=f"frames.{task}")
    return by_task


def _by_split(frames: Any) -> Any:
    """The frames by the names that splits have here: those of the Hub are others. What is no dictionary stays as it is."""
    if not isinstance(frames, Mapping):
        return frames
    named = {SPLIT_OF.get(str(split).lower(), split): rows for split, rows in frames.items()}
    return named if len(named) == len(frames) else frames


def _records(where: str, rows: Frame) -> tuple[list[str], list[list[Any]]]:
    """The columns of a frame, and its rows as values of a data file. Raises InputError, which names the split, the column and the row."""
    key = f"frames.{where}"
    with foreign(key):
        names = _column_names(rows, key)
        columns = [[_cell(cell, key, name, row) for row, cell in enumerate(_cells(rows, name, key))] for name in names]
    if len({len(column) for column in columns}) > 1:
        raise InputError("its columns have different lengths", key=key)
    return names, [list(row) for row in zip(*columns, strict=True)]


def _column_names(rows: Frame, key: str) -> list[str]:
    listed = getattr(rows, "column_names", getattr(rows, "columns", rows if isinstance(rows, Mapping) else ()))
    if not (names := list(listed)):
        raise InputError("must be a DataFrame, a Dataset, or a dictionary of columns", key=key)
    if any(not isinstance(name, str) or not name for name in names) or len(set(names)) < len(names):
        raise InputError("names of columns must be strings, each once", key=key)
    if odd := next((name for name in names if text_problem(name)), None):
        raise InputError(f"column {odd!r} {text_problem(odd)}", key=key)
    return names


def _cells(rows: Frame, column: str, key: str) -> Any:
    """The cells of a column, with the names of labels that a Dataset has as numbers; -1 stands for no label."""
    cells, features = rows[column], getattr(rows, "features", None)  # which may be a column of a DataFrame
    if isinstance(cells, str | bytes | Mapping) or not hasattr(cells, "__len__"):
        raise InputError(f"column {column} must be a list, not a {type(cells).__name__}", key=key)
    labels = getattr(features.get(column), "names", None) if isinstance(features, Mapping) else None
    if labels is None:
        return cells
    numbers, plain = range(len(labels)), [cell.tolist() if hasattr(cell, "tolist") else cell for cell in cells]
    return [labels[int(c)] if c in numbers else None if isinstance(c, int | float) else c for c in plain]


def _cell(value: Any, key: str, column: str, row: int) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()  # of numpy
    is_nan = isinstance(value, float) and math.isnan(value)
    if value is None or is_nan or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    is_number = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    if is_number or (isinstance(value, str) and not text_problem(value)):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple) and not is_deep(list(value)):
        return [_cell(item, key, column, row) for item in value]
    shown = f"a value of type {type(value).__name__}" if isinstance(value, list | tuple) else repr(value)[:100]
    raise InputError(f"column {column}, row {row}: {shown} is not a text, a number, a truth value or a list", key=key)


def _of_frames(task: str, problem: str) -> str:
    """What a problem with a task's files means for its frames, with the remedy."""
    problem = re.sub(r"(\w+)\.jsonl:(\d+)", lambda place: f"{place[1]}, row {int(place[2]) - 1} (from 0)", problem)
    problem = problem.replace(".jsonl", "").removesuffix("? Then write one in the files")
    if column := re.search(r'column "(.*?)" has no value', problem):
        return f"{problem}; drop these rows or fill their cells, as in frame.dropna(subset=[{column[1]!r}])"
    if problem.endswith("one label in several spellings"):
        return f"{problem}? Then write one, as in frame[column].str.strip().str.lower()"
    answers = next((keys for start, keys in DECLARED.items() if re.match(start, problem)), ())
    declared = " or ".join(f"tasks={{{task!r}: {{{keys}}}}}" for keys in answers)
    return f"{problem}; declare it: {declared}" if declared else problem


def _marks(folder: Path | str) -> dict[str, str]:
    """The SHA-256 of each data file in a folder."""
    files = sorted(file for file in Path(folder, "data").rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): hashlib.sha256(read_bytes(file)).hexdigest() for file in files}


def _write(source: Path, out: Path, name: str, language: str | None, known: Mapping[str, Mapping[str, Any]]) -> Suite:
    """Guess a suite from the data files in `source`, and write both to `out`. Raises InputError if that exists with other content."""
    from mtl.benchmark_making.init_suite.init_suite import guess_suite

    data_dir, path = out / "data", out / f"{name}.yaml"
    if data_dir.exists() and _marks(out) != _marks(source):
        raise InputError("holds other data than these frames; name another folder with out=", path=data_dir)
    try:
        guessed = guess_suite(source / "data", language, name, path, known, shown=data_dir)
    except InputError as error:
        raise InputError(_of_frames(name, error.message), key=error.key) from None
    for task, problem in {**guessed.problems, **guessed.questions}.items():
        raise InputError(_of_frames(task, problem.replace(f"{source}/data/", "")), key=f"frames.{task}")
    content = yaml.safe_load(guessed.document)
    tasks_suite.suite_from(content, path)
    if path.exists() and read_yaml(path) != content:  # comments may differ
        remedy = f"remove it, or keep it and write mtl.Suite({str(path)!r}, {str(data_dir)!r})"
        raise InputError(f"differs from what follows from the frames; {remedy}", path=path)
    if not data_dir.exists():
        with new_folder(data_dir) as folder:
            shutil.copytree(source / "data", folder, dirs_exist_ok=True)
    if not path.exists():
        write_text(path, guessed.document)
        for line in guessed.warnings:
            logger.warning("suite %s: %s", name, line)
    return Suite(path.resolve(), data_dir.resolve(), guessed.summary)
