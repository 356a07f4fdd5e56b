"""Compare runs on GLUE by their average without WNLI, on which every model that learns stands below the constant answer.

    python experiments/glue/without_wnli.py runs/glue

Each pair of runs below the folder is tested as `mtl report` tests averages: all tasks but WNLI and their average are one family.
"""

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np

from mtl.runs.finished import find_runs
from mtl.stats.comparison import Sample, compare, estimate, mean_over_tasks, part_counted_with_rows
from mtl.stats.families import family_tests
from mtl.stats.holm import with_holm
from mtl.stats.resampling import resampled_scores, row_groups

LEFT_OUT = "wnli"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    arguments = parser.parse_args()
    runs = find_runs(arguments.runs)
    columns: dict[str, dict[int, Sample]] = {}
    for number, run in enumerate(runs):
        parts, by_seed = [], []
        is_one_system = len(run.summary["seeds"]) == 1
        for task in run.tasks:
            if task.id == LEFT_OUT:
                continue
            groups = row_groups(*run.numbered_groups(task))
            scores = resampled_scores(task, run.predictions(task), run.rows(task), groups)
            own = np.array([run.summary["tasks"][task.id]["scores"][str(seed)] for seed in run.summary["seeds"]])
            parts.append({groups.row_set: scores})
            by_seed.append(own)
            means = {groups.row_set: scores.mean(axis=0)}
            columns.setdefault(task.id, {})[number] = Sample(
                own, means, part_counted_with_rows(parts[-1]), is_one_system
            )
        whole = mean_over_tasks(parts, [len(parts)] * len(parts))
        means = {rows: scores.mean(axis=0) for rows, scores in whole.items()}
        average = Sample(np.mean(by_seed, axis=0), means, part_counted_with_rows(whole), is_one_system)
        columns.setdefault("average", {})[number] = average
        low, high = estimate(average).interval
        print(f"{run.name}: {np.median(average.by_seed):.1f} ({low:.1f} to {high:.1f})")
    family = family_tests(columns)
    keys = [(column, *pair) for column in columns for pair in combinations(range(len(runs)), 2)]
    tests = {key: compare(columns[key[0]][key[1]], columns[key[0]][key[2]]) for key in keys}
    tails = {key: float(family[key[0]].tail[key[1], key[2]]) for key in keys}
    for (column, one, other), test in with_holm(tests, tails).items():
        print(
            f"{column}: {runs[one].name} - {runs[other].name}: {test.difference:+.1f} ({test.low:.1f} to {test.high:.1f}), "
            f"p {test.p:.2g}, {test.verdict}; with the correction {test.p_holm:.2g}, {test.verdict_holm}"
        )


if __name__ == "__main__":
    main()
