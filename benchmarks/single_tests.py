"""Measure how often a test calls a run "better" or "worse" than another that differs only by chance, in per cent.

    python benchmarks/single_tests.py
    python benchmarks/single_tests.py --runs runs/klej-sample/random-frozen

The first command simulates runs on four tasks of 300 dev rows in groups of three; a score is the share of correct rows.
There are two kinds of equal runs: seeds of one configuration on the same rows; and two configurations that are correct on
different rows but have the same expected score, on rows that are a sample of all rows. A seed makes rows easier or harder;
half of this effect is common to all tasks. "Seed effect" is its standard deviation, where the standard deviation of the rows'
own difficulty is 1. The second command reads runs with many seeds, and repeatedly splits the seeds of each at random into two
runs. The splits share seeds, so its standard errors cover only the choice of the splits.

Three tests, each at 5 %:
- rows alone: the 95 % percentile interval of the difference of the medians over seeds, on resamples of single rows
- seeds and rows: the same on resamples of seeds and of groups of rows
- mtl: mtl.stats.comparison, which corrects for few seeds and does not count the variance of the rows twice
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from simulated_runs import sample

from mtl.runs.finished import FinishedRun, find_runs
from mtl.stats.comparison import Resampled, compare, mean_over_tasks
from mtl.stats.resampling import RowGroups, resampled_scores, row_groups, row_weights
from mtl.tasks.suite import AVERAGE

TESTS = ("rows alone", "seeds and rows", "mtl")
SEEDS = (3, 5, 10)
EFFECTS = (0.0, 0.1, 0.3)
TASKS, GROUPS, IN_GROUP = 4, 100, 3
ROWS = GROUPS * IN_GROUP


@dataclass(frozen=True, eq=False)
class SeedScores:
    """A run's scores × 100 on one task, or their average over tasks: by seed, (seeds,), and of each seed on each resample."""

    by_seed: np.ndarray
    resampled: Resampled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--runs", type=Path, help="a folder of finished runs with many seeds each")
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    if arguments.runs is None:
        simulate_runs(arguments.repetitions, rng)
        return
    for run in find_runs(arguments.runs):
        split_run(run, arguments.repetitions, rng)


def simulate_runs(repetitions: int, rng: np.random.Generator) -> None:
    """Print the rates of simulated runs."""
    groups = np.repeat(np.arange(GROUPS), IN_GROUP)
    grouped = [row_groups(f"task {task}", groups) for task in range(TASKS)]
    single = [row_groups(f"task {task} by row", np.arange(ROWS)) for task in range(TASKS)]
    weights = {rows: np.concatenate(list(row_weights(rows))).T.astype(np.float32) / ROWS for rows in grouped + single}
    print_line("equal runs", "seed effect", "seeds", "", *TESTS)
    print_line("---", "--:", "--:", "---", *["--:"] * len(TESTS))
    for title, differing in (("of one configuration", 0.0), ("of two configurations", 0.5)):
        for effect in EFFECTS:
            for seeds in SEEDS:
                found = []
                for _ in range(repetitions):
                    correct = simulate(differing, effect, seeds, rng)
                    pairs = [[samples(run, sets, weights) for run in correct] for sets in (grouped, single)]
                    columns = zip(*(zip(*pair, strict=True) for pair in pairs), strict=True)
                    found.append([verdicts(rng, *both) for both in columns])
                for of, rates in (
                    ("a task", np.mean(np.array(found)[:, :-1], axis=1)),
                    ("the average", np.array(found)[:, -1]),
                ):
                    print_line(title, effect, seeds, of, *map(percent, rates.T))


def simulate(differing: float, effect: float, seeds: int, rng: np.random.Generator) -> np.ndarray:
    """Which rows are correct in two runs, bool (2, TASKS, seeds, ROWS).

    differing: the standard deviation of a row's difficulty between the runs. effect: the seed effect.
    """
    of_groups = np.repeat(rng.normal(size=(TASKS, 1, GROUPS)), IN_GROUP, axis=-1)
    rows = (of_groups + rng.normal(size=(TASKS, 1, ROWS))) / 2**0.5
    of_run = differing * rng.normal(size=(2, TASKS, 1, ROWS))
    of_seed = effect * (rng.normal(size=(2, 1, seeds, 1)) + rng.normal(size=(2, TASKS, seeds, 1))) / 2**0.5
    correct: np.ndarray = 1 + rows + of_run + of_seed + 0.5 * rng.normal(size=(2, TASKS, seeds, ROWS)) > 0
    return correct


