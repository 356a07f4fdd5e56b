"""Marked spans of texts, and units: from characters of the raw text to the tokens that an encoder reads.
The tokens of a span are those that share at least one character with it. If there is none, because the tokenizer drops all of the span's characters
(white space, control characters), the nearest token stands for it, of two equally near ones the first. A text without tokens has one unknown token.

A text with spans that is longer than `max_length` is not cut at its end: it keeps the `max_length` tokens that are nearest to its
spans, in their order. So the spans are always read, each with the words around it.

The first token of a unit (`mtl.tasks.target_kind`) stands for it. A text with units is cut at its end; no model reads the units after the cut."""

from collections.abc import Sequence
from dataclasses import replace

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
    texts_read = [*dataset.texts, *(dataset.texts[text] for text in placer.sources)]
    return replace(dataset, splits=splits, texts=texts_read), placer.texts()


class SpanPlacer:
    """Finds the tokens of spans, and cuts long texts around their spans. A text that is cut becomes a new text, because other rows may read the
    same text around other spans. The numbers of new texts follow those of the existing ones. Call `texts` and `warn` after all splits are placed."""

    def __init__(
        self, texts: TokenizedTexts, raw: Sequence[str], language: str, max_length: int, boundary_words: bool = False
    ) -> None:
        """The texts are cut to their first `max_length` tokens each; `raw` are the same texts as strings. `boundary_words` says whether an encoder
        reads the words of `mtl.data.text.BOUNDARIES` around each text; `max_length` does not count them."""
        self._texts, self._raw = texts, raw
        self._language, self._max_length, self._boundary_words = language, max_length, boundary_words
        self.sources: list[int] = []  # for each new text, the text that it is cut from
        self.missed = 0  # the number of spans that share no character with a token
        self.cut_units = 0  # the number of units that are after the cut
        self._cut: dict[tuple[int, bytes], int] = {}  # new texts, by their source and the tokens that they keep
        self._new_texts: list[list[str]] = []  # the tokens of each new text
        self._tokens: dict[int, tuple[list[str], np.ndarray]] = {}  # by text, its tokens and their characters

    def place(self, task: Task, split: Split) -> Split:
        """The split with its token spans, where new texts replace those that are cut; for kinds with units, with the steps of its units."""
        if isinstance(kind := target_kind(task), UnitKind):
            return self._add_steps(kind, split)
        if split.spans is None:
            return split
        numbers, token_spans = split.texts.copy(), np.empty_like(split.spans)
        sides = np.array([side for side, _ in task.marked])
        for row, (texts, spans) in enumerate(zip(split.texts, split.spans, strict=True)):
            for side in np.unique(sides):
                chosen = sides == side
                numbers[row, side], token_spans[row, chosen] = self._read_text(int(texts[side]), spans[chosen])
        return replace(split, texts=numbers, token_spans=token_spans + self._boundary_words)

    def texts(self) -> TokenizedTexts:
        """All texts as an encoder reads them, the new ones last."""
        texts = self._texts.with_further(self._new_texts) if self._new_texts else self._texts
        return texts.with_boundaries() if self._boundary_words else texts

    def warn(self) -> None:
        """Log warnings, with counts, about texts that are cut around their spans, units that are cut, and spans without a token of their own."""
        cut, most = len(self._new_texts), self._max_length
        if cut:
            too_long = f"longer than max_length={most} tokens"
            logger.warning("%d texts with spans are %s; they keep the tokens nearest to their spans", cut, too_long)
        if self.cut_units:
            logger.warning("%d tokens to predict are after max_length=%d; no model reads them", self.cut_units, most)
        if self.missed:
            remedy = "the token nearest to them is read instead"
            logger.warning("%d spans have no token of their own; %s", self.missed, remedy)

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
        _, characters = self._characters(text)
        tokens, _ = span_tokens(units, characters)
        first = tokens[:, 0]
        is_read = is_whole | (first < self._max_length)
        self.cut_units += int((~is_read).sum())
        return np.where(is_whole, WHOLE, first + self._boundary_words)[is_read]

    def _characters(self, text: int) -> tuple[list[str], np.ndarray]:
        """All tokens of a text, also those that are cut, and the characters that each consists of."""
        if text not in self._tokens:
            words = self._texts.words(text)
            if len(words) >= self._max_length:  # the text may have been cut, so it is tokenized again
                words = moses(self._language)(self._raw[text]) or words
            self._tokens[text] = words, token_characters(self._raw[text], words)
        return self._tokens[text]

    def _read_text(self, text: int, spans: np.ndarray) -> tuple[int, np.ndarray]:
        """The number of the text that is read in place of this one, and the token spans in it, (spans, 2). `spans` are in characters."""
        words, characters = self._characters(text)
        tokens, missed = span_tokens(spans, characters)
        self.missed += missed
        if len(words) <= self._max_length:
            return text, tokens
        nearest = nearest_tokens(len(words), tokens, self._max_length)
        key = text, nearest.tobytes()
        if key not in self._cut:
            self._cut[key] = len(self._raw) + len(self._new_texts)
            self.sources.append(text)
            self._new_texts.append([words[token] for token in nearest])
        # A span may lose tokens, but is never empty: with fewer tokens than spans, the last one is read for the others.
        first = np.minimum(np.searchsorted(nearest, tokens[:, 0]), len(nearest) - 1)
        stop = np.maximum(np.searchsorted(nearest, tokens[:, 1]), first + 1)
        return self._cut[key], np.stack([first, stop], axis=1)


