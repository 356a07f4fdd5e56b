"""A transformer whose body stays as it is: pooled vectors are computed once, and heads are trained on them as in stage 2 of the LSTM."""

import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.data.dataset import Split
from mtl.data.examples import Row
from mtl.methods.coded import Coded
from mtl.methods.costs import networks_cost
from mtl.methods.heads import load_heads, new_heads
from mtl.methods.method import BuildRequest, LoadRequest, Method, Predictions
from mtl.methods.networks import TaskInput
from mtl.methods.stage2 import Finetuning
from mtl.methods.transformer.inputs import InputReader, longest_input
from mtl.methods.transformer.opening import open_origin, open_pretrained
from mtl.methods.transformer.trained import HeadsOnBody, TransformerEncoder, encode_texts, model_folder, tasks_seen
from mtl.model.network import Heads, Network
from mtl.runs.folder import finetune_folder
from mtl.tasks.task import Task
from mtl.training.checkpoints import WEIGHTS_FILES, read_weights
from mtl.training.precision import mixed_precision, training_precision

WEIGHT_FILES = "*.safetensors"


class Frozen(Method):
    """`mtl.methods.method.Method` of a transformer whose body is not trained. Each text is read alone, also those of pairs, as by the LSTM."""

    _heads: Heads | None = None  # those of the seed that `predictions` trained last

    def __init__(self, request: BuildRequest) -> None:
        """Raises InputError for a transformer that cannot be opened."""
        super().__init__(request)
        config = request.config
        self.pretrained = open_origin(request)
        self.fingerprints = self.pretrained.fingerprints()
        self.facts |= {"precision": training_precision(config.trainer), "hidden_size": self.pretrained.dim}
        reader = InputReader(self.pretrained, longest_input(config.max_length, self.pretrained))
        self.sequences = reader.sequences([(text,) for text in request.dataset.texts])
        if notes := reader.notes():
            self.facts["notes"] = notes
            logger.info("%s", " ".join(notes))
        self.data = Coded(self.dataset, config.head.overlap, request.suite.shown)

    def save(self, folder: Path) -> None:
        """Write configuration and tokenizer, and the body's weights where another command could not find them."""
        keeps = self.config.transformer.path is None or self.config.transformer.keep
        self.pretrained.save(model_folder(folder), weights=keeps)

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        vectors, _ = self._encoded
        task_input = TaskInput(vectors=vectors)
        torch.manual_seed(seed)
        heads = new_heads(self.config, self.dataset.trained_tasks, self.data.outputs, self.pretrained.dim)
        for task in self.dataset.trained_tasks:
            task_folder = finetune_folder(folder, task.id)
            stage = Finetuning(self.config, self.data, task, task_input, seed, task_folder, start="before training")
            trained = stage.train(heads)
            for answered in self.dataset.answered(task):
                yield answered, stage.predict(trained, answered)
        self._heads = heads

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """The cost of the seed, after its `predictions`: parameters of the body and all heads; the time to encode all texts counts for each seed."""
        heads, pretrained = self._heads, self.pretrained
        assert heads is not None, "cost is known only after predictions"
        config, cpu = self.config, torch.device("cpu")
        encoder = TransformerEncoder(pretrained, config.max_length, config.trainer, cpu, lambda: pretrained.body)
        trained = TrainedFrozen(config, encoder, lambda task: Network([task], heads, None), self.dataset.answers)
        _, encoding_seconds = self._encoded
        embeddings = pretrained.parameters - pretrained.parameters_without_embeddings
        others = pretrained.parameters_without_embeddings + sum(weight.numel() for weight in heads.parameters())
        return networks_cost(folder, self.dataset, trained.predict, embeddings, others, encoding_seconds)

    @cached_property
    def _encoded(self) -> tuple[Tensor, float]:
        """The vectors of all texts, float32 (texts, dim), computed once for all seeds, and the seconds that this took."""
        start, device = time.monotonic(), device_of(self.config.trainer.accelerator)
        body = self.pretrained.body.to(device)
        with mixed_precision(self.config.trainer, device):
            vectors = encode_texts(body, self.pretrained, self.sequences, TransformerEncoder.pooling)
        body.to("cpu")
        return vectors, time.monotonic() - start


class TrainedFrozen(HeadsOnBody):
    """`mtl.methods.method.Model` of heads on a fixed body."""

    def read(self, task: Task, rows: Sequence[Row], split: Split, texts: list[str]) -> tuple[Split, TaskInput]:
        return split, TaskInput(vectors=torch.from_numpy(self.encode(texts, self.pooling)))


def load_frozen(request: LoadRequest) -> TrainedFrozen:
    """The heads of a seed on the body in the run's folder, or else in `transformer.path`. Raises InputError if it is missing or another one now."""
    config, folder = request.config, model_folder(request.folder)
    if request.task is not None:
        message = "texts are encoded by the fixed body, which all tasks share; drop it"
        raise InputError(message, key="task", value=request.task)
    if any(folder.glob(WEIGHT_FILES)):
        pretrained = open_pretrained(str(folder))
    elif config.transformer.path is not None:
        pretrained = open_pretrained(config.transformer.path, config.transformer.tokenizer)
    else:
        raise InputError(f"lacks the weights of its transformer ({WEIGHT_FILES}); restore them", path=folder)
    if pretrained.fingerprint() != request.inputs["transformer"]:
        raise InputError(f"{pretrained.name}: is not the transformer of the run {request.folder} any more; restore it")

    def network(task: Task) -> Network:
        path = finetune_folder(request.seed_folder, task.id) / WEIGHTS_FILES["best"]
        heads = load_heads(config, [task], request.answers, pretrained.dim, read_weights(path), path)
        return Network([task], heads, None)

    device, seen = request.device, tasks_seen(request, [])
    encoder = TransformerEncoder(pretrained, config.max_length, config.trainer, device, lambda: pretrained.body, seen)
    return TrainedFrozen(config, encoder, network, request.answers)
