"""The members of an ensemble: finished runs whose models are asked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from mtl.runs.records import Summary, read_summary
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS

RUNS = "ensemble.runs"
BLOCK = 4096  # rows
MODELS = "*.ckpt"  # the files of a seed's models, in any of its folders


@dataclass(frozen=True)
class Member:
    """A finished run whose models are asked."""

    folder: RunFolder

    @classmethod
    def open(cls, run: str) -> "Member":
        """The run in a folder. Raises InputError for a folder without a finished run."""
        folder = RunFolder(Path(run))
        if not folder.summary.exists():
            raise InputError("is no folder of a finished run", key=RUNS, value=run)
        return cls(folder)

    @cached_property
    def summary(self) -> Summary:
        return read_summary(self.folder.summary)

    @cached_property
    def inputs(self) -> dict[str, str]:
        return self.folder.read_inputs()

    def check_rows(self, tasks: Sequence[Task], dataset: Dataset, data_dir: Path, config: Config) -> None:
        """Raise InputError unless it was trained on the training rows of these tasks, and the same dev rows chose: otherwise rows that score may be
        among its own."""
        named = str(self.folder.path)
        for task in tasks:
            path = task.path("train", data_dir)
            assert path is not None
            names = [f"tasks.{task.id}", path.relative_to(data_dir).as_posix()]
            if any(self.inputs.get(name) != dataset.fingerprints[name] for name in names):
                raise InputError(f"was trained on other rows of {task.id}", key=RUNS, value=named)
        for key, share in (("held_out", config.held_out), ("choosing_share", config.choosing_share)):
            if (member_share := self.summary["config"].get(key)) != share:
                message = f"was made with {key}={member_share}, and this run has {share}: it has seen other rows"
                raise InputError(message, key=RUNS, value=named)

    def content(self) -> tuple[object, ...]:
        """What its outputs follow from: its inputs, its configuration and its models, as plain values."""
        files = [path for seed in self.summary["seeds"] for path in sorted(self.folder.seed(seed).rglob(MODELS))]
        return sorted(self.inputs.items()), [sha256(path) for path in (self.folder.config, *files)]

    def outputs(
        self, seeds: Sequence[int], rows: Mapping[str, Sequence[Row]], tasks: Sequence[Task], device: str, bar: Progress
    ) -> Iterator[tuple[Task, np.ndarray]]:
        """For each of these seeds, each task and the outputs of the seed's model for its rows (by task id), float32 (inputs, outputs), as before a
        threshold was chosen. The bar advances by the number of rows. Raises InputError for a run whose models are not kept."""
        for seed in seeds:
            predictor = Predictor.load(self.folder.path, seed, device=device)
            for task in tasks:
                parts = []
                for start in range(0, len(rows[task.id]), BLOCK):
                    block = rows[task.id][start : start + BLOCK]
                    with hidden_progress():
                        parts.append(predictor.model.outputs(task, block))
                    bar.advance(len(block))
                head = predictor.suite.tasks[task.answered_by or task.id]
                folder, joined = finetune_folder(self.folder.seed(seed), head.id), np.concatenate(parts)
                if shifted_outputs(head) and (folder / WEIGHTS["best"]).exists():
                    shift_outputs(joined, recorded_shifts(folder, head) or {}, sign=-1)
                yield task, joined
