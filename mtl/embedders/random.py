"""Embeddings learned from scratch: the row "LSTM" of KLEJ's Table 3."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import AT_LEAST_ONE, POSITIVE, SIZE
from mtl.base.wings import lazy
from mtl.embedders.interface import EmbedderKind, EmbeddingsRequest, unknown_words

if TYPE_CHECKING:
    from mtl.embedders.words import WordEmbeddings


@dataclass(kw_only=True)
class RandomOptions(EmbedderOptions):
    """The keys of random embeddings; configs/embeddings/random.yaml explains them."""

    dim: Annotated[int, SIZE]
    trainable: bool
    init_std: Annotated[float, POSITIVE]
    min_count: Annotated[int, AT_LEAST_ONE]
    max_words: Annotated[int, AT_LEAST_ONE] | None = None
    sparse: bool = False


def random_embeddings(request: EmbeddingsRequest) -> "WordEmbeddings":
    """Vectors drawn from N(0, init_std²) for the words of `frequent_words`. All other words are unknown."""
    from mtl.data.text import Vocabulary
    from mtl.embedders.words import WordEmbeddings, coverage, frequent_words

    options, texts = request.options, request.texts
    vocabulary = Vocabulary(frequent_words(texts, request.training_texts, options.min_count, options.max_words))
    covered = coverage(texts, vocabulary.ids(texts.types) != Vocabulary.UNKNOWN)
    return WordEmbeddings(
        *(vocabulary, options.dim, None, covered, options.trainable, options.init_std), sparse=options.sparse
    )


RANDOM = EmbedderKind(
    title="random",
    options=RandomOptions,
    build=random_embeddings,
    load=lazy("mtl.embedders.new_words:run_words"),
    files=None,
    audit_note=lambda options: f"random embeddings: {unknown_words(options.min_count, options.max_words)}",
)
