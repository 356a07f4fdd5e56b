"""How often does a difference hold that `mtl power` states as "corrected"? 80 % of the cases are intended.

    python benchmarks/corrected_power.py

Scores of runs are normal: a part of rows, and a part of seeds that differ alike. The median difference that is stated for equal runs is given to the
last of new runs; counted is how often its test against the first one has a verdict at the level of Holm's first step.
"""

import numpy as np
from scipy.linalg import hadamard

from mtl.benchmark_making.power.design import held_difference
from mtl.stats.comparison import LEVEL, Sample
from mtl.stats.families import family_tests, seed_parts
from mtl.stats.resampling import RowSet

ROWS = RowSet("rows", 2000)
RESAMPLED = hadamard(64).astype(float)  # uncorrelated, each row but the first with the mean 0
CASES = [(2, 3, 1.0, 0.3), (4, 3, 1.0, 0.3), (12, 3, 1.0, 0.3), (12, 5, 1.0, 0.3), (4, 3, 0.1, 1.0)]
STATED, REPEATS = 150, 600


def main() -> None:
    rng = np.random.default_rng(3)
    print("| runs | seeds | deviation of seeds | variance over rows | stated difference | holds |")
    print("|--:|--:|--:|--:|--:|--:|")
    for runs, seeds, deviation, rows in CASES:
        upper = np.triu_indices(runs, 1)
        tests = len(upper[0])
        stated = []
        for _ in range(STATED):
            samples = draw(rng, np.zeros(runs), seeds, deviation, rows)
            parts = seed_parts({"task": samples})["task"].of_pairs()
            pairs = [
                (samples[i], samples[j], (parts[0][i, j], parts[1][i, j], parts[2][i, j]))
                for i, j in zip(*(axis.tolist() for axis in upper), strict=True)
            ]
            stated.append(np.median([held_difference(*pair, tests) for pair in pairs]))
        shifts = np.zeros(runs)
        shifts[-1] = np.median(stated)
        held = 0
        for _ in range(REPEATS):
            found = family_tests({"task": draw(rng, shifts, seeds, deviation, rows)})["task"]
            held += found.tail[-1, 0] < LEVEL / tests and found.p[-1, 0] < LEVEL
        print(
            f"| {runs} | {seeds} | {deviation} | {rows} | {shifts[-1]:.1f} | {100 * held / REPEATS:.0f} % |", flush=True
        )


def draw(rng: np.random.Generator, shifts: np.ndarray, seeds: int, deviation: float, rows: float) -> dict[int, Sample]:
    """A sample of each run. rows: the variance of a run's score over rows."""
    samples = {}
    for run, shift in enumerate(shifts):
        by_seed = shift + rng.normal() * rows**0.5 + deviation * rng.normal(size=seeds)
        resampled = by_seed.mean() + RESAMPLED[1 + run] * (rows * (ROWS.count - 1) / ROWS.count) ** 0.5
        samples[run] = Sample(by_seed, {ROWS: resampled}, 0.0)
    return samples


if __name__ == "__main__":
    main()
