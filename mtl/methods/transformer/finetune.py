"""Fine-tune a transformer on each task (KLEJ, section 4.2), or on all tasks together first (`variant=joint`) and then on each."""

import gc
import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.base.arrays import read_arrays, write_arrays
from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.files import check_space, format_bytes
from mtl.base.memory import peak_gpu_memory
from mtl.methods.coded import Coded, JointBatches
from mtl.methods.heads import TaskInput
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.throughput import sentences_per_second
from mtl.methods.transformer.inputs import InputReader, longest_input, read_dataset
from mtl.methods.transformer.network import (
    TransformerNetwork,
    check_layers,
    fine_tuning,
    freeze_layers,
    new_network,
    warmup_steps,
)
from mtl.methods.transformer.origin import model_folder, open_origin
from mtl.methods.transformer.trained import TrainedTransformer
from mtl.model.sequences import ArraySequences
from mtl.runs.layout import finetune_folder, pretrain_folder, read_stage, seed_folder
from mtl.settings.schema import Config
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task
from mtl.training.batches import Schedule, batch_rows, pass_batches, pool_size, predict_rows
from mtl.training.checkpoints import DONE, WEIGHTS, checkpoint_bytes, load_finished
from mtl.training.module import MultitaskModule
from mtl.training.precision import training_precision
from mtl.training.stage import Stage, fit

PREDICTED = "predicted.npz"  # in a task's folder: the codes of its predictions, by "{task}/{split}"
FLOAT = 4  # bytes of a weight
# While a stage trains: its checkpoint (weights and two moments of AdamW) and the next one, and the weights that it saves.
COPIES_TRAINING = 2 * 3 + 1

logger = logging.getLogger("mtl")


def train_together(
    config: Config, data: Coded, sequences: ArraySequences, network: TransformerNetwork, seed: int, folder: Path
) -> None:
    """Train the network, or load its weights if `folder` has a finished stage.

    As in stage 1 of the LSTM, each batch has rows of one task, drawn in proportion to (training rows) ** `pretrain.sampling`. An epoch is
    as many steps as all tasks' batches make; the optimizer is that of fine-tuning. `transformer.checkpoint` says whether the last
    weights are used or those with the best average on dev.
    """
    settings, tasks = config.transformer, data.dataset.trained_tasks
    if load_finished(network, folder, settings.checkpoint):
        return
    data.set_loss(network, config.loss)
    freeze_layers(network, settings.freeze)
    made = JointBatches(config, data, sequences, seed, settings.batch_size, settings.rows_at_once)
    of_tasks = [pass_batches(part, settings.batch_size) for part in made.parts["train"].values()]
    steps, total_steps = sum(of_tasks), sum(of_tasks) * settings.joint_epochs
    schedule = made.schedule(total_steps, seed, config.pretrain.sampling, pool_size(min(of_tasks)))
    _fit(
        *(config, data, network, tasks),
        title=f"seed {seed} · stage 1",
        folder=folder,
        seed=seed,
        epochs=settings.joint_epochs,
        total_steps=total_steps,
        train=lambda epoch: made.train(schedule, epoch * steps, (epoch + 1) * steps),
        dev=made.dev(),
    )


def _fit(
    config: Config, data: Coded, network: TransformerNetwork, tasks: Sequence[Task], total_steps: int, **stage: Any
) -> None:
    """Train the network on these tasks, with what a `Stage` has that does not follow from the settings."""
    settings = config.transformer
    scores = {task.id: data.dev_score(task) for task in tasks}
    fit(
        MultitaskModule(network, scores, fine_tuning(settings, total_steps), settings.accumulate),
        Stage(
            section="transformer",
            total_steps=total_steps,
            patience=settings.patience or stage["epochs"],
            gradient_clip=settings.gradient_clip,
            checkpoint=settings.checkpoint,
            scale=data.scale,
            **stage,
        ),
        config.trainer,
    )


