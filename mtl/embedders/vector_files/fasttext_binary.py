"""Read the vectors of words from a fastText `.bin` model (`mtl.embedders.vector_files.fasttext_layout`), which may have gigabytes. A vector is the
mean of rows of the model's matrix: the word's own, if it is in the dictionary, and those of its n-grams. The dictionary is streamed, and only the
needed chunks of the matrix are read, all into one buffer. It is not memory-mapped, since the pages read would count as resident memory."""

from collections.abc import Iterator, Sequence
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mtl.base.progress import Progress, hidden_progress
from mtl.embedders.vector_files.fasttext_layout import Header, dictionary_entries, find_matrix, read_header
from mtl.embedders.vector_files.word_index import WordIndex, WordVectors

_END_OF_SENTENCE = b"</s>"  # a token that fastText adds; it has no n-grams
_HASHED_WORDS = 1 << 13  # words whose n-grams are hashed at once, to limit the size of temporary arrays
# The limits of a chunk of the matrix, which is read at once.
_CHUNK_BYTES = 1 << 22
_CHUNK_PAIRS = 1 << 13  # pairs of a row and a word, to limit the size of temporary arrays
_GAP_BYTES = 1 << 17  # between two needed rows; a seek over a shorter gap would take longer than to read it
_BASIS, _PRIME = 2166136261, np.uint32(16777619)  # of FNV-1a in 32 bits


