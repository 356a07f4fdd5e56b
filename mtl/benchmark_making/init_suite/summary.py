"""What `mtl init-suite` prints: each task, what is not read, left out and asked, and the next command. Characters that do not print are escaped."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mtl.benchmark_making.init_suite.document import scalar, suite_settings, unread_columns_line
from mtl.benchmark_making.init_suite.finding import FolderContent
from mtl.benchmark_making.init_suite.guess import Guess, count, printable, quoted, quoted_names
from mtl.benchmark_making.init_suite.kinds import MULTI_LABEL
from mtl.benchmark_making.init_suite.token_tags import TOKEN_LABELS
from mtl.tasks.task import SPLITS

MOST_FILES = 3  # the most names of files, or of tasks, in a line
# Where a kind has another name.
KINDS = {"labels": "{} labels", TOKEN_LABELS: "{} tags of tokens", MULTI_LABEL: "several of {} labels"}


def summary(
    path: Path, data_dir: Path, language: str | None, guesses: Sequence[Guess], content: FolderContent, source: str
) -> Iterator[str]:
    """What is printed: each task, what is not read, left out and asked, and the next command. `source`: as in `suite_document`."""
    declared = [guess for guess in guesses if guess.problem is None]
    width = max((len(guess.id) for guess in declared), default=0)
    for guess in declared:
        yield printable(f"{guess.id:{width}}  {_described(guess)}")
        yield from (printable(f"{'':{width}}  {line}") for line in unread_columns_line(guess))
    yield from warnings(guesses)
    asked = [(guess, question) for guess in declared for question in guess.questions]
    yield from _by_text("decide", ((guess.id, question) for guess, question in asked))
    if language is None:
        yield "language: not guessed, the file says en; set it, or give --language"
    used = {name for guess in guesses for name in guess.paths}  # answers name files, too
    unreadable = "of a form that is not read (unpack archives)"
    for reason, files in (("named after no split", content.unused), (unreadable, content.unreadable)):
        if names := [name for name in files if name not in used]:
            further = ", …" if len(names) > MOST_FILES else ""
            yield f"not read: {count(len(names), 'file')} {reason}: {quoted_names(names[:MOST_FILES])}{further}"
    yield f"{path}: {_next_step(path, data_dir, guesses, source)}"


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