def samples(correct: np.ndarray, sets: Sequence[RowGroups], weights: dict[RowGroups, np.ndarray]) -> list[SeedScores]:
    """A run's sample of each task, then of the average. correct: bool (TASKS, seeds, ROWS)."""
    tasks = [
        SeedScores(100 * of.mean(axis=1), {rows.row_set: 100 * (of @ weights[rows])})
        for of, rows in zip(correct.astype(np.float32), sets, strict=True)
    ]
    return [*tasks, average(tasks)]


def average(tasks: Sequence[SeedScores]) -> SeedScores:
    """The mean over tasks, for each seed."""
    divisors = [len(tasks)] * len(tasks)
    return SeedScores(
        np.mean([of.by_seed for of in tasks], axis=0), mean_over_tasks([of.resampled for of in tasks], divisors)
    )


def split_run(run: FinishedRun, repetitions: int, rng: np.random.Generator) -> None:
    """Print the rates of a run's seeds, split into two runs."""
    grouped: dict[str, SeedScores] = {}
    single: dict[str, SeedScores] = {}
    for task in run.tasks:
        groups, rows, predictions = row_groups(*run.numbered_groups(task)), run.rows(task), run.predictions(task)
        by_row = row_groups(f"{task.id} by row", np.arange(len(rows.targets)))
        by_seed = np.array([run.summary["tasks"][task.id]["scores"][str(seed)] for seed in run.summary["seeds"]])
        for scores, sets in ((grouped, groups), (single, by_row)):
            scores[task.id] = SeedScores(by_seed, {sets.row_set: resampled_scores(task, predictions, rows, sets)})
    for scores in (grouped, single):
        scores[AVERAGE] = average([scores[id] for id in run.suite.averaged if id in scores])
    total = len(run.summary["seeds"])
    print(f"\n{run.name}, {total} seeds\n")
    print_line("seeds", "", *TESTS)
    print_line("--:", "---", *["--:"] * len(TESTS))
    for seeds in (number for number in SEEDS if 2 * number <= total):
        halves = [np.split(rng.permutation(total)[: 2 * seeds], 2) for _ in range(repetitions)]
        rates = {
            column: np.array(
                [
                    verdicts(rng, *([of_seeds(of[column], half) for half in pair] for of in (grouped, single)))
                    for pair in halves
                ]
            )
            for column in grouped
        }
        for column, found in rates.items():
            print_line(seeds, column, *map(percent, found.T))
        tasks = np.mean([found for column, found in rates.items() if column != AVERAGE], axis=0)
        print_line(seeds, "all tasks", *map(percent, tasks.T))


def of_seeds(scores: SeedScores, seeds: np.ndarray) -> SeedScores:
    """The scores of some of the seeds (indices)."""
    return SeedScores(scores.by_seed[seeds], {rows: of[seeds] for rows, of in scores.resampled.items()})


def verdicts(rng: np.random.Generator, grouped: Sequence[SeedScores], single: Sequence[SeedScores]) -> list[bool]:
    """For each of TESTS, whether it decides between two runs, which are given with resamples of groups and of single rows."""
    rows_alone = [np.median(sum(run.resampled.values()), axis=0) for run in single]
    seeds_and_rows = []
    for run in grouped:
        scores = np.array(sum(run.resampled.values()))
        drawn = rng.integers(len(scores), size=scores.shape)
        seeds_and_rows.append(np.median(np.take_along_axis(scores, drawn, axis=0), axis=0))
    ends = [np.percentile(one - other, [2.5, 97.5]) for one, other in (rows_alone, seeds_and_rows)]
    found = compare(*(sample(run.by_seed, run.resampled) for run in grouped))
    return [*(bool(low > 0 or high < 0) for low, high in ends), found.verdict in ("better", "worse")]


def percent(found: np.ndarray) -> str:
    """The mean of (repetitions,) and its standard error, in per cent."""
    return f"{100 * found.mean():.1f} ± {100 * found.std() / len(found) ** 0.5:.1f}"


def print_line(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
