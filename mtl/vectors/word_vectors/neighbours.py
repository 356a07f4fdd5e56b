"""The words of a file of vectors that are nearest to given vectors, by cosine."""

from collections.abc import Iterable, Sequence

import numpy as np

from mtl.tasks.kinds.text import is_word

MOST_SCORES = 1 << 24  # cosines computed at once, to limit the memory: 64 MiB
LINE_END = "</s>"  # fastText's entry for the end of a line, which is no word


def unit_rows(vectors: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The rows scaled to length 1, (rows, dim), in a new array or in `out`; rows of zeros stay as they are."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    out = np.zeros_like(vectors) if out is None else out
    return np.divide(vectors, lengths[:, None], out=out, where=lengths[:, None] > 0)


def nearest_words(
    blocks: Iterable[tuple[Sequence[str], np.ndarray]], queries: np.ndarray, excluded: Sequence[Iterable[str]]
) -> list[str | None]:
    """For each query the word whose vector has the highest cosine with it; among equals, the first. None if no word is left.

    Queries are float32 (queries, dim), not zero. The blocks hold words and their vectors, float32 (words, dim), which are overwritten.
    `excluded` has the words that are no answer to each query. No query is answered by what is not `is_word`."""
    directions = unit_rows(queries).T
    barred: dict[str, list[int]] = {}  # by word, the queries that it is no answer to
    for query, no_answers in enumerate(excluded):
        for word in set(no_answers):
            barred.setdefault(word, []).append(query)
    best = np.full(len(queries), -np.inf, dtype=np.float32)
    nearest: list[str | None] = [None] * len(queries)
    step = max(1, MOST_SCORES // max(1, len(queries)))
    for words, vectors in blocks:
        unit_rows(vectors, out=vectors)
        for start in range(0, len(words), step):
            scores = vectors[start : start + step] @ directions
            for row, word in enumerate(words[start : start + step]):
                if word == LINE_END or not is_word(word):
                    scores[row] = -np.inf
                elif word in barred:
                    scores[row, barred[word]] = -np.inf
            highest = scores.argmax(axis=0)
            values = scores[highest, np.arange(len(queries))]
            for query in np.flatnonzero(values > best).tolist():
                best[query], nearest[query] = values[query], words[start + highest[query]]
    return nearest
