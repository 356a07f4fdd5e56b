"""Guess one task from its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtl.errors import InputError
from mtl.init_suite.columns import (
    candidate_columns,
    category_note,
    group_column,
    target_column,
    text_columns,
)
from mtl.init_suite.find import TaskFiles
from mtl.init_suite.table import Column, Table, read_table
from mtl.init_suite.target import guess_target
from mtl.init_suite.wording import columns_in_words, count, quoted
from mtl.tasks.task import SPLITS
from mtl.untrusted import is_inside


@dataclass
class Guess:
    """A task as the suite file will declare it.

    files: names by split; None for a split that does not exist. rows: of each file that was read. keys: the other keys of the
    suite file, with their values. why: by key, what the guess is based on. doubts: what the user has to decide, as "key: message".
    notes: what the user should know. problem: why the task cannot be declared yet, or None; a task with a problem becomes a comment.
    """

    id: str
    folder: str
    files: dict[str, str | None]
    rows: dict[str, int] = field(default_factory=dict)
    kind: str = ""
    keys: dict[str, Any] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problem: str | None = None


def guess_task(found: TaskFiles, data_dir: Path) -> Guess:
    """Read a task's files and guess its keys. Bad data does not raise an error, but becomes the guess's `problem`."""
    guess = Guess(found.id, found.folder, {split: found.files.get(split) for split in SPLITS})
    if found.unused:
        guess.notes.append(f"not read: {columns_in_words(found.unused)}; another file has this split")
    try:
        tables = _tables(guess, data_dir)
        _guess_keys(guess, tables)
        if not _is_writable(guess.keys):
            raise InputError("a column or a label holds '${', which a suite file cannot hold; change it in the files")
    except InputError as error:
        guess.problem = str(error)
    return guess


def _tables(guess: Guess, data_dir: Path) -> dict[str, Table]:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    files = {split: name for split, name in guess.files.items() if name is not None}
    for name in (guess.folder, *files.values()):
        if not _is_writable(name) or not is_inside(name):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    tables = {split: read_table(data_dir / guess.folder / name) for split, name in files.items()}
    guess.rows = {split: table.rows for split, table in tables.items()}
    if nameless := max(table.nameless for table in tables.values()):
        guess.notes.append(f"not read: {count(nameless, 'column')} without a name; give it one if the task needs it")
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def _guess_keys(guess: Guess, tables: Mapping[str, Table]) -> None:
    """Guess the columns, and then which split is scored. Raises InputError if there is no guess."""
    main = tables.get("train") or tables.get("dev") or tables["test"]
    test = tables.get("test") if tables.get("test") is not main else None
    column, guess.why["target"] = target_column(main, test)
    guess.keys["target"] = column.name
    labelled = _labelled(tables, column.name)
    names = [candidate.name for candidate in candidate_columns(main, {column.name})]
    if any(name not in table.columns for table in labelled.values() for name in names):
        names = []
    target = guess_target(column, _joined(labelled, column.name), [_joined(labelled, name) for name in names])
    guess.kind = target.kind
    guess.keys |= target.keys
    guess.why |= target.why
    guess.doubts += target.doubts
    _guess_texts(guess, main, test, list(tables.values()))
    _guess_splits(guess, tables, "test" in labelled)


def _labelled(tables: Mapping[str, Table], target: str) -> dict[str, Table]:
    """The files with targets in all rows. Raises InputError if a file other than test lacks some."""
    labelled = {}
    for split, table in tables.items():
        if table.has(target):
            labelled[split] = table
        elif split != "test":
            raise InputError(table.incomplete.get(target, f"{table.path}: no targets in column {quoted(target)}"))
    return labelled


def _joined(tables: Mapping[str, Table], name: str) -> Column:
    """A column of several files as one."""
    columns = [table.columns[name] for table in tables.values()]
    return Column(name, [text for c in columns for text in c.texts], [row for c in columns for row in c.lists])


def _guess_texts(guess: Guess, main: Table, test: Table | None, tables: Sequence[Table]) -> None:
    """Guess the columns of texts and groups. Raises InputError if no column looks like a text."""
    candidates = guess.keys.get("candidates", [])
    used = {guess.keys["target"], *candidates}
    texts = text_columns(main, test, used, most=1 if candidates else 2)
    if not texts.columns and not candidates:
        raise InputError(f"no column looks like a text: {main.listed}")
    guess.keys["text"] = texts.columns
    if texts.columns:
        guess.why["text"] = texts.why
    guess.doubts += texts.doubts
    used |= set(texts.columns)
    if group := group_column(main, tables, used):
        guess.keys["group"], guess.why["group"] = group
    if note := category_note(main, test, used):
        guess.notes.append(note)


def _guess_splits(guess: Guess, tables: Mapping[str, Table], test_has_targets: bool) -> None:
    """Leave out files that lack a text, and guess which split is scored."""
    for split in ("dev", "test"):
        absent = [name for name in _inputs(guess) if split in tables and name not in tables[split].columns]
        if absent:
            reason = tables[split].incomplete.get(absent[0], f"{guess.files[split]} has no column {quoted(absent[0])}")
            guess.doubts.append(f"files: {split} is not used: {reason}")
            guess.files[split] = None
            del guess.rows[split]
    test_scored = test_has_targets and guess.files["test"] is not None
    if guess.files["dev"] is None:
        if guess.files["train"] is not None:
            guess.why["files"] = "no dev file: rows of train are held out" + ("" if test_scored else ", and scored")
        if test_scored:
            guess.keys["scored"] = "test"
            guess.why["scored"] = "there is no dev file, and the test file has targets"
    elif test_scored:
        guess.notes.append("the test file has targets too; scores are on dev unless the task says scored: test")


def _inputs(guess: Guess) -> list[str]:
    return [*guess.keys["text"], *guess.keys.get("candidates", [])]


def _is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.untrusted.read_yaml`), and valid Unicode only."""
    if isinstance(value, str):
        return "${" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return all(map(_is_writable, value.values()))
    return all(map(_is_writable, value)) if isinstance(value, list) else True
