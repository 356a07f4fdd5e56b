"""Guess each task of a suite file from its files, and for tasks without training rows the task that answers them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import is_inside
from mtl.benchmark_making.init_suite.columns import (
    candidate_columns,
    category_note,
    group_column,
    guess_target,
    target_column,
    text_columns,
)
from mtl.benchmark_making.init_suite.files import (
    FileColumn,
    FileTable,
    SplitFiles,
    columns_in_words,
    count,
    quoted,
    read_headless,
    read_table,
    renamed,
)
from mtl.tasks.task import SPLITS

GIVEN = "as given"
OF_KIND = ("labels", "range", "metric", "positive")  # the keys that follow from the kind of the targets
TAKEN = ("kind", "labels", "range")  # the keys that a task takes from the task that answers it, see `mtl.tasks.suite`


@dataclass
class Guess:
    """A task as the suite file will declare it.

    Args:
        files: names by split; None for a split that does not exist.
        keys: the other keys of the suite file, with their values.
        why: by key, what the guess is based on.
        doubts: what the user has to decide, as "key: message".
        problem: why the task cannot be declared yet; a task with a problem becomes a comment.
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


def guess_task(files: SplitFiles, data_dir: Path, known: Mapping[str, Any] | None = None) -> Guess:
    """Read a task's files and guess the keys that are not known. Bad data does not raise an error, but becomes the guess's `problem`."""
    guess = Guess(files.id, files.folder, {split: files.files.get(split) for split in SPLITS})
    if files.unused:
        guess.notes.append(f"not read: {columns_in_words(files.unused)}; another file has this split")
    try:
        tables = _tables(guess, data_dir)
        _guess_keys(guess, tables, known or {})
        if not _is_writable(guess.keys):
            raise InputError("a column or a label holds '${', which a suite file cannot hold; change it in the files")
    except InputError as error:
        guess.problem = str(error)
    return guess


def _tables(guess: Guess, data_dir: Path) -> dict[str, FileTable]:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    files = {split: name for split, name in guess.files.items() if name is not None}
    for name in (guess.folder, *files.values()):
        if not _is_writable(name) or not is_inside(name):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    paths = {split: data_dir / guess.folder / name for split, name in files.items()}
    headless = {split: table for split, path in paths.items() if (table := read_headless(path))}
    tables = {split: read_table(path) for split, path in paths.items() if split not in headless}
    if headless:
        if tables:
            headless = {split: renamed(table, next(iter(tables.values()))) for split, table in headless.items()}
        tables = {split: {**tables, **headless}[split] for split in paths}
        guess.keys["header"] = list(next(iter(headless.values())).columns)
        names = ", ".join(files[split] for split in headless)
        guess.why["header"] = f"the first line of {names} looks like a row; give the columns names"
        guess.doubts.append(f"header: {names}: the first line looks like a row, and its columns have made-up names")
    guess.rows = {split: table.rows for split, table in tables.items()}
    if nameless := max(table.nameless for table in tables.values()):
        guess.notes.append(f"not read: {count(nameless, 'column')} without a name; give it one if the task needs it")
    guess.why["rows"] = "counted in these files; if other numbers are published, write those"
    return tables


def _guess_keys(guess: Guess, tables: Mapping[str, FileTable], known: Mapping[str, Any]) -> None:
    """Guess the columns, and then which split is scored. Raises InputError if there is no guess."""
    main = tables.get("train") or tables.get("dev") or tables["test"]
    test = tables.get("test") if tables.get("test") is not main else None
    if "target" in known:
        column, guess.why["target"] = _known_column(main, known["target"]), GIVEN
    else:
        column, guess.why["target"] = target_column(main, test)
    guess.keys["target"] = column.name
    labelled = _labelled(tables, column.name)
    names = [candidate.name for candidate in candidate_columns(main, {column.name})]
    if any(name not in table.columns for table in labelled.values() for name in names):
        names = []
    target = guess_target(column, _joined(labelled, column.name), [_joined(labelled, name) for name in names])
    of_kind = {*OF_KIND, "candidates"} if known.get("kind", target.kind) != target.kind else set()
    known_keys = {key: value for key, value in known.items() if key not in ("text", "target")}
    guess.kind = str(known.get("kind", target.kind))
    guess.keys |= {key: value for key, value in target.keys.items() if key not in of_kind} | known_keys
    guess.why |= {key: why for key, why in target.why.items() if key not in of_kind} | dict.fromkeys(known_keys, GIVEN)
    guess.doubts += [doubt for doubt in target.doubts if doubt.partition(":")[0] not in {*of_kind, *known}]
    _guess_texts(guess, main, test, list(tables.values()), known.get("text"))
    _guess_splits(guess, tables, "test" in labelled)


