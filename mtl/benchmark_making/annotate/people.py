"""Runs of what people answered: one of each person, and one of their majority, scored on the rows of the sample alone; and how far people agree.

The files that people export from forms are not trusted. Krippendorff's α ("Computing Krippendorff's Alpha-Reliability", 2011) is 1 minus the
disagreement within rows as a share of the disagreement of all answers pooled, here for any number of people without gaps. `mtl.tasks.metrics` has
the same α for two coders, with weights.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import combinations
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.stats import rankdata

from mtl.base.errors import InputError
from mtl.base.files import listed, sha256
from mtl.benchmark_making.annotate.draw import sample_id
from mtl.benchmark_making.annotate.form import COLUMNS, is_answers
from mtl.data.columns import text
from mtl.data.fetching.fetch import write_generated
from mtl.data.records import Record, read_records
from mtl.data.sampled import Key, scored_file, take_sample
from mtl.data.splits import check_present, read_task
from mtl.jobs.imports import import_job, key_of
from mtl.jobs.job import Job, load_job
from mtl.runs.folder import FILE
from mtl.submissions.format import write_predictions
from mtl.tasks.metrics import MEAN
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import first_kind, target_kind
from mtl.tasks.task import Task

FAMILY = "people"
MOST_PAIRS = 10  # of people that are named; the others are counted
LEAST_FOR_MAJORITY = 3  # people; of two, each would be the majority
# Settings of `mtl import` that answers of people cannot have, with the reason.
UNUSED = {
    "run_dir": "names one folder, and each person has one; set runs_dir=",
    "seed": "a person has no seed; drop it",
    "system": "the files say who answered; drop it",
    "labels": "the answers of a form are labels; drop it",
    "tasks": "the files say which tasks were answered; drop it",
}


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


@contextmanager
def people_jobs(name: str, paths: Sequence[Path], settings: Mapping[str, Any]) -> Iterator[tuple[list[Job], list[str]]]:
    """The runs of files of answers, and how far the people agree, one line each.

    The predictions lie in a temporary folder that exists only within the block.

    A person's run is called NAME-PERSON. For tasks that three or more people answered, NAME-majority has each row's most frequent answer,
    or the mean of its numbers.

    Args:
        name: how names of the runs begin.
        paths: the files of answers.
        settings: as in `mtl.jobs.imports.import_job`, with `rows`.

    Raises:
        InputError: which names the file and the line, for answers that are not those of the sample's rows. No run is made then.
    """
    if foreign := [path for path in paths if not is_answers(path)]:
        raise InputError("is no file of a form (.tsv); import it by itself", path=foreign[0])
    if settings.get("rows") is None:
        raise InputError("name the key.json that was written with the form, as in rows=forms/key.json", key="rows")
    for key in (key for key in UNUSED if key in settings):
        raise InputError(UNUSED[key], key=key, value=settings[key])
    job = load_job({key: value for key, value in settings.items() if key != "rows"})
    write_generated(job.suite, job.data_dir)
    people = read_answers(paths, job, key_of(settings["rows"], job), Path(settings["rows"]))
    answered = {id: [person for person in people if id in person.answers] for id in job.suite.tasks}
    groups = {id: group for id, group in answered.items() if len(group) > 1}
    majority_person = Person(MAJORITY)
    majority_notes: list[str] = []
    agreement_notes: list[str] = []
    for id, group in groups.items():
        task = job.suite.tasks[id]
        answers = np.array([person.answers[id] for person in group])
        agreement_notes.append(agreement_text(task, [person.name for person in group], answers))
        if len(group) >= LEAST_FOR_MAJORITY:
            majority_person.answers[id], tied = majority(answers, level_of(task))
            majority_notes.append(majority_text(task, tied, len(group)))
    with TemporaryDirectory(prefix="mtl-people-") as folder:
        jobs = []
        for person in [*people, majority_person] if majority_person.answers else people:
            sums = ", ".join(sha256(file) for file in person.files.values())
            title, notes = person.name, [f"Answers of a person, in files with these SHA-256 sums: {sums}."]
            if person is majority_person:
                title, notes = f"majority of {len(people)} people", majority_notes
            own = Path(folder, slug_of(person.name))
            own.mkdir()
            for id, answers in person.answers.items():
                task = job.suite.tasks[id]
                write_predictions(own / FILE.format(split=task.scored_split, task=id), task, answers, "task")
            about = {"title": title, "family": FAMILY, "notes": [*notes, *agreement_notes]}
            imported = {f"imported.{key}": value for key, value in about.items()}
            jobs.append(import_job(f"{name}-{own.name}", [own], {**settings, **imported}))
        for person_job in jobs:
            person_job.check_folder()
        yield jobs, [*agreement_notes, *majority_notes]


class Level(Enum):
    """The distance between two answers of α."""

    NOMINAL = "nominal"  # equal or different
    ORDINAL = "ordinal"  # of their ranks among all answers
    INTERVAL = "interval"  # of the numbers


def level_of(task: Task) -> Level:
    """Nominal for labels and choices; for numbers interval, or ordinal where the task's metric, Spearman's correlation, reads ranks alone."""
    if first_kind(task.kind) != "number":
        return Level.NOMINAL
    return Level.ORDINAL if set(task.metric.split(MEAN)) == {"spearman"} else Level.INTERVAL


def alpha(answers: np.ndarray, level: Level) -> float:
    """Krippendorff's α; 1 without any disagreement.

    The mean squared distance of two answers is twice their variance, so α is a ratio of variances. Of nominal answers, it is that of
    indicators of each answer, summed; of ordinal ones, that of their mean ranks among all answers.

    Args:
        answers: float64 (people, rows), two people or more.

    >>> alpha(np.array([[0.0, 1, 2, 2], [0, 1, 2, 1]]), Level.NOMINAL)
    0.6666666666666667
    """
    values = answers[..., None]
    if level is Level.ORDINAL:
        values = rankdata(answers).reshape(values.shape)
    elif level is Level.NOMINAL:
        values = (values == np.unique(answers)).astype(np.float64)
    within = values.var(axis=0, ddof=1).mean(axis=0).sum()
    pooled = values.reshape(-1, values.shape[-1]).var(axis=0, ddof=1).sum()
    return 1.0 if within == 0 else float(1 - within / pooled)


def pair_agreement(first: np.ndarray, second: np.ndarray, level: Level) -> float:
    """How far two people agree: the share of equal answers; of numbers, minus the mean absolute difference. Both (rows,)."""
    if level is Level.NOMINAL:
        return float((first == second).mean())
    return -float(np.abs(first - second).mean())


def majority(answers: np.ndarray, level: Level) -> tuple[np.ndarray, int]:
    """The most frequent answer of each row of float64 (people, rows), and how many rows have several; of numbers, the mean, and none.

    Where several answers are the most frequent, the one of the person who agrees most with the others on all rows is taken.
    """
    if level is not Level.NOMINAL:
        return answers.mean(axis=0), 0
    shares = [
        fmean(pair_agreement(answers[i], answers[j], level) for j in range(len(answers)) if j != i)
        for i in range(len(answers))
    ]
    by_agreement = answers[np.argsort([-share for share in shares], kind="stable")]
    counts = (by_agreement[:, None] == by_agreement[None]).sum(axis=0)  # of each person's answer in its row
    chosen = by_agreement[counts.argmax(axis=0), np.arange(answers.shape[1])]  # the first of the most frequent
    frequent = counts == counts.max(axis=0)
    tied = sum(len(set(row[mask].tolist())) > 1 for row, mask in zip(by_agreement.T, frequent.T, strict=True))
    return chosen, tied


def agreement_text(task: Task, people: Sequence[str], answers: np.ndarray) -> str:
    """α of answers, float64 (people, rows), and the agreement of each pair, in one sentence."""
    level = level_of(task)
    pairs = []
    for (one, first), (other, second) in combinations(zip(people, answers, strict=True), 2):
        agreement = pair_agreement(first, second, level)
        shown = f"{agreement:.1%}" if level is Level.NOMINAL else f"{-agreement:.3g}"
        pairs.append(f"{one} and {other} {shown}")
    what = "equal answers" if level is Level.NOMINAL else "mean absolute difference"
    return (
        f"Agreement on {task.id} ({answers.shape[1]} rows): Krippendorff's α, {level.value}, of {', '.join(people)}: "
        f"{alpha(answers, level):.3f}; {what}: {listed(pairs, MOST_PAIRS)}."
    )


def majority_text(task: Task, tied: int, people: int) -> str:
    """How the majority of a task was made, in one sentence."""
    if first_kind(task.kind) == "number":
        return f"The majority on {task.id} is the mean of the numbers of {people} people."
    ties = f"; of the {tied} tied rows, that of the person who agrees most with the others" if tied else ""
    return f"The majority on {task.id} is each row's most frequent answer of {people} people{ties}."


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
                known = f"{key_file} has no sample of task {id!r}, only of {', '.join(key['tasks'])}"
                raise ValueError(f"{known}; name the key.json of its form")
            if not name.isprintable() or not slug_of(name) or "${" in name:
                raise ValueError(f"{name!r} is no name; write one of letters and digits")
            if slug_of(name) == MAJORITY:
                raise ValueError(f"{name!r} is the name of what all people answer together; change it")
            if id not in samples:
                samples[id] = _read_sample(job, key, id)
            if sample != samples[id].id:
                other = f"sample {sample} is not that of {key_file}, {samples[id].id}"
                raise ValueError(f"{other}; name the key.json of its form")
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
        rows = f"{len(lacking)} of the {len(sample.candidates)} rows of the sample have no answer"
        where = f"lines {listed(lacking, MOST_NAMED)} of {sample.file}"
        raise InputError(f"{rows} ({where}); open the form, answer them and export again", path=path)
    return np.array([targets[row] for row in sample.candidates], dtype=target_kind(sample.task).dtype)
