"""What a kind of embeddings is: its options, how it is built for a run, and how it is loaded for prediction."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mtl.config.schema import EmbedderOptions

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from mtl.data.text import TokenizedTexts
    from mtl.embedders.coverage import Coverage
    from mtl.embedders.sequences import Sequences


class Embedder(Protocol):
    """A module (`torch.nn.Module`) that turns what `Sequences.gather` returns into vectors: (batch, time, …) -> (batch, time, dim)."""

    def __call__(self, tokens: "Tensor") -> "Tensor": ...

    def for_task(self) -> "Embedder":
        """The embedder for an encoder that stage 2 trains for one task: a copy of what is trained, the same fixed weights."""


class Embeddings(Protocol):
    """The embeddings of a run; each seed makes an embedder of its own from them."""

    @property
    def dim(self) -> int:
        """Numbers in a token's vector."""

    @property
    def coverage(self) -> "Coverage":
        """How many words of the dataset's texts they know."""

    def fingerprint(self) -> str:
        """A hash of everything that their vectors depend on."""

    def embedder(self) -> Any:
        """A new `Embedder`."""

    def sequences(self, texts: "TokenizedTexts") -> "Sequences":
        """The dataset's texts as the embedder reads them, from a cache where there is one."""

    def uncached_sequences(self, texts: "TokenizedTexts") -> "Sequences":
        """New texts as the embedder reads them; nothing is stored."""

    def parameters(self) -> int:
        """Numbers that the vectors depend on, trained or not."""

    def to(self, device: "torch.device") -> None:
        """Compute on this device whatever takes more than a lookup."""

    def save(self, folder: Path) -> None:
        """Write to the run's folder what `EmbedderKind.load` needs beside the weights of a seed."""


class Reader(Protocol):
    """The embeddings of a finished run, for texts of any words."""

    @property
    def embedder(self) -> Any:
        """The `Embedder`; its weights are loaded afterwards."""

    @property
    def dim(self) -> int:
        """Numbers in a token's vector."""

    def sequences(self, texts: "TokenizedTexts") -> "Sequences":
        """The texts as the embedder reads them."""


@dataclass(frozen=True)
class BuildRequest:
    """What embeddings are built from.

    training_texts: int64 (texts,), which of the texts occur in training rows. path: the vectors' file or folder, of kinds that
    need one. device: where to compute vectors that take more than a lookup.
    """

    options: Any
    texts: "TokenizedTexts"
    training_texts: np.ndarray
    path: Path | None
    cache_dir: Path
    device: "torch.device"


@dataclass(frozen=True)
class LoadRequest:
    """What the embeddings of a finished run are loaded from.

    folder: the run's. weights: the embedder's, as stage 1 left them. fingerprint: `Embeddings.fingerprint` of the run.
    """

    options: Any
    folder: Path
    weights: Mapping[str, "Tensor"]
    fingerprint: str
    path: Path | None
    device: "torch.device"


@dataclass(frozen=True)
class VectorFiles:
    """Pretrained vectors of one kind.

    exists: whether a file or folder holds them, whole. problem: what is wrong with a path that holds none, or None.
    training: the class of the settings to train them with (`mtl.embedders.train.Training`).
    trained_name: the file or folder of vectors that were trained on the suite of a given name.
    """

    exists: Callable[[Path], bool]
    problem: Callable[[Path], str | None]
    training: Callable[[], type]
    trained_name: Callable[[str], str]


@dataclass(frozen=True)
class EmbedderKind:
    """One kind of embeddings: an entry of `mtl.embedders.EMBEDDERS`.

    title: in tables, as in "LSTM, fastText, frozen". options: its keys below `embeddings.` and their types. files: None where the
    vectors are not pretrained. audit_note: what an audit says of the words that it calls unknown.
    """

    title: str
    options: type[EmbedderOptions]
    build: Callable[[BuildRequest], Embeddings]
    load: Callable[[LoadRequest], Reader]
    files: VectorFiles | None
    audit_note: Callable[[Any], str]
