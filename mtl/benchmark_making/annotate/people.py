"""The runs of `mtl import` for what people answered: one of each person, and one of their majority, scored on the rows of the sample alone."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.benchmark_making.annotate.agreement import agreement_text, majority
from mtl.benchmark_making.annotate.answers import MAJORITY, Person, read_answers, slug_of
from mtl.benchmark_making.annotate.form import is_answers
from mtl.data.sample import ensure_embedded_data
from mtl.data.sampled import read_key
from mtl.jobs.imports import import_job
from mtl.jobs.job import Job, load_job
from mtl.runs.folder import FILE
from mtl.submissions.format import write_predictions
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task

LEAST_FOR_MAJORITY = 3  # people; of two, each would be the majority
UNUSED = ("run_dir", "seed", "system", "labels", "tasks")  # settings of `mtl import` that answers of people cannot have


@contextmanager
def people_jobs(name: str, paths: Sequence[Path], settings: Mapping[str, Any]) -> Iterator[tuple[list[Job], list[str]]]:
    """The runs of files of answers, NAME-PERSON and NAME-majority, and lines on how far the people agree and how the majority was made. The block
    ends by removing what the runs read. Settings are as of `import_job`; `rows` is the key of the sample. Raises InputError for bad answers."""
    _check_settings(paths, settings)
    job = load_job({key: value for key, value in settings.items() if key != "rows"})
    ensure_embedded_data(job.suite, job.data_dir)
    people = read_answers(paths, job, read_key(settings["rows"], job.suite, job.data_dir), Path(settings["rows"]))
    agreement_notes = [agreement_text(*answered) for answered in _task_answers(people, job.suite, least=2)]
    majority_person, majority_notes = _majority_person(people, job.suite)
    titled = [(person, person.name, ["Answers of a person."]) for person in people]
    if majority_person.answers:
        titled.append((majority_person, f"majority of {len(people)} people", majority_notes))
    with TemporaryDirectory(prefix="mtl-people-") as folder:
        jobs = []
        for person, title, notes in titled:
            predictions = _write_answers(person, job.suite, Path(folder))
            about = {"imported.title": title, "imported.family": "people", "imported.notes": [*notes, *agreement_notes]}
            jobs.append(import_job(f"{name}-{predictions.name}", [predictions], {**settings, **about}))
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


def _task_answers(people: Sequence[Person], suite: Suite, least: int) -> Iterator[tuple[Task, list[str], np.ndarray]]:
    """Each task that at least so many people answered, with their names and their answers, (people, rows)."""
    for id, task in suite.tasks.items():
        answered = [person for person in people if id in person.answers]
        if len(answered) >= least:
            yield task, [person.name for person in answered], np.array([person.answers[id] for person in answered])


def _majority_person(people: Sequence[Person], suite: Suite) -> tuple[Person, list[str]]:
    """The majority, as if it were a person, with answers to the tasks that enough people answered; and how they were made."""
    majority_person, notes = Person(MAJORITY), list[str]()
    for task, _, answers in _task_answers(people, suite, LEAST_FOR_MAJORITY):
        majority_person.answers[task.id], note = majority(task, answers)
        notes.append(note)
    return majority_person, notes


def _write_answers(person: Person, suite: Suite, folder: Path) -> Path:
    """Write what a person answered as files of predictions, into a folder of their own within this one, and return its path."""
    person_folder = folder / slug_of(person.name)
    person_folder.mkdir()
    for id, answers in person.answers.items():
        task = suite.tasks[id]
        write_predictions(person_folder / FILE.format(split=task.scored_split, task=id), task, answers, "task")
    return person_folder
