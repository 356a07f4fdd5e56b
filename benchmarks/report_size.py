"""Processor seconds, memory and sizes of `mtl report` on many runs: five seeds, ten tasks of 200 to 1,000 scored rows.

    python benchmarks/report_size.py --runs 10 100 1000
    python benchmarks/report_size.py --runs 10 100 1000 --distinct 100

The runs are not trained: their predictions are right with a probability that differs by run, their learning curves are the same. Each
report is a process of its own, first with an empty cache and then with the cache that the first left. --package: another version of mtl,
as the folder that holds its package; one without a cache has two equal reports. --distinct: only the first runs differ in their
predictions, and the others repeat them, so that the report of more runs finds a cache filled by those. This saves most of the time.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtl.base.settings.layers import flatten_config, save_config
from mtl.jobs.job import Job, load_job
from mtl.methods import METHODS
from mtl.runs.folder import FORMAT, RunFolder
from mtl.runs.summary import summarize
from mtl.tasks.metrics import score
from mtl.tasks.targets import target_kind
from mtl.tasks.task import ScoredRows, Task

SEEDS = (1, 2, 3, 4, 5)
ROWS = np.linspace(200, 1000, 10).astype(int)  # of each task's dev file
LABELS = "{text: [text], target: label, labels: [a, b, c], metric: "
METRICS = [
    *[LABELS + "accuracy}"] * 4,
    *[LABELS + "f1, positive: a}"] * 2,
    *[LABELS + "macro_f1}"] * 2,
    "{text: [text, other], target: number, range: [0, 5], metric: spearman}",
    "{text: [text], target: number, range: [0, 5], metric: one_minus_wmae}",
]
STEPS = 20  # validations of each learning curve
FILES = ("index.html", "report.md", "report.tex", "scores.csv", "comparisons.csv")
COST = {
    **{"parameters": 10_000_000, "parameters_without_embeddings": 1_000_000, "peak_memory": 2**30},
    **{"pretrain_seconds": 300.0, "finetune_seconds": 60.0, "sentences_per_second": 300.0},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--distinct", type=int, help="how many runs have predictions of their own; else all")
    parser.add_argument("--package", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--folder", type=Path, help="keep the runs and the reports here; else a temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = (arguments.folder or Path(name)).resolve()
        print("| runs | cache | seconds | peak memory, MB |", " | ".join(f"{name}, MB" for name in FILES), "|")
        print("|--:|---|--:|--:|", "--:|" * len(FILES), sep="")
        for runs in sorted(arguments.runs):
            make_runs(folder / f"runs-{runs}", runs, arguments.distinct or runs)
            work = folder / "work"
            work.mkdir(exist_ok=True)
            is_known = runs > (arguments.distinct or runs)
            if not is_known:
                shutil.rmtree(work / "cache", ignore_errors=True)
            for cache in ("filled",) if is_known else ("empty", "filled"):
                seconds, peak = measure_report(arguments.package.resolve(), folder / f"runs-{runs}", work)
                sizes = [f"{(work / 'report' / file).stat().st_size / 1e6:.2f}" for file in FILES]
                print(f"| {runs:,} | {cache} | {seconds:.1f} | {peak / 1e6:.0f} |", " | ".join(sizes), "|", flush=True)


def measure_report(package: Path, runs_dir: Path, work: Path) -> tuple[float, int]:
    """The processor's seconds and the peak memory in bytes of one report in the folder `work`, which holds its cache too."""
    command = [sys.executable, "-m", "mtl", "report", str(runs_dir)]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    process = subprocess.Popen(command, cwd=work, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}: exit status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss


def make_runs(folder: Path, runs: int, distinct: int) -> None:
    """Write `runs` finished runs below the folder, unless they are there. distinct: how many have predictions of their own."""
    if (folder / f"run-{runs - 1}/summary.json").exists():
        return
    suite = folder / "suite.yaml"
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [f"  task-{place}: {declared}" for place, declared in enumerate(METRICS)]
    suite.write_text("\n".join(["name: many", "files: {test: null}", "tasks:", *tasks, ""]), encoding="utf-8")
    job = load_job({"suite": str(suite), "seeds": list(SEEDS), "method": "lstm", "embeddings": "random"})
    rng = np.random.default_rng(1)
    gold = {task.id: gold_of(task, rows, rng) for task, rows in zip(job.suite.tasks.values(), ROWS, strict=True)}
    for number in range(runs):
        if number < distinct:
            make_run(folder, number, job, gold)
        else:
            repeat_run(folder, number, number % distinct)


