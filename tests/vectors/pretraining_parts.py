"""A made-up language and very small settings for the tests of pre-training."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from mtl.vectors.pretraining.settings import PretrainingSettings
from mtl.vectors.pretraining.vocabulary import learn_tokenizer

SIZES = {"vocab_size": 120, "max_length": 16, "num_layers": 2, "hidden_size": 32, "num_heads": 2}
STEPS = {"batch_size": 8, "learning_rate": 5e-3, "held_out": 0.1, "max_steps": 12, "validate_every": 4, "threads": 1}
SMALL = PretrainingSettings(**SIZES, **STEPS)  # type: ignore[arg-type]
GIVEN = {key: value for key, value in vars(SMALL).items() if value is not None}
ARGUMENTS = [f"{key}={str(value).lower()}" for key, value in GIVEN.items()]
WORDS = ["żółw", "żółwie", "ślimak", "ślimaki", "idzie", "idą", "drogą", "Łódź", "zażółcenie", "kot", "kotek", "kotki"]


def small(**changes: Any) -> PretrainingSettings:
    return replace(SMALL, **changes)


def lines(count: int = 150, seed: int = 0) -> list[str]:
    """Sentences in which each word is the next one of WORDS, so that a masked word follows from its neighbours."""
    rng = np.random.default_rng(seed)
    return [
        " ".join(WORDS[(start + i) % len(WORDS)] for i in range(size)) + "."
        for start, size in rng.integers(2, 12, (count, 2))
    ]


def tokenizer(texts: Sequence[str] | None = None, **changes: Any) -> Tokenizer:
    texts = lines() if texts is None else texts
    return learn_tokenizer(texts, texts, small(**changes))


def text_file(folder: Path, count: int = 150) -> Path:
    path = folder / "text.txt"
    path.write_text("".join(f"{line}\n" for line in lines(count)), encoding="utf-8")
    return path
