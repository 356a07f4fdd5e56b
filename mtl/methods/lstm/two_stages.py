"""The joint BiLSTM: stage 1 on all tasks, then stage 2 on each (KLEJ, section 4.1)."""

import gc
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from mtl.base.device import device_of
from mtl.base.log import logger
from mtl.data.spans import with_token_spans
from mtl.data.text import moses_version, tokenized
from mtl.embedders import EMBEDDERS
from mtl.embedders.interface import EmbeddingsRequest
from mtl.methods.coded import Coded
from mtl.methods.costs import networks_cost
from mtl.methods.floors.trained import TrainedFloor
from mtl.methods.lstm.linear import LinearModels, outputs_version, train_linear
from mtl.methods.lstm.outputs import encode_once
from mtl.methods.lstm.stage1 import SharedStage1, pretrain, stage1_key
from mtl.methods.lstm.trained import TrainedLstm
from mtl.methods.method import BuildRequest, Method, Predictions
from mtl.methods.networks import TaskInput
from mtl.methods.stage2 import Finetuning
from mtl.model.lstm import check_recurrence
from mtl.model.network import Network
from mtl.model.sequences import Sequences
from mtl.runs.folder import finetune_folder, pretrain_folder
from mtl.tasks.metrics import metric_named
from mtl.tasks.task import Task
from mtl.training.precision import mixed_precision, training_precision


class TwoStages(Method):
    """`mtl.methods.method.Method` of the LSTM."""

    def __init__(self, request: BuildRequest) -> None:
        """Read the texts and their vectors. Raises InputError for vectors that cannot be read."""
        super().__init__(request)
        config, language = self.config, self.suite.language
        device = device_of(config.trainer.accelerator)
        if device.type == "mps":
            check_recurrence(device)
        cache_dir = Path(config.cache_dir)
        # Linear models read the texts as they are, the encoder with what marked spans and boundary words add.
        self.plain_dataset = self.dataset
        self.plain_texts = tokenized(self.dataset.texts, language, config.max_length, cache_dir)
        self.dataset, self.texts = with_token_spans(
            self.plain_dataset, self.plain_texts, language, config.max_length, config.boundary_words
        )
        train_texts = self.dataset.distinct_texts("train")
        described = EmbeddingsRequest(config.embeddings, self.texts, train_texts, request.vectors, cache_dir, device)
        self.embeddings = EMBEDDERS[config.embeddings.name].build(described)
        logger.info("%s embeddings: %s", config.embeddings.name, self.embeddings.coverage)
        self._describe()
        self._stage1_records = request.folder.absolute().parent / ".stage1"  # beside the folders of the suite's runs
        self._network: Network | None = None  # the last seed's
        self._encoding_seconds = 0.0  # of the last seed's frozen encoder

    def _describe(self) -> None:
        """Set the fingerprints and the facts of the run."""
        self.fingerprints |= {"embeddings": self.embeddings.fingerprint(), "tokenizer": moses_version()}
        if self.config.head.linear:
            self.fingerprints["linear"] = outputs_version(self.config.floor)
        self.facts["embeddings_coverage"] = self.embeddings.coverage.as_dict()
        self.facts["precision"] = training_precision(self.config.trainer)
        self.facts["hidden_size"] = self.config.encoder.hidden_size
        threshold = self.config.finetune.threshold
        tasks = [task.id for task in self.dataset.trained_tasks if metric_named(task.metric).threshold]
        if threshold != "argmax" and tasks:
            rows = "resamples of dev" if threshold == "bagged" else "dev"
            self.facts["notes"] = [f"The decision threshold was chosen on {rows}: {', '.join(tasks)}."]

    @cached_property
    def sequences(self) -> Sequences:
        """The encoder's input. An ELMo computes it, for hours perhaps: only for a run that is to be trained."""
        return self.embeddings.sequences(self.texts)

    @cached_property
    def linear(self) -> LinearModels | None:
        """The linear models to whose outputs heads add theirs (`head.linear`); None without them."""
        if not self.config.head.linear:
            return None
        return train_linear(self.config, self.plain_dataset, self.plain_texts, self.suite.language)

    @cached_property
    def data(self) -> Coded:
        """What heads are trained on."""
        base = {} if self.linear is None else self.linear.outputs
        return Coded(self.dataset, self.config.head.overlap, self.suite.shown, base)

    def save(self, folder: Path) -> None:
        """Write what the embeddings need for new texts, and compute what all seeds read."""
        self.embeddings.save(folder)
        _ = self.sequences, self.linear  # both are computed when they are first asked for

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        if self.linear is not None:
            self.linear.write(folder)
        shared = SharedStage1(self._stage1_records, self.shared(seed))
        stage1_folder = pretrain_folder(folder)
        network = pretrain(self.config, self.data, self.sequences, self.embeddings, seed, stage1_folder, shared)
        gc.collect()  # Lightning's objects of earlier stages refer to each other, and hold optimizer states and the last seed's token outputs
        input_for = self._stage2_inputs(network, seed, folder)
        for task in self.dataset.trained_tasks:
            stage = Finetuning(self.config, self.data, task, input_for(task), seed, finetune_folder(folder, task.id))
            trained = stage.train(network.heads)
            for answered in self.dataset.answered(task):
                yield answered, stage.predict(trained, answered)
        self._network = network

    def _stage2_inputs(self, network: Network, seed: int, folder: Path) -> Callable[[Task], TaskInput]:
        """What makes the input of a task's head in stage 2. A frozen encoder computes its outputs for all tasks now."""
        config, encoder, start = self.config, network.encoder, time.monotonic()
        assert encoder is not None
        if config.finetune.train_encoder:
            return lambda task: TaskInput(self.sequences, encoder=encoder.for_task())  # each task trains its own copy
        with mixed_precision(config.trainer, device_of(config.trainer.accelerator)):
            encoded = encode_once(config, self.dataset, self.sequences, network, seed, folder)
        self._encoding_seconds = time.monotonic() - start
        return lambda task: encoded.input_for(network.heads, task)

    def shared(self, seed: int) -> str:
        """The key of stage 1."""
        tasks = [task.id for task in self.dataset.tasks]
        return stage1_key(self.config, tasks, {**self.dataset.fingerprints, **self.fingerprints}, seed)

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """Parameters are those of one encoder, all heads and linear models; an ELMo's are embeddings. The speed is on a CPU, without a cache."""
        config, network, embeddings = self.config, self._network, self.embeddings
        assert network is not None and network.encoder is not None
        encoder = network.encoder
        parameters = sum(weight.numel() for weight in [*encoder.lstm.parameters(), *network.heads.parameters()])
        seconds = self._encoding_seconds
        linear = None
        if self.linear is not None:
            parameters += sum(model.parameters for model in self.linear.models.values())
            seconds += self.linear.seconds
            linear = TrainedFloor(config, self.suite.language, self.linear.models)
        embeddings.to(torch.device("cpu"))
        trained = TrainedLstm(
            config, self.suite.language, folder, encoder.to("cpu"), embeddings.uncached_sequences, embeddings,
            self.dataset.answers, linear=linear,
        )  # fmt: skip
        cost = networks_cost(folder, self.dataset, trained.predict, embeddings.parameters(), parameters, seconds)
        embeddings.to(device_of(config.trainer.accelerator))
        return cost
