"""The method of imported runs: it gives back the predictions of another system, which then stands beside those that mtl trained."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtl.base.clock import now
from mtl.base.errors import InputError
from mtl.base.version import VERSION
from mtl.data.sampled import sample_text
from mtl.jobs.job import Job
from mtl.jobs.predicted_files import PredictedFiles, SeedPredictions
from mtl.methods.method import BuildRequest, Method, Predictions, seed_cost
from mtl.runs.folder import PREDICTIONS
from mtl.submissions.answers import check_labels
from mtl.submissions.data_rows import DataRows, Rows
from mtl.submissions.files import SPLITS
from mtl.submissions.row_predictions import Unfit, put_to_rows
from mtl.tasks.target_kind import is_unknown
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

UNKNOWN = "not stated"


class Imported(Method):
    """`mtl.methods.method.Method` of predictions that another system made."""

    def __init__(self, job: Job, request: BuildRequest) -> None:
        """Puts all predictions to their rows, so that nothing is written if a file is wrong. Raises InputError."""
        super().__init__(request)
        self.system = self.config.imported
        sources = self._seed_sources(job.predictions)
        self._labels = check_labels(self.system.labels, self.suite)
        self._rows = _data_rows(request)
        self._predictions: dict[int, dict[str, Predictions]] = {}
        self._unfit: dict[int, Unfit] = {}
        origins: list[str] = []  # the name and the SHA-256 sum of each seed's predictions
        for seed, source in zip(self.config.seeds, sources, strict=True):
            self._put_seed(seed, source)
            fingerprint = source.fingerprint
            self.fingerprints[f"{PREDICTIONS} {seed}"] = fingerprint
            origins.append(f"{source.name} ({fingerprint})")
        self.facts = self._facts(origins)

    def _seed_sources(self, values: Sequence[SeedPredictions]) -> Sequence[SeedPredictions]:
        """The predictions of each seed: the values that Python gave, or else files. Raises InputError unless each seed has some."""
        sources = values or [PredictedFiles(Path(path)) for path in self.system.predictions]
        if len(sources) != len(self.config.seeds):
            problem = f"needs predictions for each of the {len(self.config.seeds)} seeds, and has {len(sources)}"
            raise InputError(problem, key="imported.predictions")
        return sources

    def _put_seed(self, seed: int, source: SeedPredictions) -> None:
        """Keep the predictions of a seed, put to their rows, and its answers that fit no label. Raises InputError if scored rows have none."""
        sources = source.sources(self.suite, self._rows)
        predicted, self._unfit[seed] = put_to_rows(sources, self.suite, self._rows, self._labels)
        for task in self.dataset.tasks:
            if task.scored_split not in predicted[task.id]:
                problem = f"no predictions of task {task.id} for {task.scored_split}, which scores it"
                raise source.error(f"{problem}; name other tasks with tasks=")
        self._predictions[seed] = predicted

    def _facts(self, origins: list[str]) -> dict[str, Any]:
        """What the run's summary says of the system and its predictions, which were read from `origins`."""
        on_dev = [task.id for task in self.dataset.tasks if task.scored_split == "dev"]
        held_out = [] if self.system.held_out_unseen else [id for id in on_dev if id in self.dataset.held_out]
        answer_notes = _notes_on_answers(self._rows, self._unfit, self.system.labels_sha256)
        return {
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
            read_split = "train" if held_out else split
            file, layout = task.path(read_split, request.data_dir), task.layout(read_split, request.data_dir)
            if split in SPLITS and file is not None:
                sample = dataset.samples.get(task.id) if split == task.scored_split else None
                lines = held_out if sample is None else sample.lines
                targets, candidates = part.targets, part.scored.candidates
                rows[task.id][split] = DataRows(task, split, file, layout, targets, candidates, lines, sample)
    return rows


def _notes_on_answers(rows: Rows, unfit: Mapping[int, Unfit], labels_sha256: str | None) -> list[str]:
    """How predictions were read as answers, and how many answers, by seed, fit no label; empty if none were."""
    tasks = list(next(iter(unfit.values())))
    if not tasks:
        return []
    known: list[str] = []  # the counts of splits whose targets are known
    unknown: list[str] = []  # and of those whose targets are not
    for id in tasks:
        for split, part in rows[id].items():
            by_seed = {seed: by_task[id][split] for seed, by_task in unfit.items() if split in by_task[id]}
            if any(by_seed.values()):
                seeds = f" (seeds {', '.join(map(str, by_seed))})" if len(unfit) > 1 else ""
                counts = ", ".join(f"{count:,}" for count in by_seed.values())
                splits = unknown if any(map(is_unknown, part.targets)) else known
                splits.append(f"{id} {split} {counts} of {len(part):,}{seeds}")
    file = f", from a file with the SHA-256 sum {labels_sha256}" if labels_sha256 else ""
    notes = [
        f"Answers were read as labels by the spellings in config.yaml (imported.labels){file}: {', '.join(tasks)}.",
        f"Answers that fit no label, counted as wrong: {'; '.join(known) or 'none'}.",
    ]
    if unknown:
        notes.append(
            "Answers that fit no label, on rows whose targets are not known here, where the first label stands for them: "
            f"{'; '.join(unknown)}."
        )
    return notes
