"""The scores of floors that read a part of each row: one text of a pair, how long texts are, or what two texts have in common."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mtl.base.log import logger
from mtl.base.progress import hidden_progress
from mtl.data.dataset import Dataset
from mtl.jobs.job import Job, load_job
from mtl.methods.floors.features import Document, RowFeatures
from mtl.methods.floors.floor import Floor
from mtl.methods.method import BuildRequest
from mtl.runs.rows import numbered_groups
from mtl.stats.comparison import COVERAGE
from mtl.stats.resampling import resampled_scores, row_groups
from mtl.tasks.metrics import score
from mtl.tasks.task import Task

FEW_TEXTS = 100  # distinct training texts
SEED = 1

EVERYTHING, CONSTANT = "everything", "constant"
FIRST, SECOND = "first text alone", "second text alone"  # of a choice, the second text is a candidate
SIDES = {FIRST: 0, SECOND: 1}  # the column of the text
LENGTHS, OVERLAP = "lengths alone", "overlap alone"
PAIR_SVM = {"method": "svm", "floor.features": "pair", "floor.choice": "candidates", "floor.grid.C": [0.1, 1.0]}
PARTS: Mapping[str, Mapping[str, object]] = {  # by part, the settings of the floor that reads it
    **dict.fromkeys((EVERYTHING, FIRST, SECOND), PAIR_SVM),
    LENGTHS: {"method": "static", "floor.features": "pair", "floor.grid.alpha": [1.0]},
    OVERLAP: {"method": "overlap", "floor.features": "pair"},
    CONSTANT: {"method": "constant"},
}


class LengthFeatures(RowFeatures):
    """The numbers of tokens and characters of each text, on a logarithmic scale, and the differences of a pair's."""

    def transform(self, rows: Iterable[Sequence[Document]]) -> np.ndarray:
        lengths = np.log1p([[(len(part.tokens), len(part.text)) for part in row] for row in rows])
        flat = lengths.reshape(len(lengths), -1)
        if lengths.shape[1] == 1:
            return flat
        differences = lengths[:, 0] - lengths[:, 1]
        return np.concatenate([flat, differences, abs(differences)], axis=1)


class LengthFloor(Floor):
    """A floor that sees how long a row's texts are, and nothing else."""

    def new_features(self, task: Task, vectorizer: str | None) -> LengthFeatures:
        return LengthFeatures()


@dataclass(frozen=True)
class PartScore:
    part: str  # a key of PARTS
    score: float  # × 100
    interval: tuple[float, float]  # of the score, over the scored rows (of groups, where rows belong together)
    gain: tuple[float, float]  # the interval of the difference to the constant answer, on the same rows


def score_task(job: Job, dataset: Dataset, task: Task) -> list[PartScore]:
    """Train a floor on each part that the task's rows have, and score it. All are resampled together, so that differences are of the same rows."""
    parts = [part for part in PARTS if _has_part(task, part)]
    predicted = {part: _predictions(job, part, *_with_part(task, dataset, part)) for part in parts}
    rows, recorded = dataset.scored(task).scored_rows, dataset.described_rows[task.id]
    _, group_numbers = numbered_groups(recorded["texts"], recorded["groups"], len(dataset.scored(task)))
    groups = row_groups(recorded["texts"], group_numbers)
    points = {part: resampled_scores(task, targets[None], rows, groups)[0] for part, targets in predicted.items()}
    return [
        PartScore(part, score(task, predicted[part], rows), _interval(values), _interval(values - points[CONSTANT]))
        for part, values in points.items()
    ]


def _has_part(task: Task, part: str) -> bool:
    """Whether the task's rows have the part. The first text of a choice alone tells nothing."""
    if part == FIRST:
        return task.is_pair and task.candidates is None
    return task.is_pair or part not in (SECOND, OVERLAP)


def _with_part(task: Task, dataset: Dataset, part: str) -> tuple[Task, Dataset]:
    """The task, and a dataset of its rows alone, with the texts of this part."""
    splits = dataset.splits[task.id]
    if part in SIDES:
        side = SIDES[part]
        task = replace(task, text=[task.text[side]] if task.candidates is None else [], spans=None)
        texts = {name: split.texts[:, side : side + 1] for name, split in splits.items()}
        splits = {name: replace(split, texts=texts[name], spans=None) for name, split in splits.items()}
    return task, replace(dataset, tasks=[task], splits={task.id: splits})


def _predictions(job: Job, part: str, task: Task, dataset: Dataset) -> np.ndarray:
    """The targets of the scored rows that a floor predicts, (rows,)."""
    shared = {"suite": job.config.suite, "max_length": job.config.max_length, "cache_dir": job.config.cache_dir}
    config = load_job({**shared, **PARTS[part]}).config
    if config.method == "svm" and len(np.unique(dataset.splits[task.id]["train"].texts)) < FEW_TEXTS:
        config.floor.min_count = 1  # few texts have few words in common, as a list of topics
    before = logger.level
    logger.setLevel(max(logger.getEffectiveLevel(), logging.WARNING))  # no remarks of each floor: an audit trains many
    try:
        with TemporaryDirectory(prefix="mtl-artefacts-") as folder, hidden_progress():
            floor = LengthFloor if part == LENGTHS else Floor
            method = floor(BuildRequest(config, job.suite, job.data_dir, dataset, Path(folder), None))
            ((_, by_split),) = method.predictions(SEED, Path(folder))
    finally:
        logger.setLevel(before)
    return by_split[task.scored_split]


def _interval(values: np.ndarray) -> tuple[float, float]:
    low, high = np.percentile(values, [(100 - COVERAGE) / 2, (100 + COVERAGE) / 2])
    return float(low), float(high)
