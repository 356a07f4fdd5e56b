"""Lightning's Trainer for every training, and what it trains. Each epoch ends with a validation and a file of the whole state, from which an
interrupted training continues. SIGTERM ends the program as Ctrl-C does. A training that diverges ends before its weights are saved."""

import logging
import math
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

import pytorch_lightning as pl
import torch
from lightning_fabric.plugins.io.torch_io import TorchCheckpointIO
from pytorch_lightning.callbacks import Callback, Checkpoint
from torch import Tensor

from mtl.base.arrays import read_checkpoint, write_checkpoint
from mtl.base.errors import DivergedError, InputError, reason_of, resource_problem
from mtl.base.files import write_errors_at
from mtl.base.untrusted import Count
from mtl.training.checkpoints import have_same_shapes

SILENT: dict[str, Any] = {"enable_model_summary": False, "enable_progress_bar": False}  # options of a Trainer
LIGHTNING_LOGGERS = ("pytorch_lightning", "lightning_fabric", "lightning.pytorch")
WARNING_MODULES = "pytorch_lightning|lightning_fabric|torch.utils.data|torchmetrics"
MEANT_SO = ".*(num_workers|logging interval|Checkpoint directory|LeafSpec|lr_scheduler.step).*"  # of such warnings
DELETE_IT = "; delete it"  # the end of messages on the file of a state

# Errors of Lightning while it reads a state that is not what it seems.
STATE_ERRORS = (RuntimeError, LookupError, TypeError, ValueError, AttributeError, AssertionError)

# The keys that Lightning needs to continue, under its own names, and the curve, which `ValidatedModule` adds.
State = TypedDict(
    "State",
    {
        "epoch": Count, "global_step": Count, "pytorch-lightning_version": str,
        "state_dict": dict[str, Any], "loops": dict[str, Any], "callbacks": dict[str, Any],
        "optimizer_states": list[dict[str, Any]], "lr_schedulers": list[dict[str, Any]],
        "curve": list[dict[str, float]],
    },
)  # fmt: skip


class ValidatedModule(pl.LightningModule):
    """A module that notices when its training diverges. A subclass adds to `curve` at each validation, and to `losses` at each step."""

    def __init__(self) -> None:
        super().__init__()
        self.curve: list[dict[str, float]] = []  # a row for each validation
        self.losses: list[tuple[str, Tensor]] = []  # what each step since the last validation trained, and its loss
        self.mean_loss = math.nan  # between the last two validations
        self._begun: float | None = None  # when training would have begun without interruptions, by `time.monotonic`

    @property
    def seconds(self) -> float:
        """How long training has lasted. Time before an interruption counts, too."""
        if self._begun is not None:
            return time.monotonic() - self._begun
        return self.curve[-1].get("seconds", 0.0) if self.curve else 0.0

    def on_fit_start(self) -> None:
        self._begun = time.monotonic() - self.seconds

    def check_losses(self, step: int) -> None:
        """Set `mean_loss` from the losses since the last validation, and forget these; `step` is the number of steps that are done. Raises
        DivergedError, which names the step, if a loss or a weight is not finite. This waits for the GPU, so it is called at validations alone."""
        trained = [name for name, _ in self.losses]
        losses = torch.stack([loss for _, loss in self.losses])
        self.losses = []
        diverged = (~losses.isfinite()).nonzero()
        if len(diverged):
            first = int(diverged[0])
            first_step = step - len(losses) + first + 1
            raise DivergedError(f"{trained[first]}step {first_step}: the loss is {float(losses[first])}")
        weights = [parameter for parameter in self.parameters() if parameter.requires_grad]
        are_finite = torch.stack([weight.isfinite().all() for weight in weights])
        if not are_finite.all():
            raise DivergedError(f"{trained[-1]}step {step}: weights are not finite")
        self.mean_loss = float(losses.mean())

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["curve"] = self.curve

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.curve = checkpoint["curve"]


