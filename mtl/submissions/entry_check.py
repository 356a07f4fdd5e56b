"""Check what a suite declares of the leaderboard's entry, and the entry in a submission of rows: its name, its keys, its tasks and its figures."""

from collections.abc import Iterator
from typing import Any

from mtl.base.errors import InputError
from mtl.base.untrusted import is_inside
from mtl.data.columns import optional_value
from mtl.submissions.entry import FACTS, LEFT_OUT, TASKS, Content, Figures, file_name, fill_entry, read_entry
from mtl.submissions.files import SPLITS, SubmissionFiles
from mtl.submissions.row_files import ROWS, excerpt
from mtl.tasks.metrics import METRICS, is_metric
from mtl.tasks.suite import Suite

TOLERANCE = 0.005  # how far a figure, on a scale from 0 to 1, may be from the predictions': entries may be rounded
LARGEST = 1e15  # that a figure may be


def rows_problem(suite: Suite) -> str | None:
    """The error in what the suite declares for a submission of rows, as "key: message", or None."""
    declared = suite.submission
    if declared.template is not None and not is_inside(declared.template):
        return f"template: {declared.template!r} must be a path below the data folder, without '..'"
    if declared.template_source is not None and declared.template_source.problem is not None:
        return f"template_source.{declared.template_source.problem}"
    for key, fact in declared.fill.items():
        if fact not in FACTS:
            return f"fill.{key}: {fact!r} must be one of {', '.join(FACTS)}"
        if key.partition(".")[0] in (TASKS, LEFT_OUT):
            return f"fill.{key}: mtl fills {TASKS} and {LEFT_OUT} with figures and tasks; name another key"
    for name, metrics in declared.measures.items():
        if not metrics:
            return f"measures.{name}: names no metric"
        for metric in metrics:
            if metric != ROWS and not is_metric(metric):
                return f"measures.{name}: {metric!r} must be {ROWS} or a metric: {', '.join(METRICS)}"
    for task in suite.tasks.values():
        for file in (task.files[split] for split in SPLITS):
            if file is not None and not file.endswith(".jsonl"):
                return f"format: rows are written from .jsonl files, and {task.id} has {file}"
    return None


def entry_problems(files: SubmissionFiles, suite: Suite, template: Content | None, figures: Figures) -> list[str]:
    """What is wrong with a submission's entry, and missing tasks that it does not say are left out. `figures` are those that its predictions give."""
    try:
        name, entry = read_entry(files)
    except InputError as error:
        return [str(error)]
    path, problems = f"{files.path}/{name}", list[str]()
    for system in _system_names(suite, entry).values():
        if system is not None and file_name(system) != name:
            problems.append(f"{path}: is the entry of {system!r}; its name must be {file_name(system)}")
    for id in suite.tasks:
        if id not in figures and id not in entry.get(LEFT_OUT, []):
            problems.append(f"{files.path}/{id}: the task is missing, and the entry does not say so under {LEFT_OUT}")
    return [*problems, *(f"{path}: {problem}" for problem in _content_problems(suite, entry, template, figures))]


def _content_problems(suite: Suite, entry: Content, template: Content | None, figures: Figures) -> Iterator[str]:
    """What is wrong with an entry, as "key: message". Values of the template may stay, but for the system's name."""
    for key, system in _system_names(suite, entry).items():
        if system is None:
            yield f"{key}: must be the system's name"
    if (known := _known_entry(suite, template)) is not None:
        checked = [TASKS] if template is None else [key for key in entry if key != LEFT_OUT]
        yield from _unknown_keys({key: entry[key] for key in checked if key in entry}, known)
    for id in entry.get(LEFT_OUT, []):
        if id in figures:
            yield f"{LEFT_OUT}: {id} is not left out: the submission has its files"
        elif known is not None and id not in known[TASKS]:
            yield f"{LEFT_OUT}: suite {suite.name} has no task {id}"
    tasks, expected = entry.get(TASKS, {}), (template or {}).get(TASKS, {})
    yield from _missing_keys(tasks, {id: block for id, block in expected.items() if id in figures}, f"{TASKS}.")
    yield from _figure_problems(suite, tasks, figures)


def _known_entry(suite: Suite, template: Content | None) -> dict[str, Any] | None:
    """An entry with all keys that one may have; None if the suite has a template that is not at hand, since other tasks and figures may be right."""
    if template is None and suite.submission.template is not None:
        return None
    blocks = dict.fromkeys(SPLITS, dict.fromkeys(suite.submission.measures, 0.0))
    return fill_entry(template or {}, suite, dict.fromkeys(FACTS, ""), dict.fromkeys(suite.tasks, blocks))


def _system_names(suite: Suite, entry: Content) -> dict[str, str | None]:
    """The system's name in an entry, by each dotted key under which the suite says that it stands; None where no text stands."""
    values = {key: optional_value(entry, key) for key, fact in suite.submission.fill.items() if fact == "name"}
    return {key: value if isinstance(value, str) else None for key, value in values.items()}


def _unknown_keys(block: Content, known: Content, outer: str = "") -> Iterator[str]:
    """Keys of an entry that it may not have, and objects in place of single values or the reverse."""
    for key, value in block.items():
        name = f"{outer}{key}"
        if key not in known:
            yield f"{name}: unknown key, expected one of {', '.join(known)}"
        elif value is not None and isinstance(value, dict) != isinstance(known[key], dict):
            yield f"{name}: must be {'an object' if isinstance(known[key], dict) else 'a single value'}"
        elif isinstance(value, dict):
            yield from _unknown_keys(value, known[key], f"{name}.")


def _missing_keys(block: Content, expected: Content, outer: str) -> Iterator[str]:
    """The expected keys that the entry lacks."""
    for key, value in expected.items():
        name = f"{outer}{key}"
        if key not in block:
            yield f"{name}: is missing, though the submission has the task's files"
        elif isinstance(value, dict):
            yield from _missing_keys(block[key] if isinstance(block[key], dict) else {}, value, f"{name}.")


def _figure_problems(suite: Suite, tasks: Content, figures: Figures) -> Iterator[str]:
    """Figures that are no numbers, or not those that the predictions give."""
    for id, splits in tasks.items():
        for split, block in splits.items():
            computed = figures.get(id, {}).get(split, {})
            for name, value in (block or {}).items():
                if value is None:
                    continue
                key = f"{TASKS}.{id}.{split}.{name}"
                tolerance = 0 if suite.submission.measures.get(name) == [ROWS] else TOLERANCE * suite.scale
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                if not is_number or not -LARGEST <= value <= LARGEST:
                    yield f"{key}: {excerpt(value)} must be a number or null"
                elif name in computed and not abs(value - computed[name]) <= tolerance:  # also if NaN is computed
                    yield f"{key}: is {value}, but the predictions give {computed[name]:.6g}"
