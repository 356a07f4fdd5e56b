"""Macro F1 on new rows with one threshold for all labels, one for each, and one for each label with enough dev rows.

Usage: python several_labels.py REPETITIONS DEV_ROWS
"""

import sys
from collections import defaultdict

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from mtl.methods.thresholds import SHIFTS, Decisions

LABELS, FEATURES, TRAIN, NEW = 12, 60, 1500, 4000
SHARES = np.geomspace(0.35, 0.01, LABELS)
FEWEST = (20, 50, 100)
RNG = np.random.default_rng(0)
WEIGHTS = 1.2 * RNG.normal(size=(FEATURES, LABELS)) * (RNG.random((FEATURES, LABELS)) < 0.25)


def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Features, and labels of these shares that follow from them with noise."""
    features = RNG.normal(size=(count, FEATURES))
    scores = features @ WEIGHTS
    scores -= [np.quantile(scores[:, label], 1 - SHARES[label]) for label in range(LABELS)]
    return features, (scores + 0.8 * RNG.logistic(size=scores.shape) > 0).astype(int)


def main() -> None:
    repetitions, dev_rows = map(int, sys.argv[1:])
    found = defaultdict(list)
    for _ in range(repetitions):
        (features, labels), (dev, of_dev), (new, of_new) = rows(TRAIN), rows(dev_rows), rows(NEW)
        models = [LogisticRegression(max_iter=300).fit(features, labels[:, label]) for label in range(LABELS)]
        on_dev, on_new = (np.column_stack([model.decision_function(part) for model in models]) for part in (dev, new))
        found["0.5"].append(f1_score(of_new, on_new > 0, average="macro", zero_division=0))
        for name, choose in SHIFTS.items():
            together = choose(Decisions(-on_dev.ravel(), of_dev.ravel() > 0, on_dev.ravel() > 0))
            columns = zip(on_dev.T, of_dev.T, strict=True)
            each = np.array([choose(Decisions(-column, right > 0, column > 0)) for column, right in columns])
            enough = {f"each with {few} rows": np.where(of_dev.sum(axis=0) >= few, each, together) for few in FEWEST}
            for rule, shift in {"all": together, "each": each, **enough}.items():
                score = f1_score(of_new, on_new + shift > 0, average="macro", zero_division=0)
                found[f"{name}: {rule}"].append(score)
    for name, scores in found.items():
        print(f"{100 * np.mean(scores):.2f}  {name}")


if __name__ == "__main__":
    main()
