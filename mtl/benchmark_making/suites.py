"""Suites as values of Python, which may be made of data files or of data in memory."""

import json
import shutil
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import yaml

from mtl.api.show import MarkdownText, frame
from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.base.folders import new_folder
from mtl.base.interface import checked, errors_as_input
from mtl.base.log import logger
from mtl.base.settings.layers import find_yaml
from mtl.base.untrusted_yaml import read_yaml
from mtl.base.wording import inert, markdown_table
from mtl.benchmark_making.frames import Frame, frames_by_task, problem_of_frames, write_frames
from mtl.data.files import read_bytes
from mtl.tasks.suite import load_suite, suite_from
from mtl.tasks.task import SPLITS

if TYPE_CHECKING:
    from pandas import DataFrame

    from mtl.benchmark_making.init_suite.suite_guess import SuiteGuess
FRAMES_FORMAT = 2  # increase it when `Suite.from_frames` writes other files of the same frames
DATA = "data"  # the folder of the data files of frames, beside the suite file
COLUMNS = ("task", "kind", "metric", "text", "target", *SPLITS)  # of the table of a suite's tasks


class Suite:
    """A suite file and the folder of its data: a value for `suite` of `mtl.run` and `mtl.audit`. A notebook shows its tasks.

    Attributes:
        path: the suite file.
        data_dir: the folder of the data files.
        notes: what was guessed of each task, and what is left to decide; empty for a suite that was not guessed.
        indices: by task id and split, the index of the DataFrame with the rows, as a list.

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
            notes: what was guessed of each task, and what is left to decide, a line each.

        Raises:
            mtl.InputError: for an unknown name, and a file that is no suite file."""
        self.path = find_yaml("suite", str(suite))
        self.content = load_suite(self.path)  # what the file declares
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
            mtl.InputError: for a folder without data files, a question that is not answered, and a suite file that exists already."""
        from mtl.benchmark_making.init_suite.init_suite import init_suite

        path = None if out is None else Path(out)
        guessed = init_suite(Path(data_dir), language, name, path, tasks, allow_questions=False)
        for line in guessed.warnings:
            logger.warning("suite %s: %s", guessed.path.stem, line)
        return cls(guessed.path.resolve(), data_dir, guessed.summary)

    @classmethod
    @checked
    def from_frames(
        cls,
        frames: Annotated[Mapping[str, Frame | Mapping[str, Frame]], "as in {'train': frame, 'dev': frame}"],
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
        by_task = frames_by_task(frames, name)
        known = {task: dict(keys) for task, keys in (tasks or {}).items()}
        with TemporaryDirectory(prefix="mtl-frames-") as temporary:
            data_dir = Path(temporary, DATA)
            write_frames(by_task, data_dir)
            checksums = _checksums(data_dir)
            folder = _cache_folder(cache_dir, name, language, known, checksums) if out is None else Path(out)
            guessed = _guess(data_dir, folder, name, language, known)
            _check_same_content(guessed, checksums)
            _write(guessed, data_dir)
        suite = cls(guessed.path.resolve(), guessed.data_dir.resolve(), guessed.summary)
        for task, by_split in by_task.items():
            for split, rows in by_split.items():
                if hasattr(rows, "index"):  # only a DataFrame has one
                    suite.indices[task, split] = rows.index.tolist()
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
            [task.id, task.kind, task.metric, ", ".join(task.text), task.target, *map(task.rows.get, SPLITS)]
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


def _checksums(data_dir: Path) -> dict[str, str]:
    """The SHA-256 of each file in a folder of data files, by its path from the suite file."""
    files = sorted(file for file in data_dir.rglob("*") if file.is_file())
    return {file.relative_to(data_dir.parent).as_posix(): sha256(read_bytes(file)).hexdigest() for file in files}


def _cache_folder(
    cache_dir: str | PathLike[str], name: str, language: str | None, known: Mapping[str, Any], checksums: dict[str, str]
) -> Path:
    """The folder in the cache for a suite with this name, language, known keys and data. Raises InputError for keys that are no plain values."""
    with errors_as_input("tasks"):
        identity = json.dumps([FRAMES_FORMAT, name, language, known, checksums], sort_keys=True, default=str)
    return Path(cache_dir, "frames", f"{name}-{sha256(identity.encode()).hexdigest()[:16]}")


def _guess(data_dir: Path, folder: Path, name: str, language: str | None, known: Mapping[str, Any]) -> "SuiteGuess":
    """Guess a suite file in `folder` from the data files. Raises InputError, about the frames, for problems and open questions."""
    from mtl.benchmark_making.init_suite.finding import find_tasks
    from mtl.benchmark_making.init_suite.init_suite import guess_suite

    path = folder / f"{name}.yaml"
    try:
        guessed = guess_suite(find_tasks(data_dir), language, name, path, known, shown=folder / DATA)
    except InputError as error:
        raise InputError(problem_of_frames(error.message, data_dir), key=error.key) from None
    if undecided := [*guessed.problems.items(), *guessed.questions]:
        task, problem = undecided[0]
        raise InputError(problem_of_frames(problem, data_dir, task), key=f"frames.{task}")
    return guessed


def _check_same_content(guessed: "SuiteGuess", checksums: dict[str, str]) -> None:
    """Raise InputError if there is a suite file or a data folder with other content already, or if the guess is no valid suite."""
    path, data_dir = guessed.path, guessed.data_dir
    if data_dir.exists() and _checksums(data_dir) != checksums:
        raise InputError("holds other data than these frames; name another folder with out=", path=data_dir)
    declared = yaml.safe_load(guessed.document)
    suite_from(declared, path)
    if path.exists() and read_yaml(path) != declared:  # comments may differ
        remedy = f"remove it, or keep it and write mtl.Suite({str(path)!r}, {str(data_dir)!r})"
        raise InputError(f"differs from what follows from the frames; {remedy}", path=path)


def _write(guessed: "SuiteGuess", data_dir: Path) -> None:
    """Write the suite file, and a copy of the data files beside it, unless they are there already."""
    if not guessed.data_dir.exists():
        with new_folder(guessed.data_dir) as new_data_dir:
            shutil.copytree(data_dir, new_data_dir, dirs_exist_ok=True)
    if not guessed.path.exists():
        write_text(guessed.path, guessed.document)
        for line in guessed.warnings:
            logger.warning("suite %s: %s", guessed.name, line)
