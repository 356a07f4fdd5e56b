"""What `mtl init-suite` writes and prints: the suite file, with a comment for each guess, and a summary of it. Names and labels come from untrusted
files, so the suite file has them in quotes if necessary."""

import json
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import yaml

from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.finding import FolderContent
from mtl.benchmark_making.init_suite.guess import ID, Guess, count, printable, quoted, quoted_names
from mtl.benchmark_making.init_suite.kinds import MULTI_LABEL
from mtl.tasks.task import SPLITS

WIDTH = 120  # a comment that would make its line longer is written above that line
KEYS = (  # of a task, in the order in which they are written
    *("reading", "header", "text", "spans", "candidates", "indices", "kind", "target", "starts", "labels", "label_separator"),
    *("range", "metric", "also", "positive", "group", "scored", "answered_by", "files", "rows", "license", "hub"),
)  # fmt: skip
SHOWN = 3  # the most names of files in a line of the summary
SHOWN_COLUMNS = 8  # the most names of columns there
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


def suite_document(
    name: str, language: str | None, guesses: Sequence[Guess], data_dir: Path, out: Path, source: str = ""
) -> str:
    """The suite file's content. Tasks with a problem are comments after the other tasks. `source`: the address of the data on the Hub."""
    settings = printable(_settings(out, data_dir))
    declared = [guess for guess in guesses if guess.problem is None]
    tasks = [line for guess in declared for line in _task(guess)]
    ids = dict.fromkeys(name for guess in declared for name, why in guess.unread.items() if why == ID and name != "id")
    lines = [
        f"# Guessed by `mtl init-suite`{f' from {source}' if source else ''}. The comments say from what; correct what is wrong. Then:",
        *([f"#   mtl data {settings.removeprefix('suite=')}"] if source else []),
        f"#   mtl audit {settings}",
        f"#   mtl baseline {settings} preset=strong seeds=1",
        f"name: {scalar(name)}",
        f"language: {scalar(language or 'en')}{'' if language else '  # not guessed: set the language of the tokenizer'}",
        *([f"submission: {{ids: {_flow([*ids])}}}  # predictions may name their rows by these columns"] if ids else []),
        "",
        "tasks:" if tasks else "tasks: {}  # none could be guessed",
        *tasks,
    ]
    for guess in guesses:
        if guess.problem is not None:
            lines += ["", f"  # Left out: {printable(guess.problem)}"]
            lines += [f"  # {line.removeprefix('  ')}" for line in _task(guess)]
    return "".join(f"{line}\n" for line in lines)


def summary(
    path: Path, data_dir: Path, language: str | None, guesses: Sequence[Guess], content: FolderContent, source: str
) -> Iterator[str]:
    """What is printed: each task, what is not read, left out and asked, and the next command. `source`: as in `suite_document`."""
    declared = [guess for guess in guesses if guess.problem is None]
    width = max((len(guess.id) for guess in declared), default=0)
    for guess in declared:
        yield printable(f"{guess.id:{width}}  {_described(guess)}")
        yield from (printable(f"{'':{width}}  {line}") for line in _unread(guess))
    yield from warnings(guesses)
    asked = [(guess, question) for guess in declared for question in guess.questions]
    yield from _lines("decide", ((guess.id, question) for guess, question in asked))
    if language is None:
        yield "language: not guessed, the file says en; set it, or give --language"
    used = {name for guess in guesses for name in guess.paths}  # answers name files, too
    unreadable = "of a form that is not read (unpack archives)"
    for reason, files in (("named after no split", content.unused), (unreadable, content.unreadable)):
        if names := [name for name in files if name not in used]:
            further = ", …" if len(names) > SHOWN else ""
            yield f"not read: {count(len(names), 'file')} {reason}: {quoted_names(names[:SHOWN])}{further}"
    tasks = count(len(declared), "task")
    if left_out := len(guesses) - len(declared):
        tasks += f", and {left_out} left out: mend the data, remove this file and run this again, or go on"
    settings = _settings(path, data_dir)
    if asked:
        answers = dict.fromkeys(f"tasks.{guess.id}.{_answer(guess, question)}" for guess, question in asked)
        again = f"mtl init-suite {shlex.quote(source or str(data_dir))} --answer {' '.join(map(shlex.quote, answers))}"
        todo = f"{count(len(asked), 'question')} to answer in it before it runs, or remove it and answer here: {again}"
    else:
        command = f"data {settings.removeprefix('suite=')}" if source else f"audit {settings}"
        todo = f"check it, then: mtl {command}"
    yield f"{path}: {tasks}; {todo}"


