"""`mtl init-suite`: guess each task from its files, and write a suite file with a comment for each guess.

Names and labels come from untrusted files, so the suite file has them in quotes if necessary.
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf

from mtl.base.errors import InputError
from mtl.base.files import write_text
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
    SPLIT_NAMES,
    Column,
    Found,
    Table,
    TaskFiles,
    columns_in_words,
    count,
    file_name,
    find_tasks,
    printable,
    quoted,
    read_headless,
    read_table,
    renamed,
)
from mtl.data.records import FORMATS
from mtl.settings.layers import shipped
from mtl.tasks.task import SPLITS


@dataclass
class Guess:
    """A task as the suite file will declare it.

    Args:
        files: names by split; None for a split that does not exist.
        rows: the rows of each file that was read.
        keys: the other keys of the suite file, with their values.
        why: by key, what the guess is based on.
        doubts: what the user has to decide, as "key: message".
        notes: what the user should know.
        problem: why the task cannot be declared yet, or None; a task with a problem becomes a comment.
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


GIVEN = "as given"
OF_KIND = ("labels", "range", "metric", "positive")  # the keys that follow from the kind of the targets


def guess_task(files: TaskFiles, data_dir: Path, known: Mapping[str, Any] | None = None) -> Guess:
    """Read a task's files and guess its keys. Bad data does not raise an error, but becomes the guess's `problem`.

    Args:
        known: keys that need no guess.
    """
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


def _tables(guess: Guess, data_dir: Path) -> dict[str, Table]:
    """The task's files by split. Raises InputError for a file that cannot be read, or whose name a suite file cannot hold."""
    files = {split: name for split, name in guess.files.items() if name is not None}
    for name in (guess.folder, *files.values()):
        if not _is_writable(name) or not is_inside(name):
            raise InputError(f"rename {quoted(name)}: a suite file cannot hold this name")
    paths = {split: data_dir / guess.folder / name for split, name in files.items()}
    headless = {split: table for split, path in paths.items() if (table := read_headless(path))}
    tables = {split: read_table(path) for split, path in paths.items() if split not in headless}
    if headless:
        headless = (
            {split: renamed(table, next(iter(tables.values()))) for split, table in headless.items()}
            if tables
            else headless
        )
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


def _guess_keys(guess: Guess, tables: Mapping[str, Table], known: Mapping[str, Any]) -> None:
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
    other = {*OF_KIND, "candidates"} if known.get("kind", target.kind) != target.kind else set()
    given = {key: value for key, value in known.items() if key not in ("text", "target")}
    guess.kind = str(known.get("kind", target.kind))
    guess.keys |= {key: value for key, value in target.keys.items() if key not in other} | given
    guess.why |= {key: why for key, why in target.why.items() if key not in other} | dict.fromkeys(given, GIVEN)
    guess.doubts += [doubt for doubt in target.doubts if doubt.partition(":")[0] not in {*other, *known}]
    _guess_texts(guess, main, test, list(tables.values()), known.get("text"))
    _guess_splits(guess, tables, "test" in labelled)


def _known_column(table: Table, name: object) -> Column:
    """The column of this name. Raises InputError if the file has none, or one that cannot be read."""
    if name in table.incomplete:
        raise InputError(table.incomplete[str(name)])
    if name not in table.columns:
        raise InputError(f"no column {quoted(str(name))}: {table.listed}")
    return table.columns[str(name)]


def _labelled(tables: Mapping[str, Table], target: str) -> dict[str, Table]:
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


def _joined(tables: Mapping[str, Table], name: str) -> Column:
    """A column of several files as one."""
    columns = [table.columns[name] for table in tables.values()]
    return Column(name, [text for c in columns for text in c.texts], [row for c in columns for row in c.lists])


def _guess_texts(
    guess: Guess, main: Table, test: Table | None, tables: Sequence[Table], known: Sequence[str] | str | None
) -> None:
    """Guess the columns of texts and groups. Raises InputError if no column looks like a text. known: the texts, if they need no guess."""
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
    """Whether a suite file can hold a value: no OmegaConf reference (`mtl.base.untrusted_yaml.read_yaml`), and valid Unicode only."""
    if isinstance(value, str):
        return "${" not in value and not any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return all(map(_is_writable, value.values()))
    return all(map(_is_writable, value)) if isinstance(value, list) else True


# The keys that such a task takes from the other task, see `mtl.tasks.suite`.
TAKEN = ("kind", "labels", "range")


def choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """For each task without a train file, guess the task that answers it. If none could, give the task a problem.

    The files do not say which task it is. A candidate has training rows, the same text columns and kind, and all the task's labels
    or its whole range. If there are several, the one with the most training rows is chosen.
    """
    for guess in guesses:
        if guess.problem is not None or guess.files["train"] is not None:
            continue
        candidates = [other for other in guesses if other.problem is None and _could_answer(other, guess)]
        if not candidates:
            guess.problem = (
                "no train file, and no other task has training rows with the same text columns and all its labels; add one,"
                " or write answered_by: TASK"
            )
            continue
        candidates.sort(key=lambda other: -other.rows["train"])
        _answer(guess, candidates[0], candidates[1:])


