"""Runs of what people answered: one of each person, and one of their majority, scored on the rows of the sample alone."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.benchmark_making.annotate.agreement import (
    LEAST_FOR_MAJORITY,
    agreement_text,
    level_of,
    majority,
    majority_text,
)
from mtl.benchmark_making.annotate.answers import MAJORITY, Person, read_answers, slug_of
from mtl.benchmark_making.annotate.form import is_answers
from mtl.data.fetching.fetch import write_generated
from mtl.jobs.imports import import_job, key_of
from mtl.jobs.job import Job, load_job
from mtl.runs.folder import FILE
from mtl.submissions.format import write_predictions

FAMILY = "people"
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
            person_job.folder.check(person_job.config)
        yield jobs, [*agreement_notes, *majority_notes]


def _check_settings(paths: Sequence[Path], settings: Mapping[str, Any]) -> None:
    """Raise InputError for a file that is not of a form, without `rows`, and for a setting that answers of people cannot have."""
    if foreign := [path for path in paths if not is_answers(path)]:
        raise InputError("is no file of a form (.tsv); import it by itself", path=foreign[0])
    if settings.get("rows") is None:
        raise InputError("name the key.json that was written with the form, as in rows=forms/key.json", key="rows")
    if unused := [key for key in UNUSED if key in settings]:
        raise InputError(UNUSED[unused[0]], key=unused[0], value=settings[unused[0]])
