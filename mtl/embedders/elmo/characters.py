"""Convert words to the character ids that ELMo reads: one id per byte.

Ids are those of AllenNLP's model: 0 pads a batch, 1 to 256 are the bytes 0 to 255, then follow the markers below. The
original TensorFlow code's ids are smaller by one.
"""

from collections.abc import Sequence

import numpy as np

BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = range(257, 262)
BOUNDARIES = {"<S>": BEGIN_SENTENCE, "</S>": END_SENTENCE}  # the words that are added before and after every sentence
CHARACTERS = 262  # rows of the model's character embedding, including id 0


def character_ids(words: Sequence[str], length: int) -> np.ndarray:
    """Each word between begin-of-word and end-of-word ids, padded: int64 (words, length).

    A word's UTF-8 bytes beyond length − 2 are cut off, even inside a character, as in the original code. A character
    without a UTF-8 form (a lone surrogate) is left out. The words <S> and </S> are the sentence boundaries.
    """
    ids = np.full((len(words), length), PADDING, dtype=np.int64)
    for row, word in enumerate(words):
        characters = [BOUNDARIES[word]] if word in BOUNDARIES else [b + 1 for b in word.encode("utf-8", "ignore")]
        inner = characters[: length - 2]
        ids[row, : len(inner) + 2] = [BEGIN_WORD, *inner, END_WORD]
    return ids
