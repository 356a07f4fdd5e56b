"""The files that people export from forms: who answered what. They are not trusted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import listed
from mtl.benchmark_making.annotate.draw import sample_id
from mtl.benchmark_making.annotate.form import COLUMNS
from mtl.data.columns import text
from mtl.data.records import Record, read_records
from mtl.data.sampled import Key, scored_file, take_sample
from mtl.data.splits import check_present, read_task
from mtl.jobs.job import Job
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MAJORITY = "majority"  # the name of what all people answer together
MOST_NAMED = 3  # lines in one message; the others are counted
DIGITS = re.compile("[0-9]{1,15}")


@dataclass
class Person:
    """What a person answered: targets (rows,) and the file that they stand in, by task id."""

    name: str
    answers: dict[str, np.ndarray] = field(default_factory=dict)
    files: dict[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows of a task that were asked about: by line, in ascending order, how many candidates a row of a choice has."""

    task: Task
    id: str
    file: Path
    candidates: dict[int, int | None]


def slug_of(name: str) -> str:
    """A person's name as a part of a folder's name.

    >>> slug_of("Anna Åberg (2)")
    'Anna-Åberg-2'
    """
    return re.sub(r"[^\w.+]+", "-", name).strip("-.")


def read_answers(paths: Sequence[Path], job: Job, key: Key, key_file: Path) -> list[Person]:
    """What each person answered, in the order of the files.

    Raises InputError for a file that no form exported, answers of another sample, a row with two answers or none, and what is no answer.
    """
    people: dict[str, Person] = {}
    samples: dict[str, _Sample] = {}
    for path in paths:
        records = read_records(path, COLUMNS)
        id, sample, name = _head(records[0])
        person = people.setdefault(slug_of(name), Person(name))
        try:
            if id not in key["tasks"]:
                known = ", ".join(key["tasks"])
                raise ValueError(
                    f"{key_file} has no sample of task {id!r}, only of {known}; name the key.json of its form"
                )
            if not name.isprintable() or not slug_of(name) or "${" in name:
                raise ValueError(f"{name!r} is no name; write one of letters and digits")
            if slug_of(name) == MAJORITY:
                raise ValueError(f"{name!r} is the name of what all people answer together; change it")
            if id not in samples:
                samples[id] = _read_sample(job, key, id)
            if sample != samples[id].id:
                raise ValueError(
                    f"sample {sample} is not that of {key_file}, {samples[id].id}; name the key.json of its form"
                )
            if person.name != name:
                raise ValueError(f"the names {name!r} and {person.name!r} would share a folder; change one of them")
            if id in person.files:
                raise ValueError(f"{person.files[id]} has answers of {name} to {id}, too; leave one of the files out")
        except ValueError as error:
            raise InputError(str(error), path=path, line=records[0].line) from None
        person.answers[id], person.files[id] = _read_targets(path, records, samples[id]), path
    return list(people.values())


def _head(record: Record) -> tuple[str, str, str]:
    """The task, the sample and the name on a line of a file."""
    id, sample, name = map(text, record.values[:3])
    return id, sample, name


def _read_sample(job: Job, key: Key, id: str) -> _Sample:
    task, task_key = job.suite.tasks[id], key["tasks"][id]
    check_present(job.suite, [task], job.data_dir)
    part, sample = take_sample(read_task(task, job.data_dir, job.config.held_out), task_key["lines"])
    sizes = [None if task.candidates is None else len(example.inputs) for example in part.rows[task.scored_split]]
    candidates = dict(zip(sample.lines, sizes, strict=True))
    return _Sample(task, sample_id(job.suite.name, id, task_key), scored_file(task, job.data_dir), candidates)


def _read_targets(path: Path, records: Sequence[Record], sample: _Sample) -> np.ndarray:
    """The targets (rows,) that the lines of a file mean, in the order of the rows in the data file."""
    targets: dict[int, Target] = {}  # by the line of the row
    lines: dict[int, int] = {}  # of the file, likewise
    first = _head(records[0])
    for record in records:
        line, answer = map(text, record.values[3:])
        row = int(line) if DIGITS.fullmatch(line) else -1
        try:
            if (head := _head(record)) != first:
                column = next(COLUMNS[i] for i in range(len(head)) if head[i] != first[i])
                raise ValueError(f"has another {column} than line {records[0].line}; a file is of one person and form")
            if row not in sample.candidates:
                raise ValueError(f"line {line!r} of {sample.file} is not in the sample; export the answers again")
            if row in lines:
                raise ValueError(f"line {line} of {sample.file} is answered on line {lines[row]}, too; keep one answer")
            if not answer:
                raise ValueError("has no answer; open the form, answer the row and export again")
            targets[row] = target_kind(sample.task).parse(answer, sample.candidates[row])
        except ValueError as error:
            raise InputError(str(error), path=path, line=record.line) from None
        lines[row] = record.line
    if lacking := [str(row) for row in sample.candidates if row not in targets]:
        problem = (
            f"{len(lacking)} of the {len(sample.candidates)} rows of the sample have no answer (lines"
            f" {listed(lacking, MOST_NAMED)} of {sample.file}); open the form, answer them and export again"
        )
        raise InputError(problem, path=path)
    return np.array([targets[row] for row in sample.candidates], dtype=target_kind(sample.task).dtype)
