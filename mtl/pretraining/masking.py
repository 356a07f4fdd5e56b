"""Masks of masked language modelling (Devlin et al. 2019), of whole words, for a batch at once."""

from dataclasses import dataclass

import numpy as np

from mtl.pretraining.settings import SPECIAL_TOKENS

MASKED, RANDOM = 0.8, 0.1  # of the chosen tokens: shares replaced by the mask, and by a random token; the others stay


@dataclass(frozen=True)
class MaskedBatch:
    """A batch to predict tokens in. inputs: int64 (segments, time). places: int64 (chosen,), positions in the flattened inputs,
    in rising order. labels: int64 (chosen,), the tokens that stood there. padding: bool (segments, time)."""

    inputs: np.ndarray
    places: np.ndarray
    labels: np.ndarray
    padding: np.ndarray


class Masking:
    """Chooses the tokens to predict.

    Words are drawn in random order, as long as their tokens are at most `share` of the batch's tokens of text: the share holds for the
    batch, not for each segment, so a step's cost does not vary. A word is a token that begins a word and all that follow it and do
    not; a segment that begins within a word has the rest of this word as its first one.
    """

    def __init__(self, begins: np.ndarray, share: float, whole_words: bool, mask: int) -> None:
        """begins: whether each entry of the vocabulary begins a word, bool (vocabulary,). mask: the token that replaces others."""
        self.begins = begins if whole_words else np.ones_like(begins)
        self.share = share
        self.mask = mask

    def apply(self, ids: np.ndarray, is_text: np.ndarray, padding: np.ndarray, rng: np.random.Generator) -> MaskedBatch:
        """Mask a batch. ids: int64 (segments, time). is_text, padding: bool, the same shape. At least one word is chosen."""
        places = np.flatnonzero(is_text)
        tokens = ids.reshape(-1)[places]
        # A word cannot go on across a special token, which every segment begins with.
        first = self.begins[tokens] | (np.diff(places, prepend=-2) > 1)
        words = np.cumsum(first) - 1
        sizes = np.bincount(words)
        order = rng.permutation(len(sizes))
        within = np.cumsum(sizes[order]) <= self.share * len(tokens)
        within[:1] = True
        chosen = np.zeros(len(sizes), dtype=bool)
        chosen[order[within]] = True
        picked = chosen[words]
        labels = tokens[picked]
        inputs = ids.copy()
        inputs.reshape(-1)[places[picked]] = self._replaced(labels, rng)
        return MaskedBatch(inputs, places[picked], labels, padding)

    def _replaced(self, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """What stands in the place of each chosen token: a mask, a random token that is not special, or the token itself."""
        draws = rng.random(len(labels))
        random = rng.integers(len(SPECIAL_TOKENS), len(self.begins), len(labels))
        kept: np.ndarray = np.where(draws < MASKED + RANDOM, random, labels)
        masked: np.ndarray = np.where(draws < MASKED, self.mask, kept)
        return masked
