import numpy as np
import pytest
import torch
from pretraining_parts import small
from transformers import get_linear_schedule_with_warmup

from mtl.pretraining.schedule import Order, Rate


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


def test_a_pass_has_each_segment_once_and_none_twice() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 103)
    order = Order(lengths, 10, 1)
    passes = [np.concatenate([order.batch(10 * number + i) for i in range(10)]) for number in range(2)]
    assert all(len(set(one.tolist())) == 100 for one in passes)
    assert passes[0].tolist() != passes[1].tolist()
    assert [len(order.batch(step)) for step in range(25)] == [10] * 25
    spread = np.mean([np.ptp(lengths[order.batch(step)]) for step in range(10)])
    assert spread < 10  # segments of similar length are together
    assert Order(lengths, 10, 1).batch(17).tolist() == order.batch(17).tolist()
