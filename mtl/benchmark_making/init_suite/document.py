"""The suite file that `mtl init-suite` writes, with a comment for each guess. Names and labels are untrusted, so they are quoted if necessary."""

import json
import math
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import yaml

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.guess import ID, Guess, printable, quoted

WIDTH = 120  # a comment that would make its line longer is written above that line
KEYS = (  # of a task, in the order in which they are written
    *("reading", "header", "text", "spans", "candidates", "indices", "kind", "target", "starts", "labels", "label_separator"),
    *("range", "metric", "also", "positive", "group", "scored", "answered_by", "files", "rows", "license", "hub"),
)  # fmt: skip
MOST_COLUMNS = 8  # the most names of columns in a line about those that are not read
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


def suite_document(
    name: str, language: str | None, guesses: Sequence[Guess], data_dir: Path, out: Path, source: str = ""
) -> str:
    """The suite file's content. Tasks with a problem are comments after the other tasks. `source`: the address of the data on the Hub."""
    declared = [guess for guess in guesses if guess.problem is None]
    tasks = [line for guess in declared for line in _task(guess)]
    lines = [
        *_header_lines(name, language, declared, printable(suite_settings(out, data_dir)), source),
        "tasks:" if tasks else "tasks: {}  # none could be guessed",
        *tasks,
    ]
    for guess in guesses:
        if guess.problem is not None:
            lines += ["", f"  # Left out: {printable(guess.problem)}"]
            lines += [f"  # {line.removeprefix('  ')}" for line in _task(guess)]
    return "".join(f"{line}\n" for line in lines)


def _header_lines(
    name: str, language: str | None, declared: Sequence[Guess], settings: str, source: str
) -> Iterator[str]:
    """The lines before the tasks: the next commands with these settings, and the keys of the whole suite."""
    unread = [item for guess in declared for item in guess.unread.items()]
    ids = dict.fromkeys(column for column, why in unread if why == ID and column != "id")
    yield f"# Guessed by `mtl init-suite`{f' from {source}' if source else ''}. The comments say from what; correct what is wrong. Then:"
    if source:
        yield f"#   mtl data {settings.removeprefix('suite=')}"
    yield f"#   mtl audit {settings}"
    yield f"#   mtl baseline {settings} preset=strong seeds=1"
    yield f"name: {scalar(name)}"
    yield f"language: {scalar(language or 'en')}{'' if language else '  # not guessed: set the language of the tokenizer'}"
    if ids:
        yield f"submission: {{ids: {_one_line_yaml([*ids])}}}  # predictions may name their rows by these columns"
    yield ""


@lru_cache
def scalar(text: str) -> str:
    """A string as one line of YAML that is read back as the same string, never as a number, a truth value or null."""
    if PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf).strip()


def _task(guess: Guess) -> Iterator[str]:
    """The lines of a task in the suite file."""
    yield f"  {scalar(guess.id)}:"
    yield from (f"    # {printable(text)}" for text in (*guess.notes, *unread_columns_line(guess)))
    if guess.questions:
        yield "    decide:  # correct the keys below and delete each answered line; the suite does not run before"
        yield from (f"      - {scalar(printable(question))}" for question in guess.questions)
    values = {"folder": guess.folder, **guess.keys, "files": guess.files, "rows": guess.rows}
    for key in [key for key in ("folder", *KEYS) if key in values and values[key] != ""]:
        line, why = f"    {key}: {_one_line_yaml(values[key])}", printable(guess.why.get(key, ""))
        if why and len(line) + len(why) + 4 > WIDTH:
            yield f"    # {key}: {why}"
            why = ""
        yield f"{line}  # {why}" if why else line


def unread_columns_line(guess: Guess) -> list[str]:
    """The columns that are not read, each with the reason, in a line; empty if there are none."""
    columns = [f"{quoted(name)} ({why})" for name, why in guess.unread.items()]
    return [f"not read: {listed(columns, MOST_COLUMNS)}"] if columns else []


def _one_line_yaml(value: object) -> str:
    """A value as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_one_line_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_one_line_yaml, value)) + "]"
    return scalar(value) if isinstance(value, str) else json.dumps(value)


def suite_settings(out: Path, data_dir: Path) -> str:
    """The settings for the next commands, quoted for a shell."""
    return f"suite={shlex.quote(str(out))} data_dir={shlex.quote(str(data_dir))}"
