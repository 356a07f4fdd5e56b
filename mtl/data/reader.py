"""Rows of a task's files, and complaints with file and line.

The files are tab-separated and never quoted: a quote mark is a character of the text, an empty cell and the word
"NA" are text. Lines end with a line feed alone or after a carriage return; no other character ends one.
"""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.errors import InputError
from mtl.tasks.suite import Task


@dataclass(frozen=True)
class Example:
    """One row: its line in the file (the header is line 1), its one or two texts, its target where there is one.

    The target is a label's index or a number; the group is the value of the task's group column.
    """

    line: int
    texts: tuple[str, ...]
    target: float | None = None
    group: str | None = None


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file without their ends. Raises InputError with the line that is not UTF-8."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return split_lines(content, str(path))


def split_lines(content: bytes, name: str) -> list[str]:
    """The lines of a UTF-8 file's content without their ends. Raises InputError with the line that is not UTF-8."""
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}:{line}: not UTF-8 (byte {content[error.start]:#04x}); save the file as UTF-8"
        ) from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def read_cells(path: Path, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """The named columns of a tab-separated file's rows, in order; row i stands on line i + 2.

    Raises InputError for a missing column, a row with too few or too many cells, and a file with no rows.
    """
    lines = read_lines(path)
    header = lines[0].split("\t") if lines else []
    for column in columns:
        if column not in header:
            raise InputError(f"{path}:1: no column {column!r} in the header; it has {', '.join(header) or 'nothing'}")
    if len(lines) < 2:
        raise InputError(f"{path}: no rows after the header")
    places = [header.index(column) for column in columns]
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if len(cells) != len(header):
            raise InputError(
                f"{path}:{number}: {len(cells)} cells where the header has {len(header)}; one row a line, cells set apart by tabs"
            )
        rows.append(tuple(cells[place] for place in places))
    return rows


def read_targets(task: Task, path: Path) -> list[float]:
    """The targets in a file of one column with a header, as `mtl.runs.submission.write_predictions` writes it.

    Raises InputError for a target that the task does not know, with its line.
    """
    values = []
    for number, cell in enumerate(read_lines(path)[1:], start=2):
        try:
            values.append(task.value(cell))
        except ValueError as error:
            raise InputError(f"{path}:{number}: {error}") from None
    return values


def read_examples(task: Task, path: Path, targets: bool = True) -> list[Example]:
    """All rows of a file of the task, none dropped; with their targets, or texts alone (a test file).

    Raises InputError as `read_cells` does, and for a target that the task does not know, with its line.
    """
    columns = [*task.text, *([task.target] if targets else []), *([task.group] if targets and task.group else [])]
    sides = len(task.text)
    examples = []
    for line, cells in enumerate(read_cells(path, columns), start=2):
        target = None
        if targets:
            try:
                target = task.value(cells[sides])
            except ValueError as error:
                raise InputError(f"{path}:{line}: column {task.target!r}: {error}") from None
        group = cells[sides + 1] if targets and task.group else None
        examples.append(Example(line, cells[:sides], target, group))
    return examples
