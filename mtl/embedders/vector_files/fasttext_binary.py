"""Read the vectors of given words from a fastText `.bin` model (`mtl.embedders.vector_files.fasttext_layout`) without loading the model. A vector is
the mean of rows of the model's matrix: the word's own, if it is in the dictionary, and those of its n-grams. As official models hold gigabytes, the
dictionary is streamed, and only the blocks of the matrix that hold needed rows are read, all into one buffer. The matrix is not memory-mapped, since
the pages read would count as resident memory."""

from collections import deque
from collections.abc import Iterator, Sequence
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mtl.base.progress import Progress, hidden_progress
from mtl.embedders.vector_files.fasttext_layout import Header, dictionary_entries, find_matrix, read_header
from mtl.embedders.vector_files.word_index import Arrays, WordIndex

_END_OF_SENTENCE = b"</s>"  # a token that fastText adds; it has no n-grams
_BLOCK = 1 << 22  # bytes of the matrix read at once
_GAP = 1 << 17  # bytes; shorter gaps between needed rows are read, since a seek would take longer
_BLOCK_PAIRS = 1 << 13  # (row, word) pairs summed at once, to limit the size of temporary arrays
_BASIS, _PRIME = 2166136261, np.uint32(16777619)  # of FNV-1a in 32 bits
_HASHED_WORDS = 1 << 13  # words whose n-grams are hashed at once, to limit the size of temporary arrays