@dataclass(frozen=True)
class FineTuning:
    """Fine-tuning on one task with one seed.

    Args:
        data: with model inputs in place of texts.
        sequences: the sequences of all model inputs.
        folder: receives what `fit` writes, and PREDICTED.
        validate_first: whether the weights before the first step can be the best ones, too.
    """

    config: Config
    data: Coded
    sequences: ArraySequences
    task: Task
    seed: int
    folder: Path
    validate_first: bool = False

    @property
    def input(self) -> TaskInput:
        """What the network reads."""
        return TaskInput(None, self.sequences, None, self.sequences.lengths.numpy())

    def train(self, network: TransformerNetwork) -> None:
        """Train the network, or load its weights if this stage has finished."""
        if load_finished(network, self.folder, self.config.transformer.checkpoint):
            return
        settings, split = self.config.transformer, self.data.train(self.task, self.config.loss, self.seed)
        self.data.set_loss(network, self.config.loss)
        freeze_layers(network, settings.freeze)
        steps = pass_batches(split, settings.batch_size)
        total_steps = steps * settings.epochs
        sizes = {self.task.id: batch_rows(split, settings.batch_size)}
        id, read = self.task.id, self.input
        schedule = Schedule(read.row_lengths(id, split), sizes, total_steps, self.seed, pool=pool_size(steps))
        train, dev = read.batches(id, split), self.data.dev(self.task)
        pin_memory = device_of(self.config.trainer.accelerator).type == "cuda"
        _fit(
            *(self.config, self.data, network, [self.task]),
            title=f"seed {self.seed} · {self.task.id}",
            folder=self.folder,
            seed=self.seed,
            epochs=settings.epochs,
            total_steps=total_steps,
            train=lambda epoch: train.loader(schedule.between(epoch * steps, (epoch + 1) * steps), pin_memory),
            dev=read.batches(id, dev).loader(read.in_order(id, dev, settings.rows_at_once), pin_memory),
            validate_first=self.validate_first,
        )

    def codes(self, network: TransformerNetwork, answered: Task) -> dict[str, np.ndarray]:
        """The codes that the network predicts for `answered`, which is this task or one that its head answers: (rows,) by split,
        without train."""
        size, trainer = self.config.transformer.rows_at_once, self.config.trainer
        network.to(device_of(trainer.accelerator))
        splits = self.data.splits[answered.id]
        codes = {
            name: self.input.computed(predict_rows, network, self.task.id, split, size, trainer)
            for name, split in splits.items()
            if name != "train"
        }
        network.to("cpu")
        return codes


