"""Marked spans of texts, and units: from characters of the raw text to the tokens that an encoder reads.
The tokens of a span are those that share at least one character with it. If there is none, because the tokenizer drops all of the span's characters
(white space, control characters), the nearest token stands for it, of two equally near ones the first. A text without tokens has one unknown token.

A text with spans that is longer than `max_length` is not cut at its end: it keeps the `max_length` tokens that are nearest to its spans, in their
order. So the spans are always read, each with the words around it. The first token of a unit (`mtl.tasks.target_kind`) stands for it. A text with
units is cut at its end; no model reads the units after the cut."""

from collections.abc import Sequence
from dataclasses import replace
from posixpath import commonprefix
from typing import NamedTuple

import numpy as np

from mtl.base.log import logger
from mtl.data.dataset import Dataset, Split
from mtl.data.text import TokenizedTexts, moses
from mtl.tasks.head_targets import PAST, WHOLE
from mtl.tasks.target_kind import UnitKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task


def with_token_spans(
    dataset: Dataset, texts: TokenizedTexts, language: str, max_length: int, boundary_words: bool = False
) -> tuple[Dataset, TokenizedTexts]:
    """The dataset with the token spans of its splits, and its texts as an encoder reads them. A text that is cut around spans is added to both as
    a new text. Warnings count the texts that are cut and the spans without a token. The arguments are as in `SpanPlacer`."""
    placer = SpanPlacer(texts, dataset.texts, language, max_length, boundary_words)
    splits: dict[str, dict[str, Split]] = {}
    for task in dataset.tasks:
        splits[task.id] = {name: placer.place(task, split) for name, split in dataset.splits[task.id].items()}
    placer.warn()
    texts_read = [*dataset.texts, *(dataset.texts[text.source] for text in placer.cut.values())]
    return replace(dataset, splits=splits, texts=texts_read), placer.texts()


class CutText(NamedTuple):
    """A text that keeps some tokens of another one. It is a new text, because other rows may read the same text around other spans."""

    number: int  # which follows those of the existing texts
    source: int  # the number of the text that it is cut from
    words: list[str]