def token_characters(text: str, words: Sequence[str]) -> np.ndarray:
    """The characters of the text that each token consists of, from the first to before the last: int64 (tokens, 2). A tokenizer splits a text and may
    drop characters; then the result is exact. If it also changes some (Moses turns a literal "DOTMULTI" into a dot), it is exact before the first
    change and after the last one, and a token in between has all characters in between. The words are all tokens, at least one, none empty."""
    joined = "".join(words)
    letters = set(joined)
    positions = np.array([position for position, character in enumerate(text) if character in letters], dtype=np.int64)
    prefix, suffix = _agreement(joined, "".join(character for character in text if character in letters))
    head, tail = positions[:prefix], positions[len(positions) - suffix :]
    gap_start = head[-1] + 1 if prefix else 0
    gap_stop = tail[0] if suffix else len(text)
    gap = text[gap_start:gap_stop]
    visible = gap_start + (len(gap) - len(gap.lstrip()) if gap.strip() else 0)  # after white space
    changed = len(joined) - prefix - suffix
    first = np.concatenate([head, np.full(changed, visible), tail])
    stop = np.concatenate([head + 1, np.full(changed, gap_start + len(gap.rstrip())), tail + 1])
    lengths = np.array([len(word) for word in words])
    ends = np.cumsum(lengths)
    return np.stack([first[ends - lengths], stop[ends - 1]], axis=1)


def _agreement(first: str, second: str) -> tuple[int, int]:
    """How many characters two texts have in common at their start, and how many of the rest at their end."""
    shorter = min(len(first), len(second))
    if first == second:
        return shorter, 0
    start = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    end = next((i for i in range(shorter - start) if first[-1 - i] != second[-1 - i]), shorter - start)
    return start, end


def span_tokens(spans: np.ndarray, characters: np.ndarray) -> tuple[np.ndarray, int]:
    """The tokens of each span of a text, from the first to before the last: int64 (spans, 2); and the number of spans without a token. The spans are
    in characters, (spans, 2), and the characters of tokens are as from `token_characters`."""
    shares = (spans[:, :1] < characters[:, 1]) & (characters[:, 0] < spans[:, 1:])
    missed = ~shares.any(axis=1)
    apart = np.maximum(characters[:, 0] - spans[:, 1:], spans[:, :1] - characters[:, 1])
    shares[missed, apart.argmin(axis=1)[missed]] = True
    first = shares.argmax(axis=1)
    stop = shares.shape[1] - shares[:, ::-1].argmax(axis=1)
    return np.stack([first, stop], axis=1), int(missed.sum())


def nearest_tokens(count: int, spans: np.ndarray, most: int) -> np.ndarray:
    """The indices of the `most` tokens of a text that are nearest to a span, int64, ascending. The spans are in tokens, (spans, 2). Within spans,
    tokens near the start come first, so that a long span does not displace another one; of other equally near tokens, the earlier ones do."""
    tokens = np.arange(count)
    start, stop = spans[:, :1], spans[:, 1:]
    apart = np.maximum(np.maximum(start - tokens, tokens - (stop - 1)), 0).min(axis=0)
    depth = np.where((start <= tokens) & (tokens < stop), tokens - start, count).min(axis=0)
    return np.sort(np.lexsort((tokens, depth, apart))[:most])
