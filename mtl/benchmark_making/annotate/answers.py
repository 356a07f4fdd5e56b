"""What people answered, read from the files that they exported from forms. These files are not trusted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.wording import listed
from mtl.benchmark_making.annotate.draw import sample_id
from mtl.benchmark_making.annotate.form import COLUMNS
from mtl.data.columns import text
from mtl.data.examples import Example
from mtl.data.present_files import check_present
from mtl.data.records import Record, read_records
from mtl.data.sampled import MOST_NAMED, Key, scored_file, take_sample
from mtl.data.splits import read_task
from mtl.jobs.job import Job
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

MAJORITY = "majority"  # the name of what all people answer together, which no person can have
LONGEST_NAME = 60  # characters, as in the form; a folder is named after the person, and file systems allow 255 bytes


@dataclass(frozen=True)
class Person:
    """What a person answered."""

    name: str
    answers: dict[str, np.ndarray] = field(default_factory=dict)  # by task id: targets, (rows of the sample,)


def read_answers(paths: Sequence[Path], job: Job, key: Key, key_file: Path) -> list[Person]:
    """What each person answered, in the order of the files. `key_file` is the path of the key, for messages. Raises InputError for a file that no
    form exported, answers to another sample, a row with two answers or none, and what is no answer."""
    sample_ids = {id: sample_id(job.suite.name, id, task_key) for id, task_key in key["tasks"].items()}
    samples: dict[str, dict[int, Example]] = {}  # by task id
    people: dict[str, Person] = {}  # by the name of their folder in lower case, since some file systems ignore case
    for path in paths:
        records = read_records(path, COLUMNS)
        id, sample, name = map(text, records[0].values[:3])
        try:
            _check_first_line(id, sample, name, sample_ids, key_file)
            person = people.setdefault(slug_of(name).casefold(), Person(name))
            if person.name != name:
                raise ValueError(f"the names {name!r} and {person.name!r} would share a folder; change one of them")
            if id in person.answers:
                raise ValueError(f"an earlier file has answers of {name} to {id}, too; leave one of the files out")
        except ValueError as error:
            raise InputError(str(error), path=path, line=records[0].line) from None
        task = job.suite.tasks[id]
        if id not in samples:
            samples[id] = _read_sample(task, job, key, key_file)
        person.answers[id] = _read_targets(path, records, task, scored_file(task, job.data_dir), samples[id])
    return list(people.values())


def _check_first_line(id: str, sample: str, name: str, sample_ids: Mapping[str, str], key_file: Path) -> None:
    """Raise ValueError unless a line names a task and a sample of the key, and what can be a person's name."""
    if id not in sample_ids:
        names = ", ".join(sample_ids)
        raise ValueError(f"{key_file} has no sample of task {id!r}, only of {names}; name the key.json of its form")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"a person's name has at most {LONGEST_NAME} characters; write a shorter one")
    if not name.isprintable() or slug_of(name).casefold() in ("", MAJORITY) or "${" in name:
        raise ValueError(f"{name!r} cannot be a person's name; write another one of letters and digits")
    if sample != sample_ids[id]:
        raise ValueError(f"sample {sample} is not that of {key_file}, {sample_ids[id]}; name the key.json of its form")


def slug_of(name: str) -> str:
    """A person's name as a part of a folder's name: Anna-Åberg-2 for "Anna Åberg (2)"."""
    return re.sub(r"[^\w.+]+", "-", name).strip("-.")


def _read_sample(task: Task, job: Job, key: Key, key_file: Path) -> dict[int, Example]:
    """The rows of a task's sample, by their lines in the data file. Raises InputError for bad data, and if the key names a line without a row."""
    check_present(job.suite, [task], job.data_dir)
    whole = read_task(task, job.data_dir, job.config.held_out)
    sampled, _ = take_sample(whole, key["tasks"][task.id]["lines"], path=key_file, key=f"tasks.{task.id}.lines")
    return {row.line: row for row in sampled.rows[task.scored_split]}


def _read_targets(path: Path, records: list[Record], task: Task, file: Path, rows: dict[int, Example]) -> np.ndarray:
    """The targets that the lines of a form's file mean, (rows,). `rows` are those of the sample, by their lines in the data file `file`."""
    kind, first = target_kind(task), records[0]
    targets: dict[int, Target] = {}  # by a row's line in `file`
    answered_on: dict[int, int] = {}  # by the same, the line of `path` that has the answer
    for record in records:
        cell, answer = map(text, record.values[3:])
        line = int(cell) if re.fullmatch("[0-9]{1,15}", cell) else -1
        try:
            for column, value, first_value in zip(COLUMNS[:3], record.values, first.values, strict=False):
                if value != first_value:  # the task, the sample or the person
                    raise ValueError(f"has another {column} than line {first.line}; a file is of one person and form")
            if line not in rows:
                raise ValueError(f"line {cell!r} of {file} is not in the sample; export the answers again")
            if line in targets:
                raise ValueError(f"line {cell} of {file} is answered on line {answered_on[line]}, too; keep one answer")
            if not answer:
                raise ValueError("has no answer; open the form, answer the row and export again")
            targets[line] = kind.parse(answer, None if task.candidates is None else len(rows[line].inputs))
        except ValueError as error:
            raise InputError(str(error), path=path, line=record.line) from None
        answered_on[line] = record.line
    if lacking := [str(line) for line in rows if line not in targets]:
        problem = f"{len(lacking)} of the {len(rows)} rows of the sample have no answer (lines {listed(lacking, MOST_NAMED)} of {file})"
        raise InputError(f"{problem}; open the form, answer them and export again", path=path)
    return np.array([targets[line] for line in rows], dtype=kind.dtype)
