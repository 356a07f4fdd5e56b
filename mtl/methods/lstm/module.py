"""The LightningModule of a finished LSTM, from one of its checkpoints: for your own loops, callbacks and Trainers."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from mtl.base.arrays import read_checkpoint
from mtl.base.errors import InputError, shortened
from mtl.data.examples import Row
from mtl.methods.given_rows import as_codes, as_rows
from mtl.methods.heads import load_heads
from mtl.methods.lstm.trained import TrainedLstm
from mtl.methods.predictor import Predictor
from mtl.model.network import Batch, Network
from mtl.runs.folder import finetune_folder, pretrain_folder
from mtl.tasks.metrics import score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows
from mtl.training.checkpoints import WEIGHTS_FILES, read_weights, set_weights
from mtl.training.module import MultitaskModule
from mtl.training.optimizers import falling_adam

NO_STAGE = "must be a stage's checkpoint in a run's folder, as in RUN/seed-1/pretrain/best.ckpt, or a saved mtl.Module"

ScoredBatch = tuple[np.ndarray, ScoredRows]  # predictions for rows of one task, (rows,), and what scores them


class Module(MultitaskModule):
    """The trained network of a stage as a LightningModule (`mtl.Module`).

    `forward` takes a `mtl.model.network.Batch` and returns the outputs of its task's head, (inputs, outputs). Lightning's Trainer fits, validates,
    tests and predicts with it on batches of `loader`: with Adam, at the stage's first learning rate, and the loss of the task. It logs `train/loss`,
    `dev/loss`, `test/loss`, `dev/TASK`, `test/TASK`: the metric × 100, if it needs no further columns and answers are labels, numbers or candidates.

    Attributes:
        network: a `mtl.model.network.Network`, after stage 1 with the heads of all tasks, after stage 2 with one. Where stage 2 reads token
            outputs, its encoder is None, and batches of `loader` hold these outputs.
        predictor: the run, as `mtl.load` returns it, but with this network: what it predicts follows further training.

    Examples:
        >>> module = mtl.Module.load_from_checkpoint("runs/klej/fasttext-frozen/seed-1/pretrain/best.ckpt")  # doctest: +SKIP
        >>> rows = module.loader("cbd", [["Brawo!"], ["Dość."]], ["0", "1"])  # doctest: +SKIP
        >>> pytorch_lightning.Trainer(max_epochs=1).fit(module, rows)  # doctest: +SKIP
    """

    def __init__(self, path: Path, network: Network, predictor: Predictor, learning_rate: float) -> None:
        """The module of the stage whose weights are in this file; `load_from_checkpoint` makes one. The learning rate is the first one."""
        super().__init__(network, {}, falling_adam(learning_rate, learning_rate, total_steps=1))
        self.stage = path  # the file that the module comes from
        self.predictor = predictor
        self._scored_batches: dict[str, list[ScoredBatch]] = {}  # of the validation, by task

    @classmethod
    def load_from_checkpoint(  # type: ignore[override]
        cls, checkpoint_path: str | os.PathLike[str], map_location: str | torch.device | None = "cpu", **options: Any
    ) -> "Module":
        """Read the weights of a finished stage, or those that a Trainer has saved while it trained a module further, as tensors alone: no code in the
        file runs. `eval()` turns dropout off.

        Args:
            checkpoint_path: best.ckpt of stage 1, RUN/seed-N/pretrain, or of the stage 2 of a task, RUN/seed-N/finetune/TASK. The run's other files
                say which network it is. A file that a Trainer has saved may lie anywhere; it names the stage's file, which must still exist.
            map_location: the device: cpu, cuda or auto.
            options: Lightning's `strict` and `weights_only`, which are always true here.

        Raises InputError for a file that is neither, a run of another method, a damaged file, and other options."""
        for key, value in options.items():
            if key not in ("strict", "weights_only") or value not in (True, None):
                raise InputError("not taken: all weights are read, as tensors alone; drop it", key=key, value=value)
        path, device = Path(checkpoint_path), str(map_location or "cpu")
        continued = read_checkpoint(path, dict[str, Any], device="meta").get("stage")
        if continued is None:
            return cls._of_stage(path, device)
        if not isinstance(continued, str) or not os.path.isfile(continued):  # noqa: PTH113 - Path's raises for long names
            shown = shortened(str(continued), 200)
            raise InputError(f"continues {shown}, which is missing; put that run's folder back there", path=path)
        module = cls._of_stage(Path(continued), device)
        set_weights(module, read_weights(path), path, f"it does not continue {continued}")
        return module

    @classmethod
    def _of_stage(cls, path: Path, device: str) -> "Module":
        """The module of a stage's checkpoint, on the device. Raises InputError for another file, a damaged one, and a run of another method."""
        outer_folders = path.absolute().parent.parents
        seed_folder = next((folder for folder in outer_folders if re.fullmatch(r"seed-\d+", folder.name)), None)
        if seed_folder is None:
            raise InputError(NO_STAGE, path=path)
        predictor = Predictor.load(seed_folder.parent, int(seed_folder.name.removeprefix("seed-")), device=device)
        model = predictor.model
        if not isinstance(model, TrainedLstm):
            method = predictor.config.method
            raise InputError("only runs of lstm have such a module", path=path, key="method", value=method)
        network, learning_rate = _stage_network(predictor, model, path, seed_folder)
        model.use(network)
        return cls(path.absolute(), network, predictor, learning_rate).to(model.device).train()

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        super().on_save_checkpoint(checkpoint)
        checkpoint["stage"] = str(self.stage)

    def on_fit_start(self) -> None:
        """Turn dropout on: predictions, also those that `loader` needs, have turned it off."""
        super().on_fit_start()
        self.train()

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        loss = self._loss(batch, self(batch))
        self.log("train/loss", loss, on_step=False, on_epoch=True, batch_size=len(batch.rows))
        return loss

    def on_validation_epoch_start(self) -> None:
        self._scored_batches = {}

    def validation_step(self, batch: Batch, batch_idx: int, dataloader_idx: int = 0) -> None:
        outputs, task = self(batch), self.predictor.suite.tasks[batch.task]
        self.log(f"{self._split_name}/loss", self._loss(batch, outputs), batch_size=len(batch.rows))
        kind = target_kind(task)
        if kind.by_unit or kind.dtype is object or task.further_columns:  # as the class says, no metric is logged
            return
        head = kind.head
        predictions = head.decode(self.network.predict(batch, outputs).cpu().double().numpy(), [])
        targets = head.decode(batch.targets.cpu().double().numpy(), [])
        candidates = None if batch.sizes is None else batch.sizes.numpy()
        self._scored_batches.setdefault(task.id, []).append((predictions, ScoredRows(targets, candidates)))

    def on_validation_epoch_end(self) -> None:
        for id, batches in self._scored_batches.items():
            predictions, rows = _joined(batches)
            self.log(f"{self._split_name}/{id}", score(self.predictor.suite.tasks[id], predictions, rows))

    # A test is a validation whose scores have another name.
    on_test_epoch_start = on_validation_epoch_start
    test_step = validation_step
    on_test_epoch_end = on_validation_epoch_end

    @property
    def _split_name(self) -> str:
        return "test" if self.trainer.testing else "dev"

    def _loss(self, batch: Batch, outputs: Tensor) -> Tensor:
        if batch.targets.isnan().all():
            raise InputError("these batches have none; give them to the module's loader", key="targets")
        return self.network.head_targets[batch.task].loss(outputs, batch.targets, batch.output_sizes)

    def loader(
        self, task: str, rows: Sequence[Row], targets: Sequence[str] | None = None, batch_size: int = 128
    ) -> DataLoader[Batch]:
        """Batches of rows, for Lightning's Trainer or for `forward`. Each holds rows of similar length; `Batch.rows` are their numbers. Raises
        InputError for rows and targets of another form.

        Args:
            task: the id of a task whose head the network has.
            rows: as in `mtl.load(…).predict`.
            targets: one for each row, in the form of the targets in the task's files; None: unknown, for predictions alone.
            batch_size: model inputs in a batch."""
        suite_task = self.predictor.task(task)
        checked = as_rows(suite_task, rows)
        head = suite_task.answered_by or task
        if head not in self.network.head_targets:
            message = f"the module has the heads of {', '.join(self.network.head_targets)}"
            raise InputError(message, key="task", value=task)
        model = self.predictor.model
        assert isinstance(model, TrainedLstm)
        split, task_input = model.task_input(suite_task, checked)
        if targets is not None:
            split = replace(split, targets=as_codes(suite_task, checked, targets, model.answers.get(head, [])))
        by_head = {head: split}
        return task_input.batches(by_head).loader(task_input.ordered(by_head, batch_size))


