"""Stage 2: train each task's head, on the frozen encoder or together with it; the task's metric selects the weights (KLEJ, section 4.1).
A task that is scored by F1 of single labels may have decision thresholds (`finetune.threshold`). They are added to the biases of the labels' outputs,
so that whatever reads the weights decides the same."""

from dataclasses import dataclass
from pathlib import Path

import torch

from mtl.base.arrays import read_checkpoint, write_checkpoint
from mtl.base.device import device_of
from mtl.base.display import show
from mtl.base.events import Detail
from mtl.base.settings.schema import Config
from mtl.data.dataset import last_texts
from mtl.methods.coded import Coded
from mtl.methods.heads import new_heads
from mtl.methods.method import Predictions
from mtl.methods.network_training import Training, fit_tasks
from mtl.methods.networks import TaskInput
from mtl.methods.thresholds import SHIFTS, chosen_shifts, recorded_shifts, shift_text, shifted_outputs
from mtl.model.network import Heads, Network
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.batches import row_outputs
from mtl.training.checkpoints import WEIGHTS_FILES, CheckpointContent, load_finished
from mtl.training.optimizers import falling_adam
from mtl.training.schedule import pass_batches


@dataclass(frozen=True)
class Finetuning:
    """Stage 2 of one task and seed."""

    config: Config
    data: Coded
    task: Task
    input: TaskInput
    seed: int
    folder: Path  # receives what `fit` writes
    start: str = "after stage 1"  # when the first validation is made, as messages say it

    def train(self, heads: Heads) -> Network:
        """The task's network with its best weights, trained from its head in `heads`, which changes, or loaded if this stage has finished. The
        weights of stage 1 are the first candidate, so the score on the rows that choose (`Coded.dev_rows`) is never lower than before."""
        task_heads = new_heads(self.config, [self.task], heads.outputs, heads.dim)
        task_heads.layers[0] = heads[self.task.id]
        network = Network([self.task], task_heads, self.input.encoder)
        if not load_finished(network, self.folder):
            self._fit(network)
        if self.config.finetune.threshold in SHIFTS and shifted_outputs(self.task):
            self._choose_threshold(network)
        return network

    def predict(self, network: Network, answered: Task) -> Predictions:
        """The predictions for `answered`, which is this task or a task that its head answers: (rows,) by split, without train."""
        head, answers, size = target_kind(self.task).head, self.data.answers(self.task), self.config.finetune.batch_size
        splits = self.data.splits[answered.id]  # predicted as rows of this task, whose head the network has alone
        codes = self.input.codes(network, self.task.id, splits, size, self.config.trainer)
        texts = {name: last_texts(answered, splits[name], self.data.dataset.texts) for name in codes}
        return {name: head.decode(codes[name], answers, texts[name]) for name in codes}

    def _choose_threshold(self, network: Network) -> None:
        """Choose the decision thresholds on dev, unless the checkpoint has them, and add them to the biases in the network and the checkpoint."""
        if recorded_shifts(self.folder, self.task) is not None:
            return
        config, dev = self.config, self.data.dev_rows(self.task)
        network.to(device_of(config.trainer.accelerator))
        size = config.finetune.batch_size
        outputs = self.input.results(row_outputs, network, self.task.id, dev, size, config.trainer)
        shifts = chosen_shifts(config.finetune.threshold, self.task, outputs, dev.targets)
        network.to("cpu")
        with torch.no_grad():
            for number, shift in shifts.items():
                network.heads[self.task.id].last.bias[number] += shift
        self._record_shifts(network, list(shifts.values()))
        show(Detail(f"seed {self.seed} · stage 2 · {self.task.id} · threshold on dev: {shift_text(shifts)}"))

    def _record_shifts(self, network: Network, shifts: list[float]) -> None:
        """Write the shifts to the checkpoint, in one write with the biases that they changed."""
        path, weights = self.folder / WEIGHTS_FILES["best"], network.state_dict()
        content = read_checkpoint(path, CheckpointContent)
        content["state_dict"] = {name: weights[name] for name in weights if name in content["state_dict"]}
        content["threshold_shift"] = shifts if len(shifts) > 1 else shifts[0]
        write_checkpoint(path, content)

    def _fit(self, network: Network) -> None:
        settings = self.config.finetune
        rows = self.data.train_rows(self.task, self.config.loss, self.seed)
        steps = pass_batches(rows, settings.batch_size)
        total_steps = steps * settings.max_epochs
        training = Training(
            input=self.input,
            rows={self.task.id: rows},
            optimization=falling_adam(settings.learning_rate, settings.final_learning_rate, total_steps),
            section="finetune",
            epoch_steps=steps,
            total_steps=total_steps,
            seed=self.seed,
            pin_memory=False,  # outputs of the encoder may lie on the GPU
        )
        fit_tasks(
            self.config,
            self.data,
            network,
            training,
            title=f"seed {self.seed} · stage 2 · {self.task.id}",
            folder=self.folder,
            resumable=self.input.vectors is None,  # the training of a head on vectors takes seconds
            trained_only=True,
            validate_first=True,  # so that the weights of stage 1 are a candidate
            start=self.start,
        )
