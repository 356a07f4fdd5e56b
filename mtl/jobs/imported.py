"""The method of imported runs: it gives back the predictions of another system, which then stands beside those that mtl trained."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from mtl.base.clock import now
from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.version import VERSION
from mtl.data.sampled import sample_text
from mtl.jobs.job import Job
from mtl.jobs.values import PredictedValues
from mtl.methods.method import BuildRequest, Method, Predictions, seed_cost
from mtl.submissions.answers import check_labels
from mtl.submissions.data_rows import DataRows, Rows, Sources, Unfit, put_to_rows, read_sources
from mtl.submissions.files import SPLITS, is_entry, predicted_splits, prediction_names, read_files
from mtl.tasks.suite import Suite
from mtl.tasks.target_kind import is_unknown
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

UNKNOWN = "not stated"


@dataclass(frozen=True)
class PredictedFiles:
    """The predictions of one seed, in a zip or a folder, in the forms that mtl writes. `PredictedValues` has the same methods."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file, or of the names and contents of the files in the folder."""
        if self.path.is_file():
            return sha256(self.path)
        files = sorted(file for file in self.path.rglob("*") if file.is_file())
        listed = "".join(f"{sha256(file)}  {file.relative_to(self.path).as_posix()}\n" for file in files)
        return hashlib.sha256(listed.encode()).hexdigest()

    def splits(self, suite: Suite) -> set[tuple[str, str]]:
        """The tasks and splits that there are predictions for. Raises InputError for files of others, and if there are none."""
        splits = predicted_splits(self.path, read_files(self.path, lambda name: False)[1], suite, beside=is_entry)
        if not splits:
            raise self.error(f"has no predictions of suite {suite.name}")
        return splits

    def sources(self, suite: Suite, rows: Rows) -> Sources:
        """The predictions for these rows, by task id and split."""
        names = {name for name, (id, _) in prediction_names(suite).items() if id in rows}
        return read_sources(self.path, read_files(self.path, names.__contains__)[0], suite, rows)

    def error(self, problem: str) -> InputError:
        return InputError(problem, path=self.path)


SeedPredictions: TypeAlias = PredictedFiles | PredictedValues


def fingerprint_name(seed: int) -> str:
    """What a run's inputs call the predictions of a seed."""
    return f"predictions of seed {seed}"


class Imported(Method):
    """`mtl.methods.method.Method` of predictions that another system made."""

    def __init__(self, job: Job, request: BuildRequest) -> None:
        """Puts all predictions to their rows, so that nothing is written if a file is wrong. Raises InputError."""
        super().__init__(request)
        self.system = self.config.imported
        files = [PredictedFiles(Path(path)) for path in self.system.predictions]
        sources: list[SeedPredictions] = [*job.predictions] or [*files]
        if len(sources) != len(self.config.seeds):
            problem = f"needs predictions for each of the {len(self.config.seeds)} seeds, and has {len(sources)}"
            raise InputError(problem, key="imported.predictions")
        labels = check_labels(self.system.labels, self.suite)
        rows = _data_rows(request)
        self._predictions: dict[int, dict[str, Predictions]] = {}
        unfit: dict[int, Unfit] = {}
        origins: list[str] = []  # the name and the SHA-256 sum of each seed's predictions
        for seed, source in zip(self.config.seeds, sources, strict=True):
            predicted, unfit[seed] = put_to_rows(source.sources(self.suite, rows), self.suite, rows, labels)
            for task in self.dataset.tasks:
                if task.scored_split not in predicted[task.id]:
                    problem = f"no predictions of task {task.id} for {task.scored_split}, which scores it"
                    raise source.error(f"{problem}; name other tasks with tasks=")
            self._predictions[seed] = predicted
            self.fingerprints[fingerprint_name(seed)] = digest = source.fingerprint
            origins.append(f"{source.name} ({digest})")
        on_dev = [task.id for task in self.dataset.tasks if task.scored_split == "dev"]
        held_out = [] if self.system.held_out_unseen else [id for id in on_dev if id in self.dataset.held_out]
        answer_notes = _notes_on_answers(rows, unfit, self.system.labels_sha256)
        self.facts = {
            "notes": [*self._notes_on_system(origins), *answer_notes, *self._notes_on_predictions(held_out)],
            "machine": [self.system.hardware or UNKNOWN],
            "versions": [{"mtl": VERSION}],
            **({"maybe_trained_on": held_out} if held_out else {}),
        }

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.tasks:
            yield task, self._predictions[seed][task.id]

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """What the system's makers say of it; None for what they do not say."""
        return seed_cost(self.system.parameters, None, self.system.seconds)

    def _notes_on_system(self, origins: list[str]) -> list[str]:
        """The notes of its makers, which rows score it, what its predictions were read from, and what it was trained on."""
        system = self.system
        sizes = sample_text(self.dataset.samples, {task.id: task.scored_split for task in self.dataset.tasks})
        about = {"training text": system.text, "link": system.link, "licence": system.license}
        return [
            *(system.notes or ()),
            *([f"Scored on a sample of the rows alone: {sizes}."] if sizes else []),
            f"Imported on {now():%Y-%m-%d}, not trained by mtl, from predictions with these SHA-256 sums: {'; '.join(origins)}.",
            "; ".join(f"{what}: {value or UNKNOWN}" for what, value in about.items()) + ".",
        ]

    def _notes_on_predictions(self, held_out: list[str]) -> list[str]:
        """What kinds of targets remark on predictions, and that held-out rows score these tasks, which the system may have seen."""
        notes = [
            f"{task.id} {split}, seed {seed}: {remark}."
            for seed, predicted in self._predictions.items()
            for task in self.dataset.tasks
            for split, predictions in predicted[task.id].items()
            if (remark := target_kind(task).remark(predictions)) is not None
        ]
        if held_out:
            notes.append(
                f"‡ scored on rows of the training file that mtl holds out: {', '.join(held_out)}. A system that was trained on the whole file"
                " has seen them. mtl data --write-splits writes the train and dev that mtl uses; held_out_unseen: true in system.yaml says"
                " that the system was trained on this train alone."
            )
        return notes


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


def _notes_on_answers(rows: Rows, unfit: Mapping[int, Unfit], labels_sha256: str | None) -> list[str]:
    """How predictions were read as answers, and how many answers, by seed, fit no label; empty if none were."""
    tasks = list(next(iter(unfit.values())))
    if not tasks:
        return []
    counted: dict[bool, list[str]] = {True: [], False: []}  # by whether the targets of the rows are known
    for id in tasks:
        for split, part in rows[id].items():
            counts = {seed: by_task[id][split] for seed, by_task in unfit.items() if split in by_task[id]}
            if any(counts.values()):
                seeds = f" (seeds {', '.join(map(str, counts))})" if len(unfit) > 1 else ""
                shares = ", ".join(f"{count:,}" for count in counts.values())
                is_known = not any(is_unknown(target) for target in part.targets)
                counted[is_known].append(f"{id} {split} {shares} of {len(part):,}{seeds}")
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
