"""The parameters of benchmarks/scale.py that one machine can measure. Seconds are CPU seconds, the least of several, where other
programs would disturb wall-clock."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mtl.base.files import write_json
from mtl.base.untrusted import read_json
from mtl.jobs.baseline import Prepared, sum_up
from mtl.jobs.engines import Unit
from mtl.jobs.job import load_job
from mtl.reports.report import write_report
from mtl.runs.records import SeedScores, read_stage, read_summary

SMALL_RUNS = 10  # for the report
IMPORTS = "import mtl.jobs.baseline, mtl.methods.lstm.two_stages, pytorch_lightning"
# Prints CPU seconds and bytes read: of the imports, then of the preparation of a seed.
PREPARE = f"""
import os, sys
from pathlib import Path
def spent():
    return sum(os.times()[:2]), int(Path("/proc/self/io").read_text().split()[1])
{IMPORTS}
imported = spent()
from mtl.base.settings.layers import read_config
from mtl.embedders import embedder_kind
from mtl.jobs.job import Job
from mtl.methods import METHODS
from mtl.jobs.inputs import prepare
from mtl.tasks.suite import load_suite
run = Path(sys.argv[1])
config = read_config(run / "config.yaml", lambda name: embedder_kind(name).options)
suite = load_suite(run / "suite.yaml")
prepare(Job(config, suite), METHODS[config.method].find_inputs(config, suite))
print(*imported, *(after - before for after, before in zip(spent(), imported)))
"""


def measure(run: Path, repeats: int) -> dict[str, Any]:
    """Parameters by name, in the form of benchmarks/scale.yaml, and `ray_unit_seconds` for comparison.

    run: a finished run of the LSTM whose data and cache are still there.
    """
    return {**seeds_of(run), **start_up(run, repeats), **engines(repeats), **driver(run, repeats)}


def seeds_of(run: Path) -> dict[str, Any]:
    """Seconds of the stages of each seed, bytes and files that a seed leaves, validations of stage 1."""
    folders = sorted(path.parent for path in run.glob("seed-*/scores.json"))
    costs = [read_json(folder / "scores.json", SeedScores)["cost"] for folder in folders]
    files = [path for path in folders[0].rglob("*") if path.is_file()]
    weights = (folders[0] / "pretrain/best.ckpt").stat().st_size
    return {
        "stages": [[round(cost[key] or 0) for key in ("pretrain_seconds", "finetune_seconds")] for cost in costs],
        "validations": len(read_stage(folders[0] / "pretrain/done.json")["curve"]),
        "weights": {str(read_summary(run / "summary.json")["embeddings"]): weights},
        "final_bytes": sum(path.stat().st_size for path in files) - weights,
        "final_files": len(files),
    }


def start_up(run: Path, repeats: int) -> dict[str, Any]:
    """Imports and preparation of a seed's process: the least seconds, and the bytes that it reads."""
    command = [sys.executable, "-c", PREPARE, str(run)]
    found = [
        [
            float(value)
            for value in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        ]
        for _ in range(repeats)
    ]
    imports, import_bytes, prepares, prepare_bytes = map(min, zip(*found, strict=True))
    return {
        "import_seconds": round(imports, 1),
        "import_bytes": int(import_bytes),
        "prepare_seconds": round(prepares, 1),
        "prepare_bytes": {read_summary(run / "summary.json")["embeddings"]: int(prepare_bytes)},
    }


def engines(repeats: int) -> dict[str, Any]:
    """Start of Ray, and what a unit that does nothing costs with either engine: with Ray seconds until its result is here, with
    processes the CPU seconds of the process. The driver's own CPU seconds to submit a unit, and to wait for one among many."""
    from mtl.benchmark_making.sweeps.ray_cluster import RayCluster
    from mtl.jobs.engines.processes import Processes

    units = [Unit(str(n), os.path.basename, (str(n),)) for n in range(repeats)]
    before = _cpu_seconds()
    Processes().run(units, 1, lambda unit, value: None)
    found: dict[str, Any] = {"process_seconds": round((_cpu_seconds() - before) / repeats, 2)}
    engine = RayCluster()
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else Ray writes a token into the home folder
    start = time.monotonic()
    engine.ray.init("local", num_cpus=1, include_dashboard=False, object_store_memory=80 * 2**20, logging_level="error")
    found["ray_start_seconds"] = round(time.monotonic() - start, 1)
    try:
        found["ray_unit_seconds"] = round(
            _least(lambda: engine.run(units[:1], 1, lambda unit, value: None), repeats, time.monotonic), 2
        )
        waiting: list[Any] = []
        submit = lambda: waiting.append(engine._submit(Unit(f"sleep {len(waiting)}", time.sleep, (3600,))))  # noqa: E731
        found["submit_seconds"] = round(_least(lambda: [submit() for _ in range(100)], 3) / 100, 5)
        wait = _least(lambda: engine.ray.wait(waiting, num_returns=1, timeout=0), 20)
        found["wait_seconds_per_unit"] = float(f"{wait / len(waiting):.2g}")
    finally:
        engine.ray.shutdown()
    return found


def driver(run: Path, repeats: int) -> dict[str, Any]:
    """CPU seconds of the driver to sum up a run, and of `mtl report` on small runs made of known predictions, a run."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from run_folders import make_run, right

    done = read_json(next(run.glob("seed-*/scores.json")), SeedScores)
    job = load_job({"suite": str(run / "suite.yaml"), "tasks": list(done["scores"])})
    rows = {task.id: task.rows or {task.scored_split: 60} for task in job.run_tasks}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        runs = Path(name) / "runs/klej"
        for number in range(SMALL_RUNS):
            make_run(runs / f"run-{number}", right(0.5 + number / 40), seeds=(1, 2, 3, 4, 5))
        report = partial(write_report, runs, Path(name) / "report", "")
        found["report_seconds_per_run"] = round(_least(report, 1) / SMALL_RUNS, 2)
        sample = replace(job, config=replace(job.config, run_dir=str(runs / "run-0"), seeds=[1, 2, 3, 4, 5]))
        for seed in sample.config.seeds:
            write_json(sample.folder.scores(seed), done)
        prepared = Prepared({}, rows, {}, dict.fromkeys(rows, 0.0), {"held_out": {}}, {})
        found["sum_up_seconds"] = round(_least(lambda: sum_up(sample, prepared, ""), repeats), 4)
    return found


def _least(call: Callable[[], object], repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    seconds = []
    for _ in range(repeats):
        start = clock()
        call()
        seconds.append(clock() - start)
    return min(seconds)


def _cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(sum(resource.getrusage(of)[:2]) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
