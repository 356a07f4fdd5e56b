"""How much the words and the characters of a pair's two texts overlap: numbers that depend on nothing but the two texts.

Neither word vectors nor an LSTM show directly which character n-grams two texts share, but for related sentences in an inflected
language this says much: the cosine of character n-grams alone ranks the pairs of CDSC-R better than most published LSTMs.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mtl.data.dataset import Split

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

CHARACTERS = (2, 3, 4, 5)  # lengths of n-grams, within words, as in the TF-IDF floors
FEATURES = (
    "cosine of words",
    *(f"cosine of {length}-grams of characters" for length in CHARACTERS),
    "shared words / all words",
    "shared words / words of the text with fewer",
    "length of the shorter text / length of the longer one",
)
BUCKETS = 1 << 22  # of n-grams


def with_overlap(split: Split, texts: Sequence[str]) -> Split:
    """The rows of a task on pairs, with the overlap of each pair. texts: of the dataset."""
    pairs, places = np.unique(split.texts, axis=0, return_inverse=True)
    return replace(split, overlap=overlap(texts, pairs)[places.ravel()])


def overlap(texts: Sequence[str], pairs: np.ndarray) -> np.ndarray:
    """FEATURES of each pair of texts, in lower case, float32 (pairs, features), each from 0 to 1.

    pairs: int64 (pairs, 2), indices in `texts`. Counts of n-grams are on a logarithmic scale. An empty text overlaps with nothing.
    """
    if not len(pairs):
        return np.empty((0, len(FEATURES)), dtype=np.float32)
    chosen, places = np.unique(pairs, return_inverse=True)
    lower = [texts[number].lower() for number in chosen]
    first, second = places.reshape(pairs.shape).T
    cosines = [_cosines(_vectors(lower, length), first, second) for length in (None, *CHARACTERS)]
    words = [frozenset(_words(text)) for text in lower]
    shared = np.array([len(words[u] & words[v]) for u, v in zip(first, second, strict=True)])
    counts = np.array([len(found) for found in words])
    fewer = np.minimum(counts[first], counts[second])
    lengths = np.array([len(text) for text in lower])
    shorter, longer = np.minimum(lengths[first], lengths[second]), np.maximum(lengths[first], lengths[second])
    shares = [_ratio(shared, counts[first] + counts[second] - shared), _ratio(shared, fewer), _ratio(shorter, longer)]
    return np.column_stack([*cosines, *shares]).astype(np.float32)


def _vectors(texts: Sequence[str], length: int | None) -> "csr_matrix":
    """The words (None) or the n-grams of characters of each text, 1 + log(count), scaled to length 1: (texts, BUCKETS)."""
    # Most runs need neither of them, and importing them takes a second.
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import normalize

    kind = {"analyzer": _words} if length is None else {"analyzer": "char_wb", "ngram_range": (length, length)}
    vectorizer = HashingVectorizer(**kind, lowercase=False, n_features=BUCKETS, alternate_sign=False, norm=None)
    counts = vectorizer.transform(texts)
    counts.data = 1 + np.log(counts.data)
    return normalize(counts)


def _cosines(vectors: "csr_matrix", first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(vectors[first].multiply(vectors[second]).sum(axis=1)).ravel()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole; 0 where the whole is 0."""
    return part / np.maximum(whole, 1)
