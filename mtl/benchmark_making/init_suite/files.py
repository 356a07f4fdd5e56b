"""The files below a folder that are splits of tasks, found by their names alone, and their content as columns."""

import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from mtl.base.errors import InputError
from mtl.data.columns import LIST
from mtl.data.records import FORMATS, Value, column_names, is_typed, read_records, text
from mtl.tasks.suite import AVERAGE, SPLITS

LONGEST = 40  # characters of a name or a label
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# The names of splits in GLUE, KLEJ (test_features), Superlim and on the Hugging Face Hub.
SPLIT_NAMES = {
    "train": ("train", "training"),
    "dev": ("dev", "validation", "valid", "val"),
    "test": ("test", "test_features"),
}
_SPLIT = {name: split for split, names in SPLIT_NAMES.items() for name in names}
# "dev", "swefaq_dev", "my-task.dev", and the Hub's "dev-00000-of-00001", which is a whole split in one file.
_STEM = re.compile(rf"(?:(?P<task>.+)[_.-])?(?P<split>{'|'.join(_SPLIT)})(?:-00000-of-00001)?", re.IGNORECASE)


def quoted(name: str) -> str:
    """A name in quotes, cut to LONGEST characters; line ends and other characters that do not print are escaped."""
    cut = name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
    return f'"{printable(cut)}"'


def printable(text: str) -> str:
    """The text with an escape for each character that does not print, as "\\n" for a line end."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def columns_in_words(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def count(number: int, noun: str) -> str:
    """A number and a noun, as in "15,794 rows" or "1 row"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share(part: float, total: float) -> str:
    return f"{100 * part / total:.0f} %"


@dataclass(frozen=True)
class FileColumn:
    """One column of a file, with a value in every row. In a column of lists, `lists` are the values and `texts` is empty."""

    name: str
    texts: list[str]
    lists: list[list[str]] = field(default_factory=list)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.texts)

    @cached_property
    def numbers(self) -> list[float] | None:
        """The distinct values in ascending order if all are finite numbers, else None."""
        if not self.texts or not all(_NUMBER.fullmatch(value) for value in self.counts):
            return None
        numbers = sorted({float(value) for value in self.counts})
        return numbers if all(map(math.isfinite, numbers)) else None

    @property
    def is_blank(self) -> bool:
        """Whether no row has a value: all are empty, or all are -1, which test sets on the Hub have instead of labels."""
        return not self.lists and (not any(map(str.strip, self.counts)) or set(self.counts) == {"-1"})

    @property
    def several_words(self) -> int:
        return sum(rows for value, rows in self.counts.items() if " " in value.strip())

    @property
    def words(self) -> list[str]:
        """The words of the last key of the column's name, in lower case: relatedness_score and relatednessScore have two each."""
        return name_words(self.name)


@dataclass(frozen=True)
class FileTable:
    """A file's columns.

    Args:
        incomplete: for each column that cannot be read, the reason. Often the column has no value in some rows.
        nameless: how many columns are left out because their name is empty, as that of row numbers often is.
    """

    path: Path
    rows: int
    columns: dict[str, FileColumn]
    incomplete: dict[str, str]
    nameless: int = 0

    def has(self, name: str) -> bool:
        """Whether the file has a column of this name that can be read and is not blank."""
        return name in self.columns and not self.columns[name].is_blank

    @property
    def listed(self) -> str:
        return f"{self.path.name} has {columns_in_words([*self.columns, *self.incomplete])}"


