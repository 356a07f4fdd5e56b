"""Stage 1: train the encoder and all heads together on all tasks (KLEJ, section 4.1), once for all runs that would train it exactly alike.
A finished stage 1 is recorded beside the runs' folders under its key, a hash of all that it depends on; a run with this key takes its weights."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from mtl.base.device import device_of
from mtl.base.errors import InputError
from mtl.base.files import link_or_copy, write_json
from mtl.base.locks import lock
from mtl.base.log import logger
from mtl.base.settings.layers import flatten_config, matches
from mtl.base.settings.schema import INDIFFERENT, Config
from mtl.base.untrusted import read_json
from mtl.base.version import VERSION
from mtl.embedders.interface import Embeddings
from mtl.methods.coded import Coded
from mtl.methods.heads import check_size, new_heads
from mtl.methods.lstm.entry import LSTM
from mtl.methods.lstm.trained import new_encoder
from mtl.methods.network_training import Training, fit_tasks
from mtl.methods.networks import TaskInput
from mtl.model.network import Network
from mtl.model.sequences import Sequences
from mtl.runs.folder import FORMAT
from mtl.runs.records import read_stage
from mtl.tasks.task import Task
from mtl.training.checkpoints import DONE_FILE, WEIGHTS_FILES, is_checkpoint_of, load_finished
from mtl.training.optimizers import falling_adam
from mtl.training.precision import training_precision

TRAINED = 4  # numbers for a weight in training: itself, its gradient, and Adam's two moments
# Settings that stage 1 does not read, beside those of other methods. A name that ends in a dot means all keys that begin with it.
# `suite` and `tasks` say where data comes from, which is compared by content.
UNREAD = ("finetune.", "submission.", "variant", "architecture", "preset", "suite", "tasks", "seeds")


def stage1_key(config: Config, tasks: Sequence[str], inputs: Mapping[str, str], seed: int) -> str:
    """The hash of all that a seed's stage 1 depends on: `tasks` are the ids of the tasks in the order of the network's heads, and `inputs` by name
    the fingerprints of the data, the embeddings and the tokenizer. The number of threads does not count, as it does not when a run continues."""
    left_out = (*UNREAD, *INDIFFERENT, "trainer.threads", "trainer.precision", "trainer.accelerator")
    flat = flatten_config(config)
    settings = {key: value for key, value in flat.items() if LSTM.reads_key(key) and not matches(key, left_out)}
    if not config.trainer.callbacks:  # without any, the key is that of runs that could have none
        del settings["trainer.callbacks"]
    where = [device_of(config.trainer.accelerator).type, training_precision(config.trainer)]
    versions = [FORMAT, VERSION, torch.__version__, np.__version__]  # torch and numpy draw the random numbers
    content = [settings, list(tasks), dict(inputs), seed, where, versions]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class SharedStage1:
    """A seed's stage 1 as runs share it. Raises InputError for a folder of records that is a link, which leads anywhere."""

    records: Path  # the folder of the records of all runs
    key: str  # as `stage1_key` returns it

    def __post_init__(self) -> None:
        if self.records.is_symlink():
            raise InputError("is a link; remove it", path=self.records)

    def reserved(self, title: str) -> AbstractContextManager[None]:
        """Within the block, no other process trains this stage 1. The title is that of messages."""
        return lock(self.records / f"{self.key}.lock", f"{title} · another process trains the same")

    def take(self, folder: Path, network: nn.Module, title: str) -> bool:
        """If another run has finished this stage 1 and its weights fit the network, link or copy them and its record to `folder`. Return whether."""
        weights = WEIGHTS_FILES["best"]
        sources = ((self.records / relative).resolve() for relative in self._recorded_folders())
        usable = (source for source in sources if self._is_done(source) and is_checkpoint_of(network, source / weights))
        if (source := next(usable, None)) is None:
            return False
        done = {"trained_in": str(source), **read_stage(source / DONE_FILE)}
        shutil.rmtree(folder, ignore_errors=True)
        link_or_copy(source / weights, folder / weights)
        write_json(folder / DONE_FILE, done)
        self.record(folder)  # other runs can take it from here if the first run is removed
        logger.info("%s · trained already, in %s", title, source)
        return True

    def record(self, folder: Path) -> None:
        """Let other runs take the finished stage 1 in this folder, if it is the one with this key."""
        folders = self._recorded_folders()
        relative = os.path.relpath(folder.resolve(), self.records.resolve())  # the folder with all runs can be moved
        if relative not in folders and self._is_done(folder):
            write_json(self.records / f"{self.key}.json", {"folders": [*folders, relative]})

    def _recorded_folders(self) -> list[str]:
        """The folders with this stage 1, relative to that of the records; some may no longer have it. Empty if the record is damaged."""
        try:
            return read_json(self.records / f"{self.key}.json", dict[str, list[str]]).get("folders", [])
        except InputError:
            return []

    def _is_done(self, folder: Path) -> bool:
        """Whether the folder has this stage 1, finished."""
        try:
            return read_stage(folder / DONE_FILE).get("key") == self.key
        except InputError:
            return False


def pretrain(
    config: Config, data: Coded, texts: Sequences, embeddings: Embeddings, seed: int, folder: Path, shared: SharedStage1
) -> Network:
    """The network with the best weights of stage 1: loaded if `folder` has a finished stage, else those of another run, else trained in `folder`."""
    network = new_network(config, data.dataset.trained_tasks, data.outputs, embeddings, seed)
    if load_finished(network, folder):
        shared.record(folder)  # the process that finished it may have been killed before it did so
        return network
    title = f"seed {seed} · stage 1"
    with shared.reserved(title):
        if shared.take(folder, network, title):
            load_finished(network, folder)
            return network
        settings = config.pretrain
        training = Training(
            input=TaskInput(texts),
            rows={task.id: data.train_rows(task, config.loss, seed) for task in data.dataset.trained_tasks},
            optimization=falling_adam(settings.learning_rate, settings.final_learning_rate, settings.max_steps),
            section="pretrain",
            epoch_steps=min(settings.validate_every, settings.max_steps),
            total_steps=settings.max_steps,
            seed=seed,
            sampling=settings.sampling,
        )
        fit_tasks(config, data, network, training, title=title, folder=folder, facts={"key": shared.key})
        shared.record(folder)
    return network


def new_network(
    config: Config, tasks: Sequence[Task], outputs: Mapping[str, int], embeddings: Embeddings, seed: int
) -> Network:
    """The network before training, which the seed fixes; `outputs`: of heads for one input, by task. Raises InputError if memory cannot hold it."""
    table = embeddings.parameters() * (TRAINED if getattr(config.embeddings, "trainable", False) else 1)
    check_size(lambda: new_encoder(config, nn.Identity(), embeddings.dim), TRAINED, table)
    torch.manual_seed(seed)
    encoder = new_encoder(config, embeddings.embedder(), embeddings.dim)
    return Network(tasks, new_heads(config, tasks, outputs, encoder.output_size), encoder)