class IndexedModel:
    """An `OpenVectors`. Raises InputError if the file is not a complete, unquantized model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file, Progress(f"indexing {path.name}", None, "B") as bar:
            self._header = read_header(path, file)
            entries = dictionary_entries(path, file, self._header, bar)
            self._index = WordIndex.build(islice(entries, self._header.words))
            self._start = find_matrix(path, file, self._header, entries)

    @property
    def shape(self) -> tuple[int, int]:
        return self._header.words + self._header.buckets, self._header.dim

    def read(self, words: Sequence[bytes]) -> WordVectors:
        """As `OpenVectors.read`; vectors equal those of fastText's `get_word_vector`. The labels of a classifier are not words."""
        with self.path.open("rb") as file, Progress(f"reading {self.path.name}", self.path.stat().st_size, "B") as bar:
            word_rows = np.full(len(words), -1, dtype=np.int64)
            for offset, row, position in self._index.candidates(words):
                entry = words[position] + b"\0"
                file.seek(offset)
                if file.read(len(entry)) == entry:
                    word_rows[position] = row
            return _Matrix(file, self._header, self._start).vectors(words, word_rows, bar)

    @staticmethod
    def blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
        """As `OpenVectors.blocks`. Each block reads most n-gram rows, so large blocks are faster."""
        with hidden_progress():
            hidden_bar = Progress(path.name, None, "B")  # what is read for one block is too little to show
        # The file is open twice: one position moves through the dictionary, word by word, while the other one jumps between rows of the matrix.
        with path.open("rb") as dictionary, path.open("rb") as file:
            header = read_header(path, file)
            dictionary.seek(file.tell())
            entries = dictionary_entries(path, dictionary, header, hidden_bar)
            start = find_matrix(path, file, header, dictionary_entries(path, file, header, hidden_bar))
            matrix = _Matrix(file, header, start)
            most_words = max(1, block_bytes // (4 * header.dim))
            with Progress(f"searching {path.name}", header.words, "words") as bar:
                for first in range(0, header.words, most_words):
                    word_rows = np.arange(first, min(first + most_words, header.words))
                    words = [word for word, _ in islice(entries, len(word_rows))]
                    yield words, matrix.vectors(words, word_rows, hidden_bar).vectors
                    bar.reach(first + len(words))


class _Matrix(NamedTuple):
    """The matrix of a model, in an open file."""

    file: BufferedReader
    header: Header
    start: int  # the offset of the first row

    def vectors(self, words: Sequence[bytes], word_rows: np.ndarray, bar: Progress) -> WordVectors:
        """The result of `IndexedModel.read`, for words with these rows of their own (-1: not in the dictionary)."""
        from scipy.sparse import csr_array

        pair_rows, pair_words = _row_pairs(words, word_rows, self.header)
        sums = np.zeros((len(words), self.header.dim), dtype=np.float32)
        row_bytes = self.header.dim * 4
        buffer = np.empty((max(1, _CHUNK_BYTES // row_bytes), self.header.dim), dtype="<f4")
        for chunk_pairs in _chunks(pair_rows, _CHUNK_PAIRS, len(buffer), _GAP_BYTES // row_bytes):
            rows = pair_rows[chunk_pairs]
            first_row, last_row = int(rows[0]), int(rows[-1])
            chunk = buffer[: last_row + 1 - first_row]
            self.file.seek(self.start + first_row * row_bytes)
            if self.file.readinto(chunk.data.cast("B")) < chunk.nbytes:
                raise OSError(f"{self.file.name} was truncated while it was read")
            # A sparse matrix with a one for each pair sums the rows of each word.
            distinct_words, word_indices = np.unique(pair_words[chunk_pairs], return_inverse=True)
            ones = np.ones(len(rows), dtype=np.float32)
            pairs = csr_array((ones, (word_indices, rows - first_row)), (len(distinct_words), len(chunk)))
            sums[distinct_words] += pairs @ chunk
            bar.reach(self.file.tell())
        row_counts = np.bincount(pair_words, minlength=len(words))
        sums *= (1 / np.maximum(row_counts, 1)).astype(np.float32)[:, None]  # not divided: fastText rounds so
        in_file = word_rows >= 0
        return WordVectors(sums, in_file, from_ngrams=~in_file & (row_counts > 0))


def _row_pairs(words: Sequence[bytes], word_rows: np.ndarray, header: Header) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of the matrix the vectors of words, with these rows of their own, are made of: pairs of a row and the position of a word. Returns
    the rows of all pairs, ascending, and the positions of their words, int64 (pairs,)."""
    in_file = np.flatnonzero(word_rows >= 0)
    # For sorting, a pair is one number, row × words + position: NumPy sorts one array of numbers in the shortest time.
    coded_parts = [word_rows[in_file] * len(words) + in_file]
    has_ngrams = [header.buckets > 0 and word != _END_OF_SENTENCE for word in words]
    ngram_words = np.flatnonzero(has_ngrams)
    for start in range(0, len(ngram_words), _HASHED_WORDS):
        batch = ngram_words[start : start + _HASHED_WORDS]
        hashes, batch_indices = ngram_hashes([words[position] for position in batch], header.minn, header.maxn)
        ngram_rows = header.words + hashes.astype(np.int64) % header.buckets
        coded_parts.append(ngram_rows * len(words) + batch[batch_indices])
    coded_pairs = np.concatenate(coded_parts)
    del coded_parts  # as large as `coded_pairs`
    coded_pairs.sort()
    return coded_pairs // len(words), coded_pairs % len(words)


def _chunks(rows: np.ndarray, most_pairs: int, most_rows: int, most_gap: int) -> Iterator[slice]:
    """The parts of ascending rows that are read at once: at most `most_pairs`, within `most_rows` rows of the matrix, no gap over `most_gap`."""
    start = 0
    while start < len(rows):
        stop = min(start + most_pairs, int(np.searchsorted(rows, rows[start] + most_rows)))
        long_gaps = np.flatnonzero(np.diff(rows[start:stop]) > most_gap)
        if len(long_gaps):
            stop = start + int(long_gaps[0]) + 1
        yield slice(start, stop)
        start = stop


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """The n-grams of minn to maxn characters of every `<word>`: their hashes, uint32, and the position of each one's word, int64. A character is a
    byte and the UTF-8 continuation bytes after it. The hash is FNV-1a over bytes that are sign-extended to 32 bits, because fastText reads them as
    C's signed char. If minn is 1, single characters are n-grams, except the brackets. With 2 and 3, `<kot>` has <k, ko, ot, t>, <ko, kot and ot>."""
    text = np.frombuffer(b"".join(b"<" + word + b">" for word in words), dtype=np.int8)
    hashed_bytes = text.astype(np.int32).view(np.uint32)
    # Whether a character begins at a byte; also true behind the last byte, where the last character is over.
    is_begin = np.append((text.view(np.uint8) & 0xC0) != 0x80, True)
    # For each byte, the position of its word, and where this word begins and ends.
    sizes = np.fromiter((len(word) + 2 for word in words), dtype=np.int64, count=len(words))
    positions = np.repeat(np.arange(len(words)), sizes)
    word_ends = np.cumsum(sizes)[positions]
    word_begins = word_ends - sizes[positions]

    # From the first byte of each character a candidate grows, byte by byte. It is an n-gram whenever its last character is whole.
    begins = np.flatnonzero(is_begin[:-1])
    hashes = np.full(len(begins), _BASIS, dtype=np.uint32)
    characters = np.zeros(len(begins), dtype=np.int64)
    size = 0  # of all candidates, in bytes
    ngram_parts = [np.empty(0, dtype=np.uint32)]  # the hashes of the n-grams of each size
    position_parts = [np.empty(0, dtype=np.int64)]
    while len(begins):
        hashes = (hashes ^ hashed_bytes[begins + size]) * _PRIME
        characters = characters + is_begin[begins + size]
        size += 1
        ends = begins + size
        is_whole = is_begin[ends]
        is_bracket = (characters == 1) & ((begins == word_begins[begins]) | (ends == word_ends[begins]))
        is_ngram = is_whole & ~is_bracket & (characters >= minn) & (characters <= maxn)
        ngram_parts.append(hashes[is_ngram])
        position_parts.append(positions[begins[is_ngram]])
        grows = (ends < word_ends[begins]) & ~(is_whole & (characters >= maxn))
        begins, hashes, characters = begins[grows], hashes[grows], characters[grows]
    return np.concatenate(ngram_parts), np.concatenate(position_parts)