def _could_answer(other: Guess, guess: Guess) -> bool:
    if other.files["train"] is None or other.kind != guess.kind:
        return False
    if any(other.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    if guess.kind == "number":
        (low, high), (lowest, highest) = guess.keys["range"], other.keys["range"]
        return bool(lowest <= low and high <= highest)
    return set(guess.keys.get("labels", ())) <= set(other.keys.get("labels", ()))


def _answer(guess: Guess, other: Guess, more: Sequence[Guess]) -> None:
    targets = guess.keys.get("labels") or guess.keys.get("range")
    for key in TAKEN:
        guess.keys.pop(key, None)
        guess.why.pop(key, None)
    # "labels: may also be ratings" is a question of the task that answers.
    guess.doubts = [doubt for doubt in guess.doubts if not doubt.startswith("labels:")]
    guess.keys["answered_by"] = other.id
    guess.why["answered_by"] = "a guess: it has the same text columns, and these targets among its own; check"
    if targets:
        guess.notes.append(
            f"its own targets: {columns_in_words(map(str, targets))}; labels or range come from {quoted(other.id)}"
        )
    others = f"; or {', '.join(task.id for task in more)}" if more else ""
    guess.doubts.append(f"answered_by: no training rows; {other.id} has the same columns and labels{others}")
    guess.why["files"] = "no train file"


WIDTH = 120  # a comment that would make its line longer is written above that line
# The keys of a task in the order in which they are written; "files" and "rows" come last.
KEYS = (
    *("header", "text", "candidates", "kind", "target", "labels", "range", "metric", "positive", "group"),
    *("scored", "answered_by", "files", "rows"),
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


def suite_document(name: str, language: str | None, guesses: Sequence[Guess], data_dir: Path, out: Path) -> str:
    """The suite file's content. Tasks with a problem are comments after the other tasks."""
    following = printable(settings(out, data_dir))
    lines = [
        "# Guessed by `mtl init-suite`. The comments say from what; correct what is wrong. Then:",
        f"#   mtl audit {following}",
        f"#   mtl baseline {following}",
        f"name: {scalar(name)}",
        f"language: {scalar(language)}"
        if language
        else "language: en  # not guessed: set the language of the tokenizer",
        "",
    ]
    decided = [guess for guess in guesses if guess.problem is None]
    lines.append("tasks:" if decided else "tasks: {}  # none could be guessed")
    for guess in decided:
        lines += _task(guess)
    for guess in guesses:
        if guess.problem is not None:
            lines += ["", f"  # Not decided: {printable(guess.problem)}"]
            lines += [f"  # {line.removeprefix('  ')}" for line in _task(guess)]
    return "".join(f"{line}\n" for line in lines)


def settings(out: Path, data_dir: Path) -> str:
    """The settings for the next commands, quoted for a shell."""
    return f"suite={shlex.quote(str(out))} data_dir={shlex.quote(str(data_dir))}"


def _task(guess: Guess) -> Iterator[str]:
    yield f"  {scalar(guess.id)}:"
    for text in (*guess.notes, *(f"Decide: {doubt}" for doubt in guess.doubts)):
        yield f"    # {printable(text)}"
    if guess.folder:
        yield f"    folder: {scalar(guess.folder)}"
    values = {**guess.keys, "files": guess.files, "rows": guess.rows}
    for key in KEYS:
        if key in values:
            line = f"    {key}: {_flow(values[key])}"
            why = printable(guess.why.get(key, ""))
            if why and len(line) + len(why) + 4 > WIDTH:
                yield f"    # {key}: {why}"
            elif why:
                line += f"  # {why}"
            yield line


def _flow(value: object) -> str:
    """A value as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return scalar(value) if isinstance(value, str) else "null" if value is None else str(value)


def scalar(text: str) -> str:
    """A string as one line of YAML that is read back as the same string, never as a number, a truth value or null."""
    if _PLAIN.fullmatch(text) and OmegaConf.select(OmegaConf.create(f"value: {text}"), "value") == text:
        return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf).strip()


SHOWN = 3  # the most names of files in a line of the summary


@dataclass(frozen=True)
class Initialized:
    """The path of the suite file that was written, and a summary: a line for each task and for each decision that is left."""

    path: Path
    summary: str


def init_suite(
    data_dir: Path, language: str | None = None, name: str | None = None, out: Path | None = None
) -> Initialized:
    """Guess the tasks of the data files below a folder, and write a suite file whose comments say what each guess is
    based on.

    Args:
        language: the language of the tokenizer, as in "sv"; None: "en", with a comment.
        name: the name of the suite; None: the folder's name.
        out: the file to write; None: the suite's name and ".yaml" in the working directory.

    Raises:
        InputError: if there is no folder or no usable file, for a name that is not valid in file names, and if `out`
            already exists: nothing is overwritten.
    """
    if not data_dir.is_dir():
        raise InputError("no such folder", path=data_dir)
    suite_name = name or file_name(data_dir.resolve().name, "suite")
    if name is None and (shipped("configs") / "suite" / f"{suite_name}.yaml").exists():
        suite_name += "-own"  # runs are in folders named after the suite
    if suite_name != file_name(suite_name, ""):
        raise InputError(f"{suite_name!r} names folders; use letters, digits, '.', '_' and '-'", key="--name")
    path = out or Path(f"{suite_name}.yaml")
    if path.exists() or path.is_symlink():
        raise InputError("already there; remove it, or name another file with --out", path=path)
    guessed = guess_suite(data_dir, language, suite_name, path)
    write_text(path, guessed.document)
    return Initialized(path, guessed.summary)


@dataclass(frozen=True)
class Guessed:
    """The content of a suite file, and the summary of `Initialized`.

    Args:
        problems: why tasks cannot be declared, by id.
    """

    document: str
    summary: str
    problems: Mapping[str, str]


def guess_suite(
    data_dir: Path,
    language: str | None,
    name: str,
    path: Path,
    known: Mapping[str, Mapping[str, Any]] | None = None,
) -> Guessed:
    """Guess the tasks of the data files below a folder.

    Args:
        language, name: as in `init_suite`.
        path: where the suite file will be, which its comments name.
        known: by task id, keys that need no guess.

    Raises:
        InputError: if there is no usable file, and for known keys of other tasks, or that a guess does not have.
    """
    tasks = find_tasks(data_dir)
    if not tasks.tasks:
        names = ", ".join(name for splits in SPLIT_NAMES.values() for name in splits)
        raise InputError(
            f"no file of a split below it; name data files {names} or TASK_train and so on, with {', '.join(FORMATS)}",
            path=data_dir,
        )
    for id, keys in (known or {}).items():
        if id not in (ids := [files.id for files in tasks.tasks]):
            raise InputError(f"no such task; there are {', '.join(ids)}", key=f"tasks.{id}")
        if unknown := [key for key in keys if key not in KEYS or key in ("files", "rows", "header")]:
            raise InputError("not a key that is known here", key=f"tasks.{id}.{unknown[0]}")
    guesses = [guess_task(files, data_dir, (known or {}).get(files.id)) for files in tasks.tasks]
    choose_answering_tasks(guesses)
    document = suite_document(name, language, guesses, data_dir, path)
    problems = {guess.id: guess.problem for guess in guesses if guess.problem is not None}
    return Guessed(document, "\n".join(_summary(path, data_dir, language, guesses, tasks)), problems)


def _summary(path: Path, data_dir: Path, language: str | None, guesses: Sequence[Guess], tasks: Found) -> Iterator[str]:
    width = max(len(guess.id) for guess in guesses)
    for guess in guesses:
        yield printable(f"{guess.id:{width}}  {_described(guess)}")
    for guess in guesses:
        if guess.problem is None:
            yield from (printable(f"decide: {guess.id}: {doubt}") for doubt in guess.doubts)
    if language is None:
        yield "decide: language: not guessed, the file says en; set it, or give --language"
    for folder in tasks.empty:
        yield f"{quoted(folder)}: no file that is named after a split"
    if tasks.unused:
        more = ", …" if len(tasks.unused) > SHOWN else ""
        yield f"not read: {count(len(tasks.unused), 'file')} named after no split: {columns_in_words(tasks.unused[:SHOWN])}{more}"
    undecided = sum(guess.problem is not None for guess in guesses)
    yield (
        f"{path}: {count(len(guesses) - undecided, 'task')}"
        + (f", and {undecided} as comments" if undecided else "")
        + f"; check it, then: mtl audit {settings(path, data_dir)}"
    )


def _described(guess: Guess) -> str:
    """One task in one line."""
    if guess.problem is not None:
        return f"not decided: {guess.problem}"
    keys = guess.keys
    texts = columns_in_words([*keys["text"], *keys.get("candidates", ())])
    kinds = {
        "labels": f"{len(keys.get('labels', ()))} labels",
        "number": "numbers {} to {}".format(*keys.get("range", ("", ""))),
    }
    kind = f"answered by {keys['answered_by']}" if "answered_by" in keys else kinds.get(guess.kind, guess.kind)
    splits = ", ".join(f"{split} {guess.rows[split]:,}" if guess.files[split] else f"no {split}" for split in SPLITS)
    return f"{kind}, {keys['metric']}; {texts}; {splits}"
