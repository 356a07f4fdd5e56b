"""Read the pretrained vectors of a list of words; the memory depends on the list, not on the size of the file."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.files import sha256
from mtl.base.untrusted import open_regular
from mtl.embedders.vector_files.fasttext_binary import IndexedModel
from mtl.embedders.vector_files.fasttext_layout import MAGIC
from mtl.embedders.vector_files.text import IndexedText, read_text
from mtl.embedders.vector_files.word2vec_binary import IndexedWord2Vec, is_word2vec_binary
from mtl.embedders.vector_files.word_index import OpenVectors, WordVectors

_PICKLE_MAGIC = b"\x80"  # as in pickles of protocol 2 and newer, which gensim's save() writes
_CONVERT = (
    "is in gensim's own format, a pickle, which mtl does not read; convert it with gensim:"
    ' KeyedVectors.load("{0}").save_word2vec_format("{1}.bin", binary=True); of a model, save its .wv'
)
BLOCK_BYTES = 1 << 27  # of the vectors that `VectorFile.blocks` reads at once


class VectorFile:
    """A file of pretrained vectors, which may be missing until it is read; `read` may be called several times.
    The format follows from the file's content: a fastText model (.bin), text (.vec, and GloVe's .txt without a header), text that is gzipped
    (.vec.gz) or the only file in a zip, or word2vec's binary format (.bin). A fastText model also gives vectors to words outside its vocabulary. The
    first call of `read` indexes the file's words, so that later calls take milliseconds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened: OpenVectors | None = None
        self._version = 0, 0  # of the opened file: its size, and the time of its last change in nanoseconds

    @property
    def shape(self) -> tuple[int, int]:
        """How many vectors the file has, of words and of n-grams, and the size of a vector. Raises InputError as `read`."""
        return self._open().shape

    def read(self, words: Sequence[str]) -> WordVectors:
        """The vectors of `words`. Raises InputError if the file is missing, damaged, in another format, or has changed since the first call."""
        return self._read(words, lambda distinct: self._open().read(distinct))

    def read_once(self, words: Sequence[str]) -> WordVectors:
        """The vectors of `words`, as `read` gives them, and nothing kept for later calls: a packed text is read without unpacking it."""

        def read(distinct: Sequence[bytes]) -> WordVectors:
            form = self._format()
            return read_text(self.path, distinct) if form is IndexedText else form(self.path).read(distinct)

        return self._read(words, read)

    def blocks(self, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[list[str], np.ndarray]]:
        """All words with their vectors, in blocks: float32 (words, dim) of at most so many bytes. A text file may repeat words. Errors: as `read`."""
        with self._errors_reported():
            for words, vectors in self._format().blocks(self.path, block_bytes):
                self._check_finite(words, vectors)
                yield [word.decode("utf-8", "surrogateescape") for word in words], vectors

    def sha256(self) -> str:
        """The SHA-256 of the file. Raises InputError if it cannot be read."""
        with self._errors_reported():
            return sha256(self.path)

    def _read(self, words: Sequence[str], read: Callable[[Sequence[bytes]], WordVectors]) -> WordVectors:
        """What `read` returns for the distinct ones among these words, for each of them."""
        encoded = [_encode(word) for word in words]
        distinct = list(dict.fromkeys(encoded))
        with self._errors_reported():
            result = read(distinct)
        self._check_finite(distinct, result.vectors)
        if len(distinct) == len(encoded):
            return result
        positions = {word: position for position, word in enumerate(distinct)}
        order = np.fromiter((positions[word] for word in encoded), dtype=np.int64, count=len(encoded))
        return WordVectors(result.vectors[order], result.in_file[order], result.from_ngrams[order])

    def _open(self) -> OpenVectors:
        with self._errors_reported():
            status = self.path.stat()
            version = status.st_size, status.st_mtime_ns
            if self._opened is None:
                self._opened, self._version = self._format()(self.path), version
            if version != self._version:
                raise InputError("has changed while it was read; run the command again", path=self.path)
            return self._opened

    def _format(self) -> type[OpenVectors]:
        with open_regular(self.path) as file:
            start = file.read(4)
        if not start:
            raise InputError("the file is empty; download or copy it again", path=self.path)
        if start.startswith(_PICKLE_MAGIC) or self.path.suffix == ".kv":
            raise InputError(_CONVERT.format(self.path.name, self.path.stem), path=self.path)
        if start[:1].isdigit() and is_word2vec_binary(self.path):
            return IndexedWord2Vec
        return IndexedModel if start == MAGIC or self.path.suffix in (".bin", ".ftz") else IndexedText

    @contextmanager
    def _errors_reported(self) -> Iterator[None]:
        """Raise InputError if there is no such file, and for whatever reading it raises."""
        if not self.path.exists():
            raise InputError("no such file; check the path of the vectors", path=self.path)
        if self.path.is_dir():
            raise InputError("this is a folder; give the path of a file of vectors", path=self.path)
        try:
            yield
        except OSError as error:
            message = f"cannot be read ({error}); check the file or download it again"
            raise InputError(message, path=self.path) from error

    def _check_finite(self, words: Sequence[bytes], vectors: np.ndarray) -> None:
        # A row's sum in float64 is finite if all its numbers are; it takes less memory than a mask.
        with np.errstate(all="ignore"):
            not_finite = np.flatnonzero(~np.isfinite(vectors.sum(axis=1, dtype=np.float64)))
        if len(not_finite):
            word = words[not_finite[0]].decode("utf-8", "backslashreplace")
            message = f"the vector of '{word}' contains NaN or infinite numbers (not finite); give another file"
            raise InputError(message, path=self.path)


def _encode(word: str) -> bytes:
    """A word's bytes in UTF-8. Bytes that were not UTF-8 when the word was read are restored."""
    try:
        return word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a surrogate pair, which no valid file contains
        return word.encode("utf-8", "surrogatepass")
