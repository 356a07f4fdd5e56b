"""Seconds that a lost node costs: the same seeds on two nodes of Ray, undisturbed, and with one of them killed and replaced.

    python benchmarks/recovery.py --seeds 4 --steps 300 --after 40 --runs 2

Both nodes are on this machine and have one CPU each. The node is lost `--after` seconds after the command has started, without a warning,
and another one is added at once, so that the difference is what was lost and trained again, and the time until Ray notices. The scores of
both must be equal. Needs the extra `ray`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from timing import ratio

NODE = {"num_cpus": 1, "object_store_memory": 80 * 2**20}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=300, help="of stage 1")
    parser.add_argument("--after", type=float, default=40.0, help="seconds after which the node is lost")
    parser.add_argument("--runs", type=int, default=2)
    arguments = parser.parse_args()
    os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0", RAY_worker_niceness="0")
    undisturbed, disturbed = [], []
    with tempfile.TemporaryDirectory() as name:
        for run in range(arguments.runs):
            first, second = Path(name) / f"{run}-undisturbed", Path(name) / f"{run}-lost"
            undisturbed.append(seconds(first, arguments, None))
            disturbed.append(seconds(second, arguments, arguments.after))
            assert scores(first) == scores(second), "the scores differ"
    for title, values in (("undisturbed", undisturbed), ("a node lost and replaced", disturbed)):
        print(f"{title}: {statistics.median(values):.1f} s ({min(values):.1f} – {max(values):.1f})")
    print(f"ratio {ratio(undisturbed, disturbed, digits=2)}; the scores are equal")


def seconds(folder: Path, arguments: argparse.Namespace, after: float | None) -> float:
    """Seconds of the whole command on a new cluster. after: seconds after which a node is lost; None: never."""
    from ray.cluster_utils import Cluster

    folder.mkdir()
    command = [
        *(sys.executable, "-m", "mtl", "baseline", "suite=klej-sample", "embeddings=random", "engine=ray"),
        f"seeds=[{','.join(map(str, range(1, arguments.seeds + 1)))}]",
        *("trainer.threads=1", f"pretrain.max_steps={arguments.steps}"),
        f"pretrain.validate_every={max(1, arguments.steps // 10)}",
        *(f"{place}_dir={folder / place}" for place in ("data", "cache", "runs")),
    ]
    cluster = Cluster()
    try:
        cluster.add_node(**NODE, include_dashboard=False)
        lost = cluster.add_node(**NODE)
        timer = threading.Timer(after or 0.0, replace, (cluster, lost))
        begun = time.perf_counter()
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "RAY_ADDRESS": cluster.address}
            )
            if after is not None:
                timer.start()
            status = process.wait()
        duration = time.perf_counter() - begun
        timer.cancel()
        assert status == 0, (folder / "log").read_text()
        return duration
    finally:
        cluster.shutdown()


def replace(cluster: Any, node: Any) -> None:
    """Kill the node, with all that runs on it, and add another one."""
    cluster.remove_node(node, allow_graceful=False)
    cluster.add_node(**NODE)


def scores(folder: Path) -> list[Any]:
    """The predictions of all seeds and tasks."""
    files = sorted((folder / "runs").rglob("seed-*/predictions/**/*"))
    found = [(path.relative_to(folder), path.read_bytes()) for path in files if path.is_file()]
    assert found
    return found


if __name__ == "__main__":
    main()