def name_words(column: str) -> list[str]:
    """The words of a column's last key, in lower case."""
    key = column.removesuffix("[]").rsplit(".", 1)[-1]
    return re.findall(r"[^\W_]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).lower()) or [""]


def read_headless(path: Path) -> FileTable | None:
    """The file's columns, called column_1, column_2, …, if its first line looks like a row of data: a cell of it stands in further rows of its
    column, or is a number as all others there. None if it looks like a header. Raises InputError for a file that cannot be read."""
    if is_typed(path):
        return None
    names = [f"column_{number}" for number, _ in enumerate(column_names(path), start=1)]
    try:
        table = read_table(path, names)
    except InputError:
        return None  # rows of other lengths: the error is that of the file with a header
    firsts = [(column, column.texts[0]) for column in table.columns.values()]
    recurring = any(first.strip() and column.counts[first] > 1 for column, first in firsts)
    is_row = recurring or any(column.numbers for column, _ in firsts)
    return table if table.rows > 1 and is_row else None


def renamed(table: FileTable, headed: FileTable) -> FileTable:
    """A table without a header whose columns of texts with several words have the names that they have in a table with one, where both have
    as many of them."""
    ours, theirs = (
        [column for column in file.columns.values() if 2 * column.several_words > file.rows] for file in (table, headed)
    )
    if len(ours) != len(theirs):
        return table
    names = {column.name: namesake.name for column, namesake in zip(ours, theirs, strict=True)}
    columns = {
        names.get(name, name): replace(column, name=names.get(name, name)) for name, column in table.columns.items()
    }
    return replace(table, columns=columns)


def read_table(path: Path, header: Sequence[str] | None = None) -> FileTable:
    """Read a whole file, without columns whose name is empty. Raises InputError if none of its columns can be read.

    All columns are read together. If that fails, they are read one by one, so that a missing value in one column does not
    prevent reading the others. Of a file without a header line, `header` has the names of the columns.
    """
    columns_read = column_names(path, header)
    names = [name for name in dict.fromkeys(columns_read) if name.removesuffix(LIST).rpartition(".")[2].strip()]
    nameless = sum(name not in names for name in columns_read)
    if not names:
        raise InputError("has no columns with a name and texts or numbers", path=path)
    try:
        rows = [record.values for record in read_records(path, names, header=header)]
        columns = {
            name: _column(name, list(values)) for name, values in zip(names, zip(*rows, strict=True), strict=True)
        }
        return FileTable(path, len(rows), columns, {}, nameless)
    except InputError as error:
        first = error
    columns, incomplete = {}, {}
    for name in names:
        try:
            columns[name] = _column(name, [record.values[0] for record in read_records(path, [name], header=header)])
        except InputError as error:
            incomplete[name] = str(error)
    if not columns:
        raise first
    column = next(iter(columns.values()))
    return FileTable(path, len(column.texts or column.lists), columns, incomplete, nameless)


def _column(name: str, values: list[Value]) -> FileColumn:
    if isinstance(values[0], list):
        return FileColumn(name, [], [value for value in values if isinstance(value, list)])
    return FileColumn(name, [text(value) for value in values])


@dataclass(frozen=True)
class SplitFiles:
    """A task's files: the folder that they are in, below the data folder, names by split, and further files of the same splits."""

    id: str
    folder: str
    files: dict[str, str]
    unused: list[str]


@dataclass(frozen=True)
class Found:
    """The tasks in the order of their folders, and what else is below the data folder."""

    tasks: list[SplitFiles]
    unused: list[str]  # data files that are named after no split, as paths below the data folder
    empty: list[str]  # folders with files, of which none is named after a split


def find_tasks(data_dir: Path) -> Found:
    """Look for split files below a folder, and not in hidden files and folders or links to folders.

    A task consists of the files in one folder whose names differ only in the split, as {train,dev,test}.tsv or mytask_{split}.jsonl.
    """
    splits: dict[tuple[str, str], dict[str, list[str]]] = {}
    unused, empty = [], []
    for folder, names in _folders(data_dir):
        usable = False
        for name in names:
            suffix = Path(name).suffix
            match = _STEM.fullmatch(name.removesuffix(suffix))
            if suffix.lower() not in FORMATS:
                continue
            if match is None:
                unused.append(f"{folder}/{name}".removeprefix("/"))
                continue
            usable = True
            files = splits.setdefault((folder, match["task"] or ""), {})
            files.setdefault(_SPLIT[match["split"].lower()], []).append(name)
        if names and not usable and folder:
            empty.append(folder)
    root = data_dir.resolve().name
    names = [stem or (Path(folder).name if folder else root) for folder, stem in splits]
    tasks = []
    for id, ((folder, _), files) in zip(_ids(names, list(splits)), splits.items(), strict=True):
        chosen = {split: files[split][0] for split in SPLITS if split in files}
        further = [name for split_names in files.values() for name in split_names[1:]]
        tasks.append(SplitFiles(id, folder, chosen, further))
    return Found(tasks, unused, empty)


def _folders(data_dir: Path) -> Iterable[tuple[str, list[str]]]:
    """`data_dir` and each folder below it, as a path with slashes, and the names of its files; both sorted."""
    for folder, below, names in os.walk(data_dir):
        below[:] = sorted(name for name in below if not name.startswith("."))
        path = Path(folder).relative_to(data_dir).as_posix()
        visible = (name for name in names if not name.startswith(".") and Path(folder, name).is_file())
        yield ("" if path == "." else path), sorted(visible)


def _ids(names: list[str], positions: list[tuple[str, str]]) -> list[str]:
    """A different id for each task; ids can be used in file names.

    A prefix of all names that ends in "_" or "-" is left out: klej_ar and klej_cbd become ar and cbd.
    Tasks of the same name get the names of their folders as a prefix.
    """
    prefixes = [names[0][: sign.end()] for sign in re.finditer("[_-]", names[0])] if len(set(names)) > 1 else []
    common = [prefix for prefix in prefixes if all(name.startswith(prefix) for name in names)]
    short = [name.removeprefix(common[-1] if common else "") or name for name in names]
    full = [
        "-".join([*folder.split("/"), stem]) if short.count(name) > 1 else name
        for name, (folder, stem) in zip(short, positions, strict=True)
    ]
    ids: list[str] = []
    for name in full:
        base = file_name(name, "task")
        number = 1
        id = f"{base}-task" if base == AVERAGE else base
        while id in ids:
            number += 1
            id = f"{base}-{number}"
        ids.append(id)
    return ids


def file_name(name: str, otherwise: str) -> str:
    """The name with only letters, digits, ".", "_" and "-", as names of suites and tasks; `otherwise` if no such characters remain."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._-]+", "-", plain).strip(".-") or otherwise
