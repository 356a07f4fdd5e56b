"""The registry entries of embeddings with a vector for each word: drawn at random (the row "LSTM" of KLEJ's Table 3), or from a file, as
fastText's, GloVe's, word2vec's."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import AT_LEAST_ONE, SIZE
from mtl.base.wings import lazy
from mtl.embedders.interface import EmbedderKind


@dataclass(kw_only=True)
class RandomOptions(EmbedderOptions):
    """The keys of random embeddings; configs/embeddings/random.yaml explains them."""

    dim: Annotated[int, SIZE]
    trainable: bool
    min_count: Annotated[int, AT_LEAST_ONE]
    max_words: Annotated[int, AT_LEAST_ONE] | None = None
    sparse: bool = False


@dataclass(kw_only=True)
class StaticOptions(EmbedderOptions):
    """The keys of static embeddings; configs/embeddings/fasttext.yaml and glove.yaml explain them."""

    path: str | None = None
    dim: Annotated[int, SIZE] | None = None
    trainable: bool
    min_count: Annotated[int, AT_LEAST_ONE]
    max_words: Annotated[int, AT_LEAST_ONE] | None = None
    missing: Literal["unknown", "random"] = "unknown"
    sparse: bool = False

    @property
    def takes_all_words(self) -> bool:
        """Whether all words of all texts get their vectors from the file, new words at prediction time too."""
        return self.min_count == 1 and self.max_words is None


def static_kind(title: str) -> EmbedderKind:
    """The registry entry of vectors that are read from a file, in any of the formats of `VectorFile`."""
    return EmbedderKind(
        title=title,
        options=StaticOptions,
        build=lazy("mtl.embedders.words:static_embeddings"),
        load=lazy("mtl.embedders.new_words:run_words"),
        exists=Path.exists,
        by_word=True,
    )


RANDOM = EmbedderKind(
    title="random",
    options=RandomOptions,
    build=lazy("mtl.embedders.words:random_embeddings"),
    load=lazy("mtl.embedders.new_words:run_words"),
)
FASTTEXT = static_kind("fastText")
GLOVE = static_kind("GloVe")
WORD2VEC = static_kind("word2vec")
