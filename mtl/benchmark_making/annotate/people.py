"""Runs of what people answered: one of each person, and one of their majority, scored on the rows of the sample alone; and how far people agree. The
files that people export from forms are not trusted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata

from mtl.base.errors import InputError
from mtl.base.wording import listed
from mtl.benchmark_making.annotate.draw import sample_id
from mtl.benchmark_making.annotate.form import COLUMNS, is_answers
from mtl.data.columns import text
from mtl.data.records import Record, read_records
from mtl.data.sample import write_generated
from mtl.data.sampled import MOST_NAMED, Key, read_key, scored_file, take_sample
from mtl.data.splits import check_present, read_task
from mtl.jobs.imports import import_job
from mtl.jobs.job import Job, load_job
from mtl.runs.folder import FILE
from mtl.submissions.format import write_predictions
from mtl.tasks.metrics import MEAN
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import first_kind, target_kind
from mtl.tasks.task import Task

FAMILY = "people"
LEAST_FOR_MAJORITY = 3  # people; of two, each would be the majority
UNUSED = ("run_dir", "seed", "system", "labels", "tasks")  # settings of `mtl import` that answers of people cannot have
MOST_PAIRS = 10  # of people that are named; the others are counted
Level = Literal["nominal", "ordinal", "interval"]  # the distance of answers: whether they differ, of ranks, of numbers
MAJORITY = "majority"  # the name of what all people answer together, which no person can have
DIGITS = re.compile("[0-9]{1,15}")


@dataclass
class Person:
    """What a person answered."""

    name: str
    answers: dict[str, np.ndarray] = field(default_factory=dict)  # targets, (rows of the sample,), by task id


@contextmanager
def people_jobs(name: str, paths: Sequence[Path], settings: Mapping[str, Any]) -> Iterator[tuple[list[Job], list[str]]]:
    """The runs of files of answers, which can be made within the block alone, and lines on how far the people agree and how the majority was made.
    The names of the runs begin with `name`: NAME-PERSON, and NAME-majority with each row's most frequent answer, or the mean of its numbers. The
    settings are those of `mtl.jobs.imports.import_job`; `rows` is the key of the sample. Raises InputError for what are no answers to its rows."""
    _check_settings(paths, settings)
    job = load_job({key: value for key, value in settings.items() if key != "rows"})
    write_generated(job.suite, job.data_dir)
    people = read_answers(paths, job, read_key(settings["rows"], job.suite, job.data_dir), Path(settings["rows"]))
    together, majority_notes, agreement_notes = _together(people, job.suite)
    # Of each run, whose answers it has, its title and its notes.
    runs = [(person, person.name, ["Answers of a person."]) for person in people]
    if together.answers:
        runs.append((together, f"majority of {len(people)} people", majority_notes))
    with TemporaryDirectory(prefix="mtl-people-") as folder:
        jobs = []
        for person, title, notes in runs:
            own_folder = _write_answers(person, job.suite, Path(folder))
            about = {"imported.title": title, "imported.family": FAMILY, "imported.notes": [*notes, *agreement_notes]}
            jobs.append(import_job(f"{name}-{own_folder.name}", [own_folder], {**settings, **about}))
        for person_job in jobs:
            person_job.check_folder()
        yield jobs, [*agreement_notes, *majority_notes]


def _check_settings(paths: Sequence[Path], settings: Mapping[str, Any]) -> None:
    """Raise InputError for a path that is no file of answers, without the key of the sample, and for a setting that answers cannot have."""
    if others := [path for path in paths if not is_answers(path)]:
        raise InputError("is no file of a form (.tsv); import it by itself", path=others[0])
    if settings.get("rows") is None:
        raise InputError("name the key.json that was written with the form, as in rows=forms/key.json", key="rows")
    for key in UNUSED:
        if key in settings:
            raise InputError("is not for answers of people; drop it (runs_dir= names the folder of all runs)", key=key)


def read_answers(paths: Sequence[Path], job: Job, key: Key, key_file: Path) -> list[Person]:
    """What each person answered, in the order of the files. `key_file` is the path of the key, for messages. Raises InputError for a file that no
    form exported, answers of another sample, a row with two answers or none, and what is no answer."""
    people: dict[str, Person] = {}  # by the name of their folder
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
        names = ", ".join(key["tasks"])
        raise ValueError(f"{key_file} has no sample of task {id!r}, only of {names}; name the key.json of its form")
    if not name.isprintable() or slug_of(name) in ("", MAJORITY) or "${" in name:
        raise ValueError(f"{name!r} cannot be a person's name; write another one of letters and digits")
    expected = sample_id(job.suite.name, id, key["tasks"][id])
    if sample != expected:
        raise ValueError(f"sample {sample} is not that of {key_file}, {expected}; name the key.json of its form")


def slug_of(name: str) -> str:
    """A person's name as a part of a folder's name: Anna-Åberg-2 for "Anna Åberg (2)"."""
    return re.sub(r"[^\w.+]+", "-", name).strip("-.")


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
            for column, value, first_value in zip(COLUMNS[:3], record.values, records[0].values, strict=False):
                if text(value) != text(first_value):
                    other = f"has another {column} than line {records[0].line}"
                    raise ValueError(f"{other}; a file is of one person and form")
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
        where = f"lines {listed(lacking, MOST_NAMED)} of {file}"
        problem = f"{len(lacking)} of the {len(rows)} rows of the sample have no answer ({where})"
        raise InputError(f"{problem}; open the form, answer them and export again", path=path)
    return np.array([targets[line] for line in rows], dtype=kind.dtype)


def _together(people: Sequence[Person], suite: Suite) -> tuple[Person, list[str], list[str]]:
    """The majority of the people on each task that enough of them answered, how it was made, and how far they agree on each task."""
    together, majority_notes, agreement_notes = Person(MAJORITY), list[str](), list[str]()
    for id, task in suite.tasks.items():
        group = [person for person in people if id in person.answers]
        answers = np.array([person.answers[id] for person in group])
        if len(group) > 1:
            agreement_notes.append(agreement_text(task, [person.name for person in group], answers))
        if len(group) >= LEAST_FOR_MAJORITY:
            together.answers[id], note = majority(task, answers)
            majority_notes.append(note)
    return together, majority_notes, agreement_notes


def agreement_text(task: Task, people: Sequence[str], answers: np.ndarray) -> str:
    """α of the answers of two people or more, float64 (people, rows), and the agreement of each pair, in one sentence."""
    level = level_of(task)
    measure = "equal answers" if level == "nominal" else "mean absolute difference"
    pairs = []
    for i, k in combinations(range(len(people)), 2):
        if level == "nominal":
            shown = f"{(answers[i] == answers[k]).mean():.1%}"
        else:
            shown = f"{np.abs(answers[i] - answers[k]).mean():.3g}"
        pairs.append(f"{people[i]} and {people[k]} {shown}")
    compared = f"Agreement on {task.id} ({answers.shape[1]} rows): Krippendorff's α, {level}, of {', '.join(people)}"
    return f"{compared}: {alpha(answers, level):.3f}; {measure}: {listed(pairs, MOST_PAIRS)}."


def level_of(task: Task) -> Level:
    """For numbers interval, or ordinal where the task's metric, Spearman's correlation, reads ranks alone; for all other answers nominal."""
    if first_kind(task.kind) != "number":
        return "nominal"
    return "ordinal" if set(task.metric.split(MEAN)) == {"spearman"} else "interval"


def alpha(answers: np.ndarray, level: Level) -> float:
    """Krippendorff's α ("Computing Krippendorff's Alpha-Reliability", 2011) of answers without gaps, float64 (people, rows), of two people or more:
    1 minus the disagreement within rows as a share of the disagreement of all answers pooled; 1 without any disagreement. `mtl.tasks.metrics` has
    the same α for two coders, with weights. The mean squared distance of two answers is twice their variance, so α is a ratio of variances. Of
    nominal answers, it is that of indicators of each answer, summed; of ordinal ones, that of their mean ranks among all answers.

    >>> alpha(np.array([[0.0, 1, 2, 2], [0, 1, 2, 1]]), "nominal")
    0.6666666666666667
    """
    values = answers[..., None]
    if level == "ordinal":
        values = rankdata(answers).reshape(values.shape)
    elif level == "nominal":
        values = (values == np.unique(answers)).astype(np.float64)
    within = values.var(axis=0, ddof=1).mean(axis=0).sum()
    pooled = values.reshape(-1, values.shape[-1]).var(axis=0, ddof=1).sum()
    return 1.0 if within == 0 else float(1 - within / pooled)


def majority(task: Task, answers: np.ndarray) -> tuple[np.ndarray, str]:
    """The most frequent answer of each row of float64 (people, rows), or the mean of its numbers, and in one sentence how it was made. Where several
    answers are the most frequent, the one of the person who agrees most with the others on all rows is taken."""
    people = f"of {len(answers)} people"
    if level_of(task) != "nominal":
        return answers.mean(axis=0), f"The majority on {task.id} is the mean of the numbers {people}."
    agreeing = (answers[:, None] == answers[None]).sum(axis=(1, 2))  # how often others, on all rows, answer as a person
    ordered = answers[np.argsort(-agreeing, kind="stable")]  # the person who agrees most comes first
    counts = (ordered[:, None] == ordered[None]).sum(axis=0)  # of each person's answer in its row
    chosen = ordered[counts.argmax(axis=0), np.arange(answers.shape[1])]  # the first of the most frequent
    tied = int(((counts == counts.max(axis=0)) & (ordered != chosen)).any(axis=0).sum())
    ties = f"; of the {tied} tied rows, that of the person who agrees most with the others" if tied else ""
    return chosen, f"The majority on {task.id} is each row's most frequent answer {people}{ties}."


def _write_answers(person: Person, suite: Suite, folder: Path) -> Path:
    """Write what a person answered as files of predictions, into a folder of their own within this one. Returns it."""
    own_folder = folder / slug_of(person.name)
    own_folder.mkdir()
    for id, answers in person.answers.items():
        task = suite.tasks[id]
        write_predictions(own_folder / FILE.format(split=task.scored_split, task=id), task, answers, "task")
    return own_folder
