"""Predictions that another system made, as a method: its runs stand in tables, reports, tests and submissions as those that mtl trained."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.clock import now
from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.version import VERSION
from mtl.data.sampled import sample_text
from mtl.jobs.given import GivenPredictions
from mtl.jobs.job import Job
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.submissions.answers import Labels, check_labels
from mtl.submissions.files import SPLITS, prediction_names, read_files
from mtl.submissions.lines import DataRows
from mtl.submissions.predictions import Predicted, Rows, Unfit, put_to_rows, read_sources
from mtl.tasks.target_kind import is_unknown
from mtl.tasks.task import Task

UNKNOWN = "not stated"

# The predictions of a seed: a zip or a folder, or values that Python code has at hand.
Source = Path | GivenPredictions


def fingerprint_name(seed: int) -> str:
    """What a run's inputs call the predictions of a seed."""
    return f"predictions of seed {seed}"


class Imported(Method):
    """`mtl.methods.method.Method` of predictions in files: for each seed a zip or a folder, in the forms that mtl writes."""

    def __init__(self, job: Job, request: BuildRequest) -> None:
        """Puts all predictions to their rows, so that nothing is written if a file is wrong. Raises InputError."""
        super().__init__(request)
        self.system = self.config.imported
        seeds: Sequence[Source] = job.predictions or [Path(path) for path in self.system.predictions]
        if len(seeds) != len(self.config.seeds):
            problem = f"needs predictions for each of the {len(self.config.seeds)} seeds, and has {len(seeds)}"
            raise InputError(problem, key="imported.predictions")
        labels = check_labels(self.system.labels, self.suite)
        rows = _data_rows(request)
        self._predictions: dict[int, dict[str, Predictions]] = {}
        unfit: dict[int, Unfit] = {}
        sums: list[str] = []
        for seed, source in zip(self.config.seeds, seeds, strict=True):
            self._predictions[seed], unfit[seed] = self._read_seed(source, rows, labels)
            self._check_complete(source, self._predictions[seed])
            name, digest = _name_and_fingerprint(source)
            self.fingerprints[fingerprint_name(seed)] = digest
            sums.append(f"{name} ({digest})")
        self.facts = self._facts(sums, _notes_of_answers(rows, unfit, self.system.labels_sha256))
        held_out = [
            task.id for task in self.dataset.tasks if task.id in self.dataset.held_out and task.scored_split == "dev"
        ]
        if held_out and not self.system.held_out_unseen:
            self.facts["maybe_trained_on"] = held_out
            self.facts["notes"].append(
                f"‡ scored on rows of the training file that mtl holds out: {', '.join(held_out)}. A system that was trained on the whole file"
                " has seen them. mtl data --write-splits writes the train and dev that mtl uses; held_out_unseen: true in system.yaml says"
                " that the system was trained on this train alone."
            )

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.tasks:
            yield task, self._predictions[seed][task.id]

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """What the system's makers say of it; None for what they do not say."""
        return {
            "parameters": self.system.parameters,
            "parameters_without_embeddings": None,
            "pretrain_seconds": None,
            "finetune_seconds": self.system.seconds,
            "peak_memory": None,
            "sentences_per_second": None,
        }

    def _read_seed(self, source: Source, rows: Rows, labels: Labels) -> tuple[Predicted, Unfit]:
        """The predictions of a seed, put to the rows, and how many answers fit no label."""
        if isinstance(source, Path):
            names = {name for name, (id, _) in prediction_names(self.suite).items() if id in rows}
            contents, _ = read_files(source, names.__contains__)
            lines = read_sources(source, contents, self.suite, rows)
        else:
            lines = source.lines
        return put_to_rows(lines, self.suite, rows, labels)

    def _check_complete(self, source: Source, predicted: Predicted) -> None:
        """Raise InputError for a task without predictions for the split that scores it."""
        for task in self.dataset.tasks:
            if task.scored_split not in predicted[task.id]:
                problem = f"no predictions of task {task.id} for {task.scored_split}, which scores it; name other tasks with tasks="
                if isinstance(source, Path):
                    raise InputError(f"has {problem}", path=source)
                raise InputError(problem, key="predictions")

    def _facts(self, sums: Sequence[str], notes_of_answers: Sequence[str]) -> dict[str, Any]:
        """What the summary says of the system. `sums` has the name and the SHA-256 sum of each seed's predictions."""
        system = self.system
        sizes = sample_text(self.dataset.samples, {task.id: task.scored_split for task in self.dataset.tasks})
        about = {"training text": system.text, "link": system.link, "licence": system.license}
        return {
            "notes": [
                *(system.notes or ()),
                *([f"Scored on a sample of the rows alone: {sizes}."] if sizes else []),
                f"Imported on {now():%Y-%m-%d}, not trained by mtl, from predictions with these SHA-256 sums: {'; '.join(sums)}.",
                "; ".join(f"{what}: {value or UNKNOWN}" for what, value in about.items()) + ".",
                *notes_of_answers,
            ],
            "machine": [system.hardware or UNKNOWN],
            "versions": [{"mtl": VERSION}],
        }


