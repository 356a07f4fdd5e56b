"""The method of imported runs: it gives back the predictions of another system, which then stands beside those that mtl trained."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mtl.base.errors import InputError
from mtl.base.version import VERSION
from mtl.data.sampled import sample_text
from mtl.jobs.predicted_files import PredictedFiles, SeedPredictions
from mtl.methods.method import BuildRequest, Method, Predictions, SeedCost
from mtl.runs.folder import PREDICTIONS
from mtl.submissions.answers import Labels, check_labels
from mtl.submissions.data_rows import DataRows, Rows
from mtl.submissions.files import SPLITS
from mtl.submissions.row_predictions import Predicted, Unfit, put_to_rows
from mtl.tasks.target_kind import is_unknown
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

UNKNOWN = "not stated"
HELD_OUT_NOTE = (
    "‡ scored on rows of the training file that mtl holds out: {}. A system that was trained on the whole file has seen them. mtl data"
    " --write-splits writes the train and dev that mtl uses; held_out_unseen: true in system.yaml says that the system was trained on this"
    " train alone."
)


class Imported(Method):
    """`mtl.methods.method.Method` of predictions that another system made."""

    def __init__(self, request: BuildRequest, values: Sequence[SeedPredictions]) -> None:
        """Puts all predictions (the values, or else files) to their rows, so that nothing is written if one is wrong. Raises InputError."""
        super().__init__(request)
        self.system = self.config.imported
        sources = values or [PredictedFiles(Path(path)) for path in self.system.predictions]
        if len(sources) != len(self.config.seeds):
            problem = f"needs predictions for each of the {len(self.config.seeds)} seeds, and has {len(sources)}"
            raise InputError(problem, key="imported.predictions")
        labels = check_labels(self.system.labels, self.suite)
        rows = _data_rows(request)
        self._predicted: dict[int, Predicted] = {}  # by seed
        self._unfit: dict[int, Unfit] = {}  # by seed, how many of its answers fit no label
        origins: list[str] = []  # the name and the SHA-256 sum of each seed's predictions
        for seed, source in zip(self.config.seeds, sources, strict=True):
            self._predicted[seed], self._unfit[seed] = self._put(source, rows, labels)
            fingerprint = source.fingerprint
            self.fingerprints[f"{PREDICTIONS} {seed}"] = fingerprint
            origins.append(f"{source.name} ({fingerprint})")
        self.facts = self._facts(origins, rows)

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.tasks:
            yield task, self._predicted[seed][task.id]

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """What the system's makers say of it; None for what they do not say."""
        return SeedCost(self.system.parameters, None, finetune_seconds=self.system.seconds)._asdict()

    def _put(self, source: SeedPredictions, rows: Rows, labels: Labels) -> tuple[Predicted, Unfit]:
        """The predictions of one seed, put to their rows, and its answers that fit no label. Raises InputError if scored rows have no prediction."""
        predicted, unfit = put_to_rows(source.sources(self.suite, rows), self.suite, rows, labels)
        for task in self.dataset.tasks:
            if task.scored_split not in predicted[task.id]:
                problem = f"no predictions of task {task.id} for {task.scored_split}, which scores it"
                raise source.error(f"{problem}; name other tasks with tasks=")
        return predicted, unfit

    def _facts(self, origins: Sequence[str], rows: Rows) -> dict[str, Any]:
        """What tables and reports say of the system and of its predictions, which have these origins and are for these rows."""
        notes = [*self._system_notes(origins), *self._answer_notes(rows), *self._remarks()]
        facts = {"notes": notes, "machine": [self.system.hardware or UNKNOWN], "versions": [{"mtl": VERSION}]}
        scored_on_dev = [task.id for task in self.dataset.tasks if task.scored_split == "dev"]
        held_out = [id for id in scored_on_dev if id in self.dataset.held_out]
        if not held_out or self.system.held_out_unseen:
            return facts
        return {**facts, "notes": [*notes, HELD_OUT_NOTE.format(", ".join(held_out))], "maybe_trained_on": held_out}

    def _system_notes(self, origins: Sequence[str]) -> Iterator[str]:
        """The notes of its makers, which rows score it, what its predictions were read from, and what it was trained on."""
        yield from self.system.notes or ()
        sizes = sample_text(self.dataset.samples, {task.id: task.scored_split for task in self.dataset.tasks})
        if sizes:
            yield f"Scored on a sample of the rows alone: {sizes}."
        sums = f"these SHA-256 sums: {'; '.join(origins)}"
        yield f"Imported on {datetime.now(UTC):%Y-%m-%d}, not trained by mtl, from predictions with {sums}."
        text, link, licence = (value or UNKNOWN for value in (self.system.text, self.system.link, self.system.license))
        yield f"training text: {text}; link: {link}; licence: {licence}."

    def _answer_notes(self, rows: Rows) -> Iterator[str]:
        """How predictions of these rows were read as answers, and how many answers fit no label; nothing if none were read so."""
        tasks = [id for id in rows if id in self.system.labels]
        if not tasks:
            return
        file = f", from a file with the SHA-256 sum {self.system.labels_sha256}" if self.system.labels_sha256 else ""
        yield f"Answers were read as labels by the spellings in config.yaml (imported.labels){file}: {', '.join(tasks)}."
        known, unknown = list[str](), list[str]()  # the counts of splits whose targets are known, and of the others
        for id in tasks:
            for part in rows[id].values():
                if any(is_unknown(target) for target in part.targets):
                    unknown += self._unfit_counts(part)
                else:
                    known += self._unfit_counts(part)
        yield f"Answers that fit no label, counted as wrong: {'; '.join(known) or 'none'}."
        if unknown:
            where = "on rows whose targets are not known here, where the first label stands for them"
            yield f"Answers that fit no label, {where}: {'; '.join(unknown)}."

    def _unfit_counts(self, rows: DataRows) -> list[str]:
        """How many answers for the rows of a split fit no label, as in "rte dev 0, 1 of 277 (seeds 1, 2)"; nothing if all fit."""
        id, split = rows.task.id, rows.split
        counts = {seed: unfit[id][split] for seed, unfit in self._unfit.items() if split in unfit[id]}
        if not any(counts.values()):
            return []
        numbers = ", ".join(f"{count:,}" for count in counts.values())
        seeds = f" (seeds {', '.join(map(str, counts))})" if len(self._unfit) > 1 else ""
        return [f"{id} {split} {numbers} of {len(rows):,}{seeds}"]

    def _remarks(self) -> Iterator[str]:
        """What kinds of targets remark on predictions."""
        for seed, predicted in self._predicted.items():
            for task in self.dataset.tasks:
                for split, predictions in predicted[task.id].items():
                    if (remark := target_kind(task).remark(predictions)) is not None:
                        yield f"{task.id} {split}, seed {seed}: {remark}."


def _data_rows(request: BuildRequest) -> Rows:
    """The dev and test rows of the run's tasks."""
    dataset = request.dataset
    rows: dict[str, dict[str, DataRows]] = {task.id: {} for task in dataset.tasks}
    for task in dataset.tasks:
        for split, part in dataset.splits[task.id].items():
            held_out = dataset.held_out.get(task.id) if split == "dev" else None
            file_split = "train" if held_out else split
            file, layout = task.path(file_split, request.data_dir), task.layout(file_split, request.data_dir)
            if split in SPLITS and file is not None:
                sample = dataset.samples.get(task.id) if split == task.scored_split else None
                lines = held_out if sample is None else sample.lines
                targets, candidates = part.targets, part.scored_rows.candidates
                rows[task.id][split] = DataRows(task, split, file, layout, targets, candidates, lines, sample)
    return rows
