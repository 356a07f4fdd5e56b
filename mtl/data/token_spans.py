"""Spans of a text in tokens: the characters of each token, the tokens of each span, and the tokens nearest to spans.
Spans, and the characters of tokens, go from the first one to before `stop`. A text has one token at least."""

from collections.abc import Sequence

import numpy as np


def token_characters(text: str, words: Sequence[str]) -> np.ndarray:
    """The characters of the text that each token consists of, int64 (tokens, 2). A tokenizer splits a text and may drop characters; then the result
    is exact. If it also changes some (Moses turns a literal "DOTMULTI" into a dot), it is exact before the first change and after the last one, and
    a token in between has all characters in between. The words are all tokens, none empty."""
    letters = "".join(words)
    alphabet = set(letters)
    positions = np.array([place for place, character in enumerate(text) if character in alphabet], dtype=np.int64)
    remaining = "".join(character for character in text if character in alphabet)
    prefix = _common_start(letters, remaining)
    suffix = _common_start(letters[prefix:][::-1], remaining[prefix:][::-1])
    head, tail = positions[:prefix], positions[len(positions) - suffix :]
    # The letters in between are changed ones: all of them have the characters in between, without the white space around these.
    gap_start = head[-1] + 1 if prefix else 0
    gap_stop = tail[0] if suffix else len(text)
    gap = text[gap_start:gap_stop]
    changed = len(letters) - prefix - suffix
    changed_first = gap_start + (len(gap) - len(gap.lstrip()) if gap.strip() else 0)
    changed_stop = gap_start + len(gap.rstrip())
    first = np.concatenate([head, np.full(changed, changed_first), tail])
    stop = np.concatenate([head + 1, np.full(changed, changed_stop), tail + 1])
    lengths = np.array([len(word) for word in words])
    ends = np.cumsum(lengths)
    return np.stack([first[ends - lengths], stop[ends - 1]], axis=1)


def span_tokens(spans: np.ndarray, characters: np.ndarray) -> tuple[np.ndarray, int]:
    """The tokens of each span of a text, int64 (spans, 2), those that share a character with it; and the number of spans without one, for which the
    nearest token stands. The spans are in characters, (spans, 2), and the characters of tokens are as from `token_characters`."""
    start, stop = spans[:, :1], spans[:, 1:]
    token_start, token_stop = characters[:, 0], characters[:, 1]
    shares = (start < token_stop) & (token_start < stop)  # by span and token
    missed = ~shares.any(axis=1)
    distances = np.maximum(token_start - stop, start - token_stop)
    shares[missed, distances.argmin(axis=1)[missed]] = True
    first = shares.argmax(axis=1)
    after_last = shares.shape[1] - shares[:, ::-1].argmax(axis=1)
    return np.stack([first, after_last], axis=1), int(missed.sum())


def nearest_tokens(count: int, spans: np.ndarray, most: int) -> np.ndarray:
    """The indices of the `most` tokens of a text that are nearest to a span, int64, ascending. The spans are in tokens, (spans, 2). Within spans,
    tokens near the start come first, so that a long span does not displace another one; of other equally near tokens, the earlier ones do."""
    tokens = np.arange(count)
    start, stop = spans[:, :1], spans[:, 1:]
    before, behind = start - tokens, tokens - (stop - 1)  # by span and token; positive outside the span
    distances = np.maximum(np.maximum(before, behind), 0).min(axis=0)
    is_inside = (before <= 0) & (behind <= 0)
    depths = np.where(is_inside, tokens - start, count).min(axis=0)
    return np.sort(np.lexsort((tokens, depths, distances))[:most])


def spans_among(kept: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """Spans in all tokens of a text, (spans, 2), as spans in the tokens that it keeps, ascending: int64 (spans, 2). A span may lose tokens, but is
    never empty: with fewer tokens than spans, the last one is read for the others."""
    first = np.minimum(np.searchsorted(kept, spans[:, 0]), len(kept) - 1)
    stop = np.maximum(np.searchsorted(kept, spans[:, 1]), first + 1)
    return np.stack([first, stop], axis=1)


def _common_start(first: str, second: str) -> int:
    """The number of characters at the start that two texts have in common."""
    length = min(len(first), len(second))
    return next((place for place in range(length) if first[place] != second[place]), length)
