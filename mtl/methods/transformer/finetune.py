"""Fine-tune a transformer on each task (KLEJ, section 4.2)."""

import gc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.arrays import read_arrays, write_arrays
from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.files import check_space
from mtl.base.log import logger
from mtl.methods.coded import Coded
from mtl.methods.costs import networks_cost
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.network_training import Training, fit_tasks
from mtl.methods.networks import TaskInput
from mtl.methods.transformer.inputs import InputReader, longest_input, read_dataset
from mtl.methods.transformer.network import TransformerNetwork, fine_tuning, warmup_steps
from mtl.methods.transformer.opening import FLOAT, open_origin
from mtl.methods.transformer.trained import TrainedTransformer, TransformerEncoder, model_folder
from mtl.runs.folder import finetune_folder
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS_FILES, load_finished
from mtl.training.precision import training_precision
from mtl.training.schedule import pass_batches, pool_size

PREDICTED = "predicted.npz"  # in a task's folder: the codes of its predictions, by "{task}/{split}"
# While a stage trains: its checkpoint (weights and two moments of AdamW) and the next one, and the weights that it saves.
COPIES_TRAINING = 2 * 3 + 1


def write_codes(folder: Path, codes: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Write the codes of predictions, by task and split."""
    named = {f"{task}/{split}": values for task, splits in codes.items() for split, values in splits.items()}
    write_arrays(folder / PREDICTED, named)


def read_predictions(folder: Path, data: Coded, task: Task) -> Predictions:
    """The predictions (rows,) by split that `write_codes` kept for a task. Raises InputError for a file that is damaged, or of other rows."""
    path = folder / PREDICTED
    shapes = {name: split.targets.shape for name, split in data.splits[task.id].items() if name != "train"}
    try:
        arrays = read_arrays(path)
        codes = {name: arrays[f"{task.id}/{name}"] for name in shapes}
        if any(codes[name].shape != shape or not np.isfinite(codes[name]).all() for name, shape in shapes.items()):
            raise ValueError("of other rows, or not finite")
        kind, answers = target_kind(task), data.answers(task)
        predictions = {name: kind.head.decode(codes[name], answers) for name in shapes}
        for targets in predictions.values():
            list(map(kind.format, targets))  # raises LookupError for a code that stands for nothing
    except (OSError, ValueError, LookupError, TypeError, OverflowError):
        raise InputError(f"is damaged, or of other rows; delete {folder}, and run this again", path=path) from None
    return predictions


class FineTuned(Method):
    """`mtl.methods.method.Method` of a transformer all of whose weights are trained."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for a transformer that cannot be opened."""
        super().__init__(request)
        config, self.text_dataset = request.config, request.dataset
        self.pretrained = open_origin(request)
        reader = InputReader(self.pretrained, longest_input(config.max_length, self.pretrained))
        self.dataset, self.sequences = read_dataset(request.dataset, reader)
        self.input = TaskInput(self.sequences)
        self.data = Coded(self.dataset, scale=request.suite.shown)
        self.fingerprints = self.pretrained.fingerprints()
        self.facts |= {"precision": training_precision(config.trainer), "hidden_size": self.pretrained.dim}
        if notes := [*reader.notes(), *self._warmup_notes()]:
            self.facts["notes"] = notes
        for note in notes:
            logger.info("%s", note)

    def save(self, folder: Path) -> None:
        """Write the transformer's configuration and its tokenizer."""
        self.pretrained.save(model_folder(folder), weights=False)

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.trained_tasks:
            task_folder = finetune_folder(folder, task.id)
            if not (task_folder / PREDICTED).exists():
                gc.collect()  # Lightning's objects of the last stage refer to each other, and hold the optimizer's state
                network = self.new_network([task], seed)
                self.fine_tune(network, task, seed, task_folder)
                write_codes(task_folder, self._codes(network, task))
            for answered in self.dataset.answered(task):
                yield answered, read_predictions(task_folder, self.data, answered)
            if not self.config.transformer.keep:
                (task_folder / WEIGHTS_FILES[self.config.transformer.checkpoint]).unlink(missing_ok=True)

    def _codes(self, network: TransformerNetwork, task: Task) -> dict[str, dict[str, np.ndarray]]:
        """The codes that a task's network predicts, by the id of each task that its head answers, and by split."""
        config, splits = self.config, self.data.splits
        size, ids = config.transformer.rows_at_once, [answered.id for answered in self.dataset.answered(task)]
        return {id: self.input.codes(network, task.id, splits[id], size, config.trainer) for id in ids}

    def fine_tune(self, network: TransformerNetwork, task: Task, seed: int, folder: Path) -> None:
        """Train the network on its task, or load its weights if `folder` has a finished stage. Raises InputError if the disk has too little space."""
        config, settings = self.config, self.config.transformer
        if load_finished(network, folder, settings.checkpoint):
            return
        folder.mkdir(parents=True, exist_ok=True)
        present = sum(path.stat().st_size for path in folder.glob("*.ckpt"))  # of an interrupted training
        size = COPIES_TRAINING * FLOAT * self.pretrained.parameters
        check_space(folder, max(0, size - present), "set run_dir= on another disk")
        rows = self.data.train_rows(task, config.loss, seed)
        steps = pass_batches(rows, settings.batch_size)
        total_steps = steps * settings.epochs
        training = Training(
            input=self.input,
            rows={task.id: rows},
            optimization=fine_tuning(settings, total_steps),
            section="transformer",
            epoch_steps=steps,
            total_steps=total_steps,
            seed=seed,
            pool=pool_size(steps),
            parts=settings.accumulate,
            dev_batch_size=settings.rows_at_once,
        )
        title = f"seed {seed} · {task.id}"
        fit_tasks(config, self.data, network, training, title=title, folder=folder, checkpoint=settings.checkpoint)

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """Parameters are those of one body and all heads."""
        network = self.new_network(self.dataset.trained_tasks, seed)
        parameters = sum(weight.numel() for weight in network.parameters())
        embeddings = sum(weight.numel() for weight in network.body.get_input_embeddings().parameters())
        # The values of the weights do not matter for the speed, so those before training are used.
        config, cpu, answers = self.config, torch.device("cpu"), self.dataset.answers
        encoder = TransformerEncoder(self.pretrained, config.max_length, config.trainer, cpu, lambda: network.body)
        trained = TrainedTransformer(config, encoder, lambda task: network, answers)
        return networks_cost(folder, self.text_dataset, trained.predict, embeddings, parameters - embeddings)

    def new_network(self, tasks: list[Task], seed: int) -> TransformerNetwork:
        """The network with the heads of these tasks, before training."""
        trainer, settings = self.config.trainer, self.config.transformer
        device = device_of(trainer.accelerator)
        return TransformerNetwork(self.pretrained, tasks, self.data.outputs, seed, trainer, device, settings)

    def _warmup_notes(self) -> list[str]:
        """A note that names the tasks whose training ends before the warm-up does."""
        loss, settings, seed = self.config.loss, self.config.transformer, self.config.seeds[0]
        short = []
        for task in self.dataset.trained_tasks:
            steps = settings.epochs * pass_batches(self.data.train_rows(task, loss, seed), settings.batch_size)
            if steps <= warmup_steps(settings, steps):
                short.append(f"{task.id} ({steps})")
        why = f"the warm-up of {settings.warmup:g} steps is not shorter than the training, on {', '.join(short)}"
        return [f"The learning rate never reaches its peak, since {why}."] if short else []
