"""How often do the intervals of ranks hold all true ranks at once, and how often is a group of equal systems split?

    python benchmarks/rank_coverage.py --repeats 400

Systems answer rows right or wrong. Each has an ability, each row a difficulty, and each seed of a system an ability near the system's. Samples
are made as of runs: the accuracy of each seed on bootstrap resamples of the rows. The true rank of a system is 1 plus the number of systems with a
higher expected accuracy.
"""

import argparse
from itertools import combinations

import numpy as np

from mtl.stats.comparison import Sample, compare, sample, with_holm
from mtl.stats.ranks import rank_intervals
from mtl.stats.resampling import RowSet

SHOWN = {
    "2 equal": [0.0] * 2,
    "2 clear": [0.0, 0.8],
    "10 equal": [0.0] * 10,
    "10 in order": [0.15 * number for number in range(10)],
    "5 equal, 5 better": [0.0] * 5 + [0.8] * 5,
    "100 equal": [0.0] * 100,
    "100 in order": [0.03 * number for number in range(100)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=200)
    parser.add_argument("--only", help="a case")
    arguments = parser.parse_args()
    print("| systems | all true ranks held | equal systems split | mean width of an interval |")
    print("|---|--:|--:|--:|")
    for name, abilities in SHOWN.items():
        if arguments.only in (None, name):
            repeats = arguments.repeats if len(abilities) < 50 else max(20, arguments.repeats // 20)
            held, split, width = measure(abilities, repeats, arguments)
            print(f"| {name} | {100 * held:.1f} % | {100 * split:.1f} % | {width:.1f} |", flush=True)


def measure(abilities: list[float], repeats: int, arguments: argparse.Namespace) -> tuple[float, float, float]:
    """The shares of repeats in which all intervals hold the true ranks, and in which two equal systems are separated; the mean width."""
    rng = np.random.default_rng(0)
    ranks = [1 + sum(other > own for other in abilities) for own in abilities]
    last = [sum(other >= own for other in abilities) for own in abilities]  # of equal systems
    held = split = 0
    width = 0.0
    for _ in range(repeats):
        samples = draw(abilities, rng, arguments)
        tests = {pair: compare(samples[pair[0]], samples[pair[1]]) for pair in combinations(range(len(samples)), 2)}
        corrected = with_holm(tests)
        intervals = rank_intervals(corrected)
        held += all(low <= ranks[run] and last[run] <= high for run, (low, high) in intervals.items())
        split += any(test.holds and abilities[a] == abilities[b] for (a, b), test in corrected.items())
        width += float(np.mean([high - low + 1 for low, high in intervals.values()]))
    return held / repeats, split / repeats, width / repeats


def draw(abilities: list[float], rng: np.random.Generator, arguments: argparse.Namespace) -> list[Sample]:
    """The samples of systems with these abilities, in logits, on new rows and with new seeds."""
    count = arguments.rows
    difficulty = rng.normal(0, 1.5, count)
    draws = rng.multinomial(count, np.full(count, 1 / count), arguments.resamples).astype(np.float64)
    rows = RowSet("rows", count)
    samples = []
    for ability in abilities:
        of_seeds = ability + rng.normal(0, 0.1, arguments.seeds)
        shares = 1 / (1 + np.exp(difficulty - of_seeds[:, None]))
        right = (rng.random((arguments.seeds, count)) < shares).astype(np.float64)
        samples.append(sample(100 * right.mean(axis=1), {rows: 100 * right @ draws.T / count}))
    return samples


if __name__ == "__main__":
    main()
