"""How many minutes does one seed take, from the command to the end of stage 2, and which scores does it reach?

    python benchmarks/time_to_score.py --data data/klej --vectors eltec.bin [key=value …]

The scores are those of KLEJ's tasks with complete official data, on dev, beside the paper's row "LSTM + fastText" (test). Dev
scores are higher than test scores, so the level to reach is 2 points above that row, 5 for CDSC-R. For each task, the script also
prints the first validation of stage 1 that reached the level. Settings (key=value) change the run, as for `mtl baseline`.

With --plain, it also trains the loop of `plain.py` for the same minutes, with the run's sizes, batches and learning rate: no stage
2, no input joined to the output, no projection, no class weights, all vectors trained, a constant learning rate. Its minutes are
those of training alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from jobs import prepare_lstm
from plain import plain

from mtl.base.untrusted import read_json
from mtl.jobs.job import parse_settings
from mtl.runs.records import SeedScores, read_stage

PAPER = {"nkjp-ner": 67.3, "cdsc-e": 87.8, "cdsc-r": 81.6, "cbd": 32.8, "dyk": 27.5}
LEVEL = {task: paper + (5 if task == "cdsc-r" else 2) for task, paper in PAPER.items()}
# What the plain loop does not have.
PLAIN = {
    "encoder.join_input": False,
    "head.projection": None,
    "loss.class_weights": 0,
    "embeddings.trainable": True,
}

Curve = Sequence[Mapping[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="KLEJ's data")
    parser.add_argument("--vectors", type=Path, required=True, help="fastText vectors")
    parser.add_argument("--preset", default="laptop")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--plain", action="store_true", help="train the plain loop, too")
    parser.add_argument("settings", nargs="*", help="key=value")
    arguments = parser.parse_args()
    common = {
        "tasks": list(PAPER),
        "preset": arguments.preset,
        "embeddings": "fasttext",
        "embeddings.path": str(arguments.vectors),
        **parse_settings(arguments.settings),
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in arguments.seeds:
            minutes, scores, curve = ours(arguments.data, folder, {**common, "seeds": [seed]})
            print(f"\nseed {seed}: {minutes:.1f} minutes, from the command to its end")
            report(scores, curve)
        if arguments.plain:
            warnings.filterwarnings("ignore")
            config, method = prepare_lstm(arguments.data, folder, {**common, **PLAIN})
            curve = plain(config, method, folder / "plain", minutes)
            best = max(curve, key=lambda row: sum(row.get(task, 0) for task in PAPER))
            print(f"\nthe plain loop: {curve[-1]['step']} steps in {minutes:.1f} minutes; its best validation")
            report(best, curve)


def ours(data: Path, folder: Path, settings: Mapping[str, object]) -> tuple[float, dict[str, float], Curve]:
    """Minutes of the command, dev scores after stage 2, and the curve of stage 1."""
    run = folder / f"run-{settings['seeds']}"
    places = {"suite": "klej", "data_dir": data, "run_dir": run, "cache_dir": folder / f"cache-{settings['seeds']}"}
    words = [
        f"{key}={value if isinstance(value, Path) else json.dumps(value)}"
        for key, value in {**places, **settings}.items()
    ]
    start = time.monotonic()
    subprocess.run([sys.executable, "-m", "mtl", "baseline", *words], check=True, stdout=subprocess.DEVNULL)
    minutes = (time.monotonic() - start) / 60
    (seed,) = run.glob("seed-*")
    scores = read_json(seed / "scores.json", SeedScores)["dev_scores"]
    stage1 = read_stage(seed / "pretrain" / "done.json")["curve"]
    return minutes, scores, [{key.removeprefix("dev/"): value for key, value in row.items()} for row in stage1]


def report(scores: Mapping[str, float], curve: Curve) -> None:
    """Print each task's score, the level, and when stage 1 first reached it."""
    print(f"{'task':10} {'paper':>6} {'level':>6} {'dev':>6}  minutes of stage 1 until the level")
    for task, level in [(task, level) for task, level in LEVEL.items() if task in scores]:
        reached = next((f"{row['seconds'] / 60:.1f}" for row in curve if row[task] >= level), "not in stage 1")
        met = "" if scores[task] >= level else "  below"
        print(f"{task:10} {PAPER[task]:6.1f} {level:6.1f} {scores[task]:6.1f}  {reached}{met}")


if __name__ == "__main__":
    main()
