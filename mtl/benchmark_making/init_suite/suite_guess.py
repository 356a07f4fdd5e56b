"""A suite as `mtl init-suite` guesses it: the suite file with a comment for each guess, and what is printed about it. Names and labels are
untrusted: they are quoted if necessary, and characters that do not print are escaped."""

import json
import math
import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.finding import DataFolder
from mtl.benchmark_making.init_suite.guess import MULTI_LABEL, TOKEN_LABELS, WHY_ID, Guess
from mtl.benchmark_making.init_suite.wording import printable, quantity, quoted, quoted_names
from mtl.tasks.task import SPLITS

WIDTH = 120  # a comment that would make its line longer is written above that line
MOST_COLUMNS = 8  # the most names of columns in a line about those that are not read
MOST_NAMES = 3  # of files, or of tasks, in a line
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
# The targets of kinds with labels, of which this is the number; other kinds are named as in a suite file.
TARGETS = {"labels": "{} labels", TOKEN_LABELS: "{} tags of tokens", MULTI_LABEL: "several of {} labels"}


@dataclass(frozen=True)
class SuiteGuess:
    """A suite as it is guessed. Its file declares the tasks without a problem."""

    name: str
    language: str | None  # None: it is not guessed, and the file says en
    tasks: Sequence[Guess]
    folder: DataFolder
    data_dir: Path  # as comments and commands name it
    path: Path  # of the suite file

    @property
    def declared(self) -> list[Guess]:
        return [task for task in self.tasks if task.problem is None]

    @property
    def problems(self) -> dict[str, str]:
        """By task id, why tasks cannot be declared."""
        return {task.id: task.problem for task in self.tasks if task.problem is not None}

    @property
    def questions(self) -> list[tuple[str, str]]:
        """What is to be decided, after the id of the task."""
        return [(task.id, question) for task in self.declared for question in task.questions]

    @property
    def document(self) -> str:
        """The suite file's content. Tasks with a problem are comments after the other tasks."""
        lines = [*_header(self)]
        for task in self.declared:
            lines += _task_lines(task)
        for task in [task for task in self.tasks if task.problem is not None]:
            lines += ["", f"  # Left out: {printable(str(task.problem))}"]
            lines += [f"  # {line.removeprefix('  ')}" for line in _task_lines(task)]
        return "".join(f"{line}\n" for line in lines)

    @property
    def summary(self) -> str:
        """What is printed: the tasks, the warnings, the questions, and the next command."""
        width = max((len(task.id) for task in self.declared), default=0)
        lines: list[str] = []
        for task in self.declared:
            lines.append(f"{task.id:{width}}  {_description(task)}")
            lines += [f"{'':{width}}  {line}" for line in _unread_columns_line(task)]
        lines += [*self.warnings, *(f"decide: {id}: {question}" for id, question in self.questions)]
        if self.language is None:
            lines.append("language: not guessed, the file says en; set it, or give --language")
        return "\n".join(printable(line) for line in [*lines, f"{self.path}: {_next_step(self)}"])

    @property
    def warnings(self) -> list[str]:
        """What the user should know: the files that are not read, the tasks that are left out, and the notes on others."""
        lines = [*unread_files_lines(self.folder, {path for task in self.tasks for path in task.paths})]
        lines += [f"left out: {id}: {problem}" for id, problem in self.problems.items()]
        lines += [f"note: {task.id}: {note}" for task in self.declared for note in task.notes]
        return [printable(line) for line in lines]


def next_commands(suite: SuiteGuess) -> list[str]:
    """What to run after the file is checked, in order, quoted for a shell."""
    settings = f"{shlex.quote(str(suite.path))} data_dir={shlex.quote(str(suite.data_dir))}"
    commands = [f"mtl audit suite={settings}", f"mtl baseline suite={settings} preset=strong seeds=1"]
    return [f"mtl data {settings}", *commands] if suite.folder.address else commands


