"""`mtl init-suite`: guess each task from its files, and write a suite file with a comment for each guess.

Names and labels come from untrusted files, so the suite file has them in quotes if necessary.
"""

import json
import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from omegaconf import OmegaConf

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import listed, write_text
from mtl.base.settings.layers import shipped
from mtl.base.typed import typed
from mtl.benchmark_making.init_suite.finding import files_of_tasks
from mtl.benchmark_making.init_suite.guess import SCHEME, FoundFiles, Guess, file_name
from mtl.benchmark_making.init_suite.guessing import choose_answering_tasks, guess_task
from mtl.benchmark_making.init_suite.several import KIND
from mtl.benchmark_making.init_suite.wording import count, printable, quoted, quoted_names
from mtl.data.rows import SUFFIXES
from mtl.tasks.suite import suite_from
from mtl.tasks.task import SPLITS, Task

if TYPE_CHECKING:
    from mtl.benchmark_making.init_suite.hub_sets import HubSet

WIDTH = 120  # a comment that would make its line longer is written above that line
# The keys of a task in the order in which they are written; "files" and "rows" come last.
KEYS = (
    *("reading", "header", "text", "spans", "candidates", "indices", "kind", "target", "starts", "labels", "label_separator"),
    *("range", "metric", "also", "positive", "group", "scored", "answered_by", "files", "rows", "license", "hub"),
)  # fmt: skip
LISTS = ("text", "labels", "candidates", "indices", "also")  # keys whose value is a list
ANSWER = re.compile(rf"tasks\.(.+?)\.((?:reading|files)\..+|(?:{'|'.join(KEYS)}))")  # an id may have dots
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
SHOWN = 3  # the most names of files in a line of the summary
SHOWN_COLUMNS = 8  # the most names of columns there


def suite_document(
    name: str, language: str | None, guesses: Sequence[Guess], data_dir: Path, out: Path, source: str = ""
) -> str:
    """The suite file's content. Tasks with a problem are comments after the other tasks. `source`: the address of the data on the Hub."""
    following = printable(settings(out, data_dir))
    tasks = [line for guess in guesses if guess.problem is None for line in _task(guess)]
    lines = [
        f"# Guessed by `mtl init-suite`{f' from {source}' if source else ''}. The comments say from what; correct what is wrong. Then:",
        *([f"#   mtl data {following.removeprefix('suite=')}"] if source else []),
        f"#   mtl audit {following}",
        f"#   mtl baseline {following} preset=strong seeds=1",
        f"name: {scalar(name)}",
        f"language: {scalar(language or 'en')}{'' if language else '  # not guessed: set the language of the tokenizer'}",
        "",
        "tasks:" if tasks else "tasks: {}  # none could be guessed",
        *tasks,
    ]
    for guess in guesses:
        if guess.problem is not None:
            lines += ["", f"  # Left out: {printable(guess.problem)}"]
            lines += [f"  # {line.removeprefix('  ')}" for line in _task(guess)]
    return "".join(f"{line}\n" for line in lines)


def settings(out: Path, data_dir: Path) -> str:
    """The settings for the next commands, quoted for a shell."""
    return f"suite={shlex.quote(str(out))} data_dir={shlex.quote(str(data_dir))}"


def _task(guess: Guess) -> Iterator[str]:
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


@lru_cache
def scalar(text: str) -> str:
    """A string as one line of YAML that is read back as the same string, never as a number, a truth value or null."""
    if _PLAIN.fullmatch(text) and OmegaConf.select(OmegaConf.create(f"value: {text}"), "value") == text:
        return text
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=math.inf).strip()


@dataclass(frozen=True)
class Guessed:
    """A suite file that was guessed."""

    path: Path
    document: str
    summary: str  # a line for each task and each decision that is left, with the warnings
    warnings: Sequence[str]  # a line for what was left out, each note, and where the tasks are scored
    problems: Mapping[str, str]  # by task id, why a task cannot be declared
    questions: Mapping[str, str]  # by task id, the first of what is to be decided
    has_task: bool  # whether the file declares a task


