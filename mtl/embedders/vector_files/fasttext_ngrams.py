"""The hashes of the character n-grams of words, which tell fastText's models where in their matrix an n-gram stands."""

from collections.abc import Sequence

import numpy as np

_BASIS, _PRIME = 2166136261, np.uint32(16777619)  # of FNV-1a in 32 bits


def ngram_hashes(words: Sequence[bytes], minn: int, maxn: int) -> tuple[np.ndarray, np.ndarray]:
    """The n-grams of minn to maxn characters of every `<word>`: their hashes, uint32, and the position of each one's word, int64. A character is a
    byte and the UTF-8 continuation bytes after it. If minn is 1, single characters are n-grams, except the brackets."""
    text = np.frombuffer(b"".join(b"<" + word + b">" for word in words), dtype=np.int8)
    begins = np.flatnonzero((text.view(np.uint8) & 0xC0) != 0x80)  # the place of each character's first byte
    sizes = np.fromiter((len(word) + 2 for word in words), dtype=np.int64, count=len(words))
    owners = np.repeat(np.arange(len(words)), sizes)[begins]  # the word of each character
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
        _add_characters(hashes, text, begins, firsts + n - 1)
        if n >= minn:
            is_ngram = ~is_bracket if n == 1 else np.ones(len(firsts), dtype=bool)
            all_hashes.append(hashes[is_ngram])
            all_owners.append(owners[firsts[is_ngram]])
    return np.concatenate(all_hashes), np.concatenate(all_owners)


def _add_characters(hashes: np.ndarray, text: np.ndarray, begins: np.ndarray, characters: np.ndarray) -> None:
    """Add to each hash, in place, the bytes of one character of a text. The hash is FNV-1a over bytes that are sign-extended to 32 bits, because
    fastText reads them as C's signed char."""
    places = begins[characters]
    sizes = np.append(begins, len(text))[characters + 1] - places
    for byte in range(int(sizes.max())):
        has_byte = np.flatnonzero(sizes > byte)
        signed = text[places[has_byte] + byte].astype(np.int32).view(np.uint32)
        hashes[has_byte] = (hashes[has_byte] ^ signed) * _PRIME
