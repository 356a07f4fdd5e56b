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

from mtl.files import read_json, write_json
from mtl.jobs.baseline import sum_up
from mtl.jobs.engines.kind import Unit
from mtl.jobs.job import load_job
from mtl.jobs.prepared import Prepared
from mtl.report.report import write_report

IMPORTS = "import mtl.jobs.seed, mtl.methods.lstm.two_stages, pytorch_lightning"
# Prints bytes read, CPU seconds, and files opened by Python.
PREPARE = f"""
import os, sys, yaml
opened = set()
sys.addaudithook(lambda event, of: event == "open" and opened.add(str(of[0])))
{IMPORTS}
from mtl.config.files import flatten
from mtl.jobs.job import load_job
from mtl.jobs.prepared import prepare
imported, before, opened_before = os.times(), int(open("/proc/self/io").readline().split()[1]), len(opened)
config = {{key: value for key, value in flatten(yaml.safe_load(open(sys.argv[1]))).items() if value is not None}}
prepare(load_job({{**config, "run_dir": sys.argv[2]}}))
after, read = os.times(), int(open("/proc/self/io").readline().split()[1])
print(after.user + after.system - imported.user - imported.system, read - before, opened_before, imported.user + imported.system)
"""


def measure(run: Path, repeats: int) -> dict[str, Any]:
    """Parameters by name, in the form of benchmarks/scale.yaml. run: a finished run of the LSTM whose data and cache are still there."""
    return {**seeds_of(run), **start_up(run, repeats), **engines(repeats), **driver(run, repeats)}


def seeds_of(run: Path) -> dict[str, Any]:
    """Seconds of the stages of each seed, bytes and files that a seed leaves, validations of stage 1."""
    folders = sorted(path.parent for path in run.glob("seed-*/scores.json"))
    costs = [read_json(folder / "scores.json")["cost"] for folder in folders]
    files = [path for path in folders[0].rglob("*") if path.is_file()]
    weights = (folders[0] / "pretrain/best.ckpt").stat().st_size
    return {
        "stages": [[round(cost["pretrain_seconds"]), round(cost["finetune_seconds"])] for cost in costs],
        "validations": len(read_json(folders[0] / "pretrain/done.json")["curve"]),
        "weights": weights,
        "final_bytes": sum(path.stat().st_size for path in files) - weights,
        "final_files": len(files),
    }


def start_up(run: Path, repeats: int) -> dict[str, Any]:
    """Import and preparation of a seed's process: seconds, bytes that it reads, modules that it opens."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", PREPARE, str(run / "config.yaml"), folder]
        found = [
            [
                float(value)
                for value in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            ]
            for _ in range(repeats)
        ]
    prepare, read, opened, imports = map(min, zip(*found, strict=True))
    return {
        "import_seconds": round(imports, 1),
        "import_files": int(opened),
        "prepare_seconds": round(prepare, 1),
        "prepare_bytes": int(read),
    }


def engines(repeats: int) -> dict[str, Any]:
    """Start of Ray, and what a unit that does nothing costs with either engine: with Ray seconds until its result is here, with
    processes the CPU seconds of the process. The driver's own CPU seconds to submit a unit, and to wait for one among many."""
    from mtl.jobs.engines.processes import Processes
    from mtl.jobs.engines.ray_cluster import RayCluster

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
    """CPU seconds of the driver to sum up a run, and of `mtl report` on 10 and 100 small runs made of known predictions."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from run_folders import make_run, right

    done = read_json(next(run.glob("seed-*/scores.json")))
    job = load_job({"suite": str(run / "suite.yaml"), "tasks": list(done["scores"])})
    rows = {task.id: task.rows or {task.scored_split: 60} for task in job.run_tasks}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        runs = Path(name) / "runs/klej"
        for number in range(100):
            make_run(runs / f"run-{number}", right(0.5 + number / 400), seeds=(1, 2, 3, 4, 5))
            if number in (9, 99):
                report = partial(write_report, runs, Path(name) / "report", "")
                found[f"report_{number + 1}_seconds"] = round(_least(report, 1), 1)
        sample = replace(job, config=replace(job.config, run_dir=str(runs / "run-0"), seeds=[1, 2, 3, 4, 5]))
        for seed in sample.config.seeds:
            write_json(sample.folder.scores(seed), done)
        prepared = Prepared({}, rows, dict.fromkeys(rows, 0.0), {}, {}, {})
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
