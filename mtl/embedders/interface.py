"""The interface of a kind of embeddings: how it is built for a run, and loaded for prediction."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mtl.base.extras import check_installed
from mtl.base.settings.schema import EmbedderOptions
from mtl.data.text import BOUNDARIES, TokenizedTexts

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from mtl.model.sequences import Sequences


@dataclass(frozen=True)
class EmbeddingsRequest:
    """What the embeddings of a run are built from."""

    options: Any  # an instance of `EmbedderKind.options`
    texts: TokenizedTexts
    training_texts: np.ndarray  # int64 (texts,), the indices of the texts that occur in training rows
    path: Path | None  # the file or folder of the vectors; None for kinds that need none
    cache_dir: Path  # a folder for what is computed once
    device: "torch.device"  # where to compute vectors that are not only looked up


@dataclass(frozen=True)
class RunReaderRequest:
    """What the reader of a finished run is loaded from: as `EmbeddingsRequest`, and the folder of the run."""

    options: Any
    folder: Path
    weights: Mapping[str, "Tensor"]  # those of the embedder after stage 1
    fingerprint: str  # `Embeddings.fingerprint` of the run
    path: Path | None
    device: "torch.device"


@dataclass(frozen=True)
class Coverage:
    """How many types (distinct words) and tokens of the dataset's distinct texts have vectors: pairs (types, tokens), without boundary words."""

    found: tuple[int, int]  # with a vector of their own
    from_ngrams: tuple[int, int]  # with a vector from their character n-grams
    unknown: tuple[int, int]  # without one in the file or vocabulary, also if they get a random one
    unknown_types: np.ndarray = field(repr=False, compare=False)  # bool (types,), the words without a vector

    def __str__(self) -> str:
        by_source = {"known": self.found, "from n-grams": self.from_ngrams, "unknown": self.unknown}
        all_types, all_tokens = map(sum, zip(*by_source.values(), strict=True))
        return "; ".join(
            f"{name} {types:,} types ({types / all_types:.1%}), {tokens:,} tokens ({tokens / all_tokens:.1%})"
            for name, (types, tokens) in by_source.items()
            if types
        )

    def as_dict(self) -> dict[str, dict[str, int]]:
        """The numbers as in summary.json: {"found": {"types": …, "tokens": …}, …}."""
        by_source = {"found": self.found, "from_ngrams": self.from_ngrams, "unknown": self.unknown}
        return {name: {"types": types, "tokens": tokens} for name, (types, tokens) in by_source.items()}


def count_coverage(texts: TokenizedTexts, has_vector: np.ndarray, from_ngrams: np.ndarray | None = None) -> Coverage:
    """Count the types and tokens of the dataset's distinct texts. `has_vector` are the types with a vector of their own, bool (types,), and
    `from_ngrams` those whose vectors come from their n-grams, bool (types,); None for embeddings without n-grams."""
    tokens_by_type = np.bincount(texts.tokens, minlength=len(has_vector))
    is_word = np.array([word not in BOUNDARIES for word in texts.types], dtype=bool)
    from_ngrams = np.zeros_like(has_vector) if from_ngrams is None else from_ngrams
    unknown = is_word & ~(has_vector | from_ngrams)

    def count(chosen: np.ndarray) -> tuple[int, int]:
        """The numbers of words and of their tokens among the chosen types, bool (types,)."""
        return int((chosen & is_word).sum()), int(tokens_by_type[chosen & is_word].sum())

    return Coverage(count(has_vector), count(from_ngrams), count(unknown), unknown)


class TokenVectors(Protocol):
    """What embeddings have in a run and afterwards."""

    @property
    def dim(self) -> int:
        """The size of a token's vector."""

    def fingerprint(self) -> str:
        """A hash of everything that the vectors depend on, except the weights of an embedder that is loaded."""

    def parameters(self) -> int:
        """The number of parameters that the vectors depend on, trained or not."""


class Embeddings(TokenVectors, Protocol):
    """The embeddings of a run. Each seed makes its own embedder from them."""

    @property
    def coverage(self) -> Coverage:
        """How many words of the dataset's texts have a vector."""

    def embedder(self) -> Any:
        """A new `mtl.model.sequences.Embedder`: a method, because each seed trains one of its own."""

    def sequences(self, texts: TokenizedTexts) -> "Sequences":
        """The embedder's input for the dataset's texts, from a cache if there is one."""

    def uncached_sequences(self, texts: TokenizedTexts) -> "Sequences":
        """The embedder's input for new texts, without a cache."""

    def to(self, device: "torch.device") -> None:
        """Use this device to compute vectors that are not only looked up."""

    def save(self, folder: Path) -> None:
        """Write to the run's folder what `EmbedderKind.load` needs in addition to the weights of a seed."""


class Reader(TokenVectors, Protocol):
    """The embeddings of a finished run, or vectors without a run (`mtl.vectors`), for texts that may have new words."""

    @property
    def embedder(self) -> Any:
        """The `mtl.model.sequences.Embedder`: a property, because a reader has a single one, whose weights are loaded afterwards."""

    def sequences(self, texts: TokenizedTexts) -> "Sequences":
        """The embedder's input for the texts, valid until the next call."""

    def have_vectors(self, texts: TokenizedTexts) -> np.ndarray:
        """Which of `texts.types` have a vector of their own, bool (types,); after `sequences`."""


@dataclass(frozen=True)
class EmbedderKind:
    """One kind of embeddings: an entry of `mtl.embedders.EMBEDDERS`."""

    title: str  # as in the table row "LSTM, fastText, frozen"
    options: type[EmbedderOptions]  # its keys below `embeddings.` and their types
    build: Callable[[EmbeddingsRequest], Embeddings]  # makes the embeddings of a run
    load: Callable[[RunReaderRequest], Reader]  # makes the reader of a finished run
    exists: Callable[[Path], bool] | None = None  # whether a path holds complete vectors; None: they are not pretrained
    by_word: bool = False  # whether the vectors are a file with one vector for each word, which `VectorFile` reads
    extra: str | None = None  # the extra of mtl-baselines with the packages that `build` and `load` need

    def check_installed(self, name: str) -> None:
        """Raise InputError, which says what to install, if a package that the embeddings `name` need is missing."""
        if self.extra is not None:
            check_installed(self.extra, key="embeddings.name", value=name)
