"""The leaderboard's entry on a system, a JSON file beside a submission's rows: how it is read and filled, and which of its keys are still null."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, TypedDict

from mtl.base.errors import InputError
from mtl.base.settings.layers import merge, nested
from mtl.base.untrusted import inside, parse_json
from mtl.data.files import read_bytes
from mtl.submissions.files import SubmissionFiles, is_entry
from mtl.tasks.suite import Suite

FACTS = ("name", "family", "parameters")  # what `fill` may name: of the system, its method and its size
TASKS, LEFT_OUT = "tasks", "left_out"  # the entry's keys for figures, and for tasks that the submission does not have

Content = Mapping[str, Any]  # of an entry
Figures = dict[str, dict[str, dict[str, float]]]  # of an entry, by task id, split and name of the measure


class EntryKeys(TypedDict, total=False):
    """The keys of an entry that are the same on every leaderboard."""

    tasks: dict[str, dict[str, dict[str, Any] | None]]
    left_out: list[str]


def file_name(name: str) -> str:
    """The name of the entry's file for a system of this name."""
    return f"{name.replace('/', '-')}.json"


def read_template(suite: Suite, data_dir: Path) -> dict[str, Any] | None:
    """The empty entry; None if the suite names none or its file is not there. Raises InputError for a file of another form."""
    if suite.submission.template is None:
        return None
    path = inside(data_dir, suite.submission.template)
    return _parse_entry(str(path), read_bytes(path)) if path.is_file() else None


def read_entry(files: SubmissionFiles) -> tuple[str, dict[str, Any]]:
    """The name of the submission's entry and its content. Raises InputError unless there is exactly one, and it is an entry."""
    names = [name for name in files.contents if is_entry(name)]
    if len(names) != 1:
        what = f"{len(names)} files ({', '.join(names)})" if names else "no file"
        raise InputError(f"{what} of the form NAME.json; one is expected, the leaderboard's entry", path=files.path)
    return names[0], _parse_entry(f"{files.path}/{names[0]}", files.contents[names[0]])


def _parse_entry(path: str, content: bytes) -> dict[str, Any]:
    """The entry in a file with this content. Raises InputError unless it has the form of `EntryKeys`."""
    remedy = "an entry has an object for each task below tasks, and in it one for each split"
    return dict(parse_json(content.removeprefix(BOM_UTF8), path, EntryKeys, remedy))


def fill_entry(entry: Content, suite: Suite, facts: Mapping[str, Any], figures: Figures) -> dict[str, Any]:
    """An empty or an earlier entry with these facts (by the names of `FACTS`; None: unknown), these figures in place of all it has, and the tasks
    that have none under `left_out`. A split that the entry has gets the figures that it names, any other split all."""
    filled = deepcopy(dict(entry))
    filled[TASKS] = _with_figures(entry.get(TASKS, {}), figures)
    for key, fact in suite.submission.fill.items():
        if facts.get(fact) is not None:
            merge(filled, nested(key, facts[fact]))
    filled.pop(LEFT_OUT, None)
    if left_out := [id for id in dict.fromkeys([*suite.tasks, *filled[TASKS]]) if id not in figures]:
        filled[LEFT_OUT] = left_out
    return filled


def _with_figures(tasks: Content, figures: Figures) -> dict[str, Any]:
    """An entry's objects of tasks with these figures, and null in place of every value that they do not give."""
    filled = _without_values(tasks)
    for id, splits in figures.items():
        for split, values in splits.items():
            block = filled.get(id, {}).get(split) or dict.fromkeys(values)
            if block:
                filled.setdefault(id, {})[split] = {name: values.get(name, empty) for name, empty in block.items()}
    return filled


def _without_values(block: Content) -> dict[str, Any]:
    """The same nested objects, with null in place of every other value."""
    return {name: _without_values(value) if isinstance(value, dict) else None for name, value in block.items()}


def unfilled(block: Content, outer: str = "") -> Iterator[str]:
    """The dotted keys of an entry that are null; only the outer key where everything in it is."""
    for name, value in block.items():
        if _is_unfilled(value):
            yield f"{outer}{name}"
        elif isinstance(value, dict):
            yield from unfilled(value, f"{outer}{name}.")


def _is_unfilled(value: Any) -> bool:
    """Whether a value of an entry is null, or an object in which everything is."""
    is_block = isinstance(value, dict) and value != {}
    return value is None or (is_block and all(_is_unfilled(item) for item in value.values()))
