"""Embeddings with a vector for each word: drawn at random (the row "LSTM" of KLEJ's Table 3), or from a file, as fastText's, GloVe's, word2vec's."""

from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from mtl.base.errors import InputError
from mtl.base.settings.schema import EmbedderOptions
from mtl.base.typed import AT_LEAST_ONE, SIZE
from mtl.base.wings import lazy
from mtl.embedders.interface import EmbedderKind, EmbeddingsRequest, Reader, RunReaderRequest

if TYPE_CHECKING:
    from mtl.embedders.words import WordEmbeddings


@dataclass(kw_only=True)
class RandomOptions(EmbedderOptions):
    """The keys of random embeddings; configs/embeddings/random.yaml explains them."""

    dim: Annotated[int, SIZE]
    trainable: bool
    min_count: Annotated[int, AT_LEAST_ONE]
    max_words: Annotated[int, AT_LEAST_ONE] | None = None
    sparse: bool = False


def random_embeddings(request: EmbeddingsRequest) -> "WordEmbeddings":
    """Vectors drawn from N(0, 1) for the words of `frequent_words`. All other words are unknown."""
    from mtl.data.text import Vocabulary
    from mtl.embedders.words import WordEmbeddings, coverage, frequent_words

    options, texts = request.options, request.texts
    vocabulary = Vocabulary(frequent_words(texts, request.training_texts, options.min_count, options.max_words))
    covered = coverage(texts, vocabulary.ids(texts.types) != Vocabulary.UNKNOWN)
    return WordEmbeddings(vocabulary, options.dim, None, covered, options.trainable, sparse=options.sparse)


def static_kind(title: str) -> EmbedderKind:
    """The registry entry of vectors that are read from a file, in any of the formats of `VectorFile`."""
    return EmbedderKind(
        title=title,
        options=StaticOptions,
        build=static_embeddings,
        load=load_run,
        exists=Path.exists,
        by_word=True,
    )


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


def static_embeddings(request: EmbeddingsRequest) -> "WordEmbeddings":
    """The vectors of the dataset's words, read from the file at `request.path`.

    With the options min_count=1 and max_words=None, these are all words of all texts. Otherwise, they are the words of
    `frequent_words`; all other words are unknown.
    A word that is not in the file: with missing=unknown, it gets a vector from its character n-grams if the file is a .bin, otherwise it
    is unknown. With missing=random, each seed draws its vector from N(0, 1), as that of the unknown word, and n-grams are not used: GLUE's
    baselines and jiant read all vectors as text, and all other words start from N(0, 1). Boundary words are not looked up; each seed draws theirs.
    Raises InputError for a file that cannot be read, or whose vectors do not have `options.dim` numbers (None: any).
    """
    from mtl.data.text import BOUNDARIES, Vocabulary
    from mtl.embedders.vector_files.vector_file import VectorFile
    from mtl.embedders.words import WordEmbeddings, coverage, frequent_words

    options, texts, path = request.options, request.texts, request.path
    assert path is not None
    types = texts.types
    if not options.takes_all_words:
        types = frequent_words(texts, request.training_texts, options.min_count, options.max_words)
    words = [word for word in types if word not in BOUNDARIES]
    if not words:
        message = "no word occurs so often in the training texts; set a smaller one"
        raise InputError(message, key="embeddings.min_count", value=options.min_count)
    read = VectorFile(path).read_once(words)
    check_dim(path, read.dim, options.dim)
    has_vector = read.has_vector if options.missing == "unknown" else read.in_file
    if not has_vector.any():
        raise InputError(f"knows none of the suite's {len(words)} words; is it for another language?", path=path)
    known, in_file = set(compress(words, has_vector)), set(compress(words, read.in_file))
    every = options.missing == "random"
    vocabulary = Vocabulary(word for word in types if every or word in known or word in BOUNDARIES)
    rows, given = vocabulary.ids(compress(words, has_vector)), read.vectors[has_vector]
    vectors, drawn = np.zeros((len(vocabulary), read.dim), dtype=np.float32), np.ones(len(vocabulary), dtype=bool)
    vectors[rows], vectors[Vocabulary.UNKNOWN] = given, given.mean(axis=0)
    drawn[rows], drawn[Vocabulary.PADDING], drawn[Vocabulary.UNKNOWN] = False, False, every
    has_own = np.array([word in in_file or word in BOUNDARIES for word in texts.types])
    from_ngrams = np.array([word in known for word in texts.types]) & ~has_own
    return WordEmbeddings(
        *(vocabulary, read.dim, vectors, coverage(texts, has_own, from_ngrams), options.trainable),
        drawn=drawn if drawn.any() else None,
        sparse=options.sparse,
    )


def load_run(request: RunReaderRequest) -> Reader:
    """The words of a finished run; if it takes all words, new words get their vectors from the file."""
    from mtl.embedders.new_words import run_words

    file = request.path if request.options.takes_all_words else None
    return run_words(request, file, ngrams=request.options.missing == "unknown")


def check_dim(path: Path, dim: int, wanted: int | None) -> None:
    """Raise InputError for vectors of another size than `embeddings.dim` wants."""
    if wanted not in (None, dim):
        message = f"has vectors of {dim} numbers, but embeddings.dim={wanted}; drop embeddings.dim or set it to {dim}"
        raise InputError(message, path=path)


RANDOM = EmbedderKind(
    title="random",
    options=RandomOptions,
    build=random_embeddings,
    load=lazy("mtl.embedders.new_words:run_words"),
)
FASTTEXT = static_kind("fastText")
GLOVE = static_kind("GloVe")
WORD2VEC = static_kind("word2vec")
