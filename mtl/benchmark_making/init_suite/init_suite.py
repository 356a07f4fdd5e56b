"""`mtl init-suite`: guess each task from its files, and write a suite file."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from mtl.base.errors import InputError
from mtl.base.extras import check_installed
from mtl.base.files import write_text
from mtl.base.settings.layers import shipped
from mtl.base.wording import listed
from mtl.benchmark_making.init_suite.finding import DataFolder, find_tasks
from mtl.benchmark_making.init_suite.guess import Guess
from mtl.benchmark_making.init_suite.guessing import guess_task
from mtl.benchmark_making.init_suite.known_keys import KeysByTask, check_tasks, checked_keys
from mtl.benchmark_making.init_suite.named_tasks import file_name
from mtl.benchmark_making.init_suite.suite_guess import MOST_NAMES, SuiteGuess, unread_files_lines
from mtl.data.forms import SUFFIXES
from mtl.tasks.task import SPLITS


def init_suite(
    data_dir: Path | str,
    language: str | None = None,
    name: str | None = None,
    out: Path | None = None,
    known: KeysByTask | None = None,
    allow_questions: bool = True,
) -> SuiteGuess:
    """Guess the tasks below a folder, or of a data set of the Hub, and write a suite file. The arguments are those of `mtl init-suite`;
    `known` are keys of tasks that need no guess. Raises InputError if nothing can be guessed, for a file that exists, and for forbidden questions."""
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
        guessed = guess_suite(dataset or find_tasks(folder), language, suite_name, path, known or {})
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


def _check_may_be_written(guessed: SuiteGuess, folder: Path, allow_questions: bool) -> None:
    if not guessed.declared:
        problems = [f"{id}: {problem}" for id, problem in guessed.problems.items()][:MOST_NAMES]
        raise InputError(f"no task could be guessed, and no suite file is written: {'; '.join(problems)}", path=folder)
    if guessed.questions and not allow_questions:
        id, question = guessed.questions[0]
        key = question.partition(":")[0]
        raise InputError(f"{question}; answer it: tasks={{{id!r}: {{{key!r}: …}}}}", key=f"tasks.{id}")


def guess_suite(
    folder: DataFolder, language: str | None, name: str, path: Path, known: KeysByTask, shown: Path | None = None
) -> SuiteGuess:
    """Guess the tasks of a folder of data files; the arguments are as in `init_suite`. Comments name the folder `shown`; None: the folder's path, or
    data/NAME for a data set of the Hub. Raises InputError if there is no usable file, and for known keys that do not fit a task."""
    if not folder.tasks:
        remedy = f"its name has one of the words {', '.join(SPLITS)}, and ends in {', '.join(SUFFIXES)}"
        unread = "".join(f"; {line}" for line in unread_files_lines(folder))
        raise InputError(f"no file of a split below it; {remedy}{unread}", path=folder.address or folder.path)
    known_keys = checked_keys(known, [task.id for task in folder.tasks])
    tasks = [guess_task(task, folder.path, known_keys.get(task.id)) for task in folder.tasks]
    _settle_tasks_without_training(tasks)
    for task in tasks:
        task.keys |= folder.keys
        if folder.address and task.problem is not None:  # the files are in a temporary folder
            task.problem = task.problem.replace(f"{folder.path}/", "")
    data_dir = Path("data", name) if folder.address else shown or folder.path  # where `mtl data` writes a suite's data
    suite = SuiteGuess(name, language or folder.language, tasks, folder, data_dir, path)
    check_tasks(suite, known_keys)
    return suite


def _settle_tasks_without_training(tasks: Sequence[Guess]) -> None:
    """Give each task without a train file a problem, unless the user says which task answers it: then that one has the kind and the labels."""
    usable = [task for task in tasks if task.problem is None]
    for task in [task for task in usable if task.files["train"] is None]:
        if "answered_by" in task.keys:
            for key in ("kind", "labels", "range"):
                task.keys.pop(key, None)
                task.why.pop(key, None)
            task.questions = [question for question in task.questions if not question.startswith(("labels:", "kind:"))]
            task.why["files"] = "no train file"
        else:
            form = (task.kind, task.keys["text"])
            alike = [rest.id for rest in usable if rest.files["train"] and (rest.kind, rest.keys["text"]) == form]
            possible = f", which may be {listed(alike, MOST_NAMES)}" if alike else ""
            answer = f"answer tasks.{task.id}.files.train=FILE, or tasks.{task.id}.answered_by=TASK"
            task.problem = f"no train file; {answer}{possible}"
