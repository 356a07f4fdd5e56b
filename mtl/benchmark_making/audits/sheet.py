"""Draft a documentation sheet from what a suite file and its data say, in the form of Superlim's sheets (template v1.1).

A sheet is a UTF-8 file with two cells a line, set apart by a tab: a field and its value. A value continues in lines with an empty
first cell. Fields with a star are obligatory.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.benchmark_making.audits.audit import read_files
from mtl.benchmark_making.audits.findings import Part
from mtl.data.records import column_names
from mtl.data.text import TokenizedTexts
from mtl.jobs.job import Job
from mtl.tasks.metrics import metric_named
from mtl.tasks.targets import target_kind
from mtl.tasks.task import SPLITS, Task

VERSION = "v1.1"
TO_COMPLETE = "[to be completed]"
FUNCTIONS = {"train": "Training", "dev": "Development", "test": "Testing"}

# The fields of the template by heading.
TEMPLATE = {
    heading: fields.split("; ")
    for heading, fields in {
        "I. IDENTIFYING INFORMATION": "Title*; Subtitle; Created by*; Publisher(s)*; Link(s) / permanent identifier(s)*; License(s)*; Abstract*;"
        " Funded by*; Cite as; Related datasets",
        "II. USAGE": "Key applications; Intended task(s)/usage(s); Recommended evaluation measures; Dataset function(s); Recommended split(s)",
        "III. DATA": "Primary data*; Language*; Dataset in numbers*; Nature of the content*; Format*; Data source(s)*; Data collection method(s)*;"
        " Data selection and filtering*; Data preprocessing*; Data labeling*; Annotator characteristics",
        "IV. ETHICS AND CAVEATS": "Ethical considerations; Things to watch out for",
        "V. ABOUT DOCUMENTATION": "Data last updated*; Which changes have been made, compared to the previous version*; Access to previous"
        " versions; This document created*; This document last updated*; Where to look for further details; Documentation template version*",
        "VI. OTHER": "Related projects; References",
    }.items()
}


def draft_sheet(job: Job, task_id: str) -> str:
    """The draft of a task's sheet. Raises InputError for an unknown task, and without data."""
    suite, key = job.suite, f"--sheet {task_id}"
    if task_id not in suite.tasks:
        raise InputError(f"suite {suite.name} has no such task; it has {', '.join(suite.tasks)}", key=key)
    task, folder = suite.tasks[task_id], job.data_dir
    read = read_files(suite, task, folder, job.config.held_out)
    if not read.files:
        problems = "; ".join(finding.what for finding in read.findings)
        raise InputError(f"no file of the task can be read in {folder}: {problems}", key=key)
    addresses = []  # where the task's data can be downloaded
    if task.source is not None and task.source.single_files:
        names = [name for split, name in task.files.items() if name is not None and _is_official(task, split)]
        addresses += [task.source.address(task.folder, name) for name in names]
    elif task.source is not None:
        addresses.append(task.source.url)
    addresses += [] if task.hub is None else [f"https://huggingface.co/datasets/{task.hub.dataset}"]
    inputs = " and ".join(f"'{column}'" for column in task.text_columns)
    splits = [split for split in SPLITS if split in read.files and _is_official(task, split)]
    values: dict[str, Sequence[str]] = {
        "Title*": [task.title],
        "Link(s) / permanent identifier(s)*": addresses,
        "License(s)*": [task.license] if task.license else [],
        "Related datasets": [f"Part of {suite.title}"],
        "Intended task(s)/usage(s)": [f"Predict '{task.target}' from {inputs}"],
        "Recommended evaluation measures": [metric_named(task.metric).title],
        "Dataset function(s)": [", ".join(FUNCTIONS[split] for split in splits)],
        "Recommended split(s)": [f"{', '.join(splits).capitalize()} (provided)"],
        "Primary data*": ["Text"],
        "Language*": [f"{suite.language} (ISO 639)"],
        "Dataset in numbers*": _numbers(task, read.files, suite.language, Path(job.config.cache_dir)),
        "Format*": _format(task, read.files, folder),
        "Data source(s)*": [TO_COMPLETE, *(f"Files: {address}" for address in addresses)],
        "Documentation template version*": [VERSION],
    }
    lines: list[str] = []
    for heading, names in TEMPLATE.items():
        lines += [*(["\t"] if lines else []), f"{heading}\t"]
        for name in names:
            cells = values.get(name) or [TO_COMPLETE if name.endswith("*") else ""]
            lines += [f"{'' if number else name}\t{' '.join(cell.split())}" for number, cell in enumerate(cells)]
    return "".join(f"{line}\n" for line in lines)


