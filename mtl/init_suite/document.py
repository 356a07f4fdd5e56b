"""The content of the suite file: YAML with a comment for each guess. Names and labels from untrusted files are quoted if necessary."""

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from omegaconf import OmegaConf

from mtl.init_suite.task import Guess
from mtl.init_suite.wording import printable

WIDTH = 120  # a comment that would make its line longer is written above that line
# The keys of a task in the order in which they are written; "files" and "rows" come last.
KEYS = (
    *("text", "candidates", "kind", "target", "labels", "range", "metric", "positive", "group"),
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
