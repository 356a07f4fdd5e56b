import numpy as np
import pytest
import torch
from pretraining_parts import small
from transformers import get_linear_schedule_with_warmup

from mtl.vectors.pretraining.training import Order, Rate


@pytest.mark.parametrize("warmup", [0.1, 10])
def test_rates_are_those_of_transformers(warmup: float) -> None:
    rate = Rate(small(max_steps=100, warmup=warmup))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], 5e-3)
    scheduler = get_linear_schedule_with_warmup(optimizer, 10, 100)
    for step in range(100):
        assert rate.at(rate.progress(step, 1e9)) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-9, abs=1e-15)
        optimizer.step()
        scheduler.step()


def test_a_time_limit_ends_at_the_final_rate() -> None:
    rate = Rate(small(max_steps=None, max_minutes=2.0, warmup=0.5, final_learning_rate=1e-3))
    assert [rate.at(rate.progress(7, seconds)) for seconds in (0, 30, 60, 90, 120, 500)] == pytest.approx(
        [0, 2.5e-3, 5e-3, 3e-3, 1e-3, 1e-3]
    )


def test_the_limit_that_comes_first_ends_the_training() -> None:
    rate = Rate(small(max_steps=100, max_minutes=1.0))
    assert [rate.progress(*given) for given in [(50, 6), (10, 45), (10, 61), (100, 1)]] == [0.5, 0.75, 1, 1]


def test_a_pass_has_no_segment_twice() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 409)
    order = Order(lengths, 10, 1)
    passes = [np.concatenate([order.batch(40 * number + i) for i in range(40)]) for number in range(2)]
    assert all(len(set(one.tolist())) == 400 for one in passes)
    assert passes[0].tolist() != passes[1].tolist()
    assert [len(order.batch(step)) for step in range(90)] == [10] * 90
    spread = np.mean([np.ptp(lengths[order.batch(step)]) for step in range(40)])
    assert spread < 15  # segments of similar length are together; 40 or so in batches of random ones
    assert Order(lengths, 10, 1).batch(57).tolist() == order.batch(57).tolist()


@pytest.mark.parametrize("segments", [19, 109, 999])
def test_segments_of_every_length_are_left_out_equally_often(segments: int) -> None:
    """Nine of each pass, whatever their length: over many passes, each of them as often as any other."""
    order, passes = Order(np.arange(segments), 10, 1), 400
    counts = np.zeros(segments, dtype=np.int64)
    for step in range(passes * order.per_pass):
        counts[order.batch(step)] += 1
    left_out = passes - counts
    assert left_out.sum() == 9 * passes and counts.max() <= passes
    expected, third = 9 / segments * passes, segments // 3
    # The draws follow from the seed. Six standard deviations of a mean over a third of the segments.
    bound = 6 * np.sqrt(expected / third)
    for part in (left_out[:third], left_out[third:-third], left_out[-third:]):
        assert abs(part.mean() - expected) < bound


def test_batches_differ_from_pass_to_pass() -> None:
    """Of 40 batches, those of similar length are put together from 5 batches' segments, not from all of them."""
    order = Order(np.random.default_rng(0).integers(1, 50, 409), 10, 1)
    first, second = ([set(order.batch(start + i).tolist()) for i in range(40)] for start in (0, 40))
    alike = [max(len(one & other) for other in second) for one in first]
    assert np.mean(alike) < 3
