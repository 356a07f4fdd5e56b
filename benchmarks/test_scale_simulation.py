"""The simulation of scale.py against closed forms."""

import heapq
import math
from statistics import mean
from typing import Any

import numpy as np
import pytest
import scale_simulation as sim
from scale_sharing import FileSystem, Piece, Sharing


def unit(*seconds: float, start: Any = None, **of: Any) -> Any:
    return sim.Work(start or Piece(), tuple(Piece(of) for of in seconds), **of)


SECONDS = np.random.default_rng(3).gamma(4.0, 100.0, size=40).tolist()


def test_one_worker_takes_the_sum_and_a_transfer_alone_has_the_speed_of_its_client() -> None:
    units = [unit(of / 2, of / 2, start=Piece(7.0)) for of in SECONDS]
    assert sim.simulate(units, sim.Cluster(1)).seconds == pytest.approx(sum(SECONDS) + 7 * len(SECONDS))
    files = FileSystem(bandwidth=100.0, client_bandwidth=5.0, latency=0.5)
    units = [unit(start=Piece(0, bytes=50, files=4))] * 3
    assert sim.simulate(units, sim.Cluster(3), files).seconds == pytest.approx(50 / 5 + 4 * 0.5)
    unlimited = FileSystem(client_bandwidth=5.0)
    assert sim.simulate(units, sim.Cluster(3), unlimited).seconds == pytest.approx(50 / 5)


@pytest.mark.parametrize("workers", [2, 7, 100])
def test_without_contention_it_is_list_scheduling(workers: int) -> None:
    free = [0.0] * workers
    for of in SECONDS:
        heapq.heappush(free, heapq.heappop(free) + of)
    found = sim.simulate([unit(of) for of in SECONDS], sim.Cluster(workers))
    assert found.seconds == pytest.approx(max(free)) and found.moved(1) == found.peak(1) == 0


def test_a_full_file_system_takes_its_bytes_or_its_files() -> None:
    size = np.random.default_rng(4).uniform(1, 9, size=30)
    units = [unit(start=Piece(0, bytes=of)) for of in size]
    found = sim.simulate(units, sim.Cluster(10), FileSystem(bandwidth=2.0))
    assert found.seconds == pytest.approx(size.sum() / 2)
    assert found.peak(1, window=1.0) == pytest.approx(2.0) and found.moved(1) == pytest.approx(size.sum())
    units = [unit(start=Piece(0, files=of)) for of in size]
    assert sim.simulate(units, sim.Cluster(10), FileSystem(rate=4.0)).seconds == pytest.approx(size.sum() / 4)


def test_slow_clients_leave_the_others_share_units_wait_and_a_slow_driver_is_the_limit() -> None:
    """Shares of 1 of which the first client uses 0.1: the two others have 0.45 each, then 0.9."""
    sharing = Sharing(FileSystem(bandwidth=10.0, client_bandwidth=9.0, latency=1.0))
    sharing.begin(0, Piece(0, bytes=9, files=8))  # alone: 1 s and 8 s, of the whole file system 0.9 s
    sharing.begin(1, Piece(0, bytes=9))
    sharing.begin(2, Piece(0, bytes=9))
    assert sharing.next() == (pytest.approx(2.0), 1)
    assert [sharing.of[worker].share for worker in range(3)] == pytest.approx([0.1, 0.45, 0.45])
    sharing.end(2)
    assert sharing.next() == (pytest.approx(1.0), 1)
    assert sharing.of[1].share == pytest.approx(0.9) and 2 not in sharing.of
    found = sim.simulate([unit(10.0), unit(4.0, after=0), unit(3.0)], sim.Cluster(3), driver=sim.Driver(submit=1.0))
    assert found.seconds == pytest.approx(1 + 10 + 1 + 4)
    units = [unit(1.0, run=place // 5) for place in range(50)]
    found = sim.simulate(units, sim.Cluster(50), driver=sim.Driver(unit=2.0, run=3.0))
    assert found.seconds == pytest.approx(1 + 50 * 2 + 10 * 3) and found.driver_seconds == pytest.approx(130)


@pytest.mark.slow
def test_lost_nodes_cost_what_renewal_theory_says_and_repeat_by_seed() -> None:
    """A segment of s seconds that begins again after every loss takes (exp(rate s) - 1) / rate on average."""
    rate, each = 1 / 300, 200.0
    runs = [sim.simulate([unit(*[each] * 400)], sim.Cluster(1, loss=rate), seed=seed) for seed in range(4)]
    assert mean(run.seconds for run in runs) == pytest.approx(400 * math.expm1(rate * each) / rate, rel=0.08)
    assert all(run.lost == run.most_lost > 0 for run in runs)
    units, cluster = [unit(*[50.0] * 20)] * 8, sim.Cluster(8, per_node=4, loss=1e-3, away=30.0)
    first, again = (sim.simulate(units, cluster, seed=5) for _ in range(2))
    assert first.lost > 0 and first.lost % 4 == 0 and first.most_lost <= first.lost / 4
    assert first.seconds == again.seconds > 1000
    assert sim.simulate(units, cluster, seed=6).seconds != first.seconds
