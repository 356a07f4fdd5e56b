"""The hashes of a word's character n-grams, by which fastText finds their vectors."""

from collections.abc import Sequence

import numpy as np


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """Hash the character n-grams of every `<word>`, of minn to maxn characters, as fastText does.

    Returns the hash of each n-gram (uint32) and the index of its word in `words` (int64), in no particular order. A character
    is a byte and the UTF-8 continuation bytes after it. The hash is FNV-1a over bytes that are sign-extended to 32 bits,
    because fastText reads them as C's signed char. If minn is 1, single characters are n-grams, except `<` and `>`.
    """
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
            kept = ~is_edge[firsts] if n == 1 else slice(None)
            all_hashes.append(hashes[kept].copy())
            all_owners.append(owners[firsts[kept]])
    return np.concatenate(all_hashes), np.concatenate(all_owners)


def ngram_sums(table: np.ndarray, rows: np.ndarray, owners: np.ndarray, words: int) -> np.ndarray:
    """The sum of the vectors of each word's n-grams, float32 (words, dim).

    table: (n-grams, dim). rows, owners: for each n-gram of a word, its row in the table and the word's index.
    """
    from scipy.sparse import csr_array

    ones = np.ones(len(rows), dtype=np.float32)
    sums: np.ndarray = csr_array((ones, (owners, rows)), shape=(words, len(table))) @ table
    return sums
