"""The interface of a sentence encoder: what describes it, and what encodes."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.data.blocks import Encode, encode_blocks, text_blocks

BYTES_PER_WEIGHT = 4
MAX_LENGTH = 256  # tokens of a text, for encoders without a run or a limit of their own

# Called with blocks of texts and the prompt before each text, or None; returns the vectors of each block.
EncodeBlocks = Callable[[Iterable[list[str]], str | None], Iterator[np.ndarray]]


@dataclass(frozen=True)
class Description:
    """What an encoder is, in plain values for tables, the model metadata of mteb and model cards."""

    name: str  # as in file names: "fasttext-frozen"
    title: str  # as in tables: "LSTM, fastText, frozen"
    family: str  # the group of the table's row: "lstm", "average"
    dim: int  # the size of a vector
    language: str  # as in "pl"
    parameters: int  # the number of all that the vectors depend on
    parameters_without_embeddings: int  # those that are not in word vectors
    memory: int  # bytes of all weights
    max_length: int | None  # tokens; longer texts are cut; None: no limit
    trained_on: tuple[str, ...] = ()  # the tasks whose training rows it has seen, with labels or without: "klej/cbd"
    seed: int | None = None  # of the run; None for encoders that are not trained
    settings: str = ""  # what the vectors depend on, defaults included: "seed 2 (the best on dev), pooling max"


class SentenceEncoder(ABC):
    description: Description
    fingerprint: str  # a hash of everything that the vectors depend on: weights, word vectors and settings, but no path and no version
    prompts: Mapping[str, str] = {}  # put before a text, by mteb's names: of tasks, their types, "query", "document"
    similarity = "cosine"  # how vectors are compared where a task does not say so; or "dot", "euclidean", "manhattan"
    centre: np.ndarray | None = None  # float32 (dim,), subtracted from vectors; set before `fingerprint` is read

    @property
    def revision(self) -> str:
        return self.fingerprint[:12]

    @abstractmethod
    def encode(self, texts: Sequence[str], progress: bool = False, prompt: str | None = None) -> np.ndarray:
        """The vectors of texts, float32 (texts, dim), equal to 1e-5 in all batches. `prompt`: a value of `prompts`, or None. Raises InputError."""

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """The versions of the software that the vectors depend on, by name: mtl, and what makes tokens."""


class ModelEncoder(SentenceEncoder):
    """The pooled vectors of a model, minus `centre`, if there is one."""

    def __init__(self, model: Any, pooling: str, **facts: Any) -> None:
        """The model has what a `mtl.methods.method.Model` has for vectors. The facts are the fields of `Description` that do not follow from it."""
        self.model, self.pooling = model, pooling
        self.description = Description(
            dim=model.dim,
            parameters=model.parameters,
            parameters_without_embeddings=model.parameters_without_embeddings,
            memory=BYTES_PER_WEIGHT * model.parameters,
            **facts,
        )

    def encode(self, texts: Sequence[str], progress: bool = False, prompt: str | None = None) -> np.ndarray:
        from mtl.base.device import exact_arithmetic  # torch is slow to import, and reports read descriptions alone

        with exact_arithmetic():
            vectors = encode_blocks(texts, partial(self.model.encode, pooling=self.pooling), self.model.dim, progress)
        return vectors if self.centre is None else vectors - self.centre

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        centre = b"" if self.centre is None else self.centre.tobytes()
        return hashlib.sha256(f"{self.model.fingerprint()} {self.pooling}".encode() + centre).hexdigest()

    def versions(self) -> dict[str, str]:
        return self.model.versions()


@dataclass
class PretrainedSettings:
    path: str = ""  # a folder, or a name on the Hugging Face Hub
    language: str | None = None  # the language of its texts, as in "pl", for descriptions; None: not said
    device: str = "cpu"  # where to compute

    def check(self) -> None:
        check_language(self.language)
        if not self.path:
            raise InputError("has no value; name the model's folder, or a model on the Hugging Face Hub", key="path")


def check_language(code: str | None) -> None:
    """Raise InputError for what is no code of two letters as in ISO 639-1, or of three letters as in ISO 639-3."""
    if code is not None and not re.fullmatch("[a-z]{2,3}", code):
        raise InputError("no such language; give its code in ISO 639, as in language=pl", key="language", value=code)


def mean_vector(texts: Sequence[str], encode: Encode, title: str) -> np.ndarray:
    """The mean of the vectors of at least one text, float32 (dim,), which centred vectors lack. The progress has the title."""
    total = np.zeros(1)  # grows to (dim,)
    with Progress(title, len(texts), "texts") as bar:
        for _, block in text_blocks(texts):
            total = total + encode(block).sum(axis=0, dtype=np.float64)
            bar.advance(len(block))
    return (total / len(texts)).astype(np.float32)
