"""Count families of equal runs in which any verdict holds with Holm's correction, and true differences that are shown.

    python benchmarks/false_verdicts.py --repeats 400
    python benchmarks/false_verdicts.py --repeats 400 --runs 16 --tasks 9 --seeds 3 --spreads one,cells
    python benchmarks/false_verdicts.py --repeats 100 --power

Every verdict between equal runs is false: at most 5 % of the families may have one. simulated_runs.py says what is simulated. With
--power, the last run is better than all others by a difference that is given in standard errors of a difference of two runs, and the share of
its tests that hold is printed. The corrections take the p-values of

- alone: each test alone, with the variance of the seeds of its two runs (Welch's test);
- pooled: one variance of seeds for all runs of a column, as if all seeds differed alike;
- mtl: `mtl.stats.families`.
"""

import argparse
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.special import stdtr
from simulated_runs import AVERAGE, SPREADS, Family, Simulation

from mtl.stats.comparison import LEVEL, Sample
from mtl.stats.families import ColumnTests, family_tests
from mtl.stats.holm import largest_rejected
from mtl.stats.rows_variance import rows_variance

METHODS = ("alone", "pooled", "mtl")
DIFFERENCES = (4.0, 6.0, 9.0)  # standard errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--random", type=int, default=1, help="the random state")
    for name, kind, default in (
        ("runs", int, "2,5,16,40,100"),
        ("tasks", int, "1,9"),
        ("rows", int, "300,2000"),
        ("seeds", int, "3,4,5"),
        ("effects", float, "0,1.8,5"),
        ("spreads", str, ",".join(SPREADS)),
    ):
        parser.add_argument(f"--{name}", type=partial(numbers, kind), default=default)
    parser.add_argument("--power", action="store_true")
    arguments = parser.parse_args()
    extra = ["difference"] if arguments.power else []
    print(f"| {' | '.join(['runs', 'tasks', 'rows', 'seeds', 'effect', 'spread', *extra, *METHODS])} |")
    print(f"|{'---|' * (6 + len(extra) + len(METHODS))}", flush=True)
    grid = (arguments.runs, arguments.tasks, arguments.rows, arguments.seeds, arguments.effects, arguments.spreads)
    for runs, tasks, rows, seeds, effect, spread in product(*grid):
        if (effect == 0 and spread not in ("equal", "fixed")) or (runs == 2 and spread in ("tenth", "fixed")):
            continue  # nothing differs, or it is the same as another case
        simulation = Simulation(Family(runs, tasks, rows, seeds, effect, spread), arguments.resamples, arguments.random)
        for difference in DIFFERENCES if arguments.power else [0.0]:
            rates = measure(simulation, difference, arguments.repeats)
            cells = [runs, tasks, rows, seeds, effect, spread, *([difference] if arguments.power else [])]
            cells += [f"{100 * rate:.1f}" for rate in rates]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


def numbers(kind: Callable[[str], Any], text: str) -> list[Any]:
    """The values of a list with commas."""
    return [kind(part) for part in text.split(",")]


def measure(simulation: Simulation, difference: float, repeats: int) -> np.ndarray:
    """For each of METHODS, the share of families with a false verdict; with a difference, the share of the better run's tests that hold.

    Args:
        difference: of the last run, in standard errors of a difference on one task.
    """
    family = simulation.family
    variance_of_rows = 2 * ROW_POINTS**2 / family.rows
    shift = difference * (variance_of_rows + 2 * family.effect**2 / family.seeds) ** 0.5
    shifts = [0.0] * (family.runs - 1) + [shift]
    rates = np.zeros(len(METHODS))
    for _ in range(repeats):
        columns = simulation.draw(shifts)
        tests = family_tests(columns)
        upper = np.triu_indices(family.runs, 1)
        true = upper[1] == family.runs - 1
        for number, method in enumerate(METHODS):
            by_column = {column: _tails(method, columns[column], tests[column])[upper] for column in columns}
            largest = largest_rejected(np.concatenate(list(by_column.values())))
            held = {
                column: (tails <= largest) & (tests[column].p[upper] < LEVEL) for column, tails in by_column.items()
            }
            if difference:
                rates[number] += np.mean([each[true].mean() for column, each in held.items() if column != AVERAGE])
            else:
                rates[number] += any(each.any() for each in held.values())
    return rates / repeats


ROW_POINTS = (
    27.0  # the standard deviation of a row's part of a score × 100 that two runs do not share, with three to five seeds
)


def _tails(method: str, samples: dict[int, Sample], tests: ColumnTests) -> np.ndarray:
    if method == "mtl":
        return tests.tail
    return tests.p if method == "alone" else _pooled(list(samples.values()), tests)


def _pooled(samples: list[Sample], tests: ColumnTests) -> np.ndarray:
    """The p-values with one variance of seeds for all runs, (runs, runs), and Satterthwaite's degrees of freedom."""
    freedom = [(len(each.by_seed) - 1) * each.varies for each in samples]
    if not sum(freedom):
        return tests.p
    variance = sum(f * each.variance for f, each in zip(freedom, samples, strict=True)) / sum(freedom)
    seeds = np.array([variance / len(each.by_seed) * each.varies for each in samples])
    counted = np.array([each.counted_with_rows for each in samples])
    rows = rows_variance(samples)
    spread = rows.denominator + (seeds[:, None] + seeds) ** 2 / sum(freedom)
    total = rows.variance + np.maximum(0.0, seeds[:, None] + seeds - counted[:, None] - counted)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(np.where(spread > 0, total**2 / spread, 1.0), -np.abs(tests.difference) / np.sqrt(total))
    return np.where(total > 0, p, 1.0)


if __name__ == "__main__":
    main()
