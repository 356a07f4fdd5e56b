"""Units on Ray: the same results as in processes, and units that go on when what runs them is lost."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import content, job
from input_errors import raises_input_error
from processes import LEAN
from ray_units import diverge, doubler, fail_at_first, wait_at_first, who
from small_suite import small_settings

from mtl.api.cli import main
from mtl.base.errors import DivergedError
from mtl.benchmark_making.sweeps import ray_cluster
from mtl.benchmark_making.sweeps.ray_cluster import RayCluster
from mtl.benchmark_making.sweeps.ray_nodes import node_difference
from mtl.jobs.engines import Needs, Unit
from mtl.jobs.together import run_together

pytestmark = [pytest.mark.ray, pytest.mark.xdist_group("ray")]  # one worker has them all, and so one cluster

ray = pytest.importorskip("ray")
OBJECTS = 80 * 2**20  # bytes of each node's object store


@pytest.fixture(scope="module", autouse=True)
def environment() -> Iterator[None]:
    """Ray without its login token, which it would write into the home folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")  # with Ray's 15, other tests leave it no time
        patch.delenv("RAY_ADDRESS", raising=False)
        folders = [*(Path(__file__).parents[level] for level in (1, 2, 3)), LEAN]
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))
        yield


@pytest.fixture(scope="module")
def cluster(environment: None) -> Iterator[Any]:
    """Two nodes of one CPU each, on this machine."""
    from ray.cluster_utils import Cluster

    made = Cluster()
    made.add_node(num_cpus=1, object_store_memory=OBJECTS, include_dashboard=False)
    made.add_node(num_cpus=1, object_store_memory=OBJECTS)
    ray.init(address=made.address, log_to_driver=True)
    yield made
    ray.shutdown()
    made.shutdown()


def run(units: list[Unit], at_a_time: int = 2) -> dict[str, Any]:
    results: dict[str, Any] = {}
    RayCluster().run(units, at_a_time, lambda unit, value: results.update({unit.name: value}))
    return results


def test_each_unit_has_a_process_and_begins_after_those_that_it_names(cluster: Any, tmp_path: Path) -> None:
    order: list[str] = []
    units = [Unit("last", who, (tmp_path, "last"), after=frozenset({"a", "b"}))]
    units += [Unit(name, who, (tmp_path, name), folder=tmp_path / "runs") for name in ("a", "b")]
    RayCluster().run(units, 3, lambda unit, value: order.append(unit.name))
    assert order[-1] == "last" and len(set(run(units).values())) == 3
    assert list((tmp_path / "runs").iterdir()) == []  # nothing of the check of the nodes is left


