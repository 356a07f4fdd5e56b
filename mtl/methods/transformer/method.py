"""Fine-tune a transformer on each task (KLEJ, section 4.2), or on all tasks together first and then on each."""

import gc
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from mtl.device import device_of
from mtl.files import check_space, format_bytes
from mtl.memory import peak_gpu_memory
from mtl.methods.coded import Coded
from mtl.methods.folders import finetune_folder, pretrain_folder, read_stage, seed_folder
from mtl.methods.kind import BuildRequest, Predictions
from mtl.methods.throughput import sentences_per_second
from mtl.methods.transformer.finetune import FineTuning, read_predictions, write_codes
from mtl.methods.transformer.inputs import InputReader, longest_input, read_dataset
from mtl.methods.transformer.joint import train_together
from mtl.methods.transformer.network import TransformerNetwork, new_network
from mtl.methods.transformer.optimization import check_layers, warmup_steps
from mtl.methods.transformer.origin import model_folder, open_origin
from mtl.methods.transformer.trained import TrainedTransformer
from mtl.tasks.task import Task
from mtl.training.batches import pass_batches
from mtl.training.checkpoints import DONE, WEIGHTS, checkpoint_bytes
from mtl.training.precision import training_precision

FLOAT = 4  # bytes of a weight
# While a stage trains: its checkpoint (weights and two moments of AdamW) and the next one, and the weights that it saves.
COPIES_TRAINING = 2 * 3 + 1

logger = logging.getLogger("mtl")


class FineTuned:
    """`mtl.methods.kind.Method` of a transformer all of whose weights are trained."""

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
        self.facts: dict[str, Any] = {
            "precision": training_precision(config.trainer),
            "hidden_size": self.pretrained.dim,
        }
        notes = [*reader.notes(), *self._warmup_notes()]
        if notes:
            self.facts["notes"] = notes
        for note in notes:
            logger.info("%s", note)

    def save(self, folder: Path) -> None:
        """Write the transformer's configuration and its tokenizer."""
        self.pretrained.save(model_folder(folder), weights=False)

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        together: TransformerNetwork | None = None
        for task in self.dataset.trained_tasks:
            answered = [other for other in self.dataset.tasks if task.id in (other.id, other.answered_by)]
            place = finetune_folder(folder, task.id)
            if read_predictions(place, self.data, task) is None:
                gc.collect()  # Lightning's objects of the last stage refer to each other and hold its optimizer's state
                if self.config.transformer.joint:
                    together = together or self._trained_together(seed, folder)
                    network = together.for_task(task)
                else:
                    network = self._network([task], seed)
                self._fine_tune(task, answered, network, seed, place)
            for other in answered:
                predictions = read_predictions(place, self.data, other)
                assert predictions is not None
                yield other, predictions
            self._drop_weights(place)
        if self.config.transformer.joint:
            self._drop_weights(pretrain_folder(folder))

    def shared(self, seed: int) -> None:
        """Nothing."""

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """Parameters are those of one body and all heads."""
        joint = [read_stage(pretrain_folder(folder) / DONE)] if self.config.transformer.joint else []
        stages = [read_stage(finetune_folder(folder, task.id) / DONE) for task in self.dataset.trained_tasks]
        network = self._network(self.dataset.trained_tasks, seed)
        parameters = sum(weight.numel() for weight in network.parameters())
        embeddings = sum(weight.numel() for weight in network.body.get_input_embeddings().parameters())
        cost = {
            "parameters": parameters,
            "parameters_without_embeddings": parameters - embeddings,
            "pretrain_seconds": joint[0]["seconds"] if joint else None,
            "finetune_seconds": sum(stage["seconds"] for stage in stages),
            "peak_memory": max(stage["peak_memory"] for stage in [*joint, *stages]),
            "sentences_per_second": self._speed(network),
        }
        if (gpu := peak_gpu_memory()) is not None:
            cost["peak_gpu_memory"] = gpu
        return cost

    def _network(self, tasks: list[Task], seed: int) -> TransformerNetwork:
        trainer, device = self.config.trainer, device_of(self.config.trainer.accelerator)
        return new_network(self.pretrained, tasks, self.data.outputs, seed, trainer, device, self.config.transformer)

    def _trained_together(self, seed: int, folder: Path) -> TransformerNetwork:
        network = self._network(self.dataset.trained_tasks, seed)
        train_together(self.config, self.data, self.sequences, network, seed, pretrain_folder(folder))
        return network

    def _fine_tune(self, task: Task, answered: list[Task], network: TransformerNetwork, seed: int, place: Path) -> None:
        """Train the network on the task, and keep its predictions for the tasks that it answers."""
        # After stage 1, its weights are the first candidate for the best ones.
        first = self.config.transformer.joint
        stage = FineTuning(self.config, self.data, self.sequences, task, seed, place, validate_first=first)
        stage.train(network)
        write_codes(place, {other.id: stage.codes(network, other) for other in answered})

    def _drop_weights(self, place: Path) -> None:
        """Remove the weights of a stage whose predictions are kept, unless they are to be kept, too."""
        if not self.config.transformer.keep:
            (place / WEIGHTS[self.config.transformer.checkpoint]).unlink(missing_ok=True)

    def _speed(self, network: TransformerNetwork) -> float:
        """Sentences per second on the CPU. The values of the weights do not matter, so those before training are used."""
        cpu = torch.device("cpu")
        trained = TrainedTransformer(
            self.config, self.pretrained, cpu, lambda: network.body, lambda task: network, self.dataset.answers
        )
        return sentences_per_second(trained.predict, self.texts)

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
