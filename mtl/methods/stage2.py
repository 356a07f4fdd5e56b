"""Stage 2: train each task's head, on the frozen encoder or together with it; the task's metric selects the weights (KLEJ, section 4.1).

The decision threshold of a task that is scored by F1 of one label (`finetune.threshold`) becomes part of the head: it is added to the
bias of the label's output, so that whatever reads the weights decides the same.
"""

from dataclasses import dataclass
from pathlib import Path

import torch

from mtl.base.device import device_of
from mtl.base.files import write_checkpoint
from mtl.base.progress import detail
from mtl.base.untrusted import read_checkpoint
from mtl.methods.coded import Coded
from mtl.methods.heads import TaskInput, new_heads
from mtl.methods.method import Predictions
from mtl.methods.thresholds import SHIFTS, positive_label, recorded_shift
from mtl.model.network import AnyHead, Heads, Network
from mtl.settings.schema import Config
from mtl.tasks.metrics import metric_named
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.batches import Schedule, batch_rows, pass_batches, predict_rows, row_outputs
from mtl.training.checkpoints import WEIGHTS, Checkpoint, load_finished
from mtl.training.module import MultitaskModule, falling_adam
from mtl.training.stage import Stage, fit


def apply_shift(network: Network, head: AnyHead, task: Task, shift: float, folder: Path) -> None:
    """Add the shift to the head's bias, in memory and in the checkpoint of the finished stage in `folder`, which records it: so the
    shift is saved together with the bias that it changed."""
    with torch.no_grad():
        head.last.bias[positive_label(task)] += shift
    path = folder / WEIGHTS["best"]
    content = read_checkpoint(path, Checkpoint)
    saved = content["state_dict"]
    content["state_dict"] = {name: value.cpu() for name, value in network.state_dict().items() if name in saved}
    content["threshold_shift"] = shift
    write_checkpoint(path, content)


@dataclass(frozen=True)
class Finetuning:
    """Stage 2 of one task and seed.

    Args:
        folder: receives what `fit` writes.
        start: what the first validation comes after, for messages.
    """

    config: Config
    data: Coded
    task: Task
    input: TaskInput
    seed: int
    folder: Path
    start: str = "after stage 1"

    def train(self, heads: Heads) -> Network:
        """The task's network with its best weights, trained from the head of stage 1, or loaded if this stage has finished.

        The weights of stage 1 are the first candidate for the best ones, so the score on dev after stage 2 is never lower than
        before. The task's head in `heads` is changed to the best one.
        """
        lone = new_heads(self.config, [self.task], heads.outputs, heads.dim)
        lone.layers[0] = heads[self.task.id]
        network = Network([self.task], lone, self.input.encoder)
        if not load_finished(network, self.folder):
            self.data.set_loss(network, self.config.loss, self.config.distill)
            self._fit(network)
        if self.config.finetune.threshold in SHIFTS and metric_named(self.task.metric).one_label:
            self._choose_threshold(network)
        return network

    def predict(self, network: Network, answered: Task) -> Predictions:
        """The predictions for `answered`, which is this task or a task that its head answers: (rows,) by split, without train."""
        size = self.config.finetune.batch_size
        network.to(device_of(self.config.trainer.accelerator))
        kind, answers = target_kind(self.task), self.data.answers(self.task)
        predictions = {}
        for name, split in self.data.splits[answered.id].items():
            if name != "train":
                # The network has only this task's head, so the rows are predicted as rows of this task.
                codes = self.input.computed(predict_rows, network, self.task.id, split, size, self.config.trainer)
                predictions[name] = kind.head.decode(codes, answers)
        network.to("cpu")
        return predictions

    def _choose_threshold(self, network: Network) -> None:
        if recorded_shift(self.folder) is not None:
            return
        dev, config = self.data.dev(self.task), self.config
        network.to(device_of(config.trainer.accelerator))
        size = config.finetune.batch_size
        outputs = self.input.computed(row_outputs, network, self.task.id, dev, size, config.trainer)
        shift = SHIFTS[self.config.finetune.threshold](outputs, dev.targets, positive_label(self.task))
        apply_shift(network.to("cpu"), network.heads[self.task.id], self.task, shift, self.folder)
        detail(f"seed {self.seed} · stage 2 · {self.task.id} · threshold on dev: {shift:+.2f}")

    def _fit(self, network: Network) -> None:
        settings = self.config.finetune
        rows, dev = self.data.train(self.task, self.config.loss, self.seed), self.data.dev(self.task)
        size = batch_rows(rows, settings.batch_size)
        steps = pass_batches(rows, settings.batch_size)  # of an epoch
        total_steps = steps * settings.max_epochs
        schedule = Schedule(self.input.row_lengths(self.task.id, rows), {self.task.id: size}, total_steps, self.seed)
        train = self.input.batches(self.task.id, rows)
        dev_order = self.input.in_order(self.task.id, dev, settings.batch_size)
        optimization = falling_adam(settings.learning_rate, settings.final_learning_rate, total_steps)
        fit(
            MultitaskModule(network, {self.task.id: self.data.dev_score(self.task)}, optimization),
            Stage(
                title=f"seed {self.seed} · stage 2 · {self.task.id}",
                section="finetune",
                folder=self.folder,
                seed=self.seed,
                epochs=settings.max_epochs,
                total_steps=total_steps,
                patience=settings.patience,
                gradient_clip=settings.gradient_clip,
                train=lambda epoch: train.loader(schedule.between(epoch * steps, (epoch + 1) * steps)),
                dev=self.input.batches(self.task.id, dev).loader(dev_order),
                resumable=self.input.vectors is None,  # the training of a head on vectors takes seconds
                trained_only=True,
                validate_first=True,  # so that no task ends with a lower score than after stage 1
                start=self.start,
                scale=self.data.scale,
            ),
            self.config.trainer,
        )
