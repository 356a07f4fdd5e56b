"""The task of masked language modelling: which words are masked, anew each time, and what the model has to predict."""

import numpy as np

from mtl.vectors.pretraining.settings import SPECIAL_TOKENS
from mtl.vectors.pretraining.vocabulary import CLS, MASK, PAD, SEP

CHOSEN_SHARE = 0.15  # of the tokens of text: those that the model has to predict
NOT_CHOSEN = -100  # the label of a token that it does not have to predict, as in transformers
MASK_PROBABILITY, RANDOM_PROBABILITY = 0.8, 0.1  # of what replaces a chosen token in the inputs; else it stays


def mask_words(ids: np.ndarray, begins: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The inputs with randomly chosen words masked, and the labels, which are the chosen tokens: int64 (segments, time) each.
    The padded segments are `ids`, int64 (segments, time); `begins` says of each entry of the vocabulary whether it begins a word, bool (vocabulary,).
    The inputs have the mask, a random token that is not special, or the token itself in the place of a chosen one. Other labels are NOT_CHOSEN."""
    positions = _choose_positions(ids, begins, rng)
    chosen = ids.reshape(-1)[positions]
    draws = rng.random(len(chosen))
    random_tokens = rng.integers(len(SPECIAL_TOKENS), len(begins), len(chosen))
    choices = [draws < MASK_PROBABILITY, draws < MASK_PROBABILITY + RANDOM_PROBABILITY]  # the first that is true counts
    inputs = ids.copy()
    inputs.reshape(-1)[positions] = np.select(choices, [MASK, random_tokens], chosen)
    labels = np.full_like(ids, NOT_CHOSEN)
    labels.reshape(-1)[positions] = chosen
    return inputs, labels


def _choose_positions(ids: np.ndarray, begins: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The positions of the tokens of randomly chosen words in the flattened segments, int64 (chosen,).
    There is at least one word. More are chosen while their tokens are at most CHOSEN_SHARE of all tokens of text, so that all steps cost the same."""
    positions = np.flatnonzero(~np.isin(ids, (PAD, CLS, SEP)))  # those of text
    tokens = ids.reshape(-1)[positions]
    # No word goes on across a special token: a segment that begins within a word has the rest of it as its first word.
    begins_word = begins[tokens] | (np.diff(positions, prepend=-2) > 1)
    words = np.cumsum(begins_word) - 1  # the number of each token's word
    sizes = np.bincount(words)  # of each word, in tokens
    order = rng.permutation(len(sizes))
    fits = np.cumsum(sizes[order]) <= CHOSEN_SHARE * len(tokens)
    fits[:1] = True
    return positions[np.isin(words, order[fits])]
