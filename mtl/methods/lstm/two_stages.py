"""The joint BiLSTM: stage 1 on all tasks, then stage 2 on each (KLEJ, section 4.1)."""

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtl.config.load import Config
from mtl.data.dataset import Dataset
from mtl.device import device_of
from mtl.embedders import build_embeddings
from mtl.embedders.words import WordEmbeddings
from mtl.files import write_text
from mtl.memory import peak_gpu_memory
from mtl.methods.lstm.stage1 import pretrain
from mtl.methods.lstm.stage2 import check_disk, finetune, stage_inputs
from mtl.methods.throughput import sentences_per_second
from mtl.model.encoder import Encoder
from mtl.model.multitask import Heads
from mtl.runs.folder import RunFolder, read_json
from mtl.runs.predictor import Predictor
from mtl.tasks.suite import Suite, Task

logger = logging.getLogger("mtl")


class TwoStages:
    """`mtl.methods.method.Method` of the LSTM."""

    def __init__(self, config: Config, suite: Suite, dataset: Dataset, run_dir: Path) -> None:
        """Finds the embeddings. Raises InputError where they are not there, or there is too little disk."""
        self.config = config
        self.suite = suite
        self.dataset = dataset
        check_disk(config, dataset, run_dir)
        self.embeddings = build_embeddings(config, suite, dataset, device_of(config.trainer.accelerator))
        logger.info("%s embeddings: %s", config.embeddings.name, self.embeddings.coverage)
        self.table = self.embeddings.table(dataset.texts)
        self.fingerprints = {"embeddings": self.embeddings.fingerprint()}
        self.facts = {"embeddings_coverage": self.embeddings.coverage.as_dict()}
        self._model: tuple[Encoder, Heads] | None = None
        self._encoding_seconds = 0.0

    def record(self, folder: RunFolder) -> None:
        """Keep the vocabulary, in order."""
        if isinstance(self.embeddings, WordEmbeddings):
            write_text(folder.vocabulary, "".join(f"{word}\n" for word in self.embeddings.vocabulary.words))

    def predictions(self, seed: int, folder: RunFolder) -> Iterator[tuple[Task, dict[str, np.ndarray]]]:
        config, dataset = self.config, self.dataset
        encoder, heads = pretrain(config, dataset, self.table, self.embeddings, seed, folder.pretrained(seed))
        start = time.monotonic()
        encoded = stage_inputs(config, dataset, self.table, encoder, heads, seed, folder.seed(seed))
        self._encoding_seconds = time.monotonic() - start
        for task in dataset.tasks:
            yield task, finetune(config, dataset, task, encoded, heads, seed, folder.finetuned(seed, task.id))
        self._model = encoder, heads

    def cost(self, seed: int, folder: RunFolder) -> dict[str, Any]:
        """Parameters are those of one encoder and all heads; an ELMo's own count among the embeddings'."""
        assert self._model is not None
        encoder, heads = self._model
        stages = [read_json(folder.pretrained(seed) / "done.json")]
        stages += [read_json(folder.finetuned(seed, task.id) / "done.json") for task in self.dataset.tasks]
        without = sum(p.numel() for p in [*encoder.lstm.parameters(), *heads.parameters()])
        cost = {
            "parameters": without + self.embeddings.parameters(),
            "parameters_without_embeddings": without,
            "pretrain_seconds": stages[0]["seconds"],
            "finetune_seconds": self._encoding_seconds + sum(stage["seconds"] for stage in stages[1:]),
            "peak_memory": max(stage["peak_memory"] for stage in stages),
            "sentences_per_second": self._speed(encoder, seed, folder),
        }
        if (gpu := peak_gpu_memory()) is not None:
            cost["peak_gpu_memory"] = gpu
        return cost

    def _speed(self, encoder: Encoder, seed: int, folder: RunFolder) -> float:
        """Measured on the CPU, with vectors computed as for texts that nobody has seen."""
        device = device_of(self.config.trainer.accelerator)
        self.embeddings.to(torch.device("cpu"))
        predictor = Predictor(self.config, self.suite, folder, seed, encoder.to("cpu"), self.embeddings.live)
        speed = sentences_per_second(predictor.predict, self.dataset)
        self.embeddings.to(device)
        return speed
