"""What `mtl init-suite` writes, a suite file with a comment for each guess, and what it prints, a summary. Names and labels are untrusted: they are
quoted if necessary, and characters that do not print are escaped."""

import json
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import yaml

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.finding import DataFolder
from mtl.benchmark_making.init_suite.guess import ID, Guess, count, printable, quoted, quoted_names
from mtl.benchmark_making.init_suite.labels import MULTI_LABEL
from mtl.benchmark_making.init_suite.token_tags import TOKEN_LABELS
from mtl.tasks.task import SPLITS

WIDTH = 120  # a comment that would make its line longer is written above that line
KEYS = (  # of a task, in the order in which they are written
    *("reading", "header", "text", "spans", "candidates", "indices", "kind", "target", "starts", "labels", "label_separator"),
    *("range", "metric", "also", "positive", "group", "scored", "answered_by", "files", "rows", "license", "hub"),
)  # fmt: skip
MOST_COLUMNS = 8  # the most names of columns in a line about those that are not read
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
MOST_FILES = 3  # the most names of files, or of tasks, in a line
# Where a kind has another name.
KINDS = {"labels": "{} labels", TOKEN_LABELS: "{} tags of tokens", MULTI_LABEL: "several of {} labels"}


def suite_document(
    name: str, language: str | None, guesses: Sequence[Guess], data_dir: Path, out: Path, source: str = ""
) -> str:
    """The suite file's content. Tasks with a problem are comments after the other tasks. `source`: the address of the data on the Hub."""
    declared = [guess for guess in guesses if guess.problem is None]
    tasks = [line for guess in declared for line in _task(guess)]
    lines = [*_header(name, language, declared, printable(suite_settings(out, data_dir)), source)]
    lines += ["tasks:" if tasks else "tasks: {}  # none could be guessed", *tasks]
    for guess in guesses:
        if guess.problem is not None:
            lines += ["", f"  # Left out: {printable(guess.problem)}"]
            lines += [f"  # {line.removeprefix('  ')}" for line in _task(guess)]
    return "".join(f"{line}\n" for line in lines)


def _header(name: str, language: str | None, declared: Sequence[Guess], settings: str, source: str) -> Iterator[str]:
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


def summary(
    path: Path, shown: Path, language: str | None, guesses: Sequence[Guess], folder: DataFolder
) -> Iterator[str]:
    """What is printed: each task, what is not read, left out and asked, and the next command. `shown`: the data's folder, as this names it."""
    declared = [guess for guess in guesses if guess.problem is None]
    width = max((len(guess.id) for guess in declared), default=0)
    for guess in declared:
        yield printable(f"{guess.id:{width}}  {_described(guess)}")
        yield from (printable(f"{'':{width}}  {line}") for line in unread_columns_line(guess))
    yield from warnings(guesses)
    yield from _by_text("decide", ((guess.id, question) for guess in declared for question in guess.questions))
    if language is None:
        yield "language: not guessed, the file says en; set it, or give --language"
    used = {name for guess in guesses for name in guess.paths}  # answers name files, too
    unreadable = "of a form that is not read (unpack archives)"
    for reason, files in (("named after no split", folder.unused), (unreadable, folder.unreadable)):
        if names := [name for name in files if name not in used]:
            further = ", …" if len(names) > MOST_FILES else ""
            yield f"not read: {count(len(names), 'file')} {reason}: {quoted_names(names[:MOST_FILES])}{further}"
    yield f"{path}: {_next_step(path, shown, guesses, folder.address)}"


def warnings(guesses: Sequence[Guess]) -> Iterator[str]:
    """What the user should know: the tasks that were left out, the notes on others, and the splits on which these are scored, if they differ."""
    yield from (printable(f"left out: {guess.id}: {guess.problem}") for guess in guesses if guess.problem is not None)
    declared = [guess for guess in guesses if guess.problem is None]
    yield from _by_text("note", ((guess.id, note) for guess in declared for note in guess.notes))
    held_out = [guess for guess in declared if guess.scored == "dev" and guess.files["dev"] is None]
    scored = [(guess.id, "on rows of train" if guess in held_out else f"on {guess.scored}") for guess in declared]
    if len({split for _, split in scored}) > 1:
        yield from _by_text("scored", scored)


def _next_step(path: Path, data_dir: Path, guesses: Sequence[Guess], source: str) -> str:
    """How many tasks the suite file declares, and what to do with it: answer the questions, or run the next command."""
    declared = [guess for guess in guesses if guess.problem is None]
    tasks = count(len(declared), "task")
    if left_out := len(guesses) - len(declared):
        tasks += f", and {left_out} left out: mend the data, remove this file and run this again, or go on"
    if asked := [(guess, question) for guess in declared for question in guess.questions]:
        answers = dict.fromkeys(f"tasks.{guess.id}.{_answer(guess, question)}" for guess, question in asked)
        again = f"mtl init-suite {shlex.quote(source or str(data_dir))} --answer {' '.join(map(shlex.quote, answers))}"
        return f"{tasks}; {count(len(asked), 'question')} to answer in it before it runs, or remove it and answer here: {again}"
    settings = suite_settings(path, data_dir)
    command = f"data {settings.removeprefix('suite=')}" if source else f"audit {settings}"
    return f"{tasks}; check it, then: mtl {command}"


def _by_text(kind: str, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A line for each text, with the ids of its tasks, from pairs of an id and a text."""
    ids_by_text: dict[str, list[str]] = {}
    for id, text in texts:
        ids_by_text.setdefault(text, []).append(id)
    for text, ids in ids_by_text.items():
        further = f" and {len(ids) - MOST_FILES} more" if len(ids) > MOST_FILES else ""
        yield printable(f"{kind}: {', '.join(ids[:MOST_FILES])}{further}: {text}")


def _answer(guess: Guess, question: str) -> str:
    """The answer to a question as KEY=VALUE: the guess of how files are named and read, else …. A name that does not print is escaped as in YAML."""
    key = question.partition(":")[0]
    section, _, inner_key = key.partition(".")
    guessed = ({"files": guess.files, **guess.keys}.get(section) or {}).get(inner_key) if inner_key else None
    value = str(guessed or "…")
    return f"{key}={value if value.isprintable() else printable(scalar(value))}"


def _described(guess: Guess) -> str:
    """One task in one line."""
    keys = guess.keys
    kind = KINDS.get(guess.kind, guess.kind).format(len(keys.get("labels") or ()))
    if "answered_by" in keys:
        kind = f"answered by {keys['answered_by']}"
    elif guess.kind == "number":
        kind = "numbers {} to {}".format(*keys["range"])
    splits = ", ".join(f"{split} {guess.rows[split]:,}" if guess.files[split] else f"no {split}" for split in SPLITS)
    texts = quoted_names([*keys["text"], *keys.get("candidates", ())])
    return f"target {quoted(keys['target'])}: {kind}, {keys['metric']}; text {texts}; {splits}"