def _is_official(task: Task, split: str) -> bool:
    """Whether the publisher has this split: where the suite file names numbers of rows, they say which splits there are."""
    return not task.rows or split in task.rows


def _numbers(task: Task, files: dict[str, Part], language: str, cache_dir: Path) -> list[str]:
    """The rows in all and by split, official numbers where the suite file has them; targets and lengths of the rows at hand."""
    rows = [row for part in files.values() for row in part.rows]
    texts = TokenizedTexts([text for row in rows for text in row.texts], language, sys.maxsize, cache_dir)
    tokens = dict(zip(texts.index, texts.lengths.tolist(), strict=True))
    lines = [f"{sum(task.rows.values()) or len(rows)} items in total"]
    for split in SPLITS:
        official, part = task.rows.get(split), files.get(split)
        here = 0 if part is None else len(part.rows)
        if official or part:
            size = f"{split}: {official or here} items"
            size += "" if official in (None, here) else f" ({here} at hand for this draft)"
            lines.append("; ".join([size, *(_facts(part, tokens) if part else ())]))
    return lines


def _facts(part: Part, tokens: Mapping[str, int]) -> Iterator[str]:
    """How the targets of a split with targets are distributed, the lengths in tokens of its texts by column, and of a choice the numbers of
    candidates."""
    task, kind = part.task, target_kind(part.task)
    targets = [row.target for row in part.rows if row.target is not None]
    if targets:
        yield f"{task.target}: {kind.distribution(np.array(targets, dtype=kind.dtype))}"
    columns = {column: [row.texts[number] for row in part.rows] for number, column in enumerate(task.text)}
    if task.candidates is not None:
        sizes = [len(row.inputs) for row in part.rows]
        yield f"candidates in a row: {min(sizes)} to {max(sizes)}"
        columns["candidates"] = [text for row in part.rows for text in row.texts[len(task.text) :]]
    for column, texts in columns.items():
        lengths = [tokens[text] for text in texts]
        yield f"tokens in '{column}': median {np.median(lengths):g}, longest {max(lengths)}, together {sum(lengths)}"


def _format(task: Task, files: dict[str, Part], folder: Path) -> list[str]:
    """The files and the keys of their rows, with what each key is in the task."""
    first = next(iter(files.values()))
    names = ", ".join(Path(part.file).name for split, part in files.items() if _is_official(task, split))
    lines = [f"{Path(first.file).suffix.removeprefix('.').upper()}, UTF-8, one item a line; files: {names}"]
    layouts = [(folder / part.file, task.layout(part.split, folder)) for part in files.values()]
    columns = [name for path, layout in layouts for name in column_names(path, layout)]
    target = "the target to predict"
    if task.labels:
        target += f": {', '.join(task.labels)}"
    elif task.range:
        target += ", a number from {:g} to {:g}".format(*task.range)
    elif task.candidates:
        target += ", the index of the right candidate, from 0"
    meanings = dict.fromkeys(task.read_columns(targets=False), "input") | dict.fromkeys(task.target_columns, target)
    return [*lines, *(f"'{name}': {meanings.get(name, TO_COMPLETE)}" for name in dict.fromkeys(columns))]