def _data_rows(request: BuildRequest) -> Rows:
    """The dev and test rows of the run's tasks."""
    dataset = request.dataset
    rows: dict[str, dict[str, DataRows]] = {}
    for task in dataset.tasks:
        rows[task.id] = {}
        for split, part in dataset.splits[task.id].items():
            held_out = dataset.held_out.get(task.id) if split == "dev" else None
            file = task.path("train" if held_out else split, request.data_dir)
            if split in SPLITS and file is not None:
                sample = dataset.samples.get(task.id) if split == task.scored_split else None
                lines = held_out if sample is None else sample.lines
                rows[task.id][split] = DataRows(task, split, file, part.targets, part.scored.candidates, lines, sample)
    return rows


def _notes_of_answers(rows: Rows, unfit: Mapping[int, Unfit], labels_sha256: str | None) -> list[str]:
    """How predictions were read as answers, and how many answers, by seed, fit no label; empty if none were."""
    tasks = list(next(iter(unfit.values())))
    if not tasks:
        return []
    counted: dict[bool, list[str]] = {True: [], False: []}  # by whether the rows have gold targets
    for id in tasks:
        for split, part in rows[id].items():
            counts = {seed: counts_of[id][split] for seed, counts_of in unfit.items() if split in counts_of[id]}
            if any(counts.values()):
                seeds = f" (seeds {', '.join(map(str, counts))})" if len(unfit) > 1 else ""
                shares = ", ".join(f"{count:,}" for count in counts.values())
                known = not any(is_unknown(target) for target in part.targets)
                counted[known].append(f"{id} {split} {shares} of {len(part):,}{seeds}")
    file = f", from a file with the SHA-256 sum {labels_sha256}" if labels_sha256 else ""
    notes = [
        f"Answers were read as labels by the spellings in config.yaml (imported.labels){file}: {', '.join(tasks)}.",
        f"Answers that fit no label, counted as wrong: {'; '.join(counted[True]) or 'none'}.",
    ]
    if counted[False]:
        notes.append(
            "Answers that fit no label, on rows whose targets are not known here, where the first label stands for them: "
            f"{'; '.join(counted[False])}."
        )
    return notes


def _name_and_fingerprint(source: Source) -> tuple[str, str]:
    return (
        (source.resolve().name, _fingerprint(source)) if isinstance(source, Path) else (source.name, source.fingerprint)
    )


def _fingerprint(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of the files in a folder."""
    if path.is_file():
        return sha256(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    listed = "".join(f"{sha256(file)}  {file.relative_to(path).as_posix()}\n" for file in files)
    return hashlib.sha256(listed.encode()).hexdigest()
