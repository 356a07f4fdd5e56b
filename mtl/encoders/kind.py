"""The interface of a sentence encoder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Description:
    """What an encoder is, in plain values for tables, the model metadata of mteb and model cards.

    name: as in file names: "fasttext-frozen", "average-fasttext-mean-sif". title: as in tables: "LSTM, fastText, frozen".
    family: the group of the table's row: "lstm", "average". language: as in "pl". parameters_without_embeddings: those that are not
    in word vectors. memory: bytes of all weights. max_length: tokens; longer texts are cut; None: no limit.
    trained_on: the tasks whose training rows the encoder has seen, with labels or without, as in "klej/cbd": suite and id. suite,
    seed: of the run; None for encoders that are not trained. settings: what the vectors depend on, defaults included, in words: "seed 2 (the
    best on dev), pooling max, not centred".
    """

    name: str
    title: str
    family: str
    dim: int
    language: str
    parameters: int
    parameters_without_embeddings: int
    memory: int
    max_length: int | None
    trained_on: tuple[str, ...]
    suite: str | None
    seed: int | None
    settings: str = ""


class SentenceEncoder(Protocol):
    """Turns texts into vectors."""

    @property
    def description(self) -> Description:
        """What the encoder is."""

    def learn(self, texts: Sequence[str]) -> None:
        """Look up what `encode` needs of these texts at once, so that a file of vectors is read once for all of them."""

    def encode(self, texts: Sequence[str], progress: bool = False) -> "np.ndarray":
        """The vectors of these texts, float32 (texts, dim). A text's vector depends on its batch by at most 1e-5.

        progress: show a progress bar on standard error.
        """

    def fingerprint(self) -> str:
        """A hash of everything that the vectors depend on: weights, word vectors and settings, but no path and no version."""

    def versions(self) -> dict[str, str]:
        """The versions of the software that the vectors depend on, by name: mtl, and what makes tokens."""


@dataclass(frozen=True)
class Choices:
    """The settings that may be chosen on validation rows.

    values: of each setting, the values to try, the default first. fits: for all settings of an encoder with some of these values, those
    that it reads with them; None if the values contradict the other settings.
    """

    values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    fits: Callable[[Mapping[str, Any]], Mapping[str, Any] | None] = lambda settings: settings


@dataclass(frozen=True)
class EncoderKind:
    """One kind of sentence encoders: an entry of `mtl.encoders.ENCODERS`.

    name: as messages call it. takes: whether it opens the encoder with this name. open: the encoder with this name and these settings,
    by dotted keys; raises InputError for an unknown key, a bad value, and files that are missing. choices: returns the settings that may be
    chosen on validation rows.
    """

    name: str
    takes: Callable[[str], bool]
    open: Callable[[str, Mapping[str, Any]], SentenceEncoder]
    choices: Callable[[], Choices] = Choices
