"""Spans of a text in its tokens. The tokens of a span are those that share at least one character with it. If there is none, because the tokenizer
drops all of the span's characters (white space, control characters), the nearest token stands for it, of two equally near ones the first."""

from collections.abc import Sequence
from posixpath import commonprefix

import numpy as np


def token_characters(text: str, words: Sequence[str]) -> np.ndarray:
    """The characters of the text that each token consists of, int64 (tokens, 2). A tokenizer splits a text and may drop characters; then the result
    is exact. If it also changes some (Moses turns a literal "DOTMULTI" into a dot), it is exact before the first change and after the last one, and
    a token in between has all characters in between. The words are all tokens, none empty."""
    letters = "".join(words)
    alphabet = set(letters)
    places = np.array([place for place, character in enumerate(text) if character in alphabet], dtype=np.int64)
    remaining = "".join(character for character in text if character in alphabet)
    prefix = len(commonprefix([letters, remaining]))
    suffix = len(commonprefix([letters[prefix:][::-1], remaining[prefix:][::-1]]))
    head, tail = places[:prefix], places[len(places) - suffix :]
    # The first and the last letters stand in the text as they are. All letters in between have all characters in between.
    changed = len(letters) - prefix - suffix
    changed_start, changed_stop = _trimmed(text, head[-1] + 1 if prefix else 0, tail[0] if suffix else len(text))
    starts = np.concatenate([head, np.full(changed, changed_start), tail])
    stops = np.concatenate([head + 1, np.full(changed, changed_stop), tail + 1])
    # A token is from the start of its first letter to the stop of its last one.
    lengths = np.array([len(word) for word in words])
    after_last = np.cumsum(lengths)
    return np.stack([starts[after_last - lengths], stops[after_last - 1]], axis=1)


def _trimmed(text: str, start: int, stop: int) -> tuple[int, int]:
    """A range of characters without the white space at its ends. A range of white space alone becomes empty."""
    content = text[start:stop].rstrip()
    return start + len(content) - len(content.lstrip()), start + len(content)


def span_tokens(spans: np.ndarray, characters: np.ndarray) -> tuple[np.ndarray, int]:
    """The tokens of each span of a text, int64 (spans, 2), and the number of spans that share no character with a token. The spans are in characters,
    (spans, 2), and the characters of the text's tokens are as from `token_characters`."""
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
    """The indices of the `most` tokens of a text of `count` tokens that are nearest to a span, int64, ascending. The spans are in tokens, (spans, 2).
    Within spans, tokens near the start come first, so that a long span does not displace another one; of other equally near ones, the earlier."""
    tokens = np.arange(count)
    start, stop = spans[:, :1], spans[:, 1:]
    before, behind = start - tokens, tokens - (stop - 1)  # by span and token; positive outside the span
    distances = np.maximum(np.maximum(before, behind), 0).min(axis=0)
    is_inside = (before <= 0) & (behind <= 0)
    depths = np.where(is_inside, tokens - start, count).min(axis=0)
    return np.sort(np.lexsort((tokens, depths, distances))[:most])
