"""How much the texts of a pair overlap, as features that heads read beside vectors.
Neither word vectors nor an LSTM show directly which character n-grams two texts share. In an inflected language, this says much about related
sentences: the cosine of character n-grams alone ranks the pairs of CDSC-R better than most published LSTMs."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mtl.data.dataset import Split

_words = re.compile(r"\w+").findall
BUCKETS = 1 << 22  # the number of values of the hash of an n-gram
CHARACTERS = (2, 3, 4, 5)  # the lengths of character n-grams, which stay within words, as in the TF-IDF floors
FEATURES = (
    "cosine of words",
    *(f"cosine of {length}-grams of characters" for length in CHARACTERS),
    "shared words / all words",
    "shared words / words of the text with fewer",
    "length of the shorter text / length of the longer one",
)


def with_overlap(split: Split, texts: Sequence[str]) -> Split:
    """The rows of a task on pairs of the dataset's texts, with the overlap of each pair."""
    pairs, inverse = np.unique(split.texts, axis=0, return_inverse=True)
    return replace(split, overlap=overlap(texts, pairs)[inverse.ravel()])


def overlap(texts: Sequence[str], pairs: np.ndarray) -> np.ndarray:
    """FEATURES of each pair of texts in lower case, from 0 to 1, float32 (pairs, features); `pairs` are indices of texts, int64 (pairs, 2)."""
    if not len(pairs):
        return np.empty((0, len(FEATURES)), dtype=np.float32)
    distinct, inverse = np.unique(pairs, return_inverse=True)
    lower = [texts[number].lower() for number in distinct]
    distinct_pairs = inverse.reshape(pairs.shape)  # as numbers of `lower`
    first, second = distinct_pairs.T
    vectors = (_vectors(lower, length) for length in (None, *CHARACTERS))
    cosines = [np.asarray(matrix[first].multiply(matrix[second]).sum(axis=1)).ravel() for matrix in vectors]
    return np.column_stack([*cosines, *_shares(lower, distinct_pairs)]).astype(np.float32)


def _shares(texts: Sequence[str], pairs: np.ndarray) -> list[np.ndarray]:
    """The last three FEATURES, each (pairs,); `pairs` as in `overlap`."""
    words = [frozenset(_words(text)) for text in texts]
    shared = np.array([len(words[left] & words[right]) for left, right in pairs])
    counts, lengths = np.array(list(map(len, words)))[pairs], np.array(list(map(len, texts)))[pairs]  # (pairs, 2)
    all_words, fewer_words = counts.sum(axis=1) - shared, counts.min(axis=1)
    return [_ratio(shared, all_words), _ratio(shared, fewer_words), _ratio(lengths.min(axis=1), lengths.max(axis=1))]


def _vectors(texts: Sequence[str], length: int | None) -> Any:
    """Counts of the words (`length` None) or character n-grams of each text, as 1 + log(count), scaled to norm 1: sparse (texts, BUCKETS)."""
    # Not at the top: most runs need neither, and their import takes a second.
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import normalize

    ngrams = {"analyzer": _words} if length is None else {"analyzer": "char_wb", "ngram_range": (length, length)}
    vectorizer = HashingVectorizer(**ngrams, lowercase=False, n_features=BUCKETS, alternate_sign=False, norm=None)
    counts = vectorizer.transform(texts)
    counts.data = 1 + np.log(counts.data)
    return normalize(counts)


def _ratio(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """part / total; 0 where the total is 0, since the part is 0 there."""
    return part / np.maximum(total, 1)
