"""Embeddings learned from scratch: Table 3's row "LSTM"."""

import numpy as np

from mtl.data.dataset import Dataset
from mtl.data.text import Vocabulary
from mtl.embedders.coverage import coverage
from mtl.embedders.words import WordEmbeddings


def random_embeddings(dataset: Dataset, dim: int, min_count: int, init_std: float, trainable: bool) -> WordEmbeddings:
    """Vectors drawn from N(0, init_std²) for words that stand at least `min_count` times in the training texts; all others are the
    unknown word."""
    counts = dataset.texts.counts(dataset.distinct_texts("train"))
    words = [word for word, count in zip(dataset.texts.types, counts, strict=True) if count >= min_count]
    vocabulary = Vocabulary(words)
    found = vocabulary.ids(dataset.texts.types) != Vocabulary.UNKNOWN
    covered = coverage(dataset.texts.tokens, found, np.zeros_like(found))
    return WordEmbeddings(vocabulary, dim, None, covered, trainable, init_std)