def _known_column(table: FileTable, name: object) -> FileColumn:
    """The column of this name. Raises InputError if the file has none, or one that cannot be read."""
    if name in table.incomplete:
        raise InputError(table.incomplete[str(name)])
    if name not in table.columns:
        raise InputError(f"no column {quoted(str(name))}: {table.listed}")
    return table.columns[str(name)]


def _labelled(tables: Mapping[str, FileTable], target: str) -> dict[str, FileTable]:
    """The files with targets in all rows. Raises InputError if a file other than test lacks some."""
    labelled = {}
    for split, table in tables.items():
        if table.has(target):
            labelled[split] = table
        elif split != "test":
            if target in table.incomplete:
                raise InputError(table.incomplete[target])
            raise InputError(f"no targets in column {quoted(target)}", path=table.path)
    return labelled


def _joined(tables: Mapping[str, FileTable], name: str) -> FileColumn:
    """A column of several files as one."""
    columns = [table.columns[name] for table in tables.values()]
    return FileColumn(name, [text for c in columns for text in c.texts], [row for c in columns for row in c.lists])


def _guess_texts(
    guess: Guess,
    main: FileTable,
    test: FileTable | None,
    tables: Sequence[FileTable],
    known: Sequence[str] | str | None,
) -> None:
    """Guess the columns of groups, and of texts unless they are known. Raises InputError if no column looks like a text."""
    candidates = guess.keys.get("candidates", [])
    used = {guess.keys["target"], *candidates}
    if known is not None:
        names = [known] if isinstance(known, str) else list(known)
        guess.keys["text"], guess.why["text"] = [_known_column(main, name).name for name in names], GIVEN
    else:
        texts = text_columns(main, test, used, most=1 if candidates else 2)
        if not texts.columns and not candidates:
            raise InputError(f"no column looks like a text: {main.listed}")
        guess.keys["text"] = texts.columns
        if texts.columns:
            guess.why["text"] = texts.why
        guess.doubts += texts.doubts
    used |= set(guess.keys["text"])
    if "group" not in guess.keys and (group := group_column(main, tables, used)):
        guess.keys["group"], guess.why["group"] = group
    if note := category_note(main, test, used):
        guess.notes.append(note)


def _guess_splits(guess: Guess, tables: Mapping[str, FileTable], test_has_targets: bool) -> None:
    """Leave out files that lack a text, and guess which split is scored."""
    for split in ("dev", "test"):
        inputs = [*guess.keys["text"], *guess.keys.get("candidates", [])]
        absent = [name for name in inputs if split in tables and name not in tables[split].columns]
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


def _is_writable(value: object) -> bool:
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    if isinstance(value, str):
        return "${" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return all(map(_is_writable, value.values()))
    return all(map(_is_writable, value)) if isinstance(value, list) else True


def choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """For each task without a train file, guess the task that answers it. If none could, give the task a problem.

    The files do not say which task it is. A candidate has training rows, the same text columns and kind, and all the task's labels
    or its whole range. If there are several, the one with the most training rows is chosen.
    """
    for guess in guesses:
        if guess.problem is not None or guess.files["train"] is not None:
            continue
        candidates = [task for task in guesses if task.problem is None and _could_answer(task, guess)]
        if candidates:
            candidates.sort(key=lambda task: -task.rows["train"])
            _answer(guess, candidates[0], candidates[1:])
        else:
            lacking = "no other task has training rows with the same text columns and all its labels"
            guess.problem = f"no train file, and {lacking}; add one, or write answered_by: TASK"


def _could_answer(task: Guess, guess: Guess) -> bool:
    if task.files["train"] is None or task.kind != guess.kind:
        return False
    if any(task.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    if guess.kind == "number":
        (low, high), (lowest, highest) = guess.keys["range"], task.keys["range"]
        return bool(lowest <= low and high <= highest)
    return set(guess.keys.get("labels", ())) <= set(task.keys.get("labels", ()))


def _answer(guess: Guess, task: Guess, alternatives: Sequence[Guess]) -> None:
    targets = guess.keys.get("labels") or guess.keys.get("range")
    for key in TAKEN:
        guess.keys.pop(key, None)
        guess.why.pop(key, None)
    # "labels: may also be ratings" is a question of the task that answers.
    guess.doubts = [doubt for doubt in guess.doubts if not doubt.startswith("labels:")]
    guess.keys["answered_by"] = task.id
    guess.why["answered_by"] = "a guess: it has the same text columns, and these targets among its own; check"
    if targets:
        own_targets = columns_in_words(map(str, targets))
        guess.notes.append(f"its own targets: {own_targets}; labels or range come from {quoted(task.id)}")
    choice = f"; or {', '.join(alternative.id for alternative in alternatives)}" if alternatives else ""
    guess.doubts.append(f"answered_by: no training rows; {task.id} has the same columns and labels{choice}")
    guess.why["files"] = "no train file"
