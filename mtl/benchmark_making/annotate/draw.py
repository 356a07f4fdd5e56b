"""A stratified sample of the rows that a task is scored on, as a form for people to answer, and the key that says which rows they are."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from mtl.base.errors import InputError, locating
from mtl.base.files import sha256, write_json, write_text
from mtl.base.folders import new_folder
from mtl.base.typed import typed
from mtl.benchmark_making.annotate.form import render_form
from mtl.data.examples import Example
from mtl.data.present_files import check_present
from mtl.data.sample import ensure_embedded_data
from mtl.data.sampled import Key, TaskKey, scored_file
from mtl.data.splits import read_task
from mtl.jobs.job import Job
from mtl.tasks.suite import Suite
from mtl.tasks.targets import first_kind
from mtl.tasks.task import Task

KINDS = ("labels", "number", "choice")  # of target, that a form can ask for, and kinds that are derived from them
KEY = "key.json"


@dataclass(frozen=True)
class SampleSettings:
    """What sample is drawn, from the split that scores each task."""

    task: list[str]  # the ids of the tasks
    rows: Annotated[int, Meta(ge=2, le=5000)] = 50  # of each task
    seed: Annotated[int, Meta(ge=0, lt=2**32)] = 1  # of the draw, and of the order of rows and candidates in the form


def read_sample_settings(settings: Mapping[str, Any]) -> SampleSettings:
    """The sample that settings `task`, `rows` and `seed` describe. Raises InputError for a bad value."""
    if not (task := settings.get("task")):
        raise InputError("name the task to ask about, or several as in [cbd,dyk]", key="task")
    return typed(SampleSettings, {**settings, "task": task if isinstance(task, list) else [task]})


def sample_id(suite: str, task: str, key: TaskKey) -> str:
    """16 hexadecimal digits that tell the sample of a task from every other sample."""
    return hashlib.sha256(json.dumps([suite, task, key], sort_keys=True).encode()).hexdigest()[:16]


def write_forms(job: Job, settings: SampleSettings, out: Path) -> list[Path]:
    """Write a form for each task, TASK.html, and key.json into a new folder, and return their paths. The same settings give the same bytes. Raises
    InputError for tasks that no form can ask for, fewer rows than are wanted, bad data, and a folder that is not empty. No form is written then."""
    key = Key(suite=job.suite.name, tasks={})
    forms: dict[str, str] = {}  # pages by their file names
    for task in _chosen_tasks(job, settings):
        examples = read_task(task, job.data_dir, job.config.held_out).rows[task.scored_split]
        if settings.rows > len(examples):
            problem = f"{task.id} has {len(examples)} {task.scored_split} rows; set rows={len(examples)} or less"
            raise InputError(problem, key="rows", value=settings.rows)
        rng = np.random.default_rng(settings.seed)
        positions = draw_sample(examples, settings.rows, rng)
        lines = [examples[position].line for position in positions]
        path = scored_file(task, job.data_dir)
        file = path.relative_to(job.data_dir).as_posix()
        task_key = TaskKey(split=task.scored_split, file=file, sha256=sha256(path), whole=len(examples), lines=lines)
        key["tasks"][task.id] = task_key
        rows = [_row(task, examples[position], rng) for position in rng.permutation(positions)]
        forms[f"{task.id}.html"] = render_form(_form_content(task, job.suite, task_key, rows))
    with new_folder(out) as folder:
        for name, page in forms.items():
            write_text(folder / name, page)
        write_json(folder / KEY, key)
    return [out / name for name in (*forms, KEY)]


def _form_content(task: Task, suite: Suite, key: TaskKey, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the form of a sample shows, as form.js reads it."""
    sample = sample_id(suite.name, task.id, key)
    about = {"suite": suite.title, "sample": sample, "language": suite.language, "task": task.id, "title": task.title}
    answer = {"kind": first_kind(task.kind), "labels": task.labels, "range": task.range}
    instructions = (task.instructions or _default_instructions(task)).strip()
    return {**about, **answer, "columns": task.text, "instructions": instructions, "rows": rows}


def _chosen_tasks(job: Job, settings: SampleSettings) -> list[Task]:
    """The tasks that the settings name; data that a suite generates is written. Raises InputError for one that no form asks for, or without files."""
    with locating(key="task"):
        tasks = job.suite.choose(settings.task)
    if bad := [task for task in tasks if first_kind(task.kind) not in KINDS or not task.is_scored]:
        problem = f"answers are asked for scored tasks of kind {', '.join(KINDS)} alone; leave this task out"
        raise InputError(problem, key=bad[0].id)
    ensure_embedded_data(job.suite, job.data_dir)
    check_present(job.suite, tasks, job.data_dir)
    return tasks


def draw_sample(examples: Sequence[Example], count: int, rng: np.random.Generator) -> list[int]:
    """The numbers of `count` drawn rows, from 0, in ascending order. Rows are put in the order of their targets, equal targets in random order. From
    a random place on, rows are drawn at equal distances (systematic sampling). So every row is drawn with the same probability, each label has its
    share of the sample, to within a row, and numbers are spread as in the data."""
    shuffled = rng.permutation(len(examples))
    targets = np.array([examples[number].target for number in shuffled], dtype=np.float64)
    drawn = (np.arange(count) * len(examples) + rng.integers(len(examples))) // count
    return sorted(shuffled[np.argsort(targets, kind="stable")][drawn].tolist())


def _row(task: Task, row: Example, rng: np.random.Generator) -> dict[str, Any]:
    """A row as form.js reads it: without its target, the parts of a text as [text, whether it is marked], and candidates in random order."""
    texts, candidates = row.texts[: len(task.text)], row.texts[len(task.text) :]
    spans = defaultdict[int, list[tuple[int, int]]](list)  # by the number of the text
    for (number, _), span in zip(task.marked, row.spans, strict=True):
        spans[number].append(span)
    return {
        "line": row.line,
        "texts": [_parts(text, spans[number]) for number, text in enumerate(texts)],
        "candidates": [(int(index), candidates[index]) for index in rng.permutation(len(candidates))],
    }


def _parts(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    marked = np.zeros(len(text), dtype=bool)
    for start, stop in spans:
        marked[start:stop] = True
    ends = [0, *(np.flatnonzero(np.diff(marked)) + 1).tolist(), len(text)]
    return [(text[start:end], bool(marked[start])) for start, end in pairwise(ends) if start < end]


def _default_instructions(task: Task) -> str:
    answer = "Choose the candidate that is right."
    if task.labels:
        answer = f"Choose the label that fits: {', '.join(task.labels)}."
    elif task.range:
        answer = "Answer with a number from {:g} to {:g}.".format(*task.range)
    return f"Read each row and answer it by yourself. {answer}"
