"""The suite file that `mtl init-suite` writes, with a comment for each guess. Names and labels are untrusted: they are quoted if necessary, and
characters that do not print are escaped."""

import json
import math
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.guess import ID, Guess, printable, quoted

WIDTH = 120  # a comment that would make its line longer is written above that line
KEYS = (  # of a task, in the order in which they are written
    "reading", "header", "text", "spans", "candidates", "indices", "kind", "target", "starts", "labels", "label_separator", "range",
    "metric", "also", "positive", "group", "scored", "answered_by", "files", "rows", "license", "hub",
)  # fmt: skip
MOST_COLUMNS = 8  # the most names of columns in a line about those that are not read
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


@dataclass(frozen=True)
class SuiteGuess:
    """A suite as it is guessed, before its file is written, which declares the tasks without a problem."""

    name: str
    language: str | None  # None: it is not guessed, and the file says en
    tasks: Sequence[Guess]
    data_dir: Path  # as comments and commands name it
    path: Path  # of the suite file
    address: str = ""  # of a data set of the Hub, with its commit; empty for a folder

    @property
    def declared(self) -> list[Guess]:
        return [task for task in self.tasks if task.problem is None]

    @property
    def left_out(self) -> list[Guess]:
        return [task for task in self.tasks if task.problem is not None]

    @property
    def next_commands(self) -> list[str]:
        """What to run after the file is checked, in order, quoted for a shell."""
        settings = f"{shlex.quote(str(self.path))} data_dir={shlex.quote(str(self.data_dir))}"
        commands = [f"mtl audit suite={settings}", f"mtl baseline suite={settings} preset=strong seeds=1"]
        return [f"mtl data {settings}", *commands] if self.address else commands


def suite_document(suite: SuiteGuess) -> str:
    """The suite file's content. Tasks with a problem are comments after the other tasks."""
    lines = [*_header(suite)]
    for guess in suite.declared:
        lines += _task(guess)
    for guess in suite.left_out:
        lines += ["", f"  # Left out: {printable(str(guess.problem))}"]
        lines += [f"  # {line.removeprefix('  ')}" for line in _task(guess)]
    return "".join(f"{line}\n" for line in lines)


def _header(suite: SuiteGuess) -> Iterator[str]:
    """The lines before the tasks: the next commands, and the keys of the whole suite."""
    source = f" from {suite.address}" if suite.address else ""
    yield f"# Guessed by `mtl init-suite`{source}. The comments say from what; correct what is wrong. Then:"
    for command in suite.next_commands:
        yield f"#   {printable(command)}"
    yield f"name: {scalar(suite.name)}"
    comment = "" if suite.language else "  # not guessed: set the language of the tokenizer"
    yield f"language: {scalar(suite.language or 'en')}{comment}"
    unread = [item for guess in suite.declared for item in guess.unread.items()]
    if ids := dict.fromkeys(column for column, why in unread if why == ID and column != "id"):
        yield f"submission: {{ids: {_one_line_yaml([*ids])}}}  # predictions may name their rows by these columns"
    yield ""
    yield "tasks:" if suite.declared else "tasks: {}  # none could be guessed"


def scalar(text: str) -> str:
    """A string as one line of YAML that is read back as the same string, never as a number, a truth value or null."""
    if PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf).strip()


def _task(guess: Guess) -> Iterator[str]:
    """The lines of a task in the suite file."""
    yield f"  {scalar(guess.id)}:"
    for text in [*guess.notes, *unread_columns_line(guess)]:
        yield f"    # {printable(text)}"
    if guess.questions:
        yield "    decide:  # correct the keys below and delete each answered line; the suite does not run before"
    for question in guess.questions:
        yield f"      - {scalar(printable(question))}"
    values = {"folder": guess.folder, **guess.keys, "files": guess.files, "rows": guess.rows}
    for key in ("folder", *KEYS):
        if key not in values or values[key] == "":
            continue
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
    """A value as one line of YAML. The keys of a dictionary are those of suite files."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_one_line_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_one_line_yaml, value)) + "]"
    return scalar(value) if isinstance(value, str) else json.dumps(value)
