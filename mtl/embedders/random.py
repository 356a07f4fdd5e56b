"""Embeddings learned from scratch: the row "LSTM" of KLEJ's Table 3."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from omegaconf import MISSING

from mtl.config.schema import EmbedderOptions, check_least
from mtl.embedders.kind import BuildRequest, EmbedderKind, LoadRequest, Reader, unknown_words
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
    max_words: int | None = None  # older runs do not have this key, nor the next one
    sparse: bool = False

    def check(self) -> None:
        super().check()
        if self.max_words is not None:
            check_least("embeddings.max_words", self.max_words)
        check_least("embeddings.dim", self.dim)
        check_least("embeddings.min_count", self.min_count)
        if not self.init_std > 0:
            raise InputError(f"embeddings.init_std={self.init_std}: must be greater than 0")


def random_embeddings(request: BuildRequest) -> "WordEmbeddings":
    """Vectors drawn from N(0, init_std²) for the words of `frequent_words`. All other words are unknown."""
    from mtl.data.text import Vocabulary
    from mtl.embedders.coverage import coverage
    from mtl.embedders.words import WordEmbeddings, frequent_words

    options, texts = request.options, request.texts
    vocabulary = Vocabulary(frequent_words(texts, request.training_texts, options.min_count, options.max_words))
    covered = coverage(texts.tokens, vocabulary.ids(texts.types) != Vocabulary.UNKNOWN)
    return WordEmbeddings(
        *(vocabulary, options.dim, None, covered, options.trainable, options.init_std), sparse=options.sparse
    )


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
    audit_note=lambda options: f"random embeddings: {unknown_words(options.min_count, options.max_words)}",
)
