"""The settings of a pre-training: values of a file in configs/pretrain, then those of the command.

transformers is an optional package, and importing it takes seconds: only what trains with it imports it.
"""

import importlib.util
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from omegaconf import MISSING

from mtl.base.errors import InputError
from mtl.base.untrusted import read_yaml
from mtl.settings.bounds import check_known, typed_settings
from mtl.settings.layers import find_yaml, shipped


def check_installed() -> None:
    """Raise InputError if transformers or tokenizers is not installed."""
    for package in ("transformers", "tokenizers"):
        if importlib.util.find_spec(package) is None:
            raise InputError(f"{package} is not installed; install it: pip install 'mtl-baselines[transformers]'")


def library_versions() -> dict[str, str]:
    """The versions of transformers and of tokenizers, by name. Imports neither."""
    return {package: version(package) for package in ("transformers", "tokenizers")}


def import_transformers() -> None:
    """Import transformers, so that it writes no bars and notes of its own on standard error. Raises InputError if it is not installed."""
    check_installed()
    # Processes that are forked later would else print a warning; here all tokenizing ends before.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    import huggingface_hub
    from transformers.utils import logging

    huggingface_hub.logging.set_verbosity_error()
    logging.set_verbosity_error()
    logging.disable_progress_bar()


SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # have the ids from 0 on
LARGEST = 2**31 - 1
CHOICES = {
    "vocabulary": ("wordpiece", "bpe"),
    "documents": ("line", "block"),
    "segments": ("packed", "document"),
    "precision": ("32-true", "bf16-mixed"),
    "positions": ("random", "sinusoids"),
}
BUDGET = {"max_steps", "max_minutes"}
SHARES = ("dropout", "held_out", "mask_share", "initial_deviation", "beta2")
NOT_NEGATIVE = ("min_tokens", "learning_rate", "warmup", "weight_decay", "gradient_clip", "seed", "threads")


@dataclass
class PretrainingSettings:
    """The settings; docs/pretraining.md explains each. Those without a default are sizes: every file in configs/pretrain has them."""

    vocab_size: int = MISSING
    max_length: int = MISSING  # tokens of a segment, with the two that stand around it
    num_layers: int = MISSING
    hidden_size: int = MISSING
    num_heads: int = MISSING
    batch_size: int = MISSING  # segments
    learning_rate: float = MISSING  # the highest
    vocabulary: str = "wordpiece"
    alphabet: int = 1000
    min_count: int = 2
    lowercase: bool = False
    documents: str = "line"
    min_tokens: int = 0
    segments: str = "packed"
    held_out: float = 0.01
    intermediate_size: int | None = None
    initial_deviation: float = 0.02
    positions: str = "random"
    dropout: float = 0.1
    mask_share: float = 0.15
    whole_words: bool = True
    max_steps: int | None = None
    max_minutes: float | None = None
    accumulate: int = 1
    warmup: float = 0.1  # steps, or a share of the training if below 1
    final_learning_rate: float = 0.0
    beta2: float = 0.999
    weight_decay: float = 0.01
    gradient_clip: float = 1.0
    precision: str = "32-true"
    force_precision: bool = False
    validate_every: int = 500
    seed: int = 1
    threads: int = 0

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        for key, value in vars(self).items():
            if message := _problem(key, value):
                raise InputError(message, key=key, value=value)
        if self.final_learning_rate > self.learning_rate:
            raise InputError(
                f"must not exceed learning_rate={self.learning_rate}",
                key="final_learning_rate",
                value=self.final_learning_rate,
            )
        if self.hidden_size % self.num_heads:
            raise InputError(f"must divide hidden_size={self.hidden_size}", key="num_heads", value=self.num_heads)
        if self.batch_size % self.accumulate:
            raise InputError(f"must divide batch_size={self.batch_size}", key="accumulate", value=self.accumulate)
        if self.max_steps is None and self.max_minutes is None:
            raise InputError("set it, or max_minutes: one of them must limit the training", key="max_steps")
        if self.warmup >= 1 and self.max_minutes is not None:
            raise InputError(f"warmup={self.warmup:g}: with max_minutes, must be a share of the training, below 1")
        if self.warmup >= 1 and self.max_steps is not None and self.warmup >= self.max_steps:
            raise InputError(f"warmup={self.warmup:g}: must be less than max_steps={self.max_steps}")

    @property
    def chunk(self) -> int:
        """Tokens of a segment without the two that stand around it."""
        return self.max_length - 2


def _problem(key: str, value: Any) -> str | None:
    """What is wrong with a value by itself, or None."""
    if value is None or isinstance(value, bool):
        return None
    if key in CHOICES:
        return None if value in CHOICES[key] else f"must be {' or '.join(CHOICES[key])}"
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    if key in SHARES:
        good = 0 <= value < 1 and (value > 0 or key == "dropout")
        return None if good else "must lie between 0 and 1"
    least = {"max_length": 8, "vocab_size": len(SPECIAL_TOKENS) + 1}.get(key, 1)
    if key in (*NOT_NEGATIVE, "final_learning_rate"):
        return None if 0 <= value <= LARGEST else "must not be negative or that large"
    if key == "max_minutes":
        return None if 0 < value <= LARGEST else "must be positive, and not that large"
    return None if least <= value <= LARGEST else f"must be at least {least}, and not that large"


def read_settings(config: str, given: Mapping[str, Any]) -> PretrainingSettings:
    """The settings of a file in configs/pretrain, or at a path, with the values that are given. Raises InputError."""
    path = find_yaml("config", config, shipped("configs") / "pretrain")
    content = {str(key): value for key, value in read_yaml(path).items()}
    try:
        check_known(content, set(PretrainingSettings.__dataclass_fields__))
    except InputError as error:
        raise InputError(str(error), path=path) from None
    if BUDGET & set(given):  # the budget that the command names replaces that of the file
        content = {key: value for key, value in content.items() if key not in BUDGET}
    settings = typed_settings(PretrainingSettings, {**content, **given})
    settings.check()
    return settings