def init_suite(
    data_dir: Path | str,
    language: str | None = None,
    name: str | None = None,
    out: Path | None = None,
    known: Mapping[str, Mapping[str, Any]] | None = None,
    undecided: bool = True,
) -> Guessed:
    """Guess the tasks of the data files below a folder, and write a suite file whose comments say what each guess is based on.

    Args:
        data_dir: a folder, or the address of a data set on the Hub.
        language, name, out: as in `mtl init-suite`.
        known: by task id, keys of the suite file that need no guess.
        undecided: whether a suite file with questions is written, too.

    Raises:
        InputError: if there is no folder, no usable file or no task that can be declared, for a name that is not valid in file names, if `out`
            already exists, as nothing is overwritten, and for questions unless `undecided`.
    """
    from_hub = isinstance(data_dir, str) and data_dir.startswith(SCHEME)
    if from_hub:
        check_installed("hub", unit=str(data_dir))
        from mtl.benchmark_making.init_suite.hub_sets import hub_set
    with hub_set(str(data_dir)) if from_hub else nullcontext() as source:
        folder = source.folder if source else Path(data_dir)
        if folder.is_file():
            raise InputError(f"is a file; name its folder, {folder.parent}, in which it should be alone", path=folder)
        if not folder.is_dir():
            raise InputError("no such folder", path=folder)
        suite_name = name or file_name(folder.resolve().name, "suite")
        if name is None and (shipped("configs") / "suite" / f"{suite_name}.yaml").exists():
            suite_name += "-own"  # runs are in folders named after the suite
        if suite_name != file_name(suite_name, ""):
            raise InputError(f"{suite_name!r} names folders; use letters, digits, '.', '_' and '-'", key="--name")
        path = out or Path(f"{suite_name}.yaml")
        if path.exists() or path.is_symlink():
            raise InputError("already there; remove it, or name another file with --out", path=path)
        language = language or (source.language if source else None)
        guessed = guess_suite(folder, language, suite_name, path, known, source)
    if not guessed.has_task:
        problems = "; ".join(f"{id}: {problem}" for id, problem in [*guessed.problems.items()][:SHOWN])
        raise InputError(f"no task could be guessed, and no suite file is written: {problems}", path=folder)
    for id, question in guessed.questions.items() if not undecided else ():
        key = question.partition(":")[0]
        raise InputError(f"{question}; answer it: tasks={{{id!r}: {{{key!r}: …}}}}", key=f"tasks.{id}")
    write_text(path, guessed.document)
    return guessed