def write_codes(folder: Path, codes: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Write the codes of predictions, by task and split."""
    named = {f"{task}/{split}": values for task, splits in codes.items() for split, values in splits.items()}
    write_arrays(folder / PREDICTED, named)


def read_predictions(folder: Path, data: Coded, task: Task) -> Predictions | None:
    """The predictions (rows,) by split that `write_codes` kept for a task; None if there are none.

    Raises InputError for a damaged file, and for one with predictions of other rows.
    """
    path = folder / PREDICTED
    if not path.exists():
        return None
    kind, answers = target_kind(task), data.answers(task)
    rows = {name: len(split) for name, split in data.splits[task.id].items() if name != "train"}
    try:
        arrays = read_arrays(path)
        codes = {name: arrays[f"{task.id}/{name}"] for name in rows}
        if all(codes[name].shape == (count,) for name, count in rows.items()):
            predictions = {name: kind.head.decode(codes[name], answers) for name in rows}
            if all(np.isfinite(codes[name]).all() for name in rows):
                for targets in predictions.values():  # a code that stands for nothing raises LookupError
                    deque(map(kind.cells.format, targets), maxlen=0)
                return predictions
    except (OSError, ValueError, LookupError, TypeError, OverflowError):
        pass
    raise InputError(f"is damaged, or of other rows; delete {folder}, and run this again", path=path)


class FineTuned(Method):
    """`mtl.methods.method.Method` of a transformer all of whose weights are trained."""

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for a transformer that cannot be opened, and for a disk with too little space."""
        config = request.config
        self.config, self.suite, self.texts = config, request.suite, request.dataset
        self.pretrained = open_origin(request)
        check_layers(self.pretrained.body, config.transformer)
        reader = InputReader(self.pretrained, longest_input(config.max_length, self.pretrained))
        dataset, self.sequences = read_dataset(request.dataset, reader)
        self.dataset = dataset
        self.data = Coded(dataset, scale=request.suite.shown)
        self._check_space(request.folder)
        self.fingerprints = self.pretrained.fingerprints()
        precision = training_precision(config.trainer)
        self.facts: dict[str, Any] = {"precision": precision, "hidden_size": self.pretrained.dim}
        notes = [*reader.notes(), *self._warmup_notes()]
        if notes:
            self.facts["notes"] = notes
        for note in notes:
            logger.info("%s", note)

    def save(self, folder: Path) -> None:
        """Write the transformer's configuration and its tokenizer."""
        self.pretrained.save(model_folder(folder), weights=False)

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        config = self.config
        together: TransformerNetwork | None = None
        for task in self.dataset.trained_tasks:
            answered = self.dataset.answered(task)
            task_folder = finetune_folder(folder, task.id)
            if read_predictions(task_folder, self.data, task) is None:
                gc.collect()  # Lightning's objects of the last stage refer to each other and hold its optimizer's state
                if config.transformer.joint and together is None:
                    together = self.new_network_of(self.dataset.trained_tasks, seed)
                    train_together(config, self.data, self.sequences, together, seed, pretrain_folder(folder))
                network = together.for_task(task) if together is not None else self.new_network_of([task], seed)
                # After stage 1, its weights are the first candidate for the best ones.
                first = config.transformer.joint
                stage = FineTuning(config, self.data, self.sequences, task, seed, task_folder, validate_first=first)
                stage.train(network)
                write_codes(task_folder, {target.id: stage.codes(network, target) for target in answered})
            for target in answered:
                predictions = read_predictions(task_folder, self.data, target)
                assert predictions is not None
                yield target, predictions
            self._drop_weights(task_folder)
        if config.transformer.joint:
            self._drop_weights(pretrain_folder(folder))

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """Parameters are those of one body and all heads."""
        joint = [read_stage(pretrain_folder(folder) / DONE)] if self.config.transformer.joint else []
        stages = [read_stage(finetune_folder(folder, task.id) / DONE) for task in self.dataset.trained_tasks]
        network = self.new_network_of(self.dataset.trained_tasks, seed)
        parameters = sum(weight.numel() for weight in network.parameters())
        embeddings = sum(weight.numel() for weight in network.body.get_input_embeddings().parameters())
        # The values of the weights do not matter for the speed, so those before training are used.
        trained = TrainedTransformer(
            *(self.config, self.pretrained, torch.device("cpu"), lambda: network.body, lambda task: network),
            self.dataset.answers,
        )
        cost = {
            "parameters": parameters,
            "parameters_without_embeddings": parameters - embeddings,
            "pretrain_seconds": joint[0]["seconds"] if joint else None,
            "finetune_seconds": sum(stage["seconds"] for stage in stages),
            "peak_memory": max(stage["peak_memory"] for stage in [*joint, *stages]),
            "sentences_per_second": sentences_per_second(trained.predict, self.texts),
        }
        if (gpu := peak_gpu_memory()) is not None:
            cost["peak_gpu_memory"] = gpu
        return cost

    def new_network_of(self, tasks: list[Task], seed: int) -> TransformerNetwork:
        trainer, device = self.config.trainer, device_of(self.config.trainer.accelerator)
        return new_network(self.pretrained, tasks, self.data.outputs, seed, trainer, device, self.config.transformer)

    def _drop_weights(self, task_folder: Path) -> None:
        """Remove the weights of a stage whose predictions are kept, unless they are to be kept, too."""
        if not self.config.transformer.keep:
            (task_folder / WEIGHTS[self.config.transformer.checkpoint]).unlink(missing_ok=True)

    def _check_space(self, folder: Path) -> None:
        """Say how much disk space training needs. Raises InputError if there is less than what is not taken already."""
        config, settings, weights = self.config, self.config.transformer, FLOAT * self.pretrained.parameters
        training = COPIES_TRAINING * weights * config.seeds_at_once
        models = (len(self.dataset.trained_tasks) + settings.joint) * len(config.seeds)
        # The body of stage 1 is there while its seed is trained.
        kept = weights * (models if settings.keep else settings.joint * config.seeds_at_once)
        seeds = [seed_folder(folder, seed) for seed in config.seeds]
        stages = [finetune_folder(seed, task.id) for seed in seeds for task in self.dataset.trained_tasks]
        present = sum(map(checkpoint_bytes, [*stages, *map(pretrain_folder, seeds)]))
        logger.info(
            "disk space: %s while a task is fine-tuned%s",
            format_bytes(training),
            f", and {format_bytes(kept)} for weights that are kept" if settings.keep else "",
        )
        folder.mkdir(parents=True, exist_ok=True)
        remedy = "set transformer.keep=false" if settings.keep else "set run_dir= on another disk"
        check_space(folder, max(0, training + kept - present), remedy)

    def _warmup_notes(self) -> list[str]:
        """A note that names the tasks whose training ends before the warm-up does."""
        settings, short = self.config.transformer, []
        for task in self.dataset.trained_tasks:
            rows = self.data.train(task, self.config.loss, self.config.seeds[0])
            steps = settings.epochs * pass_batches(rows, settings.batch_size)
            if steps <= warmup_steps(settings, steps):
                short.append(f"{task.id} ({steps})")
        if not short:
            return []
        return [
            f"The learning rate never reaches its peak, since the warm-up of {settings.warmup:g} steps is not shorter than the"
            f" training, on {', '.join(short)}."
        ]
