"""What is wrong with the content of an entry: keys and types that the empty entry does not have, and what the files contradict."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtl.data.columns import value_of
from mtl.runs.formats.entry import LEFT_OUT, ROWS, TASKS, Figures
from mtl.runs.formats.row_file import SPLITS, show
from mtl.tasks.suite import Suite

TOLERANCE = 0.005
"""How far a figure may be from the one that the predictions give, on a scale from 0 to 1: entries may be rounded."""

LARGEST = 1e15  # that a figure may be

Template = Mapping[str, Any] | None
"""The empty entry, if it is at hand."""


def content_problems(
    suite: Suite, entry: Mapping[str, Any], template: Template, submitted: Sequence[str], figures: Figures
) -> list[str]:
    """The problems, as "key: message". What the empty entry has is never one, except that the system needs a name.

    submitted: the ids of the tasks that the submission has. figures: those that its predictions give.
    """
    return [
        *_name_problems(suite, entry),
        *_key_problems(suite, entry, template),
        *_left_out_problems(suite, entry, template, submitted),
        *_missing_problems(entry, template, submitted),
        *_figure_problems(suite, entry, template, figures),
    ]


def _knows_all(suite: Suite, template: Template) -> bool:
    """Whether the tasks and figures that an entry may have are known: not where the suite's template is not at hand."""
    return template is not None or suite.submission.template is None


def _name_problems(suite: Suite, entry: Mapping[str, Any]) -> Iterator[str]:
    for key, fact in suite.submission.fill.items():
        if fact == "name":
            try:
                name = value_of(entry, key)
            except ValueError:
                name = None
            if not isinstance(name, str):
                yield f"{key}: must be the system's name"


def _key_problems(suite: Suite, entry: Mapping[str, Any], template: Template) -> Iterator[str]:
    """Keys outside of the tasks that the empty entry does not have, and objects where it has none or the reverse."""
    if template is None:
        return
    known = {**template, **dict.fromkeys(key.split(".")[0] for key in suite.submission.fill if "." not in key)}
    for key, value in entry.items():
        if key in (TASKS, LEFT_OUT):
            continue
        if key not in known:
            yield f"{key}: unknown key; the template has {', '.join(template)}"
        elif isinstance(value, dict) != isinstance(known[key], dict):
            yield f"{key}: must be {'an object' if isinstance(known[key], dict) else 'a single value'}"
        elif isinstance(value, dict):
            filled = {name.removeprefix(f"{key}.") for name in suite.submission.fill}
            yield from (f"{key}.{name}: unknown key" for name in value if name not in {*known[key], *filled})


def _left_out_problems(
    suite: Suite, entry: Mapping[str, Any], template: Template, submitted: Sequence[str]
) -> Iterator[str]:
    known = {*suite.tasks, *(template or {}).get(TASKS, {})}
    for id in entry.get(LEFT_OUT, []):
        if id in submitted:
            yield f"{LEFT_OUT}: {id} is not left out: the submission has its files"
        elif id not in known and _knows_all(suite, template):
            yield f"{LEFT_OUT}: suite {suite.name} has no task {id}"


def _missing_problems(entry: Mapping[str, Any], template: Template, submitted: Sequence[str]) -> Iterator[str]:
    """What the empty entry has of the submitted tasks, and this entry has not."""
    tasks = entry.get(TASKS, {})
    for id, splits in (template or {}).get(TASKS, {}).items():
        if id not in submitted:
            continue
        if id not in tasks:
            yield f"{TASKS}.{id}: is missing, though the submission has the task's files"
            continue
        for split, figures in splits.items():
            here = tasks[id].get(split)
            if not isinstance(here, dict):
                yield f"{TASKS}.{id}.{split}: is missing, or no object"
            else:
                yield from (f"{TASKS}.{id}.{split}.{name}: is missing" for name in figures or () if name not in here)


def _figure_problems(suite: Suite, entry: Mapping[str, Any], template: Template, figures: Figures) -> Iterator[str]:
    """Tasks, splits and figures that are unknown, are no numbers, or are not those that the predictions give."""
    given = (template or {}).get(TASKS, {})
    for id, splits in entry.get(TASKS, {}).items():
        if id not in given and id not in suite.tasks:
            if _knows_all(suite, template):
                yield f"{TASKS}.{id}: unknown task"
            continue
        for split, block in splits.items():
            place = f"{TASKS}.{id}.{split}"
            if split not in SPLITS:
                yield f"{place}: unknown split, expected {' or '.join(SPLITS)}"
            elif isinstance(block, dict):
                known = {*suite.submission.measures, *(given.get(id, {}).get(split) or ())}
                known |= set() if _knows_all(suite, template) else set(block)
                right = figures.get(id, {}).get(split, {})
                for name, value in block.items():
                    if problem := _figure_problem(suite, name, value, known, right):
                        yield f"{place}.{name}: {problem}"


def _figure_problem(suite: Suite, name: str, value: Any, known: set[str], right: Mapping[str, float]) -> str | None:
    """What is wrong with one figure. known: the names that figures may have. right: those that the predictions give, by name."""
    if name not in known:
        return "unknown key"
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        return f"{show(value)} must be a number or null"
    within = 0 if suite.submission.measures.get(name) == [ROWS] else TOLERANCE * suite.scale
    if name in right and not abs(value - right[name]) <= within:
        return f"is {value}, but the predictions give {right[name]:.6g}"
    return None
