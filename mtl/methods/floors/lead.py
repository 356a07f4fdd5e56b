"""The first sentences of a text as its summary: for news articles, hard to beat."""

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mtl.data.dataset import Split
from mtl.errors import InputError
from mtl.files import write_json
from mtl.memory import peak_memory
from mtl.methods.floors.sentences import sentences
from mtl.methods.folders import Chosen, chosen_file
from mtl.methods.kind import BuildRequest, Predictions
from mtl.progress import progress
from mtl.tasks.metrics import TIE, score
from mtl.tasks.task import Task
from mtl.untrusted import read_json

MOST_SENTENCES = 10  # numbers from 1 to this are tried on the training rows

logger = logging.getLogger("mtl")


class Lead:
    """`mtl.methods.kind.Method` of the first sentences. All seeds have the same predictions."""

    def __init__(self, request: BuildRequest) -> None:
        self.dataset = request.dataset
        self.language = request.suite.language
        self.sentences = request.config.lead.sentences
        self.fingerprints: dict[str, str] = {}
        self.facts: dict[str, Any] = {}

    def save(self, folder: Path) -> None:
        """Write nothing: there is no model."""

    def predictions(self, seed: int, folder: Path) -> Iterator[tuple[Task, Predictions]]:
        for task in self.dataset.trained_tasks:
            count = self._count(task, seed, folder)
            for other in self.dataset.tasks:
                if task.id in (other.id, other.answered_by):
                    splits = self.dataset.splits[other.id]
                    yield other, {name: self._lead(split, count) for name, split in splits.items() if name != "train"}

    def shared(self, seed: int) -> None:
        """Nothing."""

    def cost(self, seed: int, folder: Path) -> dict[str, Any]:
        """One parameter for each task: the number of sentences."""
        done = [read_json(chosen_file(folder, task.id), Chosen) for task in self.dataset.trained_tasks]
        return {
            "parameters": len(done),
            "parameters_without_embeddings": len(done),
            "pretrain_seconds": None,
            "finetune_seconds": sum(chosen["seconds"] for chosen in done),
            "peak_memory": peak_memory(),
            "sentences_per_second": None,
        }

    def _count(self, task: Task, seed: int, folder: Path) -> int:
        """The number of sentences: as configured, or the best on the training rows, by the task's metric; among equals, the smallest."""
        done = chosen_file(folder, task.id)
        if not done.exists():
            start = time.monotonic()
            count, trials = self.sentences or 1, dict[int, float]()
            if self.sentences is None:
                train = self.dataset.splits[task.id]["train"]
                for number in progress(range(1, MOST_SENTENCES + 1), f"seed {seed} · {task.id} · sentences", "numbers"):
                    trials[number] = score(task, self._lead(train, number), train.scored)
                    if trials[number] > trials[count] + TIE:
                        count = number
            seconds = time.monotonic() - start
            write_json(done, {"settings": {"sentences": count}, "seconds": seconds, "on_train": trials})
            logger.info("seed %d · %s · lead.sentences=%d", seed, task.id, count)
        chosen = read_json(done, Chosen)["settings"].get("sentences")
        if not isinstance(chosen, int) or not 1 <= chosen <= (self.sentences or MOST_SENTENCES):
            raise InputError(
                f"{done}: settings.sentences: must be a number of sentences; delete it, and run this again"
            )
        return chosen

    def _lead(self, split: Split, count: int) -> np.ndarray:
        """The first `count` sentences of each row's text, joined by spaces: object (rows,)."""
        texts = (self.dataset.texts[text] for text in split.texts[:, 0].tolist())
        leads = [" ".join(sentences(text, self.language)[:count]) for text in texts]
        return np.array(leads, dtype=object)
