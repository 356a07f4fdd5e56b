"""Words that are not in a run's vocabulary: where their vectors come from, and how they are added."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from mtl.base.errors import InputError
from mtl.base.log import logger
from mtl.data.files import read_lines
from mtl.data.text import TokenizedTexts, Vocabulary
from mtl.embedders.interface import RunReaderRequest
from mtl.embedders.vector_files.vector_file import VectorFile
from mtl.embedders.vector_files.word_index import WordVectors
from mtl.embedders.words import VOCABULARY, WordEmbedder, word_sequences
from mtl.model.sequences import ArraySequences

MOST_NEW = 200_000  # words beside the vocabulary that a reader keeps; with 300 numbers each, 240 MB


def run_words(request: RunReaderRequest, source: "WordSource | None" = None) -> "WordReader":
    """The vocabulary of a finished run. New words get their vectors from the source; without one, from the run's file (`FileSource`) if the run takes
    all words from it; else they are unknown. Raises InputError if the run has no vectors, or another number of them than of words."""
    weight = request.weights.get("table.weight")
    if weight is None or weight.dim() != 2:
        message = "the weights of stage 1 have no word vectors; restore them, or make the run again"
        raise InputError(message, path=request.folder)
    if not (request.folder / VOCABULARY).is_file():
        raise InputError("no such file; restore it, or make the run again", path=request.folder / VOCABULARY)
    vocabulary = Vocabulary(read_lines(request.folder / VOCABULARY))
    if len(vocabulary) != len(weight):
        words, vectors = len(vocabulary) - Vocabulary.FIRST, len(weight) - Vocabulary.FIRST
        message = f"has {words} words, the run has vectors of {vectors}; restore the file"
        raise InputError(message, path=request.folder / VOCABULARY)
    embedder = WordEmbedder(len(weight), weight.shape[1], trainable=False)
    if source is None and request.path is not None and request.options.takes_all_words:
        source = FileSource(request.path, weight.shape[1], request.options.missing == "unknown")
    return WordReader(vocabulary, embedder, source)


class WordSource(Protocol):
    """Vectors of words that a run never saw."""

    def read(self, words: Sequence[str]) -> WordVectors:
        """The vectors of these words, and which of them have one. May be called several times."""

    def fingerprint(self) -> str:
        """A hash of everything that the vectors depend on."""


class FileSource:
    """A file of vectors. If it does not exist, no word has a vector."""

    def __init__(self, path: Path, dim: int | None, ngrams: bool) -> None:
        """Open the file at the first read; without the size of its vectors, `dim`, it must exist. `ngrams`: also vectors from character n-grams."""
        self.file, self.dim, self.ngrams = VectorFile(path), dim, ngrams

    def read(self, words: Sequence[str]) -> WordVectors:
        """As `WordSource.read`. Raises InputError for vectors of another size."""
        if self.dim is not None and not self.file.path.exists():
            logger.warning("%s does not exist: %d words that the run never saw are unknown", self.file.path, len(words))
            none = np.zeros(len(words), dtype=bool)
            return WordVectors(np.zeros((len(words), self.dim), dtype=np.float32), none, none)
        vectors = self.file.read(words)
        if self.dim is not None and self.dim != vectors.dim:
            message = f"has vectors of {vectors.dim} numbers, the run's have {self.dim}; put back the run's file"
            raise InputError(message, path=self.file.path)
        return vectors if self.ngrams else replace(vectors, from_ngrams=np.zeros(len(words), dtype=bool))

    def fingerprint(self) -> str:
        hashes = [("", self.file.sha256())] if self.file.path.exists() else None  # as fingerprints on disk have it
        return f"{hashes} {self.ngrams}"


class WordReader:
    """A vocabulary, to which words that have a vector in `source` are added when a text has them. All other words are unknown. No word is looked up
    twice, until MOST_NEW new words are known; then they are forgotten, so that memory stays bounded."""

    def __init__(self, vocabulary: Vocabulary, embedder: WordEmbedder, source: WordSource | None = None) -> None:
        """Start with the words of the vocabulary, of which the embedder has vectors, in this order. Without a source, no word is added."""
        self.vocabulary, self.embedder, self.source = vocabulary, embedder, source
        self.dim = embedder.table.embedding_dim
        self._first_new = len(vocabulary)
        self.without_vector: set[str] = set()

    def sequences(self, texts: TokenizedTexts) -> ArraySequences:
        """The texts as word ids, which are valid until the next call. New words that have a vector are added to the vocabulary."""
        self.look_up(texts.types)
        return word_sequences(self.vocabulary, texts)

    def have_vectors(self, texts: TokenizedTexts) -> np.ndarray:
        return self.vocabulary.ids(texts.types) != Vocabulary.UNKNOWN

    def fingerprint(self) -> str:
        """A hash of the vocabulary, and of the source of new words."""
        words = "\n".join(self.vocabulary.words[: self._first_new - Vocabulary.FIRST])
        source = "" if self.source is None else self.source.fingerprint()
        return hashlib.sha256(f"{words}\0{source}".encode("utf-8", "surrogatepass")).hexdigest()

    def parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.embedder.parameters())

    def look_up(self, words: Sequence[str]) -> None:
        """Add those of these distinct words that have a vector to the vocabulary."""
        if self.source is None:
            return
        if len(self.vocabulary) - self._first_new + len(self.without_vector) > MOST_NEW:
            self.vocabulary.shorten(self._first_new)
            self.embedder.added = self.embedder.added[:0]
            self.without_vector.clear()
        ids = self.vocabulary.ids(words)
        unknown = [word for word, id in zip(words, ids, strict=True) if id == Vocabulary.UNKNOWN]
        if new := [word for word in unknown if word not in self.without_vector]:
            read = self.source.read(new)
            self.embedder.add(read.vectors[read.has_vector])
            known = dict(zip(new, read.has_vector.tolist(), strict=True))
            self.vocabulary.add(word for word in new if known[word])
            self.without_vector.update(word for word in new if not known[word])
