"""Read word vectors that gensim saved (`KeyedVectors.save`) without running any code from the file.

gensim writes pickles, and a pickle may name any function to be called when it is loaded. Here, every class and function that
a pickle names becomes a placeholder that only stores its arguments. The words and arrays are then read from the placeholders."""

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.arrays import read_array
from mtl.base.errors import InputError
from mtl.base.progress import Progress
from mtl.embedders.vector_files.fasttext_binary import ngram_hashes, ngram_sums
from mtl.embedders.vector_files.word_index import Arrays, FileVersion

_FLOATS = ("f2", "f4", "f8")


class GensimVectors:
    """A file that gensim 4 saved: its words and, unless they are in files of their own, its vectors stay in memory."""

    def __init__(self, path: Path) -> None:
        """Raises InputError if the file is damaged or holds anything else."""
        self.path = path
        with _damage_reported(path):
            with path.open("rb") as file:
                self._version = FileVersion.read(file)
            self._keyed = _load(path)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of words and n-gram buckets, and the size of a vector."""
        ngrams = 0 if self._keyed.ngrams is None else len(self._keyed.ngrams)
        return len(self._keyed.vectors) + ngrams, self._keyed.vectors.shape[1]

    def read(self, words: Sequence[bytes]) -> Arrays:
        """The vectors of `words`, which are distinct and UTF-8 encoded.

        Returns:
            the vectors, float32 (words, dim), zeros for unknown words, and two masks, bool (words,): the word is in the file; the word is
            not, but it has n-grams.

        Raises:
            InputError: if the file is damaged, or has changed since it was opened.
        """
        with self.path.open("rb") as file:
            self._version.check(self.path, file)
        with _damage_reported(self.path):
            return _look_up(self._keyed, words)


def gensim_blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
    """All words of a file that gensim 4 saved, with their vectors as `GensimVectors.read` gives them, in blocks.

    A block's vectors, float32 (words, dimension), have at most `block_bytes` bytes. Raises InputError for a damaged file.
    """
    with _damage_reported(path), Progress(f"searching {path.name}", None, "words") as bar:
        keyed = _load(path)
        words = (str(word).encode("utf-8", "surrogateescape") for word in keyed.rows)
        while block := list(islice(words, max(1, block_bytes // (4 * keyed.vectors.shape[1])))):
            yield block, _look_up(keyed, block)[0]
            bar.advance(len(block))


def gensim_arrays(path: Path) -> list[Path]:
    """The `.npy` files beside a file that gensim 4 saved which have its vectors. Raises InputError for a damaged file."""
    with _damage_reported(path):
        keyed = _load(path)
        arrays = [array for array in (keyed.vectors, keyed.ngrams) if isinstance(array, np.memmap)]
        return [Path(array.filename) for array in arrays if array.filename is not None]


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file raises into an InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # unpickling a damaged file can raise anything
        raise InputError(
            f"not vectors saved by gensim, or damaged ({' '.join(str(error).split())}); give the file that "
            "KeyedVectors.save() wrote, with the .npy files beside it",
            path=path,
        ) from None


class _Placeholder:
    """Replaces a class or a function that a pickle names, and the object that it would create."""

    arguments: tuple[Any, ...]
    state: Any

    def __new__(cls, *arguments: Any, **_: Any) -> "_Placeholder":
        placeholder = super().__new__(cls)
        placeholder.arguments, placeholder.state = arguments, None
        return placeholder

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        """Ignore the entries of mappings other than dict: they are not needed."""

    def extend(self, items: Any) -> None:
        """Ignore the entries of sequences other than list: they are not needed."""


class _Unpickler(pickle.Unpickler):
    """Imports nothing: every name in the pickle becomes a placeholder, except the function that decodes bytes."""

    def find_class(self, module: str, name: str) -> Any:
        # Pickles of protocol 2 write bytes as a call of this function.
        if (module, name) == ("_codecs", "encode"):
            return lambda text, _: text.encode("latin-1")
        return type(name, (_Placeholder,), {})


@dataclass(frozen=True)
class _KeyedVectors:
    """Word vectors in gensim's layout.

    A fastText word's vector is the mean of its row and its n-grams' rows.

    Attributes:
        rows: each word's row in `vectors`.
        vectors: float (words, dim).
        ngrams: the rows of fastText's character n-grams, float (buckets, dim); None for vectors without n-grams.
        min_n, max_n: the lengths of n-grams, in characters.
    """

    rows: dict[str, int]
    vectors: np.ndarray
    ngrams: np.ndarray | None
    min_n: int
    max_n: int


def _load(path: Path) -> _KeyedVectors:
    with path.open("rb") as file:
        saved, name = _Unpickler(file).load(), str(path)
    if isinstance(saved, _Placeholder) and isinstance(saved.state, dict) and "wv" in saved.state:
        saved, name = saved.state["wv"], f"{name}.wv"  # the vectors of a saved model
    state = saved.state if isinstance(saved, _Placeholder) else None
    if not isinstance(state, dict) or "key_to_index" not in state:
        message = (
            f"holds a {type(saved).__name__}, not vectors of gensim 4; give the file that KeyedVectors.save() wrote"
        )
        raise InputError(message, path=path)
    if not state.get("bucket"):
        kind = "vectors_vocab" if "bucket" in state else "vectors"
        return _KeyedVectors(state["key_to_index"], _array(state, kind, name), None, 0, 0)
    if not state.get("compatible_hash"):
        message = "fastText vectors saved by gensim older than 3.8.3; save them again with gensim 3.8.3 or newer"
        raise InputError(message, path=path)
    words, ngrams = (_array(state, kind, name) for kind in ("vectors_vocab", "vectors_ngrams"))
    return _KeyedVectors(state["key_to_index"], words, ngrams, int(state["min_n"]), int(state["max_n"]))


def _array(state: dict[str, Any], attribute: str, name: str) -> np.ndarray:
    """A matrix of floating-point numbers from the pickle, or from its .npy file. Raises ValueError for anything else."""
    if attribute in state.get("__numpys", ()):
        beside = Path(f"{name}.{attribute}.npy")
        array = read_array(beside, mapped=True)
    else:
        if state[attribute].state is None:
            raise ValueError(f"{attribute}: saved with pickle_protocol=5; save it with pickle_protocol=4")
        _, shape, dtype, by_column, content = state[attribute].state
        kind, order = dtype.arguments[0], dtype.state[1]
        if kind not in _FLOATS or order not in ("<", ">"):
            raise ValueError(f"{attribute}: numbers of type {order}{kind}")
        array = np.frombuffer(content, dtype=order + kind).reshape(shape, order="F" if by_column else "C")
    if array.ndim != 2 or array.dtype.kind != "f":
        raise ValueError(f"{attribute}: {array.dtype} of {array.ndim} dimensions where a matrix of numbers is expected")
    return array


def _look_up(keyed: _KeyedVectors, words: Sequence[bytes]) -> Arrays:
    keys = [word.decode("utf-8", "surrogateescape") for word in words]
    rows = np.fromiter((keyed.rows.get(key, -1) for key in keys), dtype=np.int64, count=len(keys))
    in_file = rows >= 0
    vectors = np.zeros((len(words), keyed.vectors.shape[1]), dtype=np.float32)
    vectors[in_file] = keyed.vectors[rows[in_file]]
    counts = np.zeros(len(words), dtype=np.int64)
    if keyed.ngrams is not None and len(words):
        hashes, owners = ngram_hashes(words, keyed.min_n, keyed.max_n)
        counts = np.bincount(owners, minlength=len(words))
        vectors += ngram_sums(keyed.ngrams, hashes % len(keyed.ngrams), owners, len(words))
        vectors /= np.maximum(counts + in_file, 1).astype(np.float32)[:, None]
    return vectors, in_file, ~in_file & (counts > 0)
