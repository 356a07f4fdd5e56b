"""How often do the intervals of ranks hold all true ranks at once? Where systems are equal, they do unless the tests split the group.

    python benchmarks/rank_coverage.py --repeats 400
    python benchmarks/rank_coverage.py --repeats 200 --seeds 3 --rows 2000 --effect 0.35 --spread one

Systems answer rows right or wrong. Each has an ability, each row a difficulty, and each seed of a system an ability near the system's: its effect is
the standard deviation, in logits (0.1 is 1.8 points of accuracy at 50 %). Samples are made as of runs: the accuracy of each seed on
bootstrap resamples of the rows. The true rank of a system is 1 plus the number of systems with a higher expected accuracy.
"""

import argparse

import numpy as np
from simulated_runs import sample

from mtl.stats.comparison import Sample
from mtl.stats.families import family_tests
from mtl.stats.holm import rank_intervals
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


SPREADS = ("equal", "halves", "one")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--effect", type=float, default=0.1)
    parser.add_argument(
        "--spread",
        choices=SPREADS,
        default="equal",
        help="halves: every second system has a fifth of the effect; one: all but the last have a twentieth",
    )
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
        intervals = rank_intervals(family_tests({"score": dict(enumerate(samples))}))["score"]
        held += all(
            low <= first and after <= high for (low, high), first, after in zip(intervals, ranks, last, strict=True)
        )
        width += float(np.mean([high - low + 1 for low, high in intervals]))
    return held / arguments.repeats, width / arguments.repeats


def draw(abilities: list[float], rng: np.random.Generator, arguments: argparse.Namespace) -> list[Sample]:
    """The samples of systems with these abilities, in logits, on new rows and with new seeds."""
    count = arguments.rows
    difficulty = rng.normal(0, 1.5, count)
    draws = rng.multinomial(count, np.full(count, 1 / count), arguments.resamples).astype(np.float64)
    rows = RowSet("rows", count)
    samples = []
    factors = np.ones(len(abilities))
    if arguments.spread == "halves":
        factors[::2] = 0.2
    elif arguments.spread == "one":
        factors[:-1] = 0.05
    for ability, factor in zip(abilities, factors, strict=True):
        of_seeds = ability + rng.normal(0, factor * arguments.effect, arguments.seeds)
        shares = 1 / (1 + np.exp(difficulty - of_seeds[:, None]))
        right = (rng.random((arguments.seeds, count)) < shares).astype(np.float64)
        samples.append(sample(100 * right.mean(axis=1), {rows: 100 * right @ draws.T / count}))
    return samples


if __name__ == "__main__":
    main()
