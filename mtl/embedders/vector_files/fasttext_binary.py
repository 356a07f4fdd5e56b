"""Read the vectors of given words from a fastText `.bin` model (`mtl.embedders.vector_files.fasttext_layout`), which may have gigabytes. A vector is
the mean of rows of the model's matrix: the word's own, if it is in the dictionary, and those of its n-grams. The dictionary is streamed, and only the
needed blocks of the matrix are read, all into one buffer. It is not memory-mapped, since the pages read would count as resident memory."""

from collections import deque
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
_BLOCK = 1 << 22  # bytes of the matrix read at once
_GAP = 1 << 17  # bytes; shorter gaps between needed rows are read, since a seek would take longer
_BLOCK_PAIRS = 1 << 13  # pairs of a row and a word that are summed at once, to limit the size of temporary arrays
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
            deque(entries, maxlen=0)  # reads them to the end, where the matrix begins
            self._start = find_matrix(path, file, self._header)

    @property
    def shape(self) -> tuple[int, int]:
        return self._header.words + self._header.buckets, self._header.dim

    def read(self, words: Sequence[bytes]) -> WordVectors:
        """As `OpenVectors.read`; vectors equal those of fastText's `get_word_vector`. The labels of a classifier are not words."""
        with self.path.open("rb") as file, Progress(f"reading {self.path.name}", self.path.stat().st_size, "B") as bar:
            rows = np.full(len(words), -1, dtype=np.int64)
            for offset, row, position in self._index.candidates(words):
                entry = words[position] + b"\0"
                file.seek(offset)
                if file.read(len(entry)) == entry:
                    rows[position] = row
            return _Matrix(file, self._header, self._start).vectors(words, rows, bar)

    @staticmethod
    def blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
        """As `OpenVectors.blocks`. Each block reads most n-gram rows, so large blocks are faster."""
        with hidden_progress():  # what is read for one block is too little to show
            no_bar = Progress(path.name, None, "B")
        # The file is open twice: one position moves through the dictionary, word by word, while the other one jumps between rows of the matrix.
        with path.open("rb") as dictionary, path.open("rb") as file:
            header = read_header(path, file)
            dictionary.seek(file.tell())
            entries = dictionary_entries(path, dictionary, header, no_bar)
            deque(dictionary_entries(path, file, header, no_bar), maxlen=0)  # to the end, where the matrix begins
            matrix = _Matrix(file, header, find_matrix(path, file, header))
            most_words = max(1, block_bytes // (4 * header.dim))
            with Progress(f"searching {path.name}", header.words, "words") as bar:
                for first in range(0, header.words, most_words):
                    rows = np.arange(first, min(first + most_words, header.words))
                    words = [word for word, _ in islice(entries, len(rows))]
                    yield words, matrix.vectors(words, rows, no_bar).vectors
                    bar.reach(first + len(words))


class _Matrix(NamedTuple):
    """The matrix of a model, in an open file."""

    file: BufferedReader
    header: Header
    start: int  # the offset of the first row

    def vectors(self, words: Sequence[bytes], rows: np.ndarray, bar: Progress) -> WordVectors:
        """The result of `IndexedModel.read`, for words with these rows of their own (-1: not in the dictionary)."""
        from scipy.sparse import csr_array

        pair_rows, pair_words = _row_pairs(words, rows, self.header)
        sums = np.zeros((len(words), self.header.dim), dtype=np.float32)
        row_bytes = self.header.dim * 4
        buffer = np.empty((max(1, _BLOCK // row_bytes), self.header.dim), dtype="<f4")
        for part in _parts(pair_rows, len(buffer), _GAP // row_bytes):
            used_rows = pair_rows[part]
            first_row, last_row = int(used_rows[0]), int(used_rows[-1])
            block = buffer[: last_row + 1 - first_row]
            self.file.seek(self.start + first_row * row_bytes)
            if self.file.readinto(block.data.cast("B")) < block.nbytes:
                raise OSError(f"{self.file.name} was truncated while it was read")
            # A sparse matrix with a one for each pair sums the rows of each word.
            distinct, word_indices = np.unique(pair_words[part], return_inverse=True)
            ones = np.ones(len(word_indices), dtype=np.float32)
            pairs = csr_array((ones, (word_indices, used_rows - first_row)), (len(distinct), len(block)))
            sums[distinct] += pairs @ block
            bar.reach(self.file.tell())
        counts = np.bincount(pair_words, minlength=len(words))  # the rows of each word
        sums *= (1 / np.maximum(counts, 1)).astype(np.float32)[:, None]  # not divided: fastText rounds so
        in_file = rows >= 0
        return WordVectors(sums, in_file, from_ngrams=~in_file & (counts > 0))


def _row_pairs(words: Sequence[bytes], rows: np.ndarray, header: Header) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of the matrix the vectors of words, with these rows of their own, are made of: pairs of a row and the position of a word. Returns
    the rows of all pairs, ascending, and the positions of their words, int64 (pairs,)."""
    in_file = np.flatnonzero(rows >= 0)
    # For sorting, a pair is one number, row × words + position: NumPy sorts one array of numbers in the shortest time.
    numbers = [rows[in_file] * len(words) + in_file]
    ngram_words = np.array([number for number, word in enumerate(words) if word != _END_OF_SENTENCE], dtype=np.int64)
    ngram_word_count = len(ngram_words) if header.buckets else 0  # without buckets, the model has no n-grams
    for start in range(0, ngram_word_count, _HASHED_WORDS):
        batch = ngram_words[start : start + _HASHED_WORDS]
        hashes, owners = ngram_hashes([words[number] for number in batch], header.minn, header.maxn)
        ngram_rows = header.words + hashes.astype(np.int64) % header.buckets
        numbers.append(ngram_rows * len(words) + batch[owners])
    merged = np.concatenate(numbers)
    del numbers  # as large as `merged`
    merged.sort()
    return merged // len(words), merged % len(words)


def _parts(rows: np.ndarray, most_rows: int, most_gap: int) -> Iterator[slice]:
    """The parts of sorted rows that are read at once: at most _BLOCK_PAIRS, within `most_rows` rows of the matrix, gaps of at most `most_gap`."""
    start = 0
    while start < len(rows):
        stop = min(start + _BLOCK_PAIRS, int(np.searchsorted(rows, rows[start] + most_rows)))
        gaps = np.flatnonzero(np.diff(rows[start:stop]) > most_gap)
        if len(gaps):
            stop = start + int(gaps[0]) + 1
        yield slice(start, stop)
        start = stop


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """The n-grams of minn to maxn characters of every `<word>`: their hashes, uint32, and the position of each one's word, int64. A character is a
    byte and the UTF-8 continuation bytes after it. The hash is FNV-1a over bytes that are sign-extended to 32 bits, because fastText reads them as
    C's signed char. If minn is 1, single characters are n-grams, except the brackets. With 2 and 3, `<kot>` has <k, ko, ot, t>, <ko, kot and ot>."""
    text = np.frombuffer(b"".join(b"<" + word + b">" for word in words), dtype=np.int8)
    signed = text.astype(np.int32).view(np.uint32)
    # Whether a character begins at a byte; also true behind the last byte, where the last character is over.
    is_begin = np.append((text.view(np.uint8) & 0xC0) != 0x80, True)
    sizes = np.fromiter((len(word) + 2 for word in words), dtype=np.int64, count=len(words))
    owners = np.repeat(np.arange(len(words)), sizes)  # the word of each byte
    word_ends = np.cumsum(sizes)[owners]  # for each byte, the first one after its word
    word_begins = word_ends - sizes[owners]

    # From the first byte of each character an n-gram grows, byte by byte. It counts whenever its last character is whole.
    begins = np.flatnonzero(is_begin[:-1])
    hashes = np.full(len(begins), _BASIS, dtype=np.uint32)
    characters = np.zeros(len(begins), dtype=np.int64)
    ngram_hash_parts, owner_parts = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.int64)]
    size = 0
    while len(begins):
        hashes = (hashes ^ signed[begins + size]) * _PRIME
        characters = characters + is_begin[begins + size]
        size += 1
        ends = begins + size
        is_whole = is_begin[ends]
        is_bracket = (characters == 1) & ((begins == word_begins[begins]) | (ends == word_ends[begins]))
        is_ngram = is_whole & ~is_bracket & (characters >= minn) & (characters <= maxn)
        ngram_hash_parts.append(hashes[is_ngram])
        owner_parts.append(owners[begins[is_ngram]])
        grows = (ends < word_ends[begins]) & ~(is_whole & (characters >= maxn))
        begins, hashes, characters = begins[grows], hashes[grows], characters[grows]
    return np.concatenate(ngram_hash_parts), np.concatenate(owner_parts)
