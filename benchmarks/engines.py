"""Seconds of ten units of work with either engine, one and two of them at a time.

    python benchmarks/engines.py --runs 2

First units that do nothing: one and ten of them, so that the difference says what a further unit costs and the rest is start-up.
Then ten seeds of the embedded suite as whole commands, each with a cache of its own, so that none finds a finished stage 1.
Ray starts on this machine. Needs the extra `ray`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

from timing import alternate, ratio

from mtl.jobs.engines import ENGINES, Needs, Unit

UNITS = 10
AT_A_TIME = (1, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100, help="of stage 1, for each seed")
    arguments = parser.parse_args()
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # else Ray writes a token into the home folder
    cases = list(product(AT_A_TIME, ENGINES))
    idle = [partial(do_nothing, engine, at_a_time, number) for at_a_time, engine in cases for number in (1, UNITS)]
    columns = alternate(idle, arguments.runs)
    print("| units that do nothing | one unit, s | a further unit, s |")
    print("|---|--:|--:|")
    for (at_a_time, engine), one, ten in zip(cases, columns[::2], columns[1::2], strict=True):
        further = [(b - a) / (UNITS - 1) for a, b in zip(one, ten, strict=True)]
        print(f"| {engine}, {at_a_time} at a time | {shown(one)} | {shown(further, digits=2)} |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        seeds = [command(Path(name), engine, at_a_time, arguments.steps) for at_a_time, engine in cases]
        columns = alternate(seeds, arguments.runs)
    print("\n| ten seeds | seconds | times the seconds of processes, one at a time |")
    print("|---|--:|--:|")
    for (at_a_time, engine), values in zip(cases, columns, strict=True):
        print(f"| {engine}, {at_a_time} at a time | {shown(values)} | {ratio(columns[0], values, digits=2)} |")


def do_nothing(engine: str, at_a_time: int, number: int) -> None:
    """Start the engine, execute so many units that do nothing, and end it."""
    units = [Unit(str(n), os.path.basename, (str(n),), needs=Needs(threads=1)) for n in range(number)]
    ENGINES[engine]().run(units, at_a_time, lambda unit, value: None)


def command(folder: Path, engine: str, at_a_time: int, steps: int) -> Callable[[], object]:
    """A call that trains ten seeds of the embedded suite in new folders."""
    arguments = [
        sys.executable,
        *("-m", "mtl", "baseline", "suite=klej-sample", "embeddings=random"),
        *(f"engine={engine}", f"seeds_in_parallel={at_a_time}", "trainer.threads=1"),
        f"seeds=[{','.join(str(seed) for seed in range(1, UNITS + 1))}]",
        *(f"pretrain.max_steps={steps}", f"pretrain.validate_every={steps}", f"data_dir={folder / 'data'}"),
    ]

    def call() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as new:
            places = [f"cache_dir={new}/cache", f"runs_dir={new}/runs"]
            subprocess.run([*arguments, *places], check=True, capture_output=True)

    return call


def shown(values: Sequence[float], *, digits: int = 1) -> str:
    """The median, and the range of several values."""
    spread = f" ({min(values):.{digits}f} – {max(values):.{digits}f})" if len(values) > 1 else ""
    return f"{statistics.median(values):.{digits}f}{spread}"


if __name__ == "__main__":
    main()
