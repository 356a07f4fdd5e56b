"""`mtl init-suite`: guess a suite file from the data files below a folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtl.config.files import shipped
from mtl.data.records import FORMATS
from mtl.errors import InputError
from mtl.files import write_text
from mtl.init_suite.answers import choose_answering_tasks
from mtl.init_suite.document import settings, suite_document
from mtl.init_suite.find import SPLIT_NAMES, Found, file_name, find_tasks
from mtl.init_suite.task import Guess, guess_task
from mtl.init_suite.wording import columns_in_words, count, printable, quoted
from mtl.tasks.task import SPLITS

SHOWN = 3  # the most names of files in a line of the summary


@dataclass(frozen=True)
class Initialized:
    """The path of the suite file that was written, and a summary: a line for each task and for each decision that is left."""

    path: Path
    summary: str


def init_suite(
    data_dir: Path, language: str | None = None, name: str | None = None, out: Path | None = None
) -> Initialized:
    """Guess the tasks of the data files below a folder, and write a suite file whose comments say what each guess is based on.

    language: of the tokenizer, as in "sv"; None: "en", with a comment. name: of the suite; None: the folder's name. out: the file
    to write; None: the suite's name and ".yaml" in the working directory. Raises InputError if there is no folder or no usable
    file, for a name that is not valid in file names, and if `out` already exists: nothing is overwritten.
    """
    if not data_dir.is_dir():
        raise InputError(f"{data_dir}: no such folder")
    chosen = name or file_name(data_dir.resolve().name, "suite")
    if name is None and (shipped("configs") / "suite" / f"{chosen}.yaml").exists():
        chosen += "-own"  # runs are in folders named after the suite
    if chosen != file_name(chosen, ""):
        raise InputError(f"--name: {chosen!r} names folders; use letters, digits, '.', '_' and '-'")
    path = out or Path(f"{chosen}.yaml")
    if path.exists() or path.is_symlink():
        raise InputError(f"{path}: already there; remove it, or name another file with --out")
    found = find_tasks(data_dir)
    if not found.tasks:
        names = ", ".join(name for splits in SPLIT_NAMES.values() for name in splits)
        raise InputError(
            f"{data_dir}: no file of a split below it; name data files {names} or TASK_train and so on, with {', '.join(FORMATS)}"
        )
    guesses = [guess_task(files, data_dir) for files in found.tasks]
    choose_answering_tasks(guesses)
    write_text(path, suite_document(chosen, language, guesses, data_dir, path))
    return Initialized(path, "\n".join(_summary(path, data_dir, language, guesses, found)))


def _summary(path: Path, data_dir: Path, language: str | None, guesses: Sequence[Guess], found: Found) -> Iterator[str]:
    width = max(len(guess.id) for guess in guesses)
    for guess in guesses:
        yield printable(f"{guess.id:{width}}  {_described(guess)}")
    for guess in guesses:
        if guess.problem is None:
            yield from (printable(f"decide: {guess.id}: {doubt}") for doubt in guess.doubts)
    if language is None:
        yield "decide: language: not guessed, the file says en; set it, or give --language"
    for folder in found.empty:
        yield f"{quoted(folder)}: no file that is named after a split"
    if found.unused:
        more = ", …" if len(found.unused) > SHOWN else ""
        yield f"not read: {count(len(found.unused), 'file')} named after no split: {columns_in_words(found.unused[:SHOWN])}{more}"
    undecided = sum(guess.problem is not None for guess in guesses)
    yield (
        f"{path}: {count(len(guesses) - undecided, 'task')}"
        + (f", and {undecided} as comments" if undecided else "")
        + f"; check it, then: mtl audit {settings(path, data_dir)}"
    )


def _described(guess: Guess) -> str:
    """One task in one line."""
    if guess.problem is not None:
        return f"not decided: {guess.problem}"
    keys = guess.keys
    texts = columns_in_words([*keys["text"], *keys.get("candidates", ())])
    kinds = {
        "labels": f"{len(keys.get('labels', ()))} labels",
        "number": "numbers {} to {}".format(*keys.get("range", ("", ""))),
    }
    kind = f"answered by {keys['answered_by']}" if "answered_by" in keys else kinds.get(guess.kind, guess.kind)
    splits = ", ".join(f"{split} {guess.rows[split]:,}" if guess.files[split] else f"no {split}" for split in SPLITS)
    return f"{kind}, {keys['metric']}; {texts}; {splits}"
