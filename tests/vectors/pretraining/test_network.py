import itertools
import math

import numpy as np
import pytest
import torch
from input_errors import raises_input_error
from pretraining_parts import small
from torch.nn import functional

from mtl.vectors.pretraining.settings import SPECIAL_TOKENS
from mtl.vectors.pretraining.tokens import CLS, MASK, PAD, SEP
from mtl.vectors.pretraining.training import (
    MASK_SHARE,
    Masking,
    decayed_groups,
    masked_outputs,
    new_bert,
    parameter_count,
)

VOCABULARY = 60
BEGINS = np.arange(VOCABULARY) % 3 != 0  # every third entry goes on with a word
BEGINS[: len(SPECIAL_TOKENS)] = True


def batch(rows: int, time: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random segments with separators within, and padding: ids, is_text, padding."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(len(SPECIAL_TOKENS), VOCABULARY, (rows, time))
    lengths = rng.integers(3, time - 1, rows)
    lengths[0] = time - 2
    columns = np.arange(time)
    ids[:, 0] = CLS
    ids[np.arange(rows), lengths // 2] = SEP
    ids[np.arange(rows), lengths + 1] = SEP
    padding = columns >= lengths[:, None] + 2
    ids[padding] = PAD
    return ids, ids >= len(SPECIAL_TOKENS), padding


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
    ids, is_text, padding = batch(12, 20, seed)
    masked = Masking(BEGINS).apply(ids, is_text, padding, np.random.default_rng(7))
    words = words_of(ids, is_text)
    expected: list[int] = []
    for number in np.random.default_rng(7).permutation(len(words)):
        if len(expected) + len(words[number]) > MASK_SHARE * is_text.sum():
            break
        expected += words[number]
    assert masked.places.tolist() == sorted(expected)
    assert masked.labels.tolist() == [ids.flat[place] for place in sorted(expected)]


def test_of_the_chosen_tokens_8_in_10_are_masked_and_1_is_random() -> None:
    ids, is_text, padding = batch(2000, 64)
    masked = Masking(BEGINS).apply(ids, is_text, padding, np.random.default_rng(1))
    now = masked.inputs.reshape(-1)[masked.places]
    # 8 standard deviations of a share, about 12,000 draws
    assert abs((now == MASK).mean() - 0.8) < 0.03
    other = (now != MASK) & (now != masked.labels)
    assert abs(other.mean() - 0.1 * (1 - 1 / (VOCABULARY - len(SPECIAL_TOKENS)))) < 0.025
    assert now[other].min() >= len(SPECIAL_TOKENS) and len(set(now[other].tolist())) == VOCABULARY - len(SPECIAL_TOKENS)
    untouched = np.ones(ids.size, dtype=bool)
    untouched[masked.places] = False
    assert np.array_equal(masked.inputs.reshape(-1)[untouched], ids.reshape(-1)[untouched])


def test_a_single_long_word_is_chosen() -> None:
    ids = np.array([[CLS, 7, 9, 12, SEP]])
    is_text = np.array([[False, True, True, True, False]])
    masked = Masking(BEGINS).apply(ids, is_text, ~is_text, np.random.default_rng(0))
    assert masked.labels.tolist() == [7, 9, 12]


@pytest.mark.parametrize("padded", [False, True])
def test_the_loss_at_masked_places_is_that_of_the_whole_model(padded: bool) -> None:
    model = new_bert(small(), 120).eval()
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randint(5, 120, (6, 16), generator=generator)
    chosen = torch.rand(6, 16, generator=generator) < 0.2
    padding = torch.zeros(6, 16, dtype=torch.bool)
    padding[2, 9:] = padded
    chosen &= ~padding
    labels = torch.randint(5, 120, (6, 16), generator=generator)
    plain = model(inputs, attention_mask=(~padding).long(), labels=labels.where(chosen, -100)).loss
    plain.backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    places = chosen.flatten().nonzero()[:, 0]
    outputs = masked_outputs(model, inputs, places, padding if padded else None)
    ours = functional.cross_entropy(outputs, labels.flatten()[places])
    ours.backward()
    torch.testing.assert_close(ours, plain, atol=1e-5, rtol=0)
    torch.testing.assert_close([weight.grad for weight in model.parameters()], expected, atol=1e-5, rtol=1e-4)


def test_weights_follow_from_the_seed_and_the_settings() -> None:
    settings = small(vocab_size=120)
    assert parameter_count(settings) == sum(parameter.numel() for parameter in new_bert(settings, 120).parameters())
    one, two, other = (new_bert(small(seed=seed), 120).bert.embeddings.word_embeddings.weight for seed in (1, 1, 2))
    assert torch.equal(one, two) and not torch.equal(one, other)
    bert = new_bert(small(initial_deviation=0.07, hidden_size=64), 120).bert
    weights = bert.encoder.layer[0].intermediate.dense.weight
    assert weights.std().item() == pytest.approx(0.07, rel=0.1)


def test_biases_and_scales_do_not_decay_and_positions_may_begin_as_sinusoids() -> None:
    model = new_bert(small(), 120)
    decayed, others = (group["params"] for group in decayed_groups(model, 0.1))
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    assert all(names[id(parameter)].endswith("bias") or "LayerNorm" in names[id(parameter)] for parameter in others)
    assert not any("LayerNorm" in names[id(parameter)] for parameter in decayed)
    assert len(decayed) + len(others) == len(names)
    settings = small(initial_deviation=0.05, positions="sinusoids")
    vectors = new_bert(settings, 120).bert.embeddings.position_embeddings.weight
    for position, place in itertools.product((0, 1, 7), (0, 1, 4, 31)):
        function = math.cos if place % 2 else math.sin
        expected = 0.1 * function(position / 10_000 ** ((place - place % 2) / 32))
        assert vectors[position, place].item() == pytest.approx(expected, abs=1e-6)
    assert vectors.requires_grad and parameter_count(settings) == parameter_count(small())


def test_a_size_that_no_memory_has_is_one_line() -> None:
    with raises_input_error():
        new_bert(small(hidden_size=2**30), 2**30)