def gold_of(task: Task, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Random targets (rows,) of a task."""
    values = rng.integers(len(task.labels) if task.labels else 6, size=rows)
    return values.astype(target_kind(task).dtype)


def make_run(folder: Path, number: int, job: Job, gold: Mapping[str, np.ndarray]) -> None:
    """Write one run."""
    run, rng = RunFolder(folder / f"run-{number}"), np.random.default_rng([2, number])
    share, tasks = 0.5 + 0.4 * rng.random(), list(job.suite.tasks.values())
    done = {seed: write_seed(run, seed, share, tasks, gold, rng) for seed in SEEDS}
    counts = {id: {"dev": len(targets)} for id, targets in gold.items()}
    method = METHODS[job.config.method].summary(job.config, job.suite)
    summary = summarize(job.suite, tasks, job.config, method, done, counts, dict.fromkeys(gold, 40.0))
    inputs = {f"task-{place}/{split}.tsv": 64 * str(place) for place in range(len(tasks)) for split in ("train", "dev")}
    summary |= {"held_out": {}, "config": flatten_config(job.config), "inputs": inputs, "command": "mtl baseline"}
    save_config(job.config, run.config)
    shutil.copyfile(folder / "suite.yaml", run.suite)
    write_json(run.inputs, {**inputs, "format": FORMAT, "precision": "32-true"})
    write_json(run.held_out, {})
    write_json(run.scored_rows, {task.id: {"texts": task.id, "groups": None} for task in tasks})
    write_summary(run, number, summary)
    for task in tasks:
        write_targets(run.gold("dev", task.id), task, gold[task.id])


def repeat_run(folder: Path, number: int, of: int) -> None:
    """Write a run with the predictions of another, and other settings."""
    run, source = RunFolder(folder / f"run-{number}"), RunFolder(folder / f"run-{of}")
    shutil.copytree(source.path, run.path, copy_function=os.link)
    run.summary.unlink()
    write_summary(run, number, json.loads(source.summary.read_text(encoding="utf-8")))


def write_summary(run: RunFolder, number: int, summary: Mapping[str, Any]) -> None:
    """Write a run's summary, with settings of its own."""
    settings = {"encoder.hidden_size": 64 * (1 + number % 8), "pretrain.max_steps": number}
    write_json(run.summary, {**summary, "config": {**summary["config"], **settings}})


def write_seed(
    run: RunFolder,
    seed: int,
    share: float,
    tasks: Sequence[Task],
    gold: Mapping[str, np.ndarray],
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Write a seed's predictions, of which about `share` are right, and its learning curves; return what its scores.json holds."""
    scores = {}
    for task in tasks:
        right = gold[task.id]
        predicted = np.where(rng.random(len(right)) < share, right, rng.permutation(right))
        write_targets(run.predictions(seed, "dev", task.id), task, predicted)
        scores[task.id] = score(task, predicted, ScoredRows(right))
    curve = [{"step": 500 * n, "dev/average": 50.0 + n, "train/loss": 1 / (n + 1)} for n in range(STEPS)]
    whole = [{**point, **{f"dev/{task.id}": 50.0 + place for place, task in enumerate(tasks)}} for point in curve]
    write_json(run.seed(seed) / "pretrain/done.json", {"curve": whole, "seconds": 300.0, "peak_memory": 2**30})
    for task in tasks:
        write_json(
            run.seed(seed) / "finetune" / task.id / "done.json", {"curve": curve, "seconds": 60.0, "peak_memory": 2**30}
        )
    kept = {"cost": COST, "versions": {"mtl": "1", "torch": "2"}, "machine": "CPU: a"}
    return {"scores": scores, "also": {}, "same_answer": [], **kept}


def write_targets(path: Path, task: Task, targets: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = map(target_kind(task).to_line, targets.tolist())
    path.write_text("\n".join([task.target, *lines, ""]), encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    main()
