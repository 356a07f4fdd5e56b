"""What a run shows while it trains: stage, seed, task, average, time left."""

import sys
import time
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import ProgressBar
from tqdm import tqdm

from mtl.progress import format_duration, prefixed
from mtl.tasks.scale import PERCENT, Scale

LINE_EVERY = 60.0  # seconds between two lines where validations are rarer


class StageProgress(ProgressBar):
    """A progress bar for a stage on a terminal; elsewhere, one line for each validation, and one after each minute without any."""

    def __init__(self, title: str, total_steps: int, lines: bool = True, scale: Scale = PERCENT) -> None:
        """title: the text before the bar, as in "seed 1 · stage 1". lines: whether to print lines if there is no terminal.

        scale: how scores are shown.
        """
        super().__init__()
        self.title = prefixed(title)
        self.total_steps = total_steps
        self.scale = scale
        self.lines = lines and not sys.stderr.isatty()
        self._bar: tqdm[Any] | None = None
        self._scores = ""
        self._begin = (0, 0.0)
        self._next_line = 0.0

    def disable(self) -> None:
        self.lines = False

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self._begin = (trainer.global_step, time.monotonic())
        self._next_line = time.monotonic() + LINE_EVERY
        self._bar = tqdm(
            total=self.total_steps,
            initial=trainer.global_step,
            desc=self.title,
            unit="step",
            leave=False,
            dynamic_ncols=True,
            disable=None,
        )

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert self._bar is not None
        if not self._bar.disable:
            self._bar.set_postfix_str(f"{self._scores}{batch.task}", refresh=False)
            self._bar.update(trainer.global_step - self._bar.n)
        if self.lines and time.monotonic() >= self._next_line:
            self._write_line(trainer)

    def on_validation_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        average = self.scale.show(float(trainer.callback_metrics["dev/average"]))
        self._scores = f"average {average}, "
        if self.lines and not trainer.sanity_checking:
            self._write_line(trainer, f"average {average}")

    def _write_line(self, trainer: pl.Trainer, *scores: str) -> None:
        """Print how far the stage is."""
        first, since = self._begin
        done = max(1, trainer.global_step - first)
        left = (time.monotonic() - since) / done * (self.total_steps - trainer.global_step)
        steps = f"step {trainer.global_step}/{self.total_steps}"
        remaining = f"at most {format_duration(left)} left in this stage"
        print(" · ".join([self.title, steps, *scores, remaining]), file=sys.stderr, flush=True)
        self._next_line = time.monotonic() + LINE_EVERY

    def teardown(self, trainer: pl.Trainer, module: pl.LightningModule, stage: str) -> None:
        if self._bar is not None:
            self._bar.close()
