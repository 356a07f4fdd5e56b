"""`mtl init-suite`: guess each task from its files, and write a suite file."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import write_text
from mtl.base.settings.layers import shipped
from mtl.base.typed import typed
from mtl.benchmark_making.init_suite.document import KEYS, MOST_FILES, suite_document, summary, warnings
from mtl.benchmark_making.init_suite.file_names import file_name
from mtl.benchmark_making.init_suite.finding import DataFolder, files_of_tasks
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.benchmark_making.init_suite.guessing import guess_task
from mtl.data.forms import SUFFIXES
from mtl.tasks.suite import suite_from
from mtl.tasks.task import SPLITS, Task

LISTS = ("text", "labels", "candidates", "indices", "also")  # keys whose value is a list
ANSWER = re.compile(rf"tasks\.(.+?)\.((?:reading|files)\..+|(?:{'|'.join(KEYS)}))")  # an id may have dots


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
    allow_questions: bool = True,
) -> Guessed:
    """Guess the tasks of the data files below a folder, and write a suite file whose comments say what each guess is based on.

    Args:
        data_dir: a folder, or the address of a data set on the Hub.
        language, name, out: as in `mtl init-suite`.
        known: by task id, keys of the suite file that need no guess.
        allow_questions: whether a suite file with questions is written, too.

    Raises:
        InputError: if there is no folder, no usable file or no task that can be declared, for a name that is not valid in file names, if `out`
            already exists, as nothing is overwritten, and for questions that are not allowed."""
    with _opened(data_dir) as dataset:
        folder = dataset.path if dataset else Path(data_dir)
        if folder.is_file():
            raise InputError(f"is a file; name its folder, {folder.parent}, in which it should be alone", path=folder)
        if not folder.is_dir():
            raise InputError("no such folder", path=folder)
        suite_name = _suite_name(folder, name)
        path = out or Path(f"{suite_name}.yaml")
        if path.exists() or path.is_symlink():
            raise InputError("already there; remove it, or name another file with --out", path=path)
        guessed = guess_suite(dataset or files_of_tasks(folder), language, suite_name, path, known)
    _check_may_be_written(guessed, folder, allow_questions)
    write_text(path, guessed.document)
    return guessed


def _opened(data_dir: Path | str) -> AbstractContextManager[DataFolder | None]:
    """The data set of the Hub at this address, which is there within the block; None for a folder."""
    if not (isinstance(data_dir, str) and data_dir.startswith("hf://")):
        return nullcontext()
    check_installed("hub", unit=data_dir)
    from mtl.benchmark_making.init_suite.hub_sets import hub_set

    return hub_set(data_dir)


def _check_may_be_written(guessed: Guessed, folder: Path, allow_questions: bool) -> None:
    """Raise InputError for a suite file without a task, and for questions that are not allowed."""
    if not guessed.has_task:
        problems = "; ".join(f"{id}: {problem}" for id, problem in [*guessed.problems.items()][:MOST_FILES])
        raise InputError(f"no task could be guessed, and no suite file is written: {problems}", path=folder)
    if guessed.questions and not allow_questions:
        id, question = next(iter(guessed.questions.items()))
        key = question.partition(":")[0]
        raise InputError(f"{question}; answer it: tasks={{{id!r}: {{{key!r}: …}}}}", key=f"tasks.{id}")


def _suite_name(folder: Path, name: str | None) -> str:
    """The name that the user gives, or one after the folder. Raises InputError for one that is not valid in file names."""
    suite_name = name or file_name(folder.resolve().name, "suite")
    if name is None and (shipped("configs") / "suite" / f"{suite_name}.yaml").exists():
        suite_name += "-own"  # runs are in folders named after the suite
    if suite_name != file_name(suite_name, ""):
        raise InputError(f"{suite_name!r} names folders; use letters, digits, '.', '_' and '-'", key="--name")
    return suite_name


def known_answers(answers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The keys of tasks that answers such as `tasks.d.target=stance` name, by task id. Raises InputError for another form."""
    known: dict[str, dict[str, Any]] = {}
    for answer in answers:
        name, equals, value = answer.partition("=")
        match = ANSWER.fullmatch(name)
        id, key = match.groups() if match else name.removeprefix("tasks.").partition(".")[::2]
        if not (equals and name.startswith("tasks.") and id and key):
            raise InputError(f"{answer}: is no answer; write tasks.TASK.KEY=VALUE, as in tasks.reviews.target=stars")
        try:
            content = yaml.safe_load(value)
        except (yaml.YAMLError, ValueError):
            raise InputError("is no value as in YAML", key=name, value=value) from None
        section, _, inner_key = key.partition(".")
        keys = known.setdefault(id, {})
        if inner_key:
            before = keys.get(section)
            content = {**(before if isinstance(before, dict) else {}), inner_key: content}
        keys[section] = content
    return known


