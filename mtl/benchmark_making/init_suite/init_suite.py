"""`mtl init-suite`: guess each task from its files, and write a suite file."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import write_text
from mtl.base.settings.layers import shipped
from mtl.benchmark_making.init_suite.document import SuiteGuess, suite_document
from mtl.benchmark_making.init_suite.finding import DataFolder, files_of_tasks
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.benchmark_making.init_suite.guessing import guess_task
from mtl.benchmark_making.init_suite.known_keys import KeysByTask, check_tasks, checked_keys
from mtl.benchmark_making.init_suite.named_tasks import file_name
from mtl.benchmark_making.init_suite.summary import MOST_FILES, summary, warnings
from mtl.data.forms import SUFFIXES
from mtl.tasks.task import SPLITS


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
    known: KeysByTask | None = None,
    allow_questions: bool = True,
) -> Guessed:
    """Guess the tasks of the data files below a folder, or of a data set of the Hub, and write a suite file whose comments say what each guess is
    based on. `known`: keys of tasks that need no guess; `language`, `name` and `out`: as in `mtl init-suite`. Raises InputError if nothing can be
    guessed, for questions that are not allowed, and for a file that is already there, as nothing is overwritten."""
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
        guessed = guess_suite(dataset or files_of_tasks(folder), language, suite_name, path, known or {})
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


def _suite_name(folder: Path, name: str | None) -> str:
    """The name that the user gives, or one after the folder. Raises InputError for one that is not valid in file names."""
    suite_name = name or file_name(folder.resolve().name, "suite")
    if name is None and (shipped("configs") / "suite" / f"{suite_name}.yaml").exists():
        suite_name += "-own"  # runs are in folders named after the suite
    if suite_name != file_name(suite_name, ""):
        raise InputError(f"{suite_name!r} names folders; use letters, digits, '.', '_' and '-'", key="--name")
    return suite_name


def _check_may_be_written(guessed: Guessed, folder: Path, allow_questions: bool) -> None:
    """Raise InputError for a suite file without a task, and for questions that are not allowed."""
    if not guessed.has_task:
        problems = [f"{id}: {problem}" for id, problem in guessed.problems.items()][:MOST_FILES]
        raise InputError(f"no task could be guessed, and no suite file is written: {'; '.join(problems)}", path=folder)
    if guessed.questions and not allow_questions:
        id, question = next(iter(guessed.questions.items()))
        key = question.partition(":")[0]
        raise InputError(f"{question}; answer it: tasks={{{id!r}: {{{key!r}: …}}}}", key=f"tasks.{id}")


def guess_suite(
    folder: DataFolder, language: str | None, name: str, path: Path, known: KeysByTask, shown: Path | None = None
) -> Guessed:
    """Guess the tasks of a folder of data files, for a suite file that is not written yet; the arguments are as in `init_suite`. `shown`: the folder
    that comments name as that of the data; None: the folder's path, or data/NAME for a data set of the Hub. Raises InputError if there is no usable
    file, and for known keys of other tasks, or that do not fit a task."""
    if not folder.tasks:
        seen = f"; {quoted_names(folder.unreadable[:MOST_FILES])} cannot be read" if folder.unreadable else ""
        remedy = f"its name has one of the words {', '.join(SPLITS)}, and ends in {', '.join(SUFFIXES)}"
        raise InputError(f"no file of a split below it{seen}; {remedy}", path=folder.address or folder.path)
    known_keys = checked_keys(known, [task.id for task in folder.tasks])
    tasks = [guess_task(task, folder.path, known_keys.get(task.id)) for task in folder.tasks]
    _choose_answering_tasks(tasks)
    for task in tasks:
        task.keys |= folder.keys
        if folder.address and task.problem is not None:  # the files are in a temporary folder
            task.problem = task.problem.replace(f"{folder.path}/", "")
    data_dir = Path("data", name) if folder.address else shown or folder.path  # where `mtl data` writes a suite's data
    suite = SuiteGuess(name, language or folder.language, tasks, data_dir, path, folder.address)
    document = suite_document(suite)
    problems = {task.id: str(task.problem) for task in suite.left_out}
    check_tasks(document, path, known_keys, problems)
    questions = {task.id: task.questions[0] for task in suite.declared if task.questions}
    lines = "\n".join(summary(suite, folder))
    return Guessed(path, document, lines, [*warnings(suite)], problems, questions, has_task=len(suite.declared) > 0)


def _choose_answering_tasks(guesses: Sequence[Guess]) -> None:
    """Guess for each task without a train file which task answers it, unless the user says so. If none could, the task gets a problem."""
    for guess in [guess for guess in guesses if guess.problem is None and guess.files["train"] is None]:
        possible = [task for task in guesses if task.problem is None and _could_answer(task, guess)]
        if "answered_by" in guess.keys:
            _drop_shared_keys(guess)
        elif possible:
            _drop_shared_keys(guess)
            possible.sort(key=lambda task: task.rows["train"], reverse=True)
            why = "a guess: it has the same text columns, and these targets among its own"
            guess.declare(why, answered_by=possible[0].id)
            names = " or ".join(task.id for task in possible)
            reason = f"no training rows; {names} has the same text columns, and all its labels"
            guess.questions.append(f"answered_by: {reason}")
        else:
            lacking = "no train file, and no other task has training rows with the same text columns and all its labels"
            guess.problem = f"{lacking}; add one, answer files.train=FILE, or write answered_by: TASK"


def _drop_shared_keys(guess: Guess) -> None:
    """Leave out the keys that a task has from the one that answers it, and the questions about them."""
    for key in ("kind", "labels", "range"):
        guess.keys.pop(key, None)
        guess.why.pop(key, None)
    guess.questions = [question for question in guess.questions if not question.startswith(("labels:", "kind:"))]
    guess.why["files"] = "no train file"


def _could_answer(task: Guess, guess: Guess) -> bool:
    """Whether a task has training rows, and the text columns, the kind of target and all labels, or the whole range, of a guess without them."""
    if task.files["train"] is None or task.kind != guess.kind:
        return False
    if any(task.keys.get(key) != guess.keys.get(key) for key in ("text", "candidates")):
        return False
    low, high = guess.keys.get("range", (0, 0))
    lowest, highest = task.keys.get("range", (0, 0))
    return lowest <= low and high <= highest and set(guess.keys.get("labels", ())) <= set(task.keys.get("labels", ()))
