"""The hashes of the character n-grams of words, which tell fastText's models where in their matrix an n-gram stands."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_BASIS, _PRIME = 2166136261, np.uint32(16777619)  # of FNV-1a in 32 bits


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """The n-grams of minn to maxn characters of every `<word>`: their hashes, uint32, and the position of each one's word, int64.
    The hash is FNV-1a over bytes that are sign-extended to 32 bits, because fastText reads them as C's signed char. If minn is 1, single characters
    are n-grams, except the brackets."""
    characters = _Characters.of(words)
    firsts = np.arange(len(characters.begins))  # the first character of each n-gram
    hashes = np.full(len(firsts), _BASIS, dtype=np.uint32)
    all_hashes, all_owners = [np.empty(0, dtype=np.uint32)], [np.empty(0, dtype=np.int64)]
    for n in range(1, maxn + 1):
        # The n-grams of n characters are those of one less that have a character behind them, in the same word.
        has_next = firsts + n <= characters.word_ends[firsts]
        firsts, hashes = firsts[has_next], hashes[has_next]
        if not len(firsts):
            break
        characters.add_to(hashes, firsts + n - 1)
        if n < minn:
            continue
        is_ngram = characters.in_brackets if n == 1 else np.ones(len(firsts), dtype=bool)
        all_hashes.append(hashes[is_ngram])
        all_owners.append(characters.owners[firsts[is_ngram]])
    return np.concatenate(all_hashes), np.concatenate(all_owners)


class _Characters(NamedTuple):
    """The characters of words in brackets, one word after another. A character is a byte and the UTF-8 continuation bytes after it."""

    bytes: np.ndarray  # uint32 (bytes,), sign-extended
    begins: np.ndarray  # int64 (characters,), the place of each character's first byte
    sizes: np.ndarray  # int64 (characters,), in bytes
    owners: np.ndarray  # int64 (characters,), the position of each character's word
    word_ends: np.ndarray  # int64 (characters,), the number of the first character after each character's word
    in_brackets: np.ndarray  # bool (characters,), False for the brackets

    @classmethod
    def of(cls, words: Sequence[bytes]) -> "_Characters":
        """The characters of these words."""
        text = np.frombuffer(b"".join(b"<" + word + b">" for word in words), dtype=np.int8)
        begins = np.flatnonzero((text.view(np.uint8) & 0xC0) != 0x80)
        word_sizes = np.fromiter((len(word) + 2 for word in words), dtype=np.int64, count=len(words))
        owners = np.repeat(np.arange(len(words)), word_sizes)[begins]
        counts = np.bincount(owners, minlength=len(words))
        word_ends = np.cumsum(counts)[owners]
        numbers = np.arange(len(begins))
        in_brackets = (numbers > word_ends - counts[owners]) & (numbers < word_ends - 1)
        sizes = np.diff(begins, append=len(text))
        return cls(text.astype(np.int32).view(np.uint32), begins, sizes, owners, word_ends, in_brackets)

    def add_to(self, hashes: np.ndarray, numbers: np.ndarray) -> None:
        """Add to each hash, in place, all bytes of the character with this number."""
        begins, sizes = self.begins[numbers], self.sizes[numbers]
        for byte in range(int(sizes.max())):
            has_byte = np.flatnonzero(sizes > byte)
            hashes[has_byte] = (hashes[has_byte] ^ self.bytes[begins[has_byte] + byte]) * _PRIME
