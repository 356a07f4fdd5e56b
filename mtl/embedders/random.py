"""Embeddings learned from scratch: the row "LSTM" of KLEJ's Table 3."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omegaconf import MISSING

from mtl.config.schema import EmbedderOptions, check_least
from mtl.embedders.kind import BuildRequest, EmbedderKind, LoadRequest, Reader
from mtl.errors import InputError

if TYPE_CHECKING:
    from mtl.embedders.words import WordEmbeddings


@dataclass
class RandomOptions(EmbedderOptions):
    """The keys of random embeddings; configs/embeddings/random.yaml explains them."""

    dim: int = MISSING
    trainable: bool = MISSING
    init_std: float = MISSING
    min_count: int = MISSING

    def check(self) -> None:
        super().check()
        check_least("embeddings.dim", self.dim)
        check_least("embeddings.min_count", self.min_count)
        if not self.init_std > 0:
            raise InputError(f"embeddings.init_std={self.init_std}: must be greater than 0")


def random_embeddings(request: BuildRequest) -> "WordEmbeddings":
    """Vectors drawn from N(0, init_std²) for words that occur at least `min_count` times in the training texts. All other words are
    unknown."""
    from mtl.data.text import Vocabulary
    from mtl.embedders.coverage import coverage
    from mtl.embedders.words import WordEmbeddings

    options, texts = request.options, request.texts
    counts = texts.counts(request.training_texts)
    words = [word for word, count in zip(texts.types, counts, strict=True) if count >= options.min_count]
    vocabulary = Vocabulary(words)
    covered = coverage(texts.tokens, vocabulary.ids(texts.types) != Vocabulary.UNKNOWN)
    return WordEmbeddings(vocabulary, options.dim, None, covered, options.trainable, options.init_std)


def load(request: LoadRequest) -> Reader:
    """The words of a finished run; all other words are unknown."""
    from mtl.embedders.words import WordReader

    return WordReader(request)


RANDOM = EmbedderKind(
    title="random",
    options=RandomOptions,
    build=random_embeddings,
    load=load,
    files=None,
    audit_note=lambda options: (
        f"random embeddings: words that occur fewer than {options.min_count} times in the training texts are unknown"
    ),
)