class SpanPlacer:
    """Finds the tokens of spans, and cuts long texts around their spans. Call `texts` and `warn` after all splits are placed."""

    def __init__(
        self, texts: TokenizedTexts, raw: Sequence[str], language: str, max_length: int, boundary_words: bool = False
    ) -> None:
        """The texts are cut to their first `max_length` tokens each; `raw` are the same texts as strings. `boundary_words` says whether an encoder
        reads the words of `mtl.data.text.BOUNDARIES` around each text; `max_length` does not count them."""
        self._texts, self._raw = texts, raw
        self._language, self._max_length, self._boundary_words = language, max_length, boundary_words
        self._first_token = 1 if boundary_words else 0  # the place of a text's first token in what an encoder reads
        self._tokens: dict[int, tuple[list[str], np.ndarray]] = {}  # by text, its tokens and their characters
        self.cut: dict[tuple[int, bytes], CutText] = {}  # by their source and the places of the tokens that they keep
        self._missed = 0  # the number of spans that share no character with a token
        self._cut_units = 0  # the number of units that are after the cut

    def place(self, task: Task, split: Split) -> Split:
        """The split with its token spans, where new texts replace those that are cut; for kinds with units, with the steps of its units."""
        kind = target_kind(task)
        if isinstance(kind, UnitKind):
            return self._add_steps(kind, split)
        if split.spans is None:
            return split
        texts, token_spans = split.texts.copy(), np.empty_like(split.spans)
        sides = np.array([side for side, _ in task.marked])
        for row, spans in enumerate(split.spans):
            for side in np.unique(sides):
                is_there = sides == side
                texts[row, side], tokens = self._read_text(int(split.texts[row, side]), spans[is_there])
                token_spans[row, is_there] = tokens + self._first_token
        return replace(split, texts=texts, token_spans=token_spans)

    def texts(self) -> TokenizedTexts:
        """All texts as an encoder reads them, the new ones last."""
        texts = self._texts.with_further([text.words for text in self.cut.values()]) if self.cut else self._texts
        return texts.with_boundaries() if self._boundary_words else texts

    def warn(self) -> None:
        """Log warnings, with counts, about texts that are cut around their spans, units that are cut, and spans without a token of their own."""
        limit = f"max_length={self._max_length}"
        if self.cut:
            kept = "they keep the tokens nearest to their spans"
            logger.warning("%d texts with spans are longer than %s tokens; %s", len(self.cut), limit, kept)
        if self._cut_units:
            logger.warning("%d tokens to predict are after %s; no model reads them", self._cut_units, limit)
        if self._missed:
            nearest = "the token nearest to them is read instead"
            logger.warning("%d spans have no token of their own; %s", self._missed, nearest)

    def _add_steps(self, kind: UnitKind, split: Split) -> Split:
        """The split with the steps of its units, (rows, most units), PAST after the last one of a row."""
        texts, rows = np.unique(split.texts[:, -1], return_inverse=True)
        steps = [self._unit_steps(text, kind.units(self._raw[text])) for text in texts.tolist()]
        padded = np.full((len(steps), max(map(len, steps), default=0)), PAST)
        for row, text_steps in zip(padded, steps, strict=True):
            row[: len(text_steps)] = text_steps
        return replace(split, steps=padded[rows.ravel()])

    def _unit_steps(self, text: int, units: np.ndarray) -> np.ndarray:
        """The step of each unit that the encoder reads, int64 (units,), as `mtl.model.heads.unit_vectors` takes them."""
        is_whole = units[:, 0] == units[:, 1]  # which stands for the whole text
        _, characters = self._tokens_of(text)
        tokens, _ = span_tokens(units, characters)
        is_read = is_whole | (tokens[:, 0] < self._max_length)
        self._cut_units += int((~is_read).sum())
        return np.where(is_whole, WHOLE, tokens[:, 0] + self._first_token)[is_read]

    def _read_text(self, text: int, spans: np.ndarray) -> tuple[int, np.ndarray]:
        """The number of the text that is read in place of this one, and the token spans in it, (spans, 2). `spans` are in characters."""
        words, characters = self._tokens_of(text)
        tokens, missed = span_tokens(spans, characters)
        self._missed += missed
        if len(words) <= self._max_length:
            return text, tokens
        kept = nearest_tokens(len(words), tokens, self._max_length)
        key = text, kept.tobytes()
        if key not in self.cut:
            self.cut[key] = CutText(len(self._raw) + len(self.cut), text, [words[token] for token in kept])
        # A span may lose tokens, but is never empty: with fewer tokens than spans, the last one is read for the others.
        first = np.minimum(np.searchsorted(kept, tokens[:, 0]), len(kept) - 1)
        stop = np.maximum(np.searchsorted(kept, tokens[:, 1]), first + 1)
        return self.cut[key].number, np.stack([first, stop], axis=1)

    def _tokens_of(self, text: int) -> tuple[list[str], np.ndarray]:
        """All tokens of a text, also those that are cut, and the characters that each consists of."""
        if text not in self._tokens:
            words = self._texts.words(text)
            if len(words) >= self._max_length:  # the text may have been cut, so it is tokenized again
                words = moses(self._language)(self._raw[text]) or words
            self._tokens[text] = words, token_characters(self._raw[text], words)
        return self._tokens[text]


def token_characters(text: str, words: Sequence[str]) -> np.ndarray:
    """The characters of the text that each token consists of, int64 (tokens, 2). A tokenizer splits a text and may drop characters; then the result
    is exact. If it also changes some (Moses turns a literal "DOTMULTI" into a dot), it is exact before the first change and after the last one, and
    a token in between has all characters in between. The words are all tokens, none empty."""
    letters = "".join(words)
    alphabet = set(letters)
    positions = np.array([place for place, character in enumerate(text) if character in alphabet], dtype=np.int64)
    remaining = "".join(character for character in text if character in alphabet)
    prefix = len(commonprefix([letters, remaining]))
    suffix = len(commonprefix([letters[prefix:][::-1], remaining[prefix:][::-1]]))
    head, tail = positions[:prefix], positions[len(positions) - suffix :]
    # The letters in between are changed ones: all of them have the characters in between, without the white space around these.
    gap_start = head[-1] + 1 if prefix else 0
    gap = text[gap_start : tail[0] if suffix else len(text)]
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
