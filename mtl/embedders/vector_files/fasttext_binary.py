"""Read the vectors of given words from a fastText `.bin` model (`mtl.embedders.vector_files.fasttext_layout`) without loading the model.
The official models hold gigabytes of rows, so the dictionary is streamed, and only the blocks of the matrix that hold needed rows are read, all into
one buffer. The matrix is not memory-mapped, since the pages read would count as resident memory."""

from collections import deque
from collections.abc import Iterator, Sequence
from io import BufferedReader
from itertools import islice
from pathlib import Path

import numpy as np

from mtl.base.progress import Progress, hidden_progress
from mtl.embedders.vector_files.fasttext_layout import Header, dictionary_entries, find_matrix, read_header
from mtl.embedders.vector_files.word_index import Arrays, WordIndex

_END_OF_SENTENCE = b"</s>"  # a token that fastText adds; it has no n-grams
_BLOCK = 1 << 22  # bytes of the matrix read at once
_GAP = 1 << 17  # bytes; shorter gaps between needed rows are read, since a seek would take longer
_BLOCK_PAIRS = 1 << 13  # (row, word) pairs summed at once, to limit the size of temporary arrays
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
            return _vectors(file, self._header, self._start, words, rows, bar)

    @staticmethod
    def blocks(path: Path, block_bytes: int) -> Iterator[tuple[list[bytes], np.ndarray]]:
        """As `OpenVectors.blocks`. Each block reads most n-gram rows, so large blocks are faster."""
        with path.open("rb") as dictionary, path.open("rb") as file:
            header = read_header(path, file)
            with hidden_progress():  # the parts are too small to show
                no_bar = Progress(path.name, None, "B")
            deque(dictionary_entries(path, file, header, no_bar), maxlen=0)  # only to find the matrix after it
            start = find_matrix(path, file, header)
            read_header(path, dictionary)
            words = (word for word, _ in islice(dictionary_entries(path, dictionary, header, no_bar), header.words))
            done = 0
            with Progress(f"searching {path.name}", header.words, "words") as bar:
                while block := list(islice(words, max(1, block_bytes // (4 * header.dim)))):
                    vectors, _, _ = _vectors(file, header, start, block, np.arange(done, done + len(block)), no_bar)
                    yield block, vectors
                    done += len(block)
                    bar.reach(done)


def _vectors(
    file: BufferedReader, header: Header, start: int, words: Sequence[bytes], rows: np.ndarray, bar: Progress
) -> Arrays:
    """The result of `IndexedModel.read`, for words with these rows of the matrix (-1: not in the dictionary)."""
    keys, counts = _pairs(words, rows, header)
    sums = np.zeros((len(words), header.dim), dtype=np.float32)
    _add_rows(file, start, keys, sums, bar)
    # multiply with the inverse, as fastText does, to get the same rounding
    sums *= (1 / np.maximum(counts, 1)).astype(np.float32)[:, None]
    in_file = rows >= 0
    return sums, in_file, ~in_file & (counts > 0)


def _pairs(words: Sequence[bytes], rows: np.ndarray, header: Header) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a row of the matrix and a word that it is part of, row * len(words) + word, int64, sorted; and the row count of each word."""
    in_file = np.flatnonzero(rows >= 0)
    keys = [rows[in_file] * len(words) + in_file]
    counts = (rows >= 0).astype(np.int64)
    hashed_words = len(words) if header.buckets else 0  # without buckets, the model has no n-grams
    for start in range(0, hashed_words, _HASHED_WORDS):
        batch = words[start : start + _HASHED_WORDS]
        hashes, owners = ngram_hashes(batch, header.minn, header.maxn)
        if _END_OF_SENTENCE in batch:
            is_of_word = owners != batch.index(_END_OF_SENTENCE)
            hashes, owners = hashes[is_of_word], owners[is_of_word]
        counts[start : start + len(batch)] += np.bincount(owners, minlength=len(batch))
        keys.append((header.words + hashes.astype(np.int64) % header.buckets) * len(words) + owners + start)
    merged = np.concatenate(keys)
    merged.sort()
    return merged, counts


def _add_rows(file: BufferedReader, start: int, keys: np.ndarray, sums: np.ndarray, bar: Progress) -> None:
    """Add the matrix rows of each word, with the keys of `_pairs`, to its sum (words × dimension)."""
    from scipy.sparse import csr_array

    words, dim = sums.shape
    row_bytes = dim * 4
    buffer = np.empty((max(1, _BLOCK // row_bytes), dim), dtype="<f4")
    added = 0
    while added < len(keys):
        first_row = int(keys[added]) // words
        end = min(added + _BLOCK_PAIRS, int(np.searchsorted(keys, (first_row + len(buffer)) * words)))
        rows, owners = np.divmod(keys[added:end], words)
        gaps = np.flatnonzero(np.diff(rows) * row_bytes > _GAP)
        if len(gaps):
            rows, owners = rows[: gaps[0] + 1], owners[: gaps[0] + 1]
        block = buffer[: int(rows[-1]) + 1 - first_row]
        file.seek(start + first_row * row_bytes)
        if file.readinto(block.data.cast("B")) < block.nbytes:
            raise OSError(f"{file.name} was truncated while it was read")
        present, slots = np.unique(owners, return_inverse=True)
        ones = np.ones(len(rows), dtype=np.float32)
        sums[present] += csr_array((ones, (slots, rows - first_row)), shape=(len(present), len(block))) @ block
        added += len(rows)
        bar.reach(file.tell())


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """Hash the character n-grams of every `<word>`, of minn to maxn characters, as fastText does: uint32, and each one's word, int64. A character is
    a byte and the UTF-8 continuation bytes after it. The hash is FNV-1a over bytes that are sign-extended to 32 bits, because fastText reads them as
    C's signed char. If minn is 1, single characters are n-grams, except `<` and `>`."""
    text = np.frombuffer(b"".join(b"<" + word + b">" for word in words), dtype=np.int8)
    lengths = np.fromiter((len(word) + 2 for word in words), dtype=np.int64, count=len(words))
    signed = text.astype(np.int32).view(np.uint32)
    begins = np.flatnonzero((text.view(np.uint8) & 0xC0) != 0x80)  # of the characters
    sizes = np.diff(begins, append=len(text))
    owners = np.repeat(np.arange(len(words)), lengths)[begins]
    is_edge = np.ones(len(begins), dtype=bool)
    is_edge[1:-1] = (owners[1:-1] != owners[:-2]) | (owners[1:-1] != owners[2:])

    all_hashes, all_owners = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.int64)]
    firsts = np.arange(len(begins))  # the first character of each n-gram that still fits its word
    hashes = np.full(len(begins), 2166136261, dtype=np.uint32)
    for n in range(1, maxn + 1):
        fits = firsts + n - 1 < len(begins)
        fits[fits] = owners[firsts[fits] + n - 1] == owners[firsts[fits]]
        firsts, hashes = firsts[fits], hashes[fits]
        if not len(firsts):
            break
        lasts = firsts + n - 1
        for byte in range(int(sizes[lasts].max())):
            longer = np.flatnonzero(sizes[lasts] > byte)
            hashes[longer] = (hashes[longer] ^ signed[begins[lasts[longer]] + byte]) * np.uint32(16777619)
        if n >= minn:
            is_ngram = ~is_edge[firsts] if n == 1 else slice(None)
            all_hashes.append(hashes[is_ngram].copy())
            all_owners.append(owners[firsts[is_ngram]])
    return np.concatenate(all_hashes), np.concatenate(all_owners)
