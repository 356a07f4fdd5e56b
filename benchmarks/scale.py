"""Simulate sweeps on 1 to 1,000 workers: hours, efficiency, disk, load of the shared file system and of the driver.

    python benchmarks/scale.py --out experiments/scale/scale.svg
    python benchmarks/scale.py --set bandwidth=10e9 --set speed=20
    python benchmarks/scale.py --measure runs/klej/fasttext-frozen-laptop > measured.yaml

The inputs are those of benchmarks/scale.yaml. `--measure` prints those of them that this machine can measure, for `--inputs`. Nothing here was
run on more than one machine: a simulation says what follows from its inputs.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scale_plot import plot
from scale_simulation import Cluster, Driver, FileSystem, Outcome, Piece, Work, simulate

from mtl.base.files import write_text

ROWS = ("random", "fasttext", "elmo", "elmo", "elmo")  # of Table 3: the third and the fourth share stage 1
SHARES = {3: 2}
SEEDS = 5
WORKERS = (1, 10, 100, 1000)
SEASON = "a season (1,000 runs, 5,000 seeds)"
SWEEPS = {"one benchmark (5 runs, 25 seeds)": 1, SEASON: 200}  # benchmarks
HOUR = 3600.0
FIRST, LAST = "as it is", "all three"
# Inputs that change together, by what a cluster does to lift a limit.
MEASURES: dict[str, dict[str, Any]] = {
    FIRST: {},
    "software on each node": {"software_local": True},
    "… and vectors and caches on each node": {"software_local": True, "inputs_local": True},
    LAST: {"software_local": True, "inputs_local": True, "validations": 1},
}
# What is changed, and the measures that are taken.
VARIED: list[tuple[str, dict[str, Any], str]] = [
    ("0.5 GB/s", {"bandwidth": 0.5e9}, FIRST),
    ("10 GB/s", {"bandwidth": 10e9}, FIRST),
    ("10,000 files/s", {"rate": 10e3}, FIRST),
    ("200,000 files/s", {"rate": 200e3}, FIRST),
    ("10 GB/s and 200,000 files/s", {"bandwidth": 10e9, "rate": 200e3}, FIRST),
    ("workers 10 times as fast", {"speed": 10.0}, FIRST),
    ("workers 10 times as fast", {"speed": 10.0}, LAST),
    ("0.5 GB/s", {"bandwidth": 0.5e9}, LAST),
    ("a node lost every 100 hours", {"loss": 1e-2}, LAST),
]
HEADER = (
    "workers | hours | efficiency | disk, GB | moved, TB | peak MB/s | peak files/s | driver busy | report, min | lost |\n|---"
    + "|--:" * 10
    + "|"
)


@dataclass(frozen=True)
class Result:
    """Of a sweep on some workers. seconds: preparation, the seeds, the report."""

    workers: int
    seconds: tuple[float, float, float]
    useful: float  # seconds of training
    disk: float  # bytes that stay
    outcome: Outcome

    @property
    def hours(self) -> float:
        return sum(self.seconds) / HOUR

    @property
    def efficiency(self) -> float:
        """Useful seconds in all seconds of all workers."""
        return self.useful / (self.workers * sum(self.seconds))


def seeds_of(benchmarks: int, of: Mapping[str, Any], seed: int) -> list[Work]:
    """The seeds of so many benchmarks' five rows, the longest first."""
    random = np.random.default_rng(seed)
    stages = np.array(of["stages"], dtype=float) / of["speed"]
    units: list[Work] = []
    for benchmark in range(benchmarks):
        first = len(units)
        for row, kind in enumerate(ROWS):
            for number in range(SEEDS):
                pretrain, finetune = random.choice(stages)
                shared = first + SHARES[row] * SEEDS + number if row in SHARES else None
                segments = [] if shared is not None else _stage1(pretrain, kind, of)
                segments.append(Piece(finetune, of["final_bytes"], of["final_files"]))
                resume = Piece(0.0, of["weights"][kind] * of["state"], 1)
                units.append(Work(_start(kind, of), tuple(segments), resume, benchmark * len(ROWS) + row, shared))
    return _longest_first(units)


def _stage1(seconds: float, kind: str, of: Mapping[str, Any]) -> list[Piece]:
    size, times = of["weights"][kind], int(of["validations"])
    return [Piece(seconds / times, size * (1 + of["state"]), 2) for _ in range(times)]


def _start(kind: str, of: Mapping[str, Any]) -> Piece:
    """Everything before the first step: a process, its imports, the run's data and vectors."""
    seconds = of["process_seconds"] + of["import_seconds"] + of["prepare_seconds"]
    software, inputs = not of.get("software_local"), not of.get("inputs_local")
    read = software * of["import_bytes"] + inputs * of["prepare_bytes"][kind]
    return Piece(seconds, read, software * of["import_files"] + inputs * of["prepare_files"])


def _longest_first(units: Sequence[Work]) -> list[Work]:
    order = sorted(range(len(units)), key=lambda place: -units[place].seconds)
    places = {old: new for new, old in enumerate(order)}
    moved = (units[old] for old in order)
    return [Work(u.start, u.segments, u.resume, u.run, None if u.after is None else places[u.after]) for u in moved]


