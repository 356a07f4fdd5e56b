"""How often do the intervals of ranks hold all true ranks at once? Where systems are equal, they do unless the tests split the group.

    python benchmarks/rank_coverage.py --repeats 400

Systems answer rows right or wrong. Each has an ability, each row a difficulty, and each seed of a system an ability near the system's. Samples
are made as of runs: the accuracy of each seed on bootstrap resamples of the rows. The true rank of a system is 1 plus the number of systems with a
higher expected accuracy.
"""

import argparse

import numpy as np

from mtl.stats.comparison import Sample, sample
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
    print("| systems | repeats | all true ranks held | mean width of an interval |")
    print("|---|--:|--:|--:|")
    for name, abilities in SHOWN.items():
        if arguments.only in (None, name):
            held, width = measure(abilities, arguments)
            print(f"| {name} | {arguments.repeats} | {100 * held:.1f} % | {width:.1f} |", flush=True)


def measure(abilities: list[float], arguments: argparse.Namespace) -> tuple[float, float]:
    """The share of repeats in which all intervals hold the true ranks, and the mean width of an interval."""
    rng = np.random.default_rng(0)
    ranks = [1 + sum(other > own for other in abilities) for own in abilities]
    last = [sum(other >= own for other in abilities) for own in abilities]  # of equal systems
    held = 0
    width = 0.0
    for _ in range(arguments.repeats):
        samples = draw(abilities, rng, arguments)
        intervals = rank_intervals({"score": dict(enumerate(samples))})["score"]
        held += all(low <= ranks[run] and last[run] <= high for run, (low, high) in intervals.items())
        width += float(np.mean([high - low + 1 for low, high in intervals.values()]))
    return held / arguments.repeats, width / arguments.repeats


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
