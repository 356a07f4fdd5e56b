"""Marked spans of texts, and units, as an encoder reads them: in tokens (`mtl.data.token_spans`).
A text with spans that is longer than `max_length` is not cut at its end: it keeps the `max_length` tokens that are nearest to its spans, in their
order. So the spans are always read, each with the words around it. The first token of a unit (`mtl.tasks.target_kind`) stands for it. A text with
units is cut at its end; no model reads the units after the cut. A text without tokens has one unknown token."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mtl.base.log import logger
from mtl.data.dataset import Dataset, Split
from mtl.data.text import TokenizedTexts, moses
from mtl.data.token_spans import nearest_tokens, span_tokens, token_characters
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
    return replace(dataset, splits=splits, texts=placer.raw_texts()), placer.texts()


class CutText(NamedTuple):
    """A text that keeps some tokens of another one. It is a new text, because other rows may read the same text around other spans."""

    number: int  # which follows those of the existing texts
    source: int  # the number of the text that it is cut from
    words: list[str]


class SpanPlacer:
    """Finds the tokens of spans, and cuts long texts around their spans. After all splits are placed, it has the texts with those that are cut."""

    def __init__(
        self, texts: TokenizedTexts, raw: Sequence[str], language: str, max_length: int, boundary_words: bool = False
    ) -> None:
        """The texts are cut to their first `max_length` tokens each; `raw` are the same texts as strings. `boundary_words` says whether an encoder
        reads the words of `mtl.data.text.BOUNDARIES` around each text; `max_length` does not count them."""
        self._texts, self._raw = texts, raw
        self._language, self._max_length, self._boundary_words = language, max_length, boundary_words
        self._first_token = 1 if boundary_words else 0  # the place of a text's first token in what an encoder reads
        self._tokens: dict[int, tuple[list[str], np.ndarray]] = {}  # by text, its tokens and their characters
        self._cut: dict[tuple[int, bytes], CutText] = {}  # by their source and the places of the tokens that they keep
        self._missed_spans = 0  # the number of spans that share no character with a token
        self._unread_units = 0  # the number of units that are after the cut

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
        """All texts as an encoder reads them, those that are cut around spans last."""
        texts = self._texts.with_further([text.words for text in self._cut.values()]) if self._cut else self._texts
        return texts.with_boundaries() if self._boundary_words else texts

    def raw_texts(self) -> list[str]:
        """The same texts as strings, each that is cut as the whole text that it is cut from."""
        return [*self._raw, *(self._raw[text.source] for text in self._cut.values())]

    def warn(self) -> None:
        """Log warnings, with counts, about texts that are cut around their spans, units that are cut, and spans without a token of their own."""
        limit = f"max_length={self._max_length}"
        if self._cut:
            kept = "they keep the tokens nearest to their spans"
            logger.warning("%d texts with spans are longer than %s tokens; %s", len(self._cut), limit, kept)
        if self._unread_units:
            logger.warning("%d tokens to predict are after %s; no model reads them", self._unread_units, limit)
        if self._missed_spans:
            nearest = "the token nearest to them is read instead"
            logger.warning("%d spans have no token of their own; %s", self._missed_spans, nearest)

    def _read_text(self, text: int, spans: np.ndarray) -> tuple[int, np.ndarray]:
        """The number of the text that is read in place of this one, and the token spans in it, (spans, 2). `spans` are in characters."""
        words, characters = self._tokens_of(text)
        tokens, missed = span_tokens(spans, characters)
        self._missed_spans += missed
        if len(words) <= self._max_length:
            return text, tokens
        kept = nearest_tokens(len(words), tokens, self._max_length)
        key = text, kept.tobytes()
        if key not in self._cut:
            self._cut[key] = CutText(len(self._raw) + len(self._cut), text, [words[token] for token in kept])
        # If 3, 4, 9 are kept, [4, 9] becomes [1, 2]. A span is never empty: with too few tokens, it gets the last one.
        first = np.minimum(np.searchsorted(kept, tokens[:, 0]), len(kept) - 1)
        stop = np.maximum(np.searchsorted(kept, tokens[:, 1]), first + 1)
        return self._cut[key].number, np.stack([first, stop], axis=1)

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
        self._unread_units += int((~is_read).sum())
        return np.where(is_whole, WHOLE, tokens[:, 0] + self._first_token)[is_read]

    def _tokens_of(self, text: int) -> tuple[list[str], np.ndarray]:
        """All tokens of a text, also those that are cut, and the characters that each consists of."""
        if text not in self._tokens:
            words = self._texts.words(text)
            if len(words) >= self._max_length:  # the text may have been cut, so it is tokenized again
                words = moses(self._language)(self._raw[text]) or words
            self._tokens[text] = words, token_characters(self._raw[text], words)
        return self._tokens[text]