class IndexedModel:
    """An `OpenVectors`. Raises InputError if the file is not a complete, unquantized model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file, Progress(f"indexing {path.name}", None, "B") as bar:
            self._header = read_header(path, file)
            entries = dictionary_entries(path, file, self._header, bar)
            self._index = WordIndex.build(islice(entries, self._header.words))
            deque(entries, maxlen=0)  # the matrix follows the last entry
            self._start = find_matrix(path, file, self._header)

    @property
    def shape(self) -> tuple[int, int]:
        return self._header.words + self._header.buckets, self._header.dim

    def read(self, words: Sequence[bytes]) -> Arrays:
        """As `OpenVectors.read`; vectors equal those of fastText's `get_word_vector`. The labels of a classifier are not words."""
        with self.path.open("rb") as file, Progress(f"reading {self.path.name}", self.path.stat().st_size, "B") as bar:
            rows = np.full(len(words), -1, dtype=np.int64)
            for offset, row, position in self._index.candidates(words):
                entry = words[position] + b"\0"
                file.seek(offset)
                if file.read(len(entry)) == entry:
                    rows[position] = row
            return _OpenModel(file, self._header, self._start).vectors(words, rows, bar)

    @staticmethod
    def blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
        """As `OpenVectors.blocks`. Each block reads most n-gram rows, so large blocks are faster."""
        with hidden_progress():  # the parts are too small to show
            no_bar = Progress(path.name, None, "B")
        with path.open("rb") as dictionary, path.open("rb") as file:
            header = read_header(path, file)
            dictionary.seek(file.tell())
            deque(dictionary_entries(path, file, header, no_bar), maxlen=0)  # the matrix follows the last entry
            model = _OpenModel(file, header, find_matrix(path, file, header))
            words = (word for word, _ in islice(dictionary_entries(path, dictionary, header, no_bar), header.words))
            size = max(1, block_bytes // (4 * header.dim))
            done = 0
            with Progress(f"searching {path.name}", header.words, "words") as bar:
                while block := list(islice(words, size)):
                    vectors, _, _ = model.vectors(block, np.arange(done, done + len(block)), no_bar)
                    yield block, vectors
                    done += len(block)
                    bar.reach(done)


class _OpenModel(NamedTuple):
    """A model whose matrix is read."""

    file: BufferedReader
    header: Header
    start: int  # the offset of the first row

    def vectors(self, words: Sequence[bytes], rows: np.ndarray, bar: Progress) -> Arrays:
        """The result of `IndexedModel.read`, for words with these rows of the matrix (-1: not in the dictionary)."""
        from scipy.sparse import csr_array

        uses, counts = self._uses(words, rows)
        sums = np.zeros((len(words), self.header.dim), dtype=np.float32)
        row_bytes = self.header.dim * 4
        buffer = np.empty((max(1, _BLOCK // row_bytes), self.header.dim), dtype="<f4")
        for used_rows, owners in _parts(uses, len(words), len(buffer), _GAP // row_bytes):
            first_row, last_row = int(used_rows[0]), int(used_rows[-1])
            block = buffer[: last_row + 1 - first_row]
            self.file.seek(self.start + first_row * row_bytes)
            if self.file.readinto(block.data.cast("B")) < block.nbytes:
                raise OSError(f"{self.file.name} was truncated while it was read")
            distinct, places = np.unique(owners, return_inverse=True)
            ones = np.ones(len(owners), dtype=np.float32)
            sums[distinct] += csr_array((ones, (places, used_rows - first_row)), (len(distinct), len(block))) @ block
            bar.reach(self.file.tell())
        sums *= (1 / np.maximum(counts, 1)).astype(np.float32)[:, None]  # not divided: fastText rounds so
        in_file = rows >= 0
        return sums, in_file, ~in_file & (counts > 0)

    def _uses(self, words: Sequence[bytes], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which rows the words' vectors are made of: pairs of a row and a word, sorted, and the number of each word's rows, int64 (words,).
        A pair is one number, row × words + word, because NumPy sorts one array of numbers in the shortest time."""
        in_file = np.flatnonzero(rows >= 0)
        pairs = [rows[in_file] * len(words) + in_file]
        counts = (rows >= 0).astype(np.int64)
        hashed = np.array([place for place, word in enumerate(words) if word != _END_OF_SENTENCE], dtype=np.int64)
        hashed_count = len(hashed) if self.header.buckets else 0  # without buckets, the model has no n-grams
        for start in range(0, hashed_count, _HASHED_WORDS):
            batch = hashed[start : start + _HASHED_WORDS]
            hashes, owners = ngram_hashes([words[place] for place in batch], self.header.minn, self.header.maxn)
            counts[batch] += np.bincount(owners, minlength=len(batch))
            ngram_rows = self.header.words + hashes.astype(np.int64) % self.header.buckets
            pairs.append(ngram_rows * len(words) + batch[owners])
        merged = np.concatenate(pairs)
        merged.sort()
        return merged, counts


def _parts(pairs: np.ndarray, words: int, most_rows: int, most_gap: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The pairs of `_OpenModel._uses`, as rows and words, in parts that are read at once: at most _BLOCK_PAIRS pairs, whose rows stand within
    `most_rows` rows of the matrix, without gaps of more than `most_gap` rows between them."""
    start = 0
    while start < len(pairs):
        row_after = int(pairs[start]) // words + most_rows
        stop = min(start + _BLOCK_PAIRS, int(np.searchsorted(pairs, row_after * words)))
        rows, owners = np.divmod(pairs[start:stop], words)
        gaps = np.flatnonzero(np.diff(rows) > most_gap)
        if len(gaps):
            rows, owners = rows[: gaps[0] + 1], owners[: gaps[0] + 1]
        yield rows, owners
        start += len(rows)


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """The n-grams of minn to maxn characters of every `<word>`: their hashes, uint32, and the position of each one's word, int64. A character is a
    byte and the UTF-8 continuation bytes after it. The hash is FNV-1a over bytes that are sign-extended to 32 bits, because fastText reads them as
    C's signed char. If minn is 1, single characters are n-grams, except the brackets."""
    text = np.frombuffer(b"".join(b"<" + word + b">" for word in words), dtype=np.int8)
    signed = text.astype(np.int32).view(np.uint32)
    begins = np.flatnonzero((text.view(np.uint8) & 0xC0) != 0x80)  # the first byte of each character
    sizes = np.diff(begins, append=len(text))  # the bytes of each character
    word_sizes = np.fromiter((len(word) + 2 for word in words), dtype=np.int64, count=len(words))
    owners = np.repeat(np.arange(len(words)), word_sizes)[begins]  # the word of each character
    counts = np.bincount(owners, minlength=len(words))  # of the characters of each word
    ends = np.cumsum(counts)[owners]  # for each character, the first one after its word
    firsts = np.arange(len(begins))  # the first character of each n-gram
    is_bracket = (firsts == ends - counts[owners]) | (firsts == ends - 1)

    hashes = np.full(len(begins), _BASIS, dtype=np.uint32)
    all_hashes, all_owners = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.int64)]
    for n in range(1, maxn + 1):
        # The n-grams of n characters are those of one less that have a character behind them, in the same word.
        has_next = firsts + n <= ends[firsts]
        firsts, hashes = firsts[has_next], hashes[has_next]
        if not len(firsts):
            break
        lasts = firsts + n - 1
        for byte in range(int(sizes[lasts].max())):
            longer = np.flatnonzero(sizes[lasts] > byte)
            hashes[longer] = (hashes[longer] ^ signed[begins[lasts[longer]] + byte]) * _PRIME
        if n >= minn:
            is_ngram = ~is_bracket if n == 1 else np.ones(len(firsts), dtype=bool)
            all_hashes.append(hashes[is_ngram])
            all_owners.append(owners[firsts[is_ngram]])
    return np.concatenate(all_hashes), np.concatenate(all_owners)
