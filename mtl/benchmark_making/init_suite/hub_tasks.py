"""The configurations of a data set of the Hub as tasks, with questions where its names do not say which files are meant."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from posixpath import commonpath

from mtl.base.errors import InputError
from mtl.benchmark_making.init_suite.file_names import WORD, first_part
from mtl.benchmark_making.init_suite.guess import Guess, quoted_names
from mtl.benchmark_making.init_suite.hub_configurations import DEFAULT, Configuration
from mtl.benchmark_making.init_suite.task_names import task_id
from mtl.tasks.task import SPLIT_OF, SPLITS


def configured_tasks(chosen: Sequence[Configuration], dataset: str, is_only: bool) -> list[Guess]:
    """Each configuration as a task, with a question where another one is meant or has the same files. The name of the only one says nothing."""
    tasks: list[Guess] = []
    for configuration in chosen:
        name = configuration.name
        if is_only or name == DEFAULT:
            name = dataset.rpartition("/")[2]
        task = _task(task_id(name, [task.id for task in tasks]), configuration)
        problem = _problem(configuration, chosen)
        if problem:
            remedy = f"delete this task if it is not one of its own, or name one: hf://{dataset}/CONFIGURATION"
            task.questions.append(f"files.train: {problem}; {remedy}")
        tasks.append(task)
    return tasks


def _problem(configuration: Configuration, chosen: Sequence[Configuration]) -> str | None:
    """Why a configuration may be no task of its own: another one has the same files, or is the one that the card means."""
    name, paths = configuration.name, set(configuration.paths)
    sharing = [rest.name for rest in chosen if rest is not configuration and paths.intersection(rest.paths)]
    if sharing:
        return f"configuration {name} has files of {', '.join(sorted(sharing))}, too"
    defaults = [rest.name for rest in chosen if rest.is_default]
    if defaults and name != defaults[0]:
        return f"the data set's configuration is {defaults[0]}, and this is {name}"
    return None


def _task(id: str, configuration: Configuration) -> Guess:
    """The files of a configuration as those of a task. What the names of its splits do not say is a question."""
    guess = Guess(id, "", {})
    names_by_split = _named_splits(guess, configuration)
    if not names_by_split:
        raise InputError(f"configuration {configuration.name} has no split {', '.join(SPLITS)}")
    names = [name for names in names_by_split.values() for name in names]
    paths = [PurePosixPath(path) for name in names for path in configuration.splits[name]]
    guess.folder = commonpath([path.parent.as_posix() for path in paths])
    for split, names in names_by_split.items():
        files_by_name = {name: _below(guess.folder, configuration.splits[name]) for name in names}
        files = files_by_name[names[0]]
        part = first_part(files) if len(files) > 1 else files[0]
        guess.files[split] = part or files[0]
        if part is None:
            many = f"{len(files)} files, {quoted_names(files, 4)}"
            guess.questions.append(f"files.{split}: the split is {many}; write them as one file")
        if len(names) > 1:
            ways = [f"{name} ({', '.join(files[:2])})" for name, files in files_by_name.items()]
            guess.questions.append(f"files.{split}: may be the split {' or '.join(ways)}")
    return guess


def _below(folder: str, paths: Sequence[str]) -> list[str]:
    return [str(PurePosixPath(path).relative_to(folder)) for path in paths]


def _named_splits(guess: Guess, configuration: Configuration) -> dict[str, list[str]]:
    """By split, the names that it has on the Hub: several may mean one split. The guess gets notes and questions about them."""
    names_by_split: dict[str, list[str]] = {}
    for name in configuration.splits:
        splits = {SPLIT_OF[word] for word in WORD.findall(name.lower())}
        if len(splits) == 1:
            split = splits.pop()
        elif len(configuration.splits) == 1:
            split = "train"
            guess.questions.append(f"files.train: the only split is called {name}: are these the training rows?")
        else:
            guess.notes.append(f"not read: split {quoted_names([name])}, which is none of {', '.join(SPLITS)}")
            continue
        names_by_split.setdefault(split, []).append(name)
        if name.startswith("partial-"):
            complete = name.removeprefix("partial-")
            guess.questions.append(f"files.{split}: the Hub has converted only a part of {complete}; do these rows do?")
    return names_by_split
