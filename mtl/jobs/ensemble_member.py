"""A finished run as a member of an ensemble: whether it fits the ensemble's data, and the outputs of its models."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.progress import Progress, hidden_progress
from mtl.base.settings.schema import Config
from mtl.data.dataset import Dataset
from mtl.data.examples import Row
from mtl.methods.predictor import Predictor
from mtl.methods.thresholds import recorded_shifts, shift_outputs, shifted_outputs
from mtl.runs.folder import RunFolder, finetune_folder
from mtl.runs.records import read_summary
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS_FILES

RUNS = "ensemble.runs"
BLOCK = 4096  # rows that a model is asked for at a time
MODELS = "*.ckpt"  # the files of a seed's models, in any of its folders


class Member:
    """A finished run whose models are asked."""

    def __init__(self, path: str) -> None:
        """Raises InputError for a folder without a finished run."""
        self.folder = RunFolder(Path(path))
        if not self.folder.summary.exists():
            raise InputError("is no folder of a finished run", key=RUNS, value=path)
        self.summary = read_summary(self.folder.summary)

    def check(self, config: Config, dataset: Dataset) -> None:
        """Raise InputError unless the run has the ensemble's seeds and tasks, and the same rows trained it and chose: it must have seen no other."""
        if config.ensemble.by_seed and (lacking := set(config.seeds) - set(self.summary["seeds"])):
            message = f"{self.folder.path} has no seed {min(lacking)}; name seeds that all runs have with seeds="
            raise InputError(message, key="seeds", value=config.seeds)
        if missing := [task.id for task in dataset.trained_tasks if task.id not in self.summary["tasks"]]:
            message = f"{self.folder.path} has no {missing[0]}; name the tasks that all runs have with tasks="
            raise InputError(message, key=RUNS)
        path, inputs = str(self.folder.path), self.folder.read_inputs()
        for task in dataset.trained_tasks:
            names = [f"tasks.{task.id}", *task.relative_paths("train")]
            if any(inputs.get(name) != dataset.fingerprints[name] for name in names):
                raise InputError(f"was trained on other rows of {task.id}", key=RUNS, value=path)
        for key in ("held_out", "choosing_share"):
            share, member_share = getattr(config, key), self.summary["config"].get(key)
            if member_share != share:
                message = f"was made with {key}={member_share}, and this run has {share}: it has seen other rows"
                raise InputError(message, key=RUNS, value=path)

    def content(self) -> tuple[object, ...]:
        """What the outputs of its models follow from: its inputs, its configuration and its models, as plain values."""
        files = [path for seed in self.summary["seeds"] for path in sorted(self.folder.seed(seed).rglob(MODELS))]
        return sorted(self.folder.read_inputs().items()), [sha256(path) for path in (self.folder.config, *files)]

    def outputs(
        self, seeds: Sequence[int], rows: Mapping[str, Sequence[Row]], tasks: Sequence[Task], device: str, bar: Progress
    ) -> Iterator[tuple[Task, np.ndarray]]:
        """For each of these seeds, each task and the outputs of the seed's model for its rows (by task id), float32 (inputs, outputs), as before a
        threshold was chosen. The bar advances by the number of rows. Raises InputError for a run whose models are not kept."""
        for seed in seeds:
            predictor = Predictor.load(self.folder.path, seed, device=device)
            for task in tasks:
                blocks = []
                for start in range(0, len(rows[task.id]), BLOCK):
                    block = rows[task.id][start : start + BLOCK]
                    with hidden_progress():
                        blocks.append(predictor.model.outputs(task, block))
                    bar.advance(len(block))
                outputs = np.concatenate(blocks)
                # The threshold that the seed has chosen suits its model alone, and the ensemble chooses its own.
                answering_task = predictor.suite.tasks[task.answered_by or task.id]
                stage = finetune_folder(self.folder.seed(seed), answering_task.id)
                if shifted_outputs(answering_task) and (stage / WEIGHTS_FILES["best"]).exists():
                    shift_outputs(outputs, recorded_shifts(stage, answering_task) or {}, sign=-1)
                yield task, outputs
