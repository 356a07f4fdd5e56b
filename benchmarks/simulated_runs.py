"""Simulated families of runs for false_verdicts.py.

A run answers rows right or wrong; its score is the share of right answers × 100, on one task or on nine and on average. Each row has a
difficulty, in part common to all runs. Each seed makes errors of its own, and is better or worse on all rows: its effect, a standard deviation in
points of accuracy; half of its variance is common to all tasks. All runs have the same expected score, whatever their seeds' effect is, unless
they are shifted.
Samples are made as of runs: scores on the rows and on bootstrap resamples of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from mtl.stats.comparison import Resampled, Sample, mean_over_tasks, part_counted_with_rows
from mtl.stats.resampling import RowSet

ACCURACY = 0.8
COMMON, OWN, ERRORS = 1.0, 0.5, 0.5  # variances of a row's difficulty: for all runs, for one, and for one seed
AVERAGE = "average"

SPREADS = {
    "equal": "the seeds of all runs differ alike",
    "halves": "half of the runs have a fifth of the effect",
    "one": "all runs but one have a twentieth",
    "tenth": "all but a tenth of the runs have a tenth",
    "by-task": "on each task, all runs but one have a tenth, and it is another run on each task",
    "cells": "each run on each task has a tenth, with a probability of 0.9",
    "random": "log-normal factors of runs, standard deviation 0.5",
    "numbers": "every second run has ten seeds and a tenth of the effect",
    "fixed": "half of the runs are single systems, and a quarter give the same answers with every seed",
}


def sample(by_seed: np.ndarray, resampled: Resampled) -> Sample:
    """The sample of scores × 100 on the scored rows, (seeds,), and on their resamples."""
    means = {rows: scores.mean(axis=0) for rows, scores in resampled.items()}
    return Sample(by_seed, means, part_counted_with_rows(resampled))


@dataclass(frozen=True)
class Family:
    """What is simulated.

    Args:
        runs, tasks, rows, seeds: their numbers; with more than one task, the average is tested too.
        effect: of a seed, in points.
        spread: how the effects of runs differ, one of SPREADS.
    """

    runs: int
    tasks: int
    rows: int
    seeds: int
    effect: float
    spread: str = "equal"


class Simulation:
    """Draws samples of a family again and again, on new rows and with new seeds."""

    def __init__(self, family: Family, resamples: int, random: int) -> None:
        self.family = family
        self.rng = np.random.default_rng(random)
        self.sets = [RowSet(f"task {task}", family.rows) for task in range(family.tasks)]
        draws = self.rng.multinomial(family.rows, np.full(family.rows, 1 / family.rows), (family.tasks, resamples))
        self.weights = 100 * draws.transpose(0, 2, 1).astype(np.float32) / family.rows

    def draw(self, shifts: Sequence[float] | None = None) -> dict[str, dict[int, Sample]]:
        """By task, and for the average, the samples of the runs.

        Args:
            shifts: of each run's expected score, in points.
        """
        family, rng = self.family, self.rng
        fixed = np.arange(family.runs) % 4 if family.spread == "fixed" else np.full(family.runs, 3)
        effects = self._effects() * (fixed == 3)[:, None]
        aimed = norm.ppf(ACCURACY + np.array(shifts if shifts is not None else np.zeros(family.runs)) / 100)
        numbers = np.full(family.runs, family.seeds)
        if family.spread == "numbers":
            numbers[1::2] = 10
        common = rng.normal(size=(family.runs, 1, numbers.max()))
        skills = (common + rng.normal(size=(family.runs, family.tasks, numbers.max()))) / 2**0.5
        by_run: list[list[tuple[np.ndarray, dict[RowSet, np.ndarray]]]] = [[] for _ in range(family.runs)]
        for task, rows in enumerate(self.sets):
            difficulty = COMMON**0.5 * rng.normal(size=family.rows, scale=1.0).astype(np.float32)
            for run in range(family.runs):
                seeds = numbers[run] if fixed[run] > 1 else 1
                errors = ERRORS if fixed[run] == 3 else 0.0
                effect = effects[run, task]
                deviation = (COMMON + OWN + errors + effect**2) ** 0.5
                latent = difficulty + OWN**0.5 * rng.standard_normal(family.rows, dtype=np.float32)
                latent = latent + errors**0.5 * rng.standard_normal((seeds, family.rows), dtype=np.float32)
                level = aimed[run] * deviation + effect * skills[run, task, :seeds]
                right = (level[:, None] + latent > 0).astype(np.float32)
                if fixed[run] == 2:
                    right = np.repeat(right[:1], seeds, axis=0)
                by_run[run].append((100 * right.mean(axis=1, dtype=np.float64), {rows: right @ self.weights[task]}))
        columns: dict[str, dict[int, Sample]] = {}
        for run, tasks in enumerate(by_run):
            scores = {rows.key: each for rows, each in zip(self.sets, tasks, strict=True)}
            if family.tasks > 1:
                mean = np.mean([by_seed for by_seed, _ in tasks], axis=0)
                scores[AVERAGE] = (
                    mean,
                    mean_over_tasks([resampled for _, resampled in tasks], [len(tasks)] * len(tasks)),
                )
            for column, (by_seed, resampled) in scores.items():
                made = sample(by_seed, {rows: np.asarray(part, dtype=np.float64) for rows, part in resampled.items()})
                one = Sample(made.by_seed, made.means, made.counted_with_rows, is_one_system=fixed[run] < 2)
                columns.setdefault(column, {})[run] = one
        return columns

    def _effects(self) -> np.ndarray:
        """The standard deviation of each run's seeds on each task, on the scale of the difficulty, (runs, tasks)."""
        family, rng = self.family, self.rng
        slope = 100 * norm.pdf(norm.ppf(ACCURACY)) / (COMMON + OWN + ERRORS) ** 0.5  # points for a unit of difficulty
        factors = np.ones((family.runs, family.tasks))
        if family.spread == "halves":
            factors[: family.runs // 2] = 0.2
        elif family.spread == "one":
            factors[1:] = 0.05
        elif family.spread == "tenth":
            factors[max(1, family.runs // 10) :] = 0.1
        elif family.spread == "by-task":
            factors[:] = 0.1
            factors[np.arange(family.tasks) % family.runs, np.arange(family.tasks)] = 1.0
        elif family.spread == "numbers":
            factors[1::2] = 0.1
        elif family.spread == "cells":
            factors[rng.random(factors.shape) < 0.9] = 0.1
        elif family.spread == "random":
            factors *= np.exp(rng.normal(0, 0.5, (family.runs, 1)))
        return factors * family.effect / slope
