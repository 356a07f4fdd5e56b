import numpy as np
import pytest

from mtl.vectors.pretraining.masking import CHOSEN_SHARE, NOT_CHOSEN, mask_words
from mtl.vectors.pretraining.settings import SPECIAL_TOKENS
from mtl.vectors.pretraining.vocabulary import CLS, MASK, PAD, SEP

VOCABULARY = 60
BEGINS = np.arange(VOCABULARY) % 3 != 0  # every third entry goes on with a word
BEGINS[: len(SPECIAL_TOKENS)] = True


def batch(rows: int, time: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random padded segments with separators within, and which tokens are of the text."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(len(SPECIAL_TOKENS), VOCABULARY, (rows, time))
    lengths = rng.integers(3, time - 1, rows)
    lengths[0] = time - 2
    columns = np.arange(time)
    ids[:, 0] = CLS
    ids[np.arange(rows), lengths // 2] = SEP
    ids[np.arange(rows), lengths + 1] = SEP
    ids[columns >= lengths[:, None] + 2] = PAD
    return ids, ids >= len(SPECIAL_TOKENS)


def words_of(ids: np.ndarray, is_text: np.ndarray) -> list[list[int]]:
    """The places of the tokens of each word, one token after the other."""
    words: list[list[int]] = []
    open_word = False
    for place, (token, inside) in enumerate(zip(ids.flat, is_text.flat, strict=True)):  # each row begins with [CLS]
        if inside and open_word and not BEGINS[token]:
            words[-1].append(place)
        elif inside:
            words.append([place])
        open_word = inside
    return words


@pytest.mark.parametrize("seed", range(5))
def test_the_chosen_words_are_those_of_a_plain_loop(seed: int) -> None:
    ids, is_text = batch(12, 20, seed)
    _, labels = mask_words(ids, BEGINS, np.random.default_rng(7))
    words = words_of(ids, is_text)
    expected: list[int] = []
    for number in np.random.default_rng(7).permutation(len(words)):
        if len(expected) + len(words[number]) > CHOSEN_SHARE * is_text.sum():
            break
        expected += words[number]
    assert np.flatnonzero(labels != NOT_CHOSEN).tolist() == sorted(expected)
    assert labels[labels != NOT_CHOSEN].tolist() == [ids.flat[place] for place in sorted(expected)]
    _, alone = mask_words(np.array([[CLS, 7, 9, 12, SEP]]), BEGINS, np.random.default_rng(0))
    assert alone.tolist() == [[NOT_CHOSEN, 7, 9, 12, NOT_CHOSEN]]  # a single long word


def test_of_the_chosen_tokens_8_in_10_are_masked_and_1_is_random() -> None:
    ids, _ = batch(2000, 64)
    inputs, labels = mask_words(ids, BEGINS, np.random.default_rng(1))
    now = inputs[labels != NOT_CHOSEN]
    # 8 standard deviations of a share, about 12,000 draws
    assert abs((now == MASK).mean() - 0.8) < 0.03
    other = (now != MASK) & (now != labels[labels != NOT_CHOSEN])
    assert abs(other.mean() - 0.1 * (1 - 1 / (VOCABULARY - len(SPECIAL_TOKENS)))) < 0.025
    assert now[other].min() >= len(SPECIAL_TOKENS) and len(set(now[other].tolist())) == VOCABULARY - len(SPECIAL_TOKENS)
    assert np.array_equal(inputs[labels == NOT_CHOSEN], ids[labels == NOT_CHOSEN])
