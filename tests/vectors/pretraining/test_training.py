import itertools
import math
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from input_errors import raises_input_error
from pretraining_parts import lines, small, tokenizer
from torch.nn import functional
from transformers import get_linear_schedule_with_warmup

from mtl.vectors.pretraining.settings import SPECIAL_TOKENS, PretrainingSettings
from mtl.vectors.pretraining.tokens import Segments, read_tokens, write_tokens
from mtl.vectors.pretraining.training import (
    CHOSEN_SHARE,
    NOT_CHOSEN,
    MaskedLanguageModelling,
    mask_words,
    masked_outputs,
    new_bert,
    pass_batches,
)
from mtl.vectors.pretraining.vocabulary import CLS, MASK, PAD, SEP, word_beginnings


def training(folder: Path, settings: PretrainingSettings) -> MaskedLanguageModelling:
    learnt = tokenizer()
    write_tokens(lines(), learnt, 0, folder)
    begins = word_beginnings(learnt)
    bert, segments = new_bert(settings, len(begins)), Segments(*read_tokens(folder), settings.chunk)
    return MaskedLanguageModelling(bert, segments, begins, settings, folder)


def test_perplexity_and_accuracy_are_those_of_a_plain_loop(tmp_path: Path) -> None:
    one = training(tmp_path, small(accumulate=2, held_out=0.3, max_steps=40, validate_every=40))
    one.run("test")  # with weights of no meaning, no token is right
    one.network.eval()
    with torch.no_grad():
        (row, _), (again, _) = one.validate(), one.validate()
    assert row["perplexity"] == again["perplexity"]  # the masks stay the same
    order = np.array(sorted(one.held_out_parts, key=lambda segment: (one.segments.lengths[segment], segment)))
    losses, hits = [], []
    for number in range(-(-len(order) // 4)):
        inputs, labels = one.mask_segments(order[4 * number : 4 * number + 4], np.random.default_rng([1, 3, number]))
        for line, label in zip(inputs, labels.tolist(), strict=True):
            length = int((line != PAD).sum())
            with torch.no_grad():  # each segment for itself, without padding
                logits = one.network(torch.from_numpy(line[None, :length])).logits[0].double()
            for column in range(length):
                if label[column] != NOT_CHOSEN:
                    losses.append(-functional.log_softmax(logits[column], -1)[label[column]].item())
                    hits.append(int(logits[column].argmax()) == label[column])
    assert len(losses) > 20 and any(hits)
    assert row["perplexity"] == pytest.approx(math.exp(np.mean(losses)), rel=1e-4)
    assert row["accuracy"] == pytest.approx(100 * np.mean(hits))


def test_parts_of_a_batch_give_the_same_step(tmp_path: Path) -> None:
    gradients = []
    for accumulate in (1, 4):
        one = training(tmp_path, small(dropout=0.0, accumulate=accumulate))
        one.train()
        one.loss_and_gradients(next(one.batches()))
        gradients.append({name: parameter.grad for name, parameter in one.network.named_parameters()})
    torch.testing.assert_close(*gradients, atol=1e-6, rtol=1e-4)


def test_held_out_segments_are_not_trained_on_and_bfloat16_trains_weights_in_float32(tmp_path: Path) -> None:
    one = training(tmp_path, small())
    assert not set(one.held_out_parts) & set(one.trained_parts)
    assert len(one.held_out_parts) + len(one.trained_parts) == len(one.segments)
    assert len(one.held_out_parts) == math.ceil(0.1 * len(one.segments))
    one = training(tmp_path, small(max_steps=2, precision="bf16-mixed"))
    one.trainer_config.force_precision = True  # on a CPU without such instructions, too
    kinds = []
    one.network.cls.predictions.decoder.register_forward_hook(lambda module, given, out: kinds.append(out.dtype))
    one.run("test")
    assert torch.bfloat16 in kinds and {parameter.dtype for parameter in one.network.parameters()} == {torch.float32}


@pytest.mark.parametrize("warmup", [0.1, 10])
def test_rates_are_those_of_transformers(tmp_path: Path, warmup: float) -> None:
    one = training(tmp_path, small(max_steps=100, warmup=warmup))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 5e-3)
    scheduler = get_linear_schedule_with_warmup(optimizer, 10, 100)
    for one.step in range(100):
        assert one.learning_rate() == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-9, abs=1e-15)
        optimizer.step()
        scheduler.step()


def test_a_pass_has_no_segment_twice_and_batches_differ_from_pass_to_pass() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 409)
    batches = [pass_batches(lengths, 10, [1, number]) for number in range(2)]
    assert all([len(batch) for batch in one] == [10] * 40 for one in batches)
    passes = [set(np.concatenate(one).tolist()) for one in batches]
    assert all(len(one) == 400 for one in passes)
    left_out = [set(range(409)) - one for one in passes]  # chosen before segments are sorted by length
    assert all(min(lengths[list(one)]) < 25 < max(lengths[list(one)]) for one in left_out)
    # Segments of similar length are together; the spread is 40 or so in batches of random ones.
    assert np.mean([np.ptp(lengths[batch]) for batch in batches[0]]) < 15


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


def test_weights_follow_from_the_seed_and_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, other = (new_bert(small(seed=seed), 120).bert.embeddings.word_embeddings.weight for seed in (1, 1, 2))
    assert torch.equal(one, two) and not torch.equal(one, other)
    bert = new_bert(small(initial_deviation=0.07, hidden_size=64), 120).bert
    weights = bert.encoder.layer[0].intermediate.dense.weight
    assert weights.std().item() == pytest.approx(0.07, rel=0.1)
    with raises_input_error():
        new_bert(small(hidden_size=2**30), 2**30)
    monkeypatch.setattr("transformers.BertForMaskedLM", Mock(side_effect=MemoryError))  # which has no text
    with raises_input_error():
        new_bert(small(), 120)


def test_positions_may_begin_as_sinusoids() -> None:
    settings = small(initial_deviation=0.05, positions="sinusoids")
    vectors = new_bert(settings, 120).bert.embeddings.position_embeddings.weight
    for position, place in itertools.product((0, 1, 7), (0, 1, 4, 31)):
        function = math.cos if place % 2 else math.sin
        expected = 0.1 * function(position / 10_000 ** ((place - place % 2) / 32))
        assert vectors[position, place].item() == pytest.approx(expected, abs=1e-6)
    assert vectors.requires_grad
