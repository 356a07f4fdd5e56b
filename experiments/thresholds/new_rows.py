"""What ways of choosing CBD's decision threshold reach on rows that no model saw.

    python experiments/thresholds/new_rows.py new-rows/suite.yaml new-rows/data runs/strong

The run is one of `experiments/strong-lstm` on the suite of its `new-rows.yaml`. Thresholds are chosen on its dev rows. They are scored on the new
rows as they are (8.5 % positives), and with rows weighted so that positives are 13.4 %, the share that the paper states for CBD's test.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from mtl.base.progress import Progress
from mtl.data.dataset import input_rows
from mtl.data.loading import load_dataset
from mtl.jobs.ensemble_member import Member
from mtl.methods.thresholds import bagged_shift, best_shift
from mtl.tasks.suite import load_suite

PAPER = 0.134  # of CBD's test rows
RESAMPLES = 2000

Choose = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], float]
"""From margins of dev rows, their labels, and the margins and weights of new rows: the margin above which a row is positive."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("run")
    parser.add_argument("--task", default="cbd")
    arguments = parser.parse_args()
    suite = load_suite(arguments.suite)
    task = suite.tasks[arguments.task]
    dataset = load_dataset(suite, [task], arguments.data, 0.1)
    member = Member(arguments.run)
    splits = {name: dataset.splits[task.id][name] for name in ("dev", "test")}
    rows = [row for split in splits.values() for row in input_rows(dataset, task, split)]
    margins, probabilities = [], []
    for seed in member.summary["seeds"]:
        with Progress("asking", len(rows), "rows") as bar:
            ((_, outputs),) = member.outputs([seed], {task.id: rows}, [task], "cpu", bar)
        log_odds = outputs[:, 1] - outputs[:, 0]
        margins.append(log_odds.astype(np.float64))
        probabilities.append(1 / (1 + np.exp(-log_odds)))
    mean = np.mean(probabilities, axis=0)
    dev = len(splits["dev"])
    gold = [split.targets.astype(int) for split in splits.values()]
    models = [*margins, np.log(mean / (1 - mean))]
    print(f"{task.id}: {dev} dev rows, {gold[0].mean():.1%} positive; {len(gold[1])} new rows, {gold[1].mean():.1%}")
    shares = {f"{share:.1%}": share for share in (float(gold[1].mean()), PAPER)}
    print(f"| threshold | {' | '.join(f'{share}, each seed | mean | averaged | difference' for share in shares)} |")
    rng = np.random.default_rng(0)
    draws = rng.integers(len(gold[1]), size=(RESAMPLES, len(gold[1])))
    base: dict[str, np.ndarray] = {}
    for name, choose in ways(gold).items():
        cells = []
        for shown, share in shares.items():
            weights = np.where(gold[1] == 1, share / gold[1].mean(), (1 - share) / (1 - gold[1].mean()))
            decided = [model[dev:] > choose(model[:dev], gold[0], model[dev:], weights) for model in models]
            scores = [f1(own, gold[1], weights) for own in decided]
            drawn = np.mean([f1_drawn(own, gold[1], weights, draws) for own in decided[:-1]], axis=0)
            difference = drawn - base.setdefault(shown, drawn)
            low, high = np.percentile(difference, [2.5, 97.5])
            each = ", ".join(f"{score:.1f}" for score in scores[:-1])
            cells += [
                each,
                f"{np.mean(scores[:-1]):.1f}",
                f"{scores[-1]:.1f}",
                f"{difference.mean():+.1f} ({low:.1f} to {high:.1f})",
            ]
        print(f"| {name} | {' | '.join(cells)} |")


def ways(gold: list[np.ndarray]) -> dict[str, Choose]:
    """The ways, the preset's first."""

    def shift(choose: Callable[[np.ndarray, np.ndarray, int], float]) -> Choose:
        return lambda dev, labels, new, weights: -choose(np.column_stack([np.zeros_like(dev), dev]), labels, 1)

    def share(wanted: float) -> Choose:
        def choose(dev: np.ndarray, labels: np.ndarray, new: np.ndarray, weights: np.ndarray) -> float:
            order = np.argsort(-new)
            predicted = np.cumsum(weights[order]) / weights.sum()
            return float(new[order][np.searchsorted(predicted, wanted)])

        return choose

    return {
        "`bagged` (preset=strong)": shift(bagged_shift),
        "`dev`": shift(best_shift),
        "`argmax`": lambda dev, labels, new, weights: 0.0,
        "best on dev, weighted to 13.4 % positives": weighted_best,
        "as many positives as in train": share(float(gold[0].mean())),
        "13.4 % of the new rows positive": share(PAPER),
        "calibrated on dev, highest expected F1 on the new rows": calibrated,
        "the best on the new rows (not possible)": lambda dev, labels, new, weights: (
            -best_shift(np.column_stack([np.zeros_like(new), new]), gold[1], 1)
        ),
    }


def weighted_best(dev: np.ndarray, labels: np.ndarray, new: np.ndarray, weights: np.ndarray) -> float:
    """The mean over resamples in which 13.4 % of the rows are positive."""
    rng = np.random.default_rng(0)
    positive, negative = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
    found = []
    for _ in range(200):
        count = round(len(positive) * (1 - PAPER) / PAPER)
        drawn = np.concatenate([rng.choice(positive, len(positive)), rng.choice(negative, count)])
        found.append(-best_shift(np.column_stack([np.zeros(len(drawn)), dev[drawn]]), labels[drawn], 1))
    return float(np.mean(found))


def calibrated(dev: np.ndarray, labels: np.ndarray, new: np.ndarray, weights: np.ndarray) -> float:
    """A sigmoid on dev (Platt 1999); then the threshold with the highest expected F1 over the new rows (Lipton et al. 2014)."""
    sigmoid = LogisticRegression(C=1e6).fit(dev[:, None], labels)
    order = np.argsort(-new)
    probability = weights[order] * sigmoid.predict_proba(new[order][:, None])[:, 1]
    expected = 2 * np.cumsum(probability) / (np.cumsum(weights[order]) + probability.sum())
    most = int(np.argmax(expected))
    ordered = new[order]
    return float((ordered[most] + ordered[min(most + 1, len(new) - 1)]) / 2)


def f1(decided: np.ndarray, gold: np.ndarray, weights: np.ndarray) -> float:
    return float(f1_drawn(decided, gold, weights, np.arange(len(gold))[None])[0])


def f1_drawn(decided: np.ndarray, gold: np.ndarray, weights: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """F1 × 100 on each resample of the rows."""
    right = (weights * (decided & (gold == 1)))[draws].sum(axis=1)
    both = (weights * (decided.astype(int) + gold))[draws].sum(axis=1)
    return 200 * right / both


if __name__ == "__main__":
    main()