def test_a_node_that_does_not_see_the_folder_is_named(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the nodes were started elsewhere, where a relative path is another folder
    with raises_input_error():
        run([Unit("a", who, (tmp_path, "a"), folder=Path("runs"))])
    assert list(tmp_path.iterdir()) == [tmp_path / "runs"] and list((tmp_path / "runs").iterdir()) == []
    here = {"folder": "x", "mtl": "0.1.0", "torch": "2.13.0"}
    other = node_difference("n7", Path("/shared/runs"), here, {**here, "torch": "2.9.0"})
    assert other == "node n7: has torch 2.9.0, and this machine 2.13.0; install the same versions on all nodes"


def test_errors_are_raised_here_and_a_unit_whose_process_is_killed_begins_again(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(DivergedError, match="^seed 7"):
        run([Unit("seed 7", diverge, (tmp_path, "seed 7"))])
    for needs in (Needs(threads=64), Needs(memory=10**14)):
        with raises_input_error():
            run([Unit("a", who, (tmp_path, "a"), needs=needs)])
    assert run([Unit("a", fail_at_first, (tmp_path, "a"))]) == {"a": "done"}


def test_workers_share_items_and_one_that_is_killed_begins_again(cluster: Any, tmp_path: Path) -> None:
    maker = Unit("doubler", doubler, (tmp_path,), folder=tmp_path / "runs")
    read = []

    def numbers(*values: int) -> Iterator[int]:
        for value in values:
            read.append(value)
            yield value

    results = RayCluster().map(maker, numbers(*range(12)), 2)
    first = next(results)
    assert len(read) == 4  # two for each worker
    processes, doubled = zip(first, *results, strict=True)
    assert doubled == tuple(range(0, 24, 2)) and len(set(processes)) == 3
    for items, workers in (([-1], 1), ([1], 3)):
        with raises_input_error():
            list(RayCluster().map(maker, items, workers))
    (tmp_path / "refuses").touch()
    with raises_input_error():
        list(RayCluster().map(maker, [1], 1))


@pytest.fixture
def without_device(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """This process is not asked which device trains; the nodes are."""

    def cpu_only(accelerator: str, *_: Any) -> torch.device:
        assert accelerator == "cpu"
        return torch.device("cpu")

    for module in ("mtl.jobs.machine", "mtl.training.precision"):
        monkeypatch.setattr(f"{module}.device_of", cpu_only)
    return monkeypatch


@pytest.mark.wings
def test_a_sweep_on_ray_gives_the_same_as_one_run_after_another(
    cluster: Any, tmp_path: Path, without_device: pytest.MonkeyPatch
) -> None:
    settings = [setting for setting in small_settings(tmp_path) if not setting.startswith("run_dir=")]
    settings += ["seeds=[1]", "pretrain.max_steps=8", "pretrain.validate_every=4"]
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text("runs: [{}, {variant: finetune}]", encoding="utf-8")
    for name, engine in (("ray", "ray"), ("one", "processes")):
        more = [f"runs_dir={tmp_path / name}", f"cache_dir={tmp_path / name}-cache", f"engine={engine}"]
        assert main(["sweep", str(sweep), *settings, *more, "--out", str(tmp_path / "out")]) == 0
        without_device.undo()
    for run_name in ("random-frozen", "random-finetune"):
        assert content(tmp_path / f"one/liten/{run_name}") == content(tmp_path / f"ray/liten/{run_name}") != {}


def test_the_device_is_that_of_the_machine_that_trains(
    cluster: Any, tmp_path: Path, without_device: pytest.MonkeyPatch
) -> None:
    settings = [*small_settings(tmp_path), "seeds=[1]", "engine=ray", "trainer.precision=16-mixed"]
    with raises_input_error():  # says the node
        run_together([job(settings)])


def test_a_unit_of_a_lost_node_goes_on_elsewhere(cluster: Any, tmp_path: Path) -> None:
    lost = cluster.add_node(num_cpus=4, object_store_memory=OBJECTS, resources={"here": 1})

    def remove() -> None:
        while not (tmp_path / "a").exists():
            time.sleep(0.05)
        where = (tmp_path / "a").read_text(encoding="utf-8")
        node = next(node for node in [*cluster.worker_nodes, lost] if node.node_id == where)
        cluster.remove_node(node, allow_graceful=False)

    remover = threading.Thread(target=remove)
    remover.start()
    # Only the new node has room for it at first; afterwards there must be another one.
    cluster.add_node(num_cpus=4, object_store_memory=OBJECTS)
    found = run([Unit("a", wait_at_first, (tmp_path, "a"), needs=Needs(threads=2))])
    remover.join()
    assert found["a"] != (tmp_path / "a").read_text(encoding="utf-8")
    # Ray may still list the lost node: it is no reason to refuse what the others can run.
    assert run([Unit("b", who, (tmp_path, "b"), folder=tmp_path / "runs")])


def test_an_address_where_nothing_listens_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "CONNECT_TIMEOUT", 0.2)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        engine = RayCluster()
        monkeypatch.setattr(engine.ray, "is_initialized", lambda: False)
        monkeypatch.setattr(engine.ray, "init", lambda **_: pytest.fail("asked Ray"))
        with raises_input_error():
            engine.run([Unit("a", who, ())], 1, lambda unit, value: None)
        bound.listen()
        ray_cluster.check_listens(address)
    for other in ("", "auto", "local", "ray://127.0.0.1:1"):
        ray_cluster.check_listens(other)


ALONE = """
from mtl.benchmark_making.sweeps.ray_cluster import RayCluster
RayCluster()
import os
from ray._private.services import get_node_ip_address
print(get_node_ip_address(), os.environ["RAY_AUTH_MODE"])
"""


@pytest.mark.parametrize(
    ("address", "mode", "expected"), [(None, None, "127.0.0.1 token"), ("local", "disabled", "127.0.0.1 disabled")]
)
def test_a_cluster_of_this_machine_alone_listens_on_loopback_and_asks_for_a_token(
    tmp_path: Path, address: str | None, mode: str | None, expected: str
) -> None:
    given = {"RAY_ADDRESS": address, "RAY_AUTH_MODE": mode, "RAY_TMPDIR": str(tmp_path)}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment = kept | {name: value for name, value in given.items() if value is not None}
    done = subprocess.run([sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == expected, done.stderr


def test_a_cluster_that_is_joined_is_not_of_this_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert ray_cluster.starts_cluster()
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray/ray_current_cluster").write_text("10.0.0.1:6379", encoding="utf-8")  # as `ray start` leaves it
    assert not ray_cluster.starts_cluster()
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert not ray_cluster.starts_cluster()


def test_a_lost_cluster_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def get(reference: object) -> None:
        raise ray.exceptions.RaySystemError("the\nhead")

    cluster = RayCluster()
    monkeypatch.setattr(cluster.ray, "get", get)
    with raises_input_error():
        cluster._result(object(), "seed 1")


def test_units_do_not_wait_for_a_cluster_without_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, waits = RayCluster(), iter([([], ["one"]), (["one"], []), ([], ["one"])])
    monkeypatch.setattr(cluster.ray, "wait", lambda *_, **__: next(waits))
    monkeypatch.setattr(cluster.ray, "nodes", lambda: [{"Alive": False}, {"Alive": True}])
    assert cluster._next_ended(["one"]) == "one"
    monkeypatch.setattr(cluster.ray, "nodes", lambda: [{"Alive": False}])
    with raises_input_error():
        cluster._next_ended(["one"])
