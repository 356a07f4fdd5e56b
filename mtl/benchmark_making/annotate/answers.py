"""The files that people export from forms: who answered what. They are not trusted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.wording import listed
from mtl.benchmark_making.annotate.draw import sample_id
from mtl.benchmark_making.annotate.form import COLUMNS
from mtl.data.columns import text
from mtl.data.records import Record, read_records
from mtl.data.sampled import MOST_NAMED, Key, scored_file, take_sample
from mtl.data.splits import check_present, read_task
from mtl.jobs.job import Job
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind

MAJORITY = "majority"  # the name of what all people answer together
DIGITS = re.compile("[0-9]{1,15}")


@dataclass
class Person:
    """What a person answered."""

    name: str
    answers: dict[str, np.ndarray] = field(default_factory=dict)  # targets, (rows of the sample,), by task id


def slug_of(name: str) -> str:
    """A person's name as a part of a folder's name: Anna-Åberg-2 for "Anna Åberg (2)"."""
    return re.sub(r"[^\w.+]+", "-", name).strip("-.")


def read_answers(paths: Sequence[Path], job: Job, key: Key, key_file: Path) -> list[Person]:
    """What each person answered, in the order of the files. `key_file` is the path of the key, for messages. Raises InputError for a file that no
    form exported, answers of another sample, a row with two answers or none, and what is no answer."""
    people: dict[str, Person] = {}
    for path in paths:
        records = read_records(path, COLUMNS)
        id, sample, name = map(text, records[0].values[:3])
        try:
            _check_head(id, sample, name, job, key, key_file)
            person = people.setdefault(slug_of(name), Person(name))
            if person.name != name:
                raise ValueError(f"the names {name!r} and {person.name!r} would share a folder; change one of them")
            if id in person.answers:
                raise ValueError(f"an earlier file has answers of {name} to {id}, too; leave one of the files out")
        except ValueError as error:
            raise InputError(str(error), path=path, line=records[0].line) from None
        person.answers[id] = _read_targets(path, records, job, key, key_file, id)
    return list(people.values())


def _check_head(id: str, sample: str, name: str, job: Job, key: Key, key_file: Path) -> None:
    """Raise ValueError unless a line names a task and a sample of the key, and what can be a person's name."""
    if id not in key["tasks"]:
        problem = f"{key_file} has no sample of task {id!r}, only of {', '.join(key['tasks'])}"
        raise ValueError(f"{problem}; name the key.json of its form")
    if not name.isprintable() or slug_of(name) in ("", MAJORITY) or "${" in name:
        raise ValueError(f"{name!r} cannot be a person's name; write another one of letters and digits")
    expected = sample_id(job.suite.name, id, key["tasks"][id])
    if sample != expected:
        raise ValueError(f"sample {sample} is not that of {key_file}, {expected}; name the key.json of its form")


def _check_same_head(record: Record, first: Record) -> None:
    """Raise ValueError if a line names another task, sample or person than the first line of its file."""
    for column, value, first_value in zip(COLUMNS[:3], record.values, first.values, strict=False):
        if text(value) != text(first_value):
            raise ValueError(f"has another {column} than line {first.line}; a file is of one person and form")


def _read_targets(path: Path, records: Sequence[Record], job: Job, key: Key, key_file: Path, id: str) -> np.ndarray:
    """The targets that the lines of a file mean, (rows of the sample,), in the order of the rows in the data file."""
    task = job.suite.tasks[id]
    kind, file = target_kind(task), scored_file(task, job.data_dir)
    check_present(job.suite, [task], job.data_dir)
    whole = read_task(task, job.data_dir, job.config.held_out)
    sampled, _ = take_sample(whole, key["tasks"][id]["lines"], path=key_file, key=f"tasks.{id}.lines")
    # All by the line of the row in the data file: the rows, the answers, and the lines of the file that they stand on.
    rows = {example.line: example for example in sampled.rows[task.scored_split]}
    targets: dict[int, Target] = {}
    answered_on: dict[int, int] = {}
    for record in records:
        cell, answer = map(text, record.values[3:])
        line = int(cell) if DIGITS.fullmatch(cell) else -1
        try:
            _check_same_head(record, records[0])
            if line not in rows:
                raise ValueError(f"line {cell!r} of {file} is not in the sample; export the answers again")
            if line in answered_on:
                raise ValueError(f"line {cell} of {file} is answered on line {answered_on[line]}, too; keep one answer")
            if not answer:
                raise ValueError("has no answer; open the form, answer the row and export again")
            targets[line] = kind.parse(answer, None if task.candidates is None else len(rows[line].inputs))
        except ValueError as error:
            raise InputError(str(error), path=path, line=record.line) from None
        answered_on[line] = record.line
    if lacking := [str(line) for line in rows if line not in targets]:
        problem = f"{len(lacking)} of the {len(rows)} rows of the sample have no answer"
        where = f"lines {listed(lacking, MOST_NAMED)} of {file}"
        raise InputError(f"{problem} ({where}); open the form, answer them and export again", path=path)
    return np.array([targets[line] for line in rows], dtype=kind.dtype)
