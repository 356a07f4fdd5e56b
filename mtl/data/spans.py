"""Marked spans of texts, and units, as an encoder reads them: in tokens (`mtl.data.token_spans`).
A text with spans that is longer than `max_length` is not cut at its end: it keeps the `max_length` tokens that are nearest to its spans, in their
order. So the spans are always read, each with the words around it. The first token of a unit (`mtl.tasks.target_kind`) stands for it. A text with
units is cut at its end; no model reads the units after the cut. A text without tokens has one unknown token."""

from collections.abc import Sequence
from dataclasses import replace

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
    placer.log_warnings()
    return replace(dataset, splits=splits, texts=placer.raw_texts()), placer.texts()


class SpanPlacer:
    """Finds the tokens of spans and the steps of units, and cuts long texts around their spans. A caller passes every split to `place`, and then
    calls `log_warnings`, `texts` and `raw_texts`, which cover what all splits have added. Texts are known by their numbers."""

    def __init__(
        self, texts: TokenizedTexts, raw: Sequence[str], language: str, max_length: int, boundary_words: bool = False
    ) -> None:
        """The texts are cut to their first `max_length` tokens each; `raw` are the same texts as strings. `boundary_words` says whether an encoder
        reads the words of `mtl.data.text.BOUNDARIES` around each text; `max_length` does not count them."""
        self._texts, self._raw = texts, raw
        self._language, self._max_length, self._boundary_words = language, max_length, boundary_words
        self._first_token = 1 if boundary_words else 0  # the position of a text's first token in what an encoder reads
        self._words: dict[int, tuple[list[str], np.ndarray]] = {}  # by text, its words (tokens) and their characters
        # A cut text is a new one, because other rows may read the same text around other spans.
        self._cut_numbers: dict[tuple[int, bytes], int] = {}  # by the number of its source and the tokens that it keeps
        self._cut_words: list[list[str]] = []  # in the order of their numbers, which follow those of the existing texts
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
                texts[row, side], text_spans = self._read_text(int(split.texts[row, side]), spans[is_there])
                token_spans[row, is_there] = text_spans + self._first_token
        return replace(split, texts=texts, token_spans=token_spans)

    def texts(self) -> TokenizedTexts:
        """All texts as an encoder reads them, those that are cut around spans last."""
        texts = self._texts.with_further(self._cut_words) if self._cut_words else self._texts
        return texts.with_boundaries() if self._boundary_words else texts

    def raw_texts(self) -> list[str]:
        """The same texts as strings, each that is cut as the whole text that it is cut from."""
        return [*self._raw, *(self._raw[source] for source, _ in self._cut_numbers)]

    def log_warnings(self) -> None:
        """Log, with counts, the texts that are cut around their spans, the units that are cut, and the spans without a token of their own."""
        limit = f"max_length={self._max_length}"
        if self._cut_words:
            kept = "they keep the tokens nearest to their spans"
            logger.warning("%d texts with spans are longer than %s tokens; %s", len(self._cut_words), limit, kept)
        if self._unread_units:
            logger.warning("%d tokens to predict are after %s; no model reads them", self._unread_units, limit)
        if self._missed_spans:
            nearest = "the token nearest to them is read instead"
            logger.warning("%d spans have no token of their own; %s", self._missed_spans, nearest)

    def _read_text(self, number: int, spans: np.ndarray) -> tuple[int, np.ndarray]:
        """The number of the text that is read in place of this one, and the token spans in it, (spans, 2). `spans` are in characters."""
        words, characters = self._words_of(number)
        token_spans, missed = span_tokens(spans, characters)
        self._missed_spans += missed
        if len(words) <= self._max_length:
            return number, token_spans
        kept = nearest_tokens(len(words), token_spans, self._max_length)
        key = number, kept.tobytes()
        if key not in self._cut_numbers:
            self._cut_numbers[key] = len(self._raw) + len(self._cut_words)
            self._cut_words.append([words[token] for token in kept])
        return self._cut_numbers[key], _spans_within(kept, token_spans)

    def _add_steps(self, kind: UnitKind, split: Split) -> Split:
        """The split with the steps of its units, (rows, most units), PAST after the last one of a row."""
        numbers, text_of_row = np.unique(split.texts[:, -1], return_inverse=True)
        steps_by_text = [self._unit_steps(number, kind.units(self._raw[number])) for number in numbers.tolist()]
        padded_steps = np.full((len(steps_by_text), max(map(len, steps_by_text), default=0)), PAST)
        for padded, steps in zip(padded_steps, steps_by_text, strict=True):
            padded[: len(steps)] = steps
        return replace(split, steps=padded_steps[text_of_row.ravel()])

    def _unit_steps(self, number: int, units: np.ndarray) -> np.ndarray:
        """The step of each unit that the encoder reads, int64 (units,), as `mtl.model.heads.unit_vectors` takes them."""
        is_whole = units[:, 0] == units[:, 1]  # which stands for the whole text
        _, characters = self._words_of(number)
        unit_tokens, _ = span_tokens(units, characters)
        first_tokens = unit_tokens[:, 0]
        is_read = is_whole | (first_tokens < self._max_length)
        self._unread_units += int((~is_read).sum())
        return np.where(is_whole, WHOLE, first_tokens + self._first_token)[is_read]

    def _words_of(self, number: int) -> tuple[list[str], np.ndarray]:
        """All words (tokens) of a text, also those that are cut, and the characters that each consists of, (words, 2)."""
        if number not in self._words:
            words = self._texts.words(number)
            if len(words) >= self._max_length:  # the text may have been cut, so it is tokenized again
                words = moses(self._language)(self._raw[number]) or words
            self._words[number] = words, token_characters(self._raw[number], words)
        return self._words[number]


def _spans_within(kept: np.ndarray, token_spans: np.ndarray) -> np.ndarray:
    """The spans in a cut text, which keeps these tokens of its source: if it keeps 3, 4 and 9, the span [4, 9] becomes [1, 2]. A span is never
    empty: where no token of it is kept, it has the next one that is, or the last."""
    first = np.minimum(np.searchsorted(kept, token_spans[:, 0]), len(kept) - 1)
    stop = np.maximum(np.searchsorted(kept, token_spans[:, 1]), first + 1)
    return np.stack([first, stop], axis=1)
