"""Runs of what people answered: one of each person, and one of their majority, scored on the rows of the sample alone; and how far people agree.

Krippendorff's α ("Computing Krippendorff's Alpha-Reliability", 2011) is 1 minus the disagreement within rows as a share of the disagreement of all
answers pooled, here for any number of people without gaps. `mtl.tasks.metrics` has the same α for two coders, with weights.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from mtl.benchmark_making.annotate.answers import MAJORITY, Person, read_answers, slug_of
from mtl.benchmark_making.annotate.form import is_answers
from mtl.data.fetching.fetch import write_generated
from mtl.jobs.imports import import_job, key_of
from mtl.jobs.job import Job, load_job
from mtl.runs.folder import FILE
from mtl.submissions.format import write_predictions
from mtl.tasks.metrics import MEAN
from mtl.tasks.targets import first_kind
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
    _check_settings(paths, settings)
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
            if person is majority_person:
                title = f"majority of {len(people)} people"
                notes = majority_notes
            else:
                sums = ", ".join(sha256(file) for file in person.files.values())
                title = person.name
                notes = [f"Answers of a person, in files with these SHA-256 sums: {sums}."]
            own = Path(folder, slug_of(person.name))
            own.mkdir()
            for id, answers in person.answers.items():
                task = job.suite.tasks[id]
                write_predictions(own / FILE.format(split=task.scored_split, task=id), task, answers, "task")
            imported_settings = {
                "imported.title": title,
                "imported.family": FAMILY,
                "imported.notes": [*notes, *agreement_notes],
            }
            jobs.append(import_job(f"{name}-{own.name}", [own], {**settings, **imported_settings}))
        for person_job in jobs:
            person_job.check_folder()
        yield jobs, [*agreement_notes, *majority_notes]


def _check_settings(paths: Sequence[Path], settings: Mapping[str, Any]) -> None:
    """Raise InputError for a file that is not of a form, without `rows`, and for a setting that answers of people cannot have."""
    if foreign := [path for path in paths if not is_answers(path)]:
        raise InputError("is no file of a form (.tsv); import it by itself", path=foreign[0])
    if settings.get("rows") is None:
        raise InputError("name the key.json that was written with the form, as in rows=forms/key.json", key="rows")
    if unused := [key for key in UNUSED if key in settings]:
        raise InputError(UNUSED[unused[0]], key=unused[0], value=settings[unused[0]])


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
    for i, j in combinations(range(len(people)), 2):
        agreement = pair_agreement(answers[i], answers[j], level)
        shown = f"{agreement:.1%}" if level is Level.NOMINAL else f"{-agreement:.3g}"
        pairs.append(f"{people[i]} and {people[j]} {shown}")
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
