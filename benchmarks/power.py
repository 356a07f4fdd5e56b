"""How often is a difference of the size that mtl.benchmark_making.smallest_difference states shown? It should be 80 % of the cases.

    python benchmarks/power.py

Runs: systems answer rows right or wrong. Each has an ability, each group of rows a difficulty, and each seed of a system an ability near the
system's. The stated difference is the median over the pairs of four equal systems; it is repeated on new rows with new seeds, and the table has the
median of these and the range of the middle 80 %. It may be stated for more rows or seeds than those of the four systems. Then pairs of systems
with this difference in expected accuracy are drawn, and the test's verdicts counted. Samples are made as of runs: the accuracy of each seed on
bootstrap resamples.
"""

import argparse
from itertools import combinations
from statistics import median

import numpy as np
from scipy.special import stdtrit
from simulated_runs import sample

from mtl.benchmark_making.smallest_difference import other_rows, same_rows
from mtl.stats.comparison import LEVEL, Sample, compare, estimate
from mtl.stats.resampling import RowSet

RESAMPLES = 300
DIFFICULTY, SEED_EFFECT = 1.5, 0.1  # standard deviations in logits
ABILITY = 1.0
ABILITIES = np.linspace(ABILITY, ABILITY + 6, 601)
SIZES = [(200, 1), (2000, 1), (800, 4)]  # rows, and how many make a group
SCALED = [((500, 3), (2000, 3)), ((500, 5), (2000, 5)), ((500, 3), (500, 10)), ((500, 5), (2000, 10))]  # rows and seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pilots", type=int, default=200, help="how often the difference is stated")
    parser.add_argument("--repeats", type=int, default=1000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    print("| from | comparison | rows | seeds | stated difference | shown |")
    print("|---|---|--:|--:|--:|--:|")
    for rows, in_group in SIZES:
        for seeds in (3, 5):
            for same in (True, False):
                measure_runs(same, in_group, (rows, seeds), (rows, seeds), arguments, rng)
    for had, wanted in SCALED:
        measure_runs(True, 1, had, wanted, arguments, rng)


def measure_runs(
    same: bool,
    in_group: int,
    had: tuple[int, int],
    wanted: tuple[int, int],
    arguments: argparse.Namespace,
    rng: np.random.Generator,
) -> None:
    """Print the line of differences that are stated from runs.

    Args:
        same: whether systems are scored on the same rows.
        in_group: how many rows make a group.
        had: the rows and seeds of the runs that the difference is stated from.
        wanted: those that it is stated for.
    """
    weights = {rows: resamples(rows // in_group, rng) for rows, _ in (had, wanted)}

    def draw(abilities: list[float], rows: int, seeds: int) -> list[Sample]:
        groups = rows // in_group
        difficulty = rng.normal(0, DIFFICULTY, (1 if same else len(abilities), groups)).repeat(in_group, axis=1)
        of_seeds = np.array(abilities)[:, None] + rng.normal(0, SEED_EFFECT, (len(abilities), seeds))
        shares = 1 / (1 + np.exp(difficulty[:, None, :] - of_seeds[:, :, None]))
        return [sampled(run, groups, weights[rows]) for run in rng.random(shares.shape) < shares]

    rows, seeds = wanted
    stated = []
    for _ in range(arguments.pilots):
        pairs = combinations(draw([ABILITY] * 4, *had), 2)
        designs = [same_rows(*pair) if same else other_rows(*pair) for pair in pairs]
        stated.append(median(design.smallest_difference(rows // in_group, seeds) for design in designs))
    expected = expected_accuracies()
    better = float(np.interp(expected[0] + median(stated), expected, ABILITIES))
    shown = sum(is_better(same, *draw([better, ABILITY], *wanted)) for _ in range(arguments.repeats))
    low, high = np.percentile(stated, [10, 90])
    source = "runs" if had == wanted else f"{had[0]:,} rows, {had[1]} seeds"
    number = f"{rows:,}" if in_group == 1 else f"{rows:,} in groups of {in_group}"
    stated_text = f"{median(stated):.1f} ({low:.1f}–{high:.1f})"
    print_line(source, same, number, seeds, stated_text, shown / arguments.repeats)


def sampled(right: np.ndarray, groups: int, weights: np.ndarray) -> Sample:
    """The sample of a run. right: bool (seeds, rows). weights: (groups, RESAMPLES)."""
    by_group = right.reshape(len(right), groups, -1).mean(axis=2)
    return sample(100 * by_group.mean(axis=1), {RowSet("rows", groups): 100 * by_group @ weights / groups})


def resamples(groups: int, rng: np.random.Generator) -> np.ndarray:
    """How often each resample draws each group, (groups, RESAMPLES)."""
    return rng.multinomial(groups, np.full(groups, 1 / groups), RESAMPLES).T.astype(np.float64)


def is_better(same: bool, one: Sample, other: Sample) -> bool:
    """Whether a test at 5 % calls the first run better. On other rows, mtl makes no test; Welch's is made of both runs' estimates."""
    if same:
        return compare(one, other).verdict == "better"
    first, second = estimate(one), estimate(other)
    variance = first.error**2 + second.error**2
    freedom = variance**2 / (first.error**4 / first.freedom + second.error**4 / second.freedom)
    return first.value - second.value > float(stdtrit(freedom, 1 - LEVEL / 2)) * variance**0.5


def expected_accuracies() -> np.ndarray:
    """The expected accuracy × 100 of systems with ABILITIES, over rows and seeds."""
    points, weights = np.polynomial.hermite_e.hermegauss(100)
    difficulty = (DIFFICULTY**2 + SEED_EFFECT**2) ** 0.5 * points
    shares = 1 / (1 + np.exp(difficulty - ABILITIES[:, None]))
    return np.asarray(100 * shares @ weights / weights.sum())


def print_line(source: str, same: bool, rows: str, seeds: object, stated: str, shown: float) -> None:
    comparison = "same rows" if same else "other rows"
    print(f"| {source} | {comparison} | {rows} | {seeds} | {stated} | {100 * shown:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
