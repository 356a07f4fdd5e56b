"""Is a difference of the size that `mtl.stats.power` names shown in 80 % of the cases?

    python benchmarks/power.py

Systems answer rows right or wrong. Each row has a difficulty, each seed of a system an ability near the system's, and a part of the difficulty is a
system's own, so that two systems agree on some rows only. For each design, the smallest difference is the median over pairs of equal systems;
then pairs are drawn whose expected accuracies differ by it, and verdicts "better" are counted. The last lines are the form in advance, for systems
of one seed that are given by their share of right answers and their agreement.
"""

import argparse
from dataclasses import replace

import numpy as np

from mtl.stats.comparison import Sample, compare, sample
from mtl.stats.power import expected_parts, median_figures, other_rows, same_rows
from mtl.stats.resampling import RowSet

RESAMPLES = 200
DESIGNS = [
    (200, 1, 3),
    (200, 1, 5),
    (2000, 1, 3),
    (2000, 1, 5),
    (2000, 1, 10),
    (2000, 10, 5),
]  # rows, in a group, seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    print("| rows | groups | seeds | comparison | smallest difference | shown |")
    print("|--:|--:|--:|---|--:|--:|")
    for rows, in_group, seeds in DESIGNS:
        for kind, title in ((same_rows, "same rows"), (other_rows, "other rows")):
            pairs = [draw((0.0, 0.0), rows, in_group, seeds, rng, kind is same_rows) for _ in range(100)]
            smallest = float(np.median([median_figures(pair, 1.0, kind).smallest for pair in pairs]))
            ability = ability_for(smallest, rng)
            shown = 0
            for _ in range(arguments.repeats):
                one, other = draw((ability, 0.0), rows, in_group, seeds, rng, kind is same_rows)
                shown += verdict(one, other, kind is same_rows) == "better"
            share = f"{100 * shown / arguments.repeats:.1f} %"
            print(f"| {rows} | {rows // in_group} | {seeds} | {title} | {smallest:.1f} | {share} |", flush=True)
    for rows, accuracy, agreement in ((500, 80.0, 85.0), (2000, 60.0, 70.0)):
        for number, title in ((0, "same rows"), (1, "other rows")):
            smallest = expected_parts(rows, accuracy, agreement)[number].smallest
            shares = [
                shown_in_advance(rows, accuracy, agreement, smallest, number == 0, rng)
                for _ in range(arguments.repeats)
            ]
            what = f"{title}, {accuracy:g} % right, {agreement:g} % agreement"
            print(f"| {rows} | {rows} | 1 | {what} | {smallest:.1f} | {100 * np.mean(shares):.1f} % |", flush=True)


def draw(
    abilities: tuple[float, float], rows: int, in_group: int, seeds: int, rng: np.random.Generator, same: bool
) -> list[Sample]:
    """The samples of two systems with these abilities, on the same rows or each on its own."""
    groups = rows // in_group
    draws = rng.multinomial(groups, np.full(groups, 1 / groups), RESAMPLES).astype(np.float64)
    samples = []
    shared = difficulty(rows, in_group, rng)
    for number, ability in enumerate(abilities):
        own = shared if same else difficulty(rows, in_group, rng)
        own = own + rng.normal(0, 0.7, rows)
        of_seeds = ability + rng.normal(0, 0.15, seeds)
        right = rng.normal(0, 0.5, (seeds, rows)) + of_seeds[:, None] > own
        by_group = right.reshape(seeds, groups, in_group).mean(axis=2)
        key = RowSet("rows" if same else f"rows {number}", groups)
        samples.append(sample(100 * right.mean(axis=1), {key: 100 * by_group @ draws.T / groups}))
    return samples


def difficulty(rows: int, in_group: int, rng: np.random.Generator) -> np.ndarray:
    """Difficulties of rows, of which a part is that of the row's group."""
    return np.repeat(rng.normal(0, 0.6, rows // in_group), in_group) + rng.normal(0, 0.8, rows) - 0.8


def ability_for(points: float, rng: np.random.Generator) -> float:
    """The ability with which a system has so many points of accuracy more than with ability 0."""
    spread = (0.6**2 + 0.8**2 + 0.7**2 + 0.5**2 + 0.15**2) ** 0.5
    drawn = np.sort(rng.normal(-0.8, spread, 2_000_000))
    at_zero = float((drawn < 0).mean())
    return float(np.quantile(drawn, min(0.999, at_zero + points / 100)))


def verdict(one: Sample, other: Sample, same: bool) -> str:
    """The verdict of the test; where each has rows of its own, both sets of rows are parts of the difference."""
    if not same:
        (mine, means), (theirs, others) = *one.means.items(), *other.means.items()
        zero = np.zeros_like(means)
        one = replace(one, means={mine: means, theirs: zero})
        other = replace(other, means={mine: zero, theirs: others})
    return compare(one, other).verdict


def shown_in_advance(
    rows: int, accuracy: float, agreement: float, points: float, same: bool, rng: np.random.Generator
) -> bool:
    """Whether two systems that differ by so many points get a verdict, on the same rows or each on its own."""
    half = points / 200
    if same:
        apart = 1 - agreement / 100
        kinds = rng.choice(3, rows, p=[1 - apart, apart / 2 + half, apart / 2 - half])
        one = np.where(kinds == 0, rng.random(rows) < accuracy / 100, kinds == 1)
        other = np.where(kinds == 0, one, kinds == 2)
    else:
        one, other = rng.random(rows) < accuracy / 100 + half, rng.random(rows) < accuracy / 100 - half
    draws = rng.multinomial(rows, np.full(rows, 1 / rows), RESAMPLES) / rows
    sets = [RowSet("rows", rows)] * 2 if same else [RowSet("one", rows), RowSet("other", rows)]
    first, second = (
        Sample(np.array([100 * right.mean()]), {key: 100 * draws @ right}, 0.0, is_one_system=True)
        for right, key in zip((one, other), sets, strict=True)
    )
    return verdict(first, second, same) == "better"


if __name__ == "__main__":
    main()