def train(
    module: ValidatedModule,
    resume: Path,
    continues: bool,
    callbacks: Sequence[Callback] = (),
    data: pl.LightningDataModule | None = None,
    resumable: bool = True,
    **options: Any,
) -> None:
    """Train to the last epoch. Raises InputError if Lightning cannot continue from the state, and KeyboardInterrupt for SIGTERM, too.
    If it is `resumable`, each epoch replaces the file `resume`, the whole state; if it `continues`, it begins with this file, which `read_state` has
    checked. `callbacks` are called before those of every training. `data` are the loaders if the module has none, `options` those of a Trainer."""
    begin = TrainingBegun()
    all_callbacks = [*callbacks, begin, StateOfEpoch(resume)] if resumable else [*callbacks, begin]
    with quiet(), write_errors_at(resume.parent):
        trainer = pl.Trainer(
            devices=1,
            reload_dataloaders_every_n_epochs=1,
            callbacks=all_callbacks,
            plugins=[AtomicCheckpointIO()],
            **SILENT,
            # Lightning saves its own checkpoints if this is true and no callback saves any, and refuses callbacks that save if it is false.
            enable_checkpointing=any(isinstance(callback, Checkpoint) for callback in all_callbacks),
            **options,
        )
        module.train()  # Lightning leaves modules in evaluation mode as they are, and so without dropout
        _fit(trainer, module, data, resume if continues else None, begin)


def _fit(
    trainer: pl.Trainer,
    module: ValidatedModule,
    data: pl.LightningDataModule | None,
    state: Path | None,
    begin: "TrainingBegun",
) -> None:
    """Train, from `state` if there is one. Raises what ended the training: Lightning ends some of it as if all were well, or exits."""
    handled_by_caller = sys.exception()
    try:
        trainer.fit(module, datamodule=data, ckpt_path=state, weights_only=True)
    except (*STATE_ERRORS, SystemExit) as error:
        # Lightning exits on Ctrl-C, or its own shutdown fails, as while it makes the loader of an epoch.
        interruption = error.__context__
        if isinstance(interruption, KeyboardInterrupt | SystemExit) and interruption is not handled_by_caller:
            raise interruption from None
        if not trainer.received_sigterm:  # else the error follows from the signal, which is raised again below
            was_reading_state = state is not None and not begin.has_begun
            if was_reading_state and isinstance(error, STATE_ERRORS) and not resource_problem(error):
                reason = f"{type(error).__name__}: {reason_of(error)}"
                raise InputError(f"training cannot continue from it ({reason}){DELETE_IT}", path=state) from None
            raise
    if trainer.received_sigterm:  # before `TrainingBegun` took the signal from Lightning
        signal.raise_signal(signal.SIGTERM)
    if trainer.received_sigterm or trainer.interrupted:
        raise KeyboardInterrupt


def read_state(resume: Path, module: pl.LightningModule) -> State:
    """The state of an interrupted training, without its tensors' values. Raises InputError for a damaged file or another model's state."""
    state = read_checkpoint(resume, State, DELETE_IT, "meta")
    if not have_same_shapes(module, state["state_dict"]):
        raise InputError(f"is the state of another model{DELETE_IT}", path=resume)
    return state


class TrainingBegun(Callback):
    """Knows whether training has begun, and leaves SIGTERM to the program: Lightning's handler would let the training end as if it were finished."""

    def __init__(self) -> None:
        self.has_begun = False  # whether training has begun: the state of an interrupted one has then been read
        self.handler = signal.getsignal(signal.SIGTERM)

    def on_sanity_check_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self._leave_sigterm()

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.has_begun = True
        self._leave_sigterm()

    def _leave_sigterm(self) -> None:
        """Put back the handler that the program had before Lightning's."""
        if self.handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self.handler)


class StateOfEpoch(Checkpoint):
    """Saves the whole state after each epoch, when the other callbacks and the module have ended theirs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        trainer.save_checkpoint(self.path)


class AtomicCheckpointIO(TorchCheckpointIO):
    """Writes each checkpoint to a temporary file, then renames that; reads tensors and plain values, no code."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        write_checkpoint(Path(path), checkpoint)

    def load_checkpoint(self, path: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
        """The whole state, on the CPU. Raises InputError if it is damaged."""
        return dict(read_checkpoint(Path(path), State, DELETE_IT))


@contextmanager
def quiet() -> Iterator[None]:
    """Within the block, silence Lightning's messages and warnings. Nothing is printed for a thread that an OSError ends, either: TensorBoard writes
    in a thread of its own, and raises the error in this one later."""
    levels = {name: logging.getLogger(name).level for name in LIGHTNING_LOGGERS}
    for name in LIGHTNING_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    hook = threading.excepthook
    threading.excepthook = lambda failure: None if isinstance(failure.exc_value, OSError) else hook(failure)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=WARNING_MODULES)
            warnings.filterwarnings("ignore", message=MEANT_SO)
            yield
    finally:
        threading.excepthook = hook
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