def warnings(guesses: Sequence[Guess]) -> Iterator[str]:
    """What the user should know: the tasks that were left out, the notes on others, and the splits on which these are scored, if they differ."""
    yield from (printable(f"left out: {guess.id}: {guess.problem}") for guess in guesses if guess.problem is not None)
    declared = [guess for guess in guesses if guess.problem is None]
    yield from _lines("note", ((guess.id, note) for guess in declared for note in guess.notes))
    held_out = [guess for guess in declared if guess.scored == "dev" and guess.files["dev"] is None]
    scored = [(guess.id, "on rows of train" if guess in held_out else f"on {guess.scored}") for guess in declared]
    if len({split for _, split in scored}) > 1:
        yield from _lines("scored", scored)


@lru_cache
def scalar(text: str) -> str:
    """A string as one line of YAML that is read back as the same string, never as a number, a truth value or null."""
    if PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf).strip()


def _task(guess: Guess) -> Iterator[str]:
    """The lines of a task in the suite file."""
    yield f"  {scalar(guess.id)}:"
    yield from (f"    # {printable(text)}" for text in (*guess.notes, *_unread(guess)))
    if guess.questions:
        yield "    decide:  # correct the keys below and delete each answered line; the suite does not run before"
        yield from (f"      - {scalar(printable(question))}" for question in guess.questions)
    values = {"folder": guess.folder, **guess.keys, "files": guess.files, "rows": guess.rows}
    for key in [key for key in ("folder", *KEYS) if key in values and values[key] != ""]:
        line, why = f"    {key}: {_flow(values[key])}", printable(guess.why.get(key, ""))
        if why and len(line) + len(why) + 4 > WIDTH:
            yield f"    # {key}: {why}"
            why = ""
        yield f"{line}  # {why}" if why else line


def _unread(guess: Guess) -> list[str]:
    """The columns that are not read, each with the reason, in a line; empty if there are none."""
    columns = [f"{quoted(name)} ({why})" for name, why in guess.unread.items()]
    return [f"not read: {listed(columns, SHOWN_COLUMNS)}"] if columns else []


def _flow(value: object) -> str:
    """A value as one line of YAML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return scalar(value) if isinstance(value, str) else json.dumps(value)


def _lines(kind: str, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A line for each text, with the ids of its tasks, from pairs of an id and a text."""
    ids_by_text: dict[str, list[str]] = {}
    for id, text in texts:
        ids_by_text.setdefault(text, []).append(id)
    for text, ids in ids_by_text.items():
        further = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
        yield printable(f"{kind}: {', '.join(ids[:SHOWN])}{further}: {text}")


def _answer(guess: Guess, question: str) -> str:
    """The answer to a question as KEY=VALUE: the guess of how files are named and read, else with … as the value."""
    key = question.partition(":")[0]
    section, _, inner_key = key.partition(".")
    guessed = ({"files": guess.files, **guess.keys}.get(section) or {}).get(inner_key) if inner_key else None
    return f"{key}={guessed or '…'}"


def _described(guess: Guess) -> str:
    """One task in one line."""
    keys, size = guess.keys, len(guess.keys.get("labels") or ())
    kinds = {
        "labels": f"{size} labels",
        "token_labels": f"{size} tags of tokens",
        MULTI_LABEL: f"several of {size} labels",
    }
    kind = kinds.get(guess.kind, guess.kind)
    if "answered_by" in keys:
        kind = f"answered by {keys['answered_by']}"
    elif guess.kind == "number":
        kind = "numbers {} to {}".format(*keys["range"])
    splits = ", ".join(f"{split} {guess.rows[split]:,}" if guess.files[split] else f"no {split}" for split in SPLITS)
    texts = quoted_names([*keys["text"], *keys.get("candidates", ())])
    return f"target {quoted(keys['target'])}: {kind}, {keys['metric']}; text {texts}; {splits}"


def _settings(out: Path, data_dir: Path) -> str:
    """The settings for the next commands, quoted for a shell."""
    return f"suite={shlex.quote(str(out))} data_dir={shlex.quote(str(data_dir))}"