def guess_suite(
    folder: DataFolder,
    language: str | None,
    name: str,
    path: Path,
    known: Mapping[str, Mapping[str, Any]] | None = None,
    shown: Path | None = None,
) -> Guessed:
    """Guess the tasks of a folder of data files, for a suite file that is not written yet.

    Args:
        language, name, known: as in `init_suite`.
        path: of the suite file, which its comments name.
        shown: the folder that comments name as that of the data; None: the folder's path. For a data set of the Hub it is data/NAME.

    Raises:
        InputError: if there is no usable file, and for known keys of other tasks, or that do not fit a task."""
    if not folder.tasks:
        seen = f"; {quoted_names(folder.unreadable[:MOST_FILES])} cannot be read" if folder.unreadable else ""
        remedy = f"its name has one of the words {', '.join(SPLITS)}, and ends in {', '.join(SUFFIXES)}"
        raise InputError(f"no file of a split below it{seen}; {remedy}", path=folder.address or folder.path)
    known_keys = _known_keys(known or {}, [task.id for task in folder.tasks])
    guesses = [guess_task(task, folder.path, known_keys.get(task.id)) for task in folder.tasks]
    _choose_answering_tasks(guesses)
    for guess in guesses:
        guess.keys |= folder.keys
        if folder.address and guess.problem is not None:  # the files were in a temporary folder
            guess.problem = guess.problem.replace(f"{folder.path}/", "")
    language = language or folder.language
    shown = Path("data", name) if folder.address else shown or folder.path  # where `mtl data` writes a suite's data
    document = suite_document(name, language, guesses, shown, path, folder.address)
    problems = {guess.id: guess.problem for guess in guesses if guess.problem is not None}
    _check_declared(document, path, known_keys, problems)
    questions = {guess.id: guess.questions[0] for guess in guesses if guess.problem is None and guess.questions}
    lines = "\n".join(summary(path, shown, language, guesses, folder))
    return Guessed(path, document, lines, [*warnings(guesses)], problems, questions, len(problems) < len(guesses))


def _known_keys(known: Mapping[str, Mapping[str, Any]], ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The known keys of each task, a list of one text for a text where a suite file has a list. Raises InputError for keys of other tasks than
    those with these ids, for keys that no suite file has, and for values that have another type there."""
    by_task: dict[str, dict[str, Any]] = {}
    for id, keys in known.items():
        if id not in ids:
            raise InputError(f"no such task; there are {', '.join(ids)}", key=f"tasks.{id}")
        by_task[id] = {**keys, **{key: [keys[key]] for key in LISTS if isinstance(keys.get(key), str)}}
        _check_known(id, by_task[id])
    return by_task


def _choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """Guess for each task without a train file which task answers it, unless the user says so. If none could, the task gets a problem."""
    for guess in [guess for guess in guesses if guess.problem is None and guess.files["train"] is None]:
        answering = [task for task in guesses if task.problem is None and _could_answer(task, guess)]
        if answering or "answered_by" in guess.keys:
            _declare_answered(guess, answering)
        else:
            lacking = "no train file, and no other task has training rows with the same text columns and all its labels"
            guess.problem = f"{lacking}; add one, answer files.train=FILE, or write answered_by: TASK"


def _declare_answered(guess: Guess, answering: Sequence[Guess]) -> None:
    """Declare that one of these tasks answers a task, with a question: the one with most training rows, unless the user names one."""
    for key in ("kind", "labels", "range"):  # which it takes from the task that answers it, with the questions
        guess.keys.pop(key, None)
        guess.why.pop(key, None)
    guess.questions = [text for text in guess.questions if not text.startswith(("labels:", "kind:"))]
    guess.why["files"] = "no train file"
    if "answered_by" not in guess.keys:
        ranked = sorted(answering, key=lambda task: -task.rows["train"])
        why = "a guess: it has the same text columns, and these targets among its own"
        guess.declare(why, answered_by=ranked[0].id)
        names = " or ".join(task.id for task in ranked)
        guess.questions.append(f"answered_by: no training rows; {names} has the same text columns, and all its labels")


def _could_answer(task: Guess, guess: Guess) -> bool:
    """Whether a task has training rows, and the text columns, the kind of target and all labels, or the whole range, of a guess without them."""
    if task.files["train"] is None or task.kind != guess.kind:
        return False
    if any(task.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    (low, high), (lowest, highest) = guess.keys.get("range", (0, 0)), task.keys.get("range", (0, 0))
    return lowest <= low and high <= highest and set(guess.keys.get("labels", ())) <= set(task.keys.get("labels", ()))


def _check_declared(document: str, path: Path, known: Mapping[str, Any], problems: Mapping[str, str]) -> None:
    """Raise InputError if a task with known keys cannot be declared, or has a fault in the suite file."""
    declared = yaml.safe_load(document) if known else {}
    for task in (declared.get("tasks") or {}).values():
        task.pop("decide", None)  # there may be further questions
    for id in known:
        if id in problems:
            raise InputError(problems[id], key=f"tasks.{id}")
        try:
            suite_from(declared, path)
        except InputError as error:  # which may be about another task
            if f"tasks.{id}." in str(error):
                raise error.located(path="") from None


def _check_known(id: str, keys: Mapping[str, Any]) -> None:
    """Raise InputError for keys of a task that no suite file has, or that have another type there."""
    if unknown := [key for key in keys if key not in KEYS or key in ("rows", "hub")]:
        raise InputError("not a key that is known here", key=f"tasks.{id}.{unknown[0]}")
    if missing := [key for key in LISTS if key in keys and keys[key] is None]:
        raise InputError("must be a list", key=f"tasks.{id}.{missing[0]}")
    declared = {key: value for key, value in keys.items() if (key, value) != ("header", True)}
    task = typed(Task, {"text": [], "target": "", "metric": "accuracy", **declared}, f"tasks.{id}")
    if task.reading is not None and (problem := task.reading.problem):
        raise InputError(problem, key=f"tasks.{id}.reading")