def _stage_network(predictor: Predictor, model: TrainedLstm, path: Path, seed_folder: Path) -> tuple[Network, float]:
    """The network whose weights are in a file of the seed's folder, and its stage's first learning rate. Raises InputError for another file."""
    folder, config = path.absolute().parent, predictor.config
    if path.name in WEIGHTS_FILES.values():
        if folder == pretrain_folder(seed_folder):
            return _network_of_stage1(predictor, model, path), config.pretrain.learning_rate
        if folder == finetune_folder(seed_folder, folder.name):
            return _network_of_stage2(predictor, model, folder.name), config.finetune.learning_rate
    raise InputError(NO_STAGE, path=path)


def _network_of_stage1(predictor: Predictor, model: TrainedLstm, path: Path) -> Network:
    """The network of stage 1, with the heads of all tasks of the run that have one."""
    inputs = predictor.folder.read_inputs()
    tasks = [task for id, task in predictor.suite.tasks.items() if f"tasks.{id}" in inputs and task.answered_by is None]
    heads = load_heads(predictor.config, tasks, model.answers, model.encoder.output_size, read_weights(path), path)
    return Network(tasks, heads, model.encoder)


def _network_of_stage2(predictor: Predictor, model: TrainedLstm, task: str) -> Network:
    """The network of a task's stage 2. What that stage did not train is not trained further either."""
    network = model.network(predictor.task(task))
    assert isinstance(network, Network)
    if network.encoder is not None:
        network.encoder.requires_grad_(predictor.config.finetune.train_encoder)
    return network


def _joined(batches: Sequence[ScoredBatch]) -> ScoredBatch:
    """The predictions and the rows of all batches of a task."""
    predictions = np.concatenate([batch_predictions for batch_predictions, _ in batches])
    targets = np.concatenate([rows.targets for _, rows in batches])
    candidates = [rows.candidates for _, rows in batches if rows.candidates is not None]
    return predictions, ScoredRows(targets, np.concatenate(candidates) if candidates else None)
