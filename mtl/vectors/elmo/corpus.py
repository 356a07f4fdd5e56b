"""The texts that an ELMo is trained on: lines of word ids, where the most frequent word has id 0, and their batches."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mtl.base.errors import InputError

POOL = 50  # to get batches of similar length, lines for this many batches are drawn, sorted by length, and split
BEGIN_ID, END_ID = -2, -1  # in place of a word id, the boundaries of a sentence


@dataclass(frozen=True)
class Corpus:
    """Lines of tokens, in their original order."""

    types: list[str]  # the distinct words, the most frequent first
    counts: np.ndarray  # int64 (types,), the occurrences of each
    tokens: np.ndarray  # int32 (tokens,), word ids, line after line
    starts: np.ndarray  # int64 (lines + 1,), where each line begins in tokens, and the end

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each line, int64 (lines,)."""
        return np.diff(self.starts)


def build_corpus(lines: Iterable[Sequence[str]], max_length: int) -> Corpus:
    """The corpus of the tokenized lines that are not empty, split after `max_length` tokens. Raises InputError if all are."""
    ids: dict[str, int] = {}
    tokens = array("i")
    starts = array("q", [0])
    for words in lines:
        for start in range(0, len(words), max_length):
            tokens.extend(ids.setdefault(word, len(ids)) for word in words[start : start + max_length])
            starts.append(len(tokens))
    if not tokens:
        raise InputError("the texts hold no word to train on")
    flat = np.frombuffer(tokens, dtype=np.int32)
    counts = np.bincount(flat, minlength=len(ids))
    order = np.argsort(-counts, kind="stable")
    ranks = np.argsort(order).astype(np.int32)  # by the id in `ids`, the id in the corpus
    types = list(ids)
    return Corpus([types[id] for id in order], counts[order], ranks[flat], np.frombuffer(starts, dtype=np.int64))


def batches(lengths: np.ndarray, lines: np.ndarray, tokens: int, seed: Sequence[int]) -> list[np.ndarray]:
    """Batches of one epoch over these lines, in random order: int64 (lines,), of similar length, about `tokens` tokens each."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(lines)
    pool_numbers = np.cumsum(lengths[order]) // (POOL * tokens)
    epoch: list[np.ndarray] = []
    for pool in np.split(order, np.flatnonzero(np.diff(pool_numbers)) + 1):
        by_length = pool[np.argsort(lengths[pool], kind="stable")]
        batch_numbers = np.cumsum(lengths[by_length]) // tokens
        epoch += np.split(by_length, np.flatnonzero(np.diff(batch_numbers)) + 1)
    return [epoch[index] for index in rng.permutation(len(epoch))]


def packed_lines(corpus: Corpus, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """These lines with BEGIN_ID and END_ID around each, packed: word ids int64 (rows,), and the number of rows of each step."""
    lines = lines[np.argsort(-corpus.lengths[lines], kind="stable")]
    lengths = corpus.lengths[lines]
    steps = np.arange(lengths[0] + 2)[:, None]
    inside = (steps >= 1) & (steps <= lengths)
    indices = np.where(inside, corpus.starts[lines] + steps - 1, 0)
    tokens = np.where(inside, corpus.tokens[indices], np.where(steps == 0, BEGIN_ID, END_ID)).astype(np.int64)
    valid = steps <= lengths + 1
    return tokens[valid], valid.sum(1)
