"""Finished runs whose models are asked: the members of an ensemble."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.progress import Progress, hidden_progress
from mtl.data.dataset import Dataset
from mtl.data.examples import Row
from mtl.methods.predictor import Predictor
from mtl.methods.thresholds import recorded_shifts, shift_outputs, shifted_outputs
from mtl.runs.folder import RunFolder
from mtl.runs.layout import finetune_folder
from mtl.runs.summary import Summary, read_summary
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS

BLOCK = 4096  # rows
MODELS = "*.ckpt"  # the files of a seed's models, in any of its folders


@dataclass(frozen=True)
class Member:
    """A finished run.

    Args:
        key: the setting that names the run, for messages.
    """

    folder: RunFolder
    key: str

    @classmethod
    def open(cls, run: str, key: str) -> "Member":
        """The run in a folder. Raises InputError for a folder without a finished run."""
        folder = RunFolder(Path(run))
        if not folder.summary.exists():
            raise InputError("is no folder of a finished run", key=key, value=run)
        return cls(folder, key)

    @cached_property
    def summary(self) -> Summary:
        return read_summary(self.folder.summary)

    @cached_property
    def inputs(self) -> dict[str, str]:
        return self.folder.read_inputs()

    def check_rows(self, tasks: Sequence[Task], dataset: Dataset, data_dir: Path, held_out: float) -> None:
        """Raise InputError unless it was trained on the training rows of these tasks: otherwise dev rows may be among its own."""
        named = str(self.folder.path)
        for task in tasks:
            path = task.path("train", data_dir)
            assert path is not None
            names = [f"tasks.{task.id}", path.relative_to(data_dir).as_posix()]
            if any(self.inputs.get(name) != dataset.fingerprints[name] for name in names):
                raise InputError(f"was trained on other rows of {task.id}", key=self.key, value=named)
        theirs = self.summary["config"].get("held_out")
        if theirs != held_out:
            message = f"was made with held_out={theirs}, and this run has {held_out}: its training rows are others"
            raise InputError(message, key=self.key, value=named)

    def content(self) -> tuple[object, ...]:
        """What its outputs follow from: its inputs, its configuration and its models, as plain values."""
        seeds = map(self.folder.seed, self.summary["seeds"])
        files = [path for seed in seeds for path in sorted(seed.rglob(MODELS))]
        return sorted(self.inputs.items()), [sha256(path) for path in (self.folder.config, *files)]

    def outputs(
        self,
        seeds: Sequence[int],
        rows: Mapping[str, Sequence[Row]],
        tasks: Sequence[Task],
        accelerator: str,
        bar: Progress,
    ) -> Iterator[tuple[Task, np.ndarray]]:
        """For each of these seeds, each task and the outputs of the seed's model for its rows, float32 (inputs, outputs), as before a threshold
        was chosen. Raises InputError for a run whose models are not kept.

        Args:
            rows: by task id.
            accelerator: as in `trainer.accelerator`.
            bar: advances by the number of rows.
        """
        for seed in seeds:
            predictor = Predictor.load(self.folder.path, seed, device=accelerator)
            for task in tasks:
                parts = []
                for start in range(0, len(rows[task.id]), BLOCK):
                    block = rows[task.id][start : start + BLOCK]
                    with hidden_progress():
                        parts.append(predictor.model.outputs(task, block))
                    bar.advance(len(block))
                head = predictor.suite.tasks[task.answered_by or task.id]
                yield task, self._without_shift(seed, head, np.concatenate(parts))

    def _without_shift(self, seed: int, head: Task, outputs: np.ndarray) -> np.ndarray:
        """The outputs before a threshold (`finetune.threshold`) changed them; `head` is the task whose head answers."""
        folder = finetune_folder(self.folder.seed(seed), head.id)
        if shifted_outputs(head) and (folder / WEIGHTS["best"]).exists():
            shift_outputs(outputs, recorded_shifts(folder, head) or {}, sign=-1)
        return outputs
