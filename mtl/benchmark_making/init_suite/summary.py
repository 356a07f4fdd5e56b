"""What `mtl init-suite` prints about the suite that it guesses: a line for each task, for what is left out or asked, and for the next command."""

import shlex
from collections.abc import Iterable, Iterator

from mtl.benchmark_making.init_suite.document import SuiteGuess, scalar, unread_columns_line
from mtl.benchmark_making.init_suite.finding import DataFolder
from mtl.benchmark_making.init_suite.guess import Guess, count, printable, quoted, quoted_names
from mtl.benchmark_making.init_suite.labels import MULTI_LABEL
from mtl.benchmark_making.init_suite.token_tags import TOKEN_LABELS
from mtl.tasks.task import SPLITS

MOST_FILES = 3  # the most names of files, or of tasks, in a line
# The targets of kinds with labels, of which this is the number; other kinds are named as in a suite file.
TARGETS = {"labels": "{} labels", TOKEN_LABELS: "{} tags of tokens", MULTI_LABEL: "several of {} labels"}


def summary(suite: SuiteGuess, folder: DataFolder) -> Iterator[str]:
    """The lines about a suite that is guessed from a folder: each task, what is not read, left out and asked, and the next command."""
    width = max((len(guess.id) for guess in suite.declared), default=0)
    for guess in suite.declared:
        yield printable(f"{guess.id:{width}}  {_description(guess)}")
        for line in unread_columns_line(guess):
            yield printable(f"{'':{width}}  {line}")
    yield from warnings(suite)
    yield from _by_text("decide", [(guess.id, question) for guess in suite.declared for question in guess.questions])
    if suite.language is None:
        yield "language: not guessed, the file says en; set it, or give --language"
    used = {path for guess in suite.tasks for path in guess.paths}  # answers name files, too
    unreadable = "of a form that is not read (unpack archives)"
    for reason, paths in (("named after no split", folder.unused), (unreadable, folder.unreadable)):
        if names := [path for path in paths if path not in used]:
            further = ", …" if len(names) > MOST_FILES else ""
            yield f"not read: {count(len(names), 'file')} {reason}: {quoted_names(names[:MOST_FILES])}{further}"
    yield f"{suite.path}: {_next_step(suite)}"


def warnings(suite: SuiteGuess) -> Iterator[str]:
    """What the user should know: the tasks that are left out, the notes on others, and the splits on which these are scored, if they differ."""
    for guess in suite.left_out:
        yield printable(f"left out: {guess.id}: {guess.problem}")
    yield from _by_text("note", [(guess.id, note) for guess in suite.declared for note in guess.notes])
    held_out = [guess.id for guess in suite.declared if guess.scored == "dev" and guess.files["dev"] is None]
    scored = [(guess.id, f"on {'rows of train' if guess.id in held_out else guess.scored}") for guess in suite.declared]
    if len({rows for _, rows in scored}) > 1:
        yield from _by_text("scored", scored)


def _description(guess: Guess) -> str:
    """One task in one line."""
    keys = guess.keys
    targets = TARGETS.get(guess.kind, guess.kind).format(len(keys.get("labels") or ()))
    if "answered_by" in keys:
        targets = f"answered by {keys['answered_by']}"
    elif guess.kind == "number":
        targets = "numbers {} to {}".format(*keys["range"])
    texts = quoted_names([*keys["text"], *keys.get("candidates", ())])
    splits = ", ".join(f"{split} {guess.rows[split]:,}" if guess.files[split] else f"no {split}" for split in SPLITS)
    return f"target {quoted(keys['target'])}: {targets}, {keys['metric']}; text {texts}; {splits}"


def _by_text(subject: str, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A line for each different text, with the ids of its tasks, from pairs of an id and a text."""
    ids_by_text: dict[str, list[str]] = {}
    for id, text in texts:
        ids_by_text.setdefault(text, []).append(id)
    for text, ids in ids_by_text.items():
        further = f" and {len(ids) - MOST_FILES} more" if len(ids) > MOST_FILES else ""
        yield printable(f"{subject}: {', '.join(ids[:MOST_FILES])}{further}: {text}")


def _next_step(suite: SuiteGuess) -> str:
    """How many tasks the suite file declares, and what to do with it: answer the questions, or run the next command."""
    tasks = count(len(suite.declared), "task")
    if suite.left_out:
        tasks += f", and {len(suite.left_out)} left out: mend the data, remove this file and run this again, or go on"
    asked = [(guess, question) for guess in suite.declared for question in guess.questions]
    if not asked:
        return f"{tasks}; check it, then: {suite.next_commands[0]}"
    answers = dict.fromkeys(f"tasks.{guess.id}.{_answer(guess, question)}" for guess, question in asked)
    again = ["mtl", "init-suite", suite.address or str(suite.data_dir), "--answer", *answers]
    advice = f"to answer in it before it runs, or remove it and answer here: {shlex.join(again)}"
    return f"{tasks}; {count(len(asked), 'question')} {advice}"


def _answer(guess: Guess, question: str) -> str:
    """The answer to a question as KEY=VALUE: the guess of how files are named and read, else …. A name that does not print is escaped as in YAML."""
    key = question.partition(":")[0]
    section, _, inner_key = key.partition(".")
    guessed = {**guess.keys, "files": guess.files}.get(section) if inner_key else None
    value = str((guessed or {}).get(inner_key) or "…")
    return f"{key}={value if value.isprintable() else printable(scalar(value))}"