def _header(suite: SuiteGuess) -> Iterator[str]:
    """The lines of the file before the tasks: the next commands, and the keys of the whole suite."""
    source = f" from {suite.folder.address}" if suite.folder.address else ""
    yield f"# Guessed by `mtl init-suite`{source}. The comments say from what; correct what is wrong. Then:"
    for command in next_commands(suite):
        yield f"#   {printable(command)}"
    yield f"name: {scalar(suite.name)}"
    comment = "" if suite.language else "  # not guessed: set the language of the tokenizer"
    yield f"language: {scalar(suite.language or 'en')}{comment}"
    unread = [item for task in suite.declared for item in task.unread.items()]
    if ids := dict.fromkeys(column for column, why in unread if why == WHY_ID and column != "id"):
        yield f"submission: {{ids: {_one_line_yaml([*ids])}}}  # predictions may name their rows by these columns"
    yield ""
    yield "tasks:" if suite.declared else "tasks: {}  # none could be guessed"


def _task_lines(task: Guess) -> Iterator[str]:
    yield f"  {scalar(task.id)}:"
    for text in [*task.notes, *_unread_columns_line(task)]:
        yield f"    # {printable(text)}"
    if task.questions:
        yield "    decide:  # correct the keys below and delete each answered line; the suite does not run before"
    for question in task.questions:
        yield f"      - {scalar(printable(question))}"
    for key, value in task.values.items():
        line, why = f"    {key}: {_one_line_yaml(value)}", printable(task.why.get(key, ""))
        if why and len(line) + len(why) + 4 > WIDTH:
            yield f"    # {key}: {why}"
            why = ""
        yield f"{line}  # {why}" if why else line


def scalar(text: str) -> str:
    """A string as one line of YAML that is read back as the same string, never as a number, a truth value or null."""
    if PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf).strip()


def _one_line_yaml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(str(key))}: {_one_line_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_one_line_yaml, value)) + "]"
    return scalar(value) if isinstance(value, str) else json.dumps(value, default=str)  # a date


def _description(task: Guess) -> str:
    keys = task.keys
    targets = TARGETS.get(task.kind, task.kind).format(len(keys.get("labels") or ()))
    if "answered_by" in keys:
        targets = f"answered by {keys['answered_by']}"
    elif task.kind == "number":
        targets = "numbers {} to {}".format(*keys["range"])
    texts = quoted_names([*keys["text"], *keys.get("candidates", ())])
    splits = ", ".join(f"{split} {task.rows[split]:,}" if task.files[split] else f"no {split}" for split in SPLITS)
    scored = "rows of train" if task.scored == "dev" and task.files["dev"] is None else task.scored
    return f"target {quoted(keys['target'])}: {targets}, {keys['metric']} on {scored}; text {texts}; {splits}"


def _unread_columns_line(task: Guess) -> list[str]:
    """The columns that are not read, each with the reason, in a line; empty if there are none."""
    columns = [f"{quoted(name)} ({why})" for name, why in task.unread.items()]
    return [f"not read: {listed(columns, MOST_COLUMNS)}"] if columns else []


def unread_files_lines(folder: DataFolder, used: Collection[str] = ()) -> Iterator[str]:
    """The files of no task in a line for each reason, without those that answers make files of a task."""
    for why, paths in folder.unread.items():
        if names := [path for path in paths if path not in used]:
            yield f"not read: {quantity(len(names), 'file')} {why}: {quoted_names(names, MOST_NAMES)}"


def _next_step(suite: SuiteGuess) -> str:
    """How many tasks the suite file declares, and what to do with it: answer the questions, or run the next command."""
    tasks = quantity(len(suite.declared), "task")
    if suite.problems:
        tasks += f", and {len(suite.problems)} left out: mend the data, remove this file and run this again, or go on"
    if not suite.questions:
        return f"{tasks}; check it, then: {next_commands(suite)[0]}"
    answers = dict.fromkeys(f"tasks.{id}.{question.partition(':')[0]}=…" for id, question in suite.questions)
    again = ["mtl", "init-suite", suite.folder.address or str(suite.data_dir), "--answer", *answers]
    advice = f"to answer in it before it runs, or remove it and answer here: {shlex.join(again)}"
    return f"{tasks}; {quantity(len(suite.questions), 'question')} {advice}"
