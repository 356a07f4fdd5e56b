"""Stage 1 that several runs share: runs that would train it exactly alike train it once.

A seed's stage 1 depends on the data, the embeddings and the settings that stage 1 reads. The key of a stage 1 is a hash of all of
these. A finished stage 1 is recorded in the cache under its key; another run with the same key takes its weights.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

import mtl
from mtl.config.files import flatten_config
from mtl.config.schema import INDIFFERENT, Config
from mtl.device import device_of
from mtl.errors import InputError
from mtl.files import link_or_copy, read_json, waiting_lock, write_json
from mtl.methods.lstm.entry import LSTM
from mtl.training.checkpoints import DONE, WEIGHTS
from mtl.training.precision import training_precision

logger = logging.getLogger("mtl")

# Settings that stage 1 does not read, beside those of other methods. A name that ends in a dot means all keys that begin with it.
# `suite` and `tasks` say where data comes from, which is compared by content.
UNREAD = ("finetune.", "submission.", "variant", "architecture", "preset", "suite", "tasks", "seeds")


def stage1_key(config: Config, inputs: Mapping[str, str], seed: int) -> str:
    """The hash of all that a seed's stage 1 depends on. inputs: fingerprints of the data and the embeddings, by name.

    The number of threads does not count, as it does not when a run continues.
    """
    left_out = (*UNREAD, *INDIFFERENT, "trainer.threads", "trainer.precision", "trainer.accelerator")
    settings = {
        key: value
        for key, value in flatten_config(config).items()
        if LSTM.reads_key(key)
        and key not in left_out
        and not key.startswith(tuple(n for n in left_out if n.endswith(".")))
    }
    where = [device_of(config.trainer.accelerator).type, training_precision(config.trainer)]
    content = [settings, dict(inputs), seed, where, mtl.__version__, torch.__version__]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class SharedStage1:
    """A seed's stage 1 as other runs share it. records: the folder of the records. key: as `stage1_key` returns."""

    records: Path
    key: str

    @contextmanager
    def reserved(self, title: str) -> Iterator[None]:
        """Within the block, no other process trains this stage 1. title: of the stage, in messages."""
        with waiting_lock(self.records / f"{self.key}.lock", f"{title} · another process trains the same"):
            yield

    def take(self, folder: Path, checkpoint: str, title: str) -> bool:
        """If another run has finished this stage 1, put its weights and its record into `folder`. Return whether it has.

        checkpoint: the validation whose weights are kept. They are linked, so they need no further space on one file system.
        """
        source = self._finished(WEIGHTS[checkpoint])
        if source is None:
            return False
        shutil.rmtree(folder, ignore_errors=True)
        link_or_copy(source / WEIGHTS[checkpoint], folder / WEIGHTS[checkpoint])
        write_json(folder / DONE, {**read_json(source / DONE), "trained_in": str(source)})
        logger.info("%s · trained already, in %s", title, source)
        return True

    def record(self, folder: Path) -> None:
        """Let other runs take the finished stage 1 in this folder."""
        write_json(self._path, {"folder": str(folder.resolve())})

    @property
    def _path(self) -> Path:
        return self.records / f"{self.key}.json"

    def _finished(self, weights: str) -> Path | None:
        """The folder of a finished stage 1 with this key, if the record names one that still has these weights."""
        if not self._path.exists():
            return None
        try:
            source = Path(read_json(self._path)["folder"])
            whole = read_json(source / DONE).get("key") == self.key
        except (InputError, KeyError, TypeError, AttributeError):
            return None
        return source if whole and (source / weights).exists() else None