def sweep(benchmarks: int, workers: int, of: Mapping[str, Any], seed: int = 0) -> Result:
    """Prepare all runs, train all seeds, write one report."""
    files = FileSystem(of["bandwidth"], of["rate"], of["client_bandwidth"], of["latency"])
    cluster = Cluster(workers, int(of["per_node"]), of["loss"] / HOUR, of["away"])
    runs = benchmarks * len(ROWS)
    prepared = [Work(_start(kind, of), (Piece(),), run=n) for n in range(benchmarks) for kind in ROWS]
    preparation = simulate(prepared, cluster, files, _driver(of, runs), seed)
    units = seeds_of(benchmarks, of, seed)
    trained = simulate(units, cluster, files, _driver(of, len(units)), seed)
    weights = sum(of["weights"][kind] for row, kind in enumerate(ROWS) if row not in SHARES) * SEEDS * benchmarks
    return Result(
        workers,
        (preparation.seconds + 2 * of["ray_start_seconds"], trained.seconds, runs * of["report_seconds_per_run"]),
        sum(unit.seconds for unit in units),
        weights + len(units) * of["final_bytes"],
        trained,
    )


def _driver(of: Mapping[str, Any], units: int) -> Driver:
    """The engine waits for one of all units that have not ended; on average these are half of the units."""
    return Driver(of["submit_seconds"], of["wait_seconds_per_unit"] * units / 2, of["sum_up_seconds"])


def row(of: Result) -> str:
    """The cells of a row of a Markdown table with HEADER."""
    out = of.outcome
    cells = [
        f"{of.workers:,}",
        f"{of.hours:,.2f}" if of.hours < 10 else f"{of.hours:,.1f}",
        f"{of.efficiency:.0%}",
        f"{of.disk / 1e9:,.1f}",
        f"{out.moved(1) / 1e12:,.2f}",
        f"{out.peak(1) / 1e6:,.0f}",
        f"{out.peak(2):,.0f}",
        f"{out.driver_seconds / out.seconds:.2%}",
        f"{of.seconds[2] / 60:,.1f}",
        f"{out.lost}",
    ]
    return f"| {' | '.join(cells)} |"


def read_inputs(measured: Path | None = None, changes: Sequence[str] = ()) -> dict[str, Any]:
    """The inputs of scale.yaml by name. measured: a file of the same form that replaces some of them. changes: as in "bandwidth=10e9"."""
    of: dict[str, Any] = {}
    for path in (Path(__file__).with_name("scale.yaml"), *([measured] if measured else [])):
        for section in yaml.safe_load(path.read_text(encoding="utf-8")).values():
            for name, value in section.items():
                of[name] = {**of.get(name, {}), **value} if isinstance(value, dict) else value
    given = dict(change.split("=", 1) for change in changes)
    return _numbers({**of, **{name: yaml.safe_load(value) for name, value in given.items()}})


def _numbers(value: Any) -> Any:
    """YAML reads 2.0e9 as a text."""
    if isinstance(value, dict):
        return {name: _numbers(of) for name, of in value.items()}
    if isinstance(value, list):
        return [_numbers(of) for of in value]
    return float(value) if isinstance(value, str) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, help="what `--measure` has printed; replaces inputs of scale.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another value of an input")
    parser.add_argument("--out", type=Path, help="the plot, an SVG file")
    parser.add_argument("--measure", type=Path, metavar="RUN", help="print measured inputs; RUN: a finished run")
    parser.add_argument("--varied", action="store_true", help="change one assumption after another instead")
    parser.add_argument("--repeats", type=int, default=3, help="of each measurement")
    arguments = parser.parse_args()
    if arguments.measure:
        from scale_measure import measure

        print(yaml.safe_dump({"measured": measure(arguments.measure, arguments.repeats)}, sort_keys=False), end="")
        return
    of = read_inputs(arguments.inputs, arguments.set)
    if not arguments.varied:
        curves = grown(of)
        if arguments.out:
            write_text(arguments.out, plot(curves))
    else:
        print(f"{SEASON}, {WORKERS[-1]:,} workers, one assumption changed\n\n| | {HEADER}")
        for title, changes, measures in VARIED:
            result = sweep(SWEEPS[SEASON], WORKERS[-1], {**of, **MEASURES[measures], **changes})
            print(f"| {title}, {measures} {row(result)}", flush=True)


def grown(of: Mapping[str, Any]) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Print how each sweep grows with the workers, as it is and with all measures. Returns workers and hours, by titles."""
    curves: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for title, benchmarks in SWEEPS.items():
        print(f"\n{title}\n\n| | {HEADER}")
        for measures, changes in MEASURES.items():
            for workers in WORKERS if measures in (FIRST, LAST) else WORKERS[-1:]:
                result = sweep(benchmarks, workers, {**of, **changes})
                print(f"| {measures} {row(result)}", flush=True)
                if measures in (FIRST, LAST):
                    curves.setdefault((title, measures), []).append((workers, result.hours))
    return curves


if __name__ == "__main__":
    main()
