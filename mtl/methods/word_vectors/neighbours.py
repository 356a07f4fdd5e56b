"""The nearest word of a whole vector file, which is read in blocks."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from mtl.methods.word_vectors.expressions import unit_rows
from mtl.tasks.targets import is_word

_SCORES = 1 << 24  # cosines computed at once, to limit the memory: 64 MiB
_NO_WORD = "</s>"  # fastText's end of a line


def nearest_words(
    blocks: Iterable[tuple[Sequence[str], np.ndarray]],
    queries: np.ndarray,
    excluded: Sequence[Iterable[str]],
    fold: Callable[[str], str],
) -> list[str | None]:
    """For each query, the word whose vector has the highest cosine with it; among equals, the first. None if no word is left.

    blocks: words and their vectors, float32 (words, dim); the vectors are overwritten. queries: float32 (queries, dim), not zero.
    excluded: for each query, words that are no answer. fold: words that it maps to one string are equal. Words that are no target
    (`mtl.tasks.targets.is_word`) are no answer to any query.
    """
    directions = unit_rows(queries).T
    barred: dict[str, list[int]] = {}
    for query, words in enumerate(excluded):
        for word in {fold(word) for word in words}:
            barred.setdefault(word, []).append(query)
    best = np.full(len(queries), -np.inf, dtype=np.float32)
    found: list[str | None] = [None] * len(queries)
    step = max(1, _SCORES // max(1, len(queries)))
    for words, vectors in blocks:
        _scale(vectors)
        for start in range(0, len(words), step):
            part = words[start : start + step]
            scores = vectors[start : start + step] @ directions
            for place, word in enumerate(part):
                if word == _NO_WORD or not is_word(word):
                    scores[place] = -np.inf
                elif queries_of := barred.get(fold(word)):
                    scores[place, queries_of] = -np.inf
            places = scores.argmax(axis=0)
            values = scores[places, np.arange(len(queries))]
            for query in np.flatnonzero(values > best).tolist():
                best[query], found[query] = values[query], part[places[query]]
    return found


def _scale(vectors: np.ndarray) -> None:
    """Scale the rows to length 1, in place; rows of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    vectors /= np.where(lengths > 0, lengths, 1)[:, None]