def known_answers(answers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The keys of tasks that answers such as `tasks.d.target=stance` name, by task id. Raises InputError for another form."""
    known: dict[str, dict[str, Any]] = {}
    for answer in answers:
        name, equals, value = answer.partition("=")
        match = ANSWER.fullmatch(name)
        id, key = match.groups() if match else name.removeprefix("tasks.").partition(".")[::2]
        if not (equals and name.startswith("tasks.") and id and key):
            raise InputError("is no answer; write tasks.TASK.KEY=VALUE, as in tasks.reviews.target=stars", value=answer)
        try:
            content = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError):
            raise InputError("is no value as in YAML", key=name, value=value) from None
        outer, _, inner = key.partition(".")
        keys = known.setdefault(id, {})
        before = keys.get(outer)
        keys[outer] = {**(before if isinstance(before, dict) else {}), inner: content} if inner else content
    return known


def _check_known(id: str, keys: Mapping[str, Any]) -> None:
    """Raise InputError for keys of a task that no suite file has, or that have another type there."""
    if unknown := [key for key in keys if key not in KEYS or key in ("rows", "hub")]:
        raise InputError("not a key that is known here", key=f"tasks.{id}.{unknown[0]}")
    if missing := [key for key in LISTS if key in keys and keys[key] is None]:
        raise InputError("must be a list", key=f"tasks.{id}.{missing[0]}")
    given = {key: value for key, value in keys.items() if (key, value) != ("header", True)}
    task = typed(Task, {"text": [], "target": "", "metric": "accuracy", **given}, f"tasks.{id}")
    if task.reading is not None and (problem := task.reading.problem):
        raise InputError(problem, key=f"tasks.{id}.reading")


def guess_suite(
    data_dir: Path,
    language: str | None,
    name: str,
    path: Path,
    known: Mapping[str, Mapping[str, Any]] | None = None,
    source: "HubSet | None" = None,
    shown: Path | None = None,
) -> Guessed:
    """Guess the tasks of the data files below a folder, which may be that of a data set of the Hub, for a suite file at a path that its
    comments name, beside the folder that is shown as that of the data.

    Raises InputError if there is no usable file, and for known keys of other tasks, or that a guess does not have.
    """
    found = source.found if source else files_of_tasks(data_dir)
    address = source.address if source else ""
    if not found.tasks:
        words = ", ".join(SPLITS)
        seen = f"; {quoted_names(found.unreadable[:SHOWN])} cannot be read" if found.unreadable else ""
        problem = f"no file of a split below it{seen}; its name has one of the words {words}, and ends in {', '.join(SUFFIXES)}"
        raise InputError(problem, path=address or data_dir)
    known = {
        id: {key: [value] if key in LISTS and isinstance(value, str) else value for key, value in keys.items()}
        for id, keys in (known or {}).items()
    }
    for id, keys in known.items():
        if id not in (ids := [files.id for files in found.tasks]):
            raise InputError(f"no such task; there are {', '.join(ids)}", key=f"tasks.{id}")
        _check_known(id, keys)
    guesses = [guess_task(files, data_dir, known.get(files.id, {})) for files in found.tasks]
    choose_answering_tasks(guesses)
    for guess in guesses:
        guess.keys |= source.keys if source else {}
        if source and guess.problem is not None:
            guess.problem = guess.problem.replace(f"{data_dir}/", "")
    shown = Path("data", name) if source else shown or data_dir  # a suite's data is there, if nothing else is said
    document = suite_document(name, language, guesses, shown, path, address)
    problems = {guess.id: guess.problem for guess in guesses if guess.problem is not None}
    content = yaml.safe_load(document) if known else {}
    for task in (content.get("tasks") or {}).values():
        task.pop("decide", None)  # there may be further questions
    for id in known:
        if id in problems:
            raise InputError(problems[id], key=f"tasks.{id}")
        try:
            suite_from(content, path)
        except InputError as error:  # a suite file cannot hold the known keys, or another task has a fault
            if f"tasks.{id}." in str(error):
                raise error.located(path="") from None
    questions = {guess.id: guess.questions[0] for guess in guesses if guess.problem is None and guess.questions}
    summary = "\n".join(_summary(path, shown, language, guesses, found, address))
    return Guessed(path, document, summary, [*_warnings(guesses)], problems, questions, len(problems) < len(guesses))


def _warnings(guesses: Sequence[Guess]) -> Iterator[str]:
    """What the user should know: the tasks that were left out, the notes on others, and the splits on which these are scored, if they differ."""
    yield from (printable(f"left out: {guess.id}: {guess.problem}") for guess in guesses if guess.problem is not None)
    declared = [guess for guess in guesses if guess.problem is None]
    yield from _lines("note", [(guess.id, note) for guess in declared for note in guess.notes])
    held_out = [guess for guess in declared if guess.scored == "dev" and guess.files["dev"] is None]
    scored = [(guess.id, "on rows of train" if guess in held_out else f"on {guess.scored}") for guess in declared]
    if len({split for _, split in scored}) > 1:
        yield from _lines("scored", scored)


def _lines(kind: str, said: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A line for each thing that is said of tasks, from the id of a task and what is said of it."""
    for text in dict.fromkeys(text for _, text in said):
        ids = [id for id, other in said if other == text]
        further = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
        yield printable(f"{kind}: {', '.join(ids[:SHOWN])}{further}: {text}")


def _summary(
    path: Path, data_dir: Path, language: str | None, guesses: Sequence[Guess], found: FoundFiles, source: str
) -> Iterator[str]:
    declared = [guess for guess in guesses if guess.problem is None]
    width = max((len(guess.id) for guess in declared), default=0)
    for guess in declared:
        yield printable(f"{guess.id:{width}}  {_described(guess)}")
        yield from (printable(f"{'':{width}}  {line}") for line in _unread(guess))
    yield from _warnings(guesses)
    asked = [(guess, question) for guess in declared for question in guess.questions]
    yield from _lines("decide", [(guess.id, question) for guess, question in asked])
    if language is None:
        yield "language: not guessed, the file says en; set it, or give --language"
    for names, why in (
        (found.unused, "named after no split"),
        (found.unreadable, "of a form that is not read (unpack archives)"),
    ):
        if names:
            further = ", …" if len(names) > SHOWN else ""
            yield f"not read: {count(len(names), 'file')} {why}: {quoted_names(names[:SHOWN])}{further}"
    tasks = count(len(declared), "task")
    if left_out := len(guesses) - len(declared):
        tasks += f", and {left_out} left out: mend the data, remove this file and run this again, or go on"
    following = settings(path, data_dir)
    command = f"data {following.removeprefix('suite=')}" if source else f"audit {following}"
    todo = f"check it, then: mtl {command}"
    if asked:
        answers = dict.fromkeys(f"tasks.{guess.id}.{_answer(guess, question)}" for guess, question in asked)
        again = f"mtl init-suite {shlex.quote(source or str(data_dir))} --answer {' '.join(map(shlex.quote, answers))}"
        todo = f"{count(len(asked), 'question')} to answer in it before it runs, or remove it and answer here: {again}"
    yield f"{path}: {tasks}; {todo}"


def _answer(guess: Guess, question: str) -> str:
    """The form of an answer to a question; of how files are named and read with the guess."""
    key = question.partition(":")[0]
    outer, _, inner = key.partition(".")
    guessed = ({"files": guess.files, **guess.keys}.get(outer) or {}).get(inner) if inner else None
    return f"{key}={guessed or '…'}"


def _described(guess: Guess) -> str:
    """One task in one line."""
    keys, labels = guess.keys, len(guess.keys.get("labels") or ())
    kinds = {
        "labels": f"{labels} labels",
        "token_labels": f"{labels} tags of tokens",
        KIND: f"several of {labels} labels",
    }
    kind = kinds.get(guess.kind, guess.kind)
    if "answered_by" in keys:
        kind = f"answered by {keys['answered_by']}"
    elif guess.kind == "number":
        kind = "numbers {} to {}".format(*keys["range"])
    splits = ", ".join(f"{split} {guess.rows[split]:,}" if guess.files[split] else f"no {split}" for split in SPLITS)
    texts = quoted_names([*keys["text"], *keys.get("candidates", ())])
    return f"target {quoted(keys['target'])}: {kind}, {keys['metric']}; text {texts}; {splits}"
