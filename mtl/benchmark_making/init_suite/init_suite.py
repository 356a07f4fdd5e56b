"""`mtl init-suite`: guess each task from its files, and write a suite file with a comment for each guess.

Names and labels come from untrusted files, so the suite file has them in quotes if necessary.
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf

from mtl.base.errors import InputError
from mtl.base.files import write_text
from mtl.benchmark_making.init_suite.files import (
    SPLIT_NAMES,
    Found,
    columns_in_words,
    count,
    file_name,
    find_tasks,
    printable,
    quoted,
)
from mtl.benchmark_making.init_suite.guessing import Guess, choose_answering_tasks, guess_task
from mtl.data.records import FORMATS
from mtl.settings.layers import shipped
from mtl.tasks.task import SPLITS

WIDTH = 120  # a comment that would make its line longer is written above that line
# The keys of a task in the order in which they are written; "files" and "rows" come last.
KEYS = (
    *("header", "text", "candidates", "kind", "target", "labels", "range", "metric", "positive", "group"),
    *("scored", "answered_by", "files", "rows"),
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
SHOWN = 3  # the most names of files in a line of the summary


def suite_document(name: str, language: str | None, guesses: Sequence[Guess], data_dir: Path, out: Path) -> str:
    """The suite file's content. Tasks with a problem are comments after the other tasks."""
    following = printable(settings(out, data_dir))
    lines = [
        "# Guessed by `mtl init-suite`. The comments say from what; correct what is wrong. Then:",
        f"#   mtl audit {following}",
        f"#   mtl baseline {following}",
        f"name: {scalar(name)}",
        f"language: {scalar(language or 'en')}{'' if language else '  # not guessed: set the language of the tokenizer'}",
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


@dataclass(frozen=True)
class Guessed:
    """The path of a suite file, its content, a summary with a line for each task and each decision that is left, and by task id why
    tasks cannot be declared."""

    path: Path
    document: str
    summary: str
    problems: Mapping[str, str]


def init_suite(
    data_dir: Path, language: str | None = None, name: str | None = None, out: Path | None = None
) -> Guessed:
    """Guess the tasks of the data files below a folder, and write a suite file whose comments say what each guess is based on.

    Arguments are those of `mtl init-suite`. Raises InputError if there is no folder or no usable file, for a name that is not valid in file
    names, and if `out` already exists: nothing is overwritten.
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
    return guessed


def guess_suite(
    data_dir: Path,
    language: str | None,
    name: str,
    path: Path,
    known: Mapping[str, Mapping[str, Any]] | None = None,
) -> Guessed:
    """Guess the tasks of the data files below a folder, for a suite file at a path that its comments name.

    Raises InputError if there is no usable file, and for known keys of other tasks, or that a guess does not have.
    """
    tasks = find_tasks(data_dir)
    if not tasks.tasks:
        names = ", ".join(name for splits in SPLIT_NAMES.values() for name in splits)
        problem = (
            f"no file of a split below it; name data files {names} or TASK_train and so on, with {', '.join(FORMATS)}"
        )
        raise InputError(problem, path=data_dir)
    for id, keys in (known or {}).items():
        if id not in (ids := [files.id for files in tasks.tasks]):
            raise InputError(f"no such task; there are {', '.join(ids)}", key=f"tasks.{id}")
        if unknown := [key for key in keys if key not in KEYS or key in ("files", "rows", "header")]:
            raise InputError("not a key that is known here", key=f"tasks.{id}.{unknown[0]}")
    guesses = [guess_task(files, data_dir, (known or {}).get(files.id)) for files in tasks.tasks]
    choose_answering_tasks(guesses)
    document = suite_document(name, language, guesses, data_dir, path)
    problems = {guess.id: guess.problem for guess in guesses if guess.problem is not None}
    return Guessed(path, document, "\n".join(_summary(path, data_dir, language, guesses, tasks)), problems)


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
        further = ", …" if len(tasks.unused) > SHOWN else ""
        names = f"{columns_in_words(tasks.unused[:SHOWN])}{further}"
        yield f"not read: {count(len(tasks.unused), 'file')} named after no split: {names}"
    undecided = sum(guess.problem is not None for guess in guesses)
    tasks_count = count(len(guesses) - undecided, "task") + (f", and {undecided} as comments" if undecided else "")
    yield f"{path}: {tasks_count}; check it, then: mtl audit {settings(path, data_dir)}"


def _described(guess: Guess) -> str:
    """One task in one line."""
    if guess.problem is not None:
        return f"not decided: {guess.problem}"
    keys = guess.keys
    texts = columns_in_words([*keys["text"], *keys.get("candidates", ())])
    numbers = "numbers {} to {}".format(*keys.get("range", ("", "")))
    kinds = {"labels": f"{len(keys.get('labels', ()))} labels", "number": numbers}
    kind = f"answered by {keys['answered_by']}" if "answered_by" in keys else kinds.get(guess.kind, guess.kind)
    splits = ", ".join(f"{split} {guess.rows[split]:,}" if guess.files[split] else f"no {split}" for split in SPLITS)
    return f"{kind}, {keys['metric']}; {texts}; {splits}"
