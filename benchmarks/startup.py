"""Seconds that commands take from start to end, beside a program that does nothing and the import of torch and Lightning.

    python benchmarks/startup.py --runs 5

The commands on a finished run work on a tiny one, so that nearly all of their time is their start: one task of 60 training rows,
an LSTM of 8 units. It is made first, in a temporary folder.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from timing import alternate

from mtl.jobs.baseline import run_baseline
from mtl.jobs.job import load_job

SUITE = """\
name: tiny
files: {test: null}
tasks:
  mood: {text: [text], target: label, labels: [glad, angry], metric: accuracy}
"""
IMPORTED = "imported"  # the folder of the run that `mtl import` makes
SETTINGS = {
    "seeds": [1],
    "encoder.hidden_size": 8,
    "head.hidden_size": 8,
    "embeddings.dim": 8,
    "pretrain.max_steps": 4,
    "pretrain.validate_every": 4,
    "finetune.max_epochs": 1,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_run(folder)
        commands = {
            "an empty program": ["-c", ""],
            "mtl --version": ["-m", "mtl", "--version"],
            "mtl --help": ["-m", "mtl", "--help"],
            **{f"mtl {words[0]}": ["-m", "mtl", *words] for words in on_run(folder)},
            "import torch": ["-c", "import torch"],
            "import torch, pytorch_lightning": ["-c", "import torch, pytorch_lightning"],
        }
        calls = [partial(start, command, folder / IMPORTED) for command in commands.values()]
        for title, values in zip(commands, alternate(calls, arguments.runs), strict=True):
            print(f"{title}: {statistics.median(values):.2f} s ({min(values):.2f} – {max(values):.2f})")


def start(command: list[str], imported: Path) -> None:
    """Run Python with these arguments. imported: the run of `mtl import`, which is made anew each time."""
    shutil.rmtree(imported, ignore_errors=True)
    subprocess.run([sys.executable, *command], check=True, capture_output=True)


def make_run(folder: Path) -> None:
    """A finished run in `run` below the folder, its suite file and its data beside it."""
    (folder / "tiny.yaml").write_text(SUITE, encoding="utf-8")
    (folder / "data").mkdir()
    for split, rows in {"train": 60, "dev": 20}.items():
        lines = [f"{('sun', 'rain')[row % 2]} {row}\t{('glad', 'angry')[row % 2]}" for row in range(rows)]
        (folder / f"data/{split}.tsv").write_text("\n".join(["text\tlabel", *lines, ""]), encoding="utf-8")
    places = {"suite": "tiny.yaml", "data_dir": "data", "cache_dir": "cache", "run_dir": "run"}
    run_baseline(load_job({**{key: str(folder / place) for key, place in places.items()}, **SETTINGS}))


def on_run(folder: Path) -> list[list[str]]:
    """The commands on a finished run."""
    run, texts = str(folder / "run"), str(folder / "data/dev.tsv")
    suite = f"suite={folder / 'tiny.yaml'}"
    data = [suite, f"data_dir={folder / 'data'}"]
    return [
        ["import", "other", f"{run}/seed-1/predictions", *data, f"run_dir={folder / IMPORTED}"],
        ["predict", run, texts, "--task", "mood"],
        ["encode", run, texts, "--out", str(folder / "vectors.npy")],
        ["score", f"{run}/seed-1/predictions", "--gold", f"{run}/gold", suite],
        ["report", run, "--out", str(folder / "report")],
    ]


if __name__ == "__main__":
    main()
