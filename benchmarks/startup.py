"""Measure the seconds of `mtl --version` and `mtl --help`, and those of importing torch and Lightning.

python benchmarks/startup.py --runs 5
"""

import argparse
import statistics
import subprocess
import sys
from functools import partial

from timing import alternate

COMMANDS = {
    "mtl --version": ["-m", "mtl", "--version"],
    "mtl --help": ["-m", "mtl", "--help"],
    "an empty program": ["-c", ""],
    "import torch, pytorch_lightning": ["-c", "import torch, pytorch_lightning"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    calls = [
        partial(subprocess.run, [sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        for command in COMMANDS.values()
    ]
    for title, values in zip(COMMANDS, alternate(calls, arguments.runs), strict=True):
        print(f"{title}: {statistics.median(values):.2f} s ({min(values):.2f} – {max(values):.2f})")


if __name__ == "__main__":
    main()
