"""How the splits of a task differ: in their classes, in their words, and in the scores of a floor."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2_contingency, norm
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from mtl.data.dataset import Dataset, Split
from mtl.tasks.task import Task

LEVEL = 0.05  # of intervals
FOLDS = 5
MOST_ROWS = 4000  # of each split, that a classifier tells apart
SEED = 1


@dataclass(frozen=True)
class Shift:
    """How well a classifier tells the rows of a split from training rows: the area under its ROC curve with its interval. 0.5 is chance."""

    split: str
    area: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Gap:
    """The scores × 100 of the floor that reads everything on dev and on test, where a test file has targets, and the interval of their
    difference, dev minus test."""

    dev: float
    test: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class ClassShares:
    """The classes of a task in its splits.

    Args:
        answers: the classes, as in the data.
        rows: by split, the number of rows of each class, int64 (classes,).
        tokens: by split, the mean number of tokens of a row of each class; NaN without rows.
        p: of a test that all splits have the same shares.
    """

    answers: list[str]
    rows: dict[str, np.ndarray]
    tokens: dict[str, np.ndarray]
    p: float


def class_shares(task: Task, splits: dict[str, Split], lengths: np.ndarray) -> ClassShares | None:
    """The classes of the splits whose targets are known; None if there is only one such split."""
    classes = np.arange(len(task.labels or ()))
    known = {name: split for name, split in splits.items() if not np.isnan(split.targets).any()}
    if len(known) < 2:
        return None
    rows = {name: (split.targets[:, None] == classes).sum(axis=0) for name, split in known.items()}
    tokens = {}
    for name, split in known.items():
        totals = lengths[split.texts].sum(axis=1)
        tokens[name] = np.array(
            [
                totals[split.targets == number].mean() if (split.targets == number).any() else np.nan
                for number in classes
            ]
        )
    table = np.array(list(rows.values()))
    table = table[:, table.any(axis=0)]
    return ClassShares(list(task.labels or ()), rows, tokens, float(chi2_contingency(table).pvalue))


def split_shift(dataset: Dataset, train: Split, other: Split, name: str) -> Shift | None:
    """How well a classifier on TF-IDF of words tells the rows of a split from training rows; None with fewer rows than folds.

    Each row is judged by a classifier that was not trained on it. The interval is Hanley and McNeil's (1982).
    """
    rng = np.random.default_rng(SEED)
    texts, labels = [], []
    for label, split in enumerate((train, other)):
        rows = np.arange(len(split.texts))
        if len(rows) > MOST_ROWS:
            rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
        texts += [" ".join(dataset.texts[text] for text in row) for row in split.texts[rows].tolist()]
        labels += [label] * len(rows)
    marks = np.array(labels)
    positive, negative = int(marks.sum()), int((1 - marks).sum())
    if min(positive, negative) < FOLDS:
        return None
    model = make_pipeline(
        TfidfVectorizer(token_pattern=r"\w+"), LogisticRegression(class_weight="balanced", max_iter=300)
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    try:
        judged = cross_val_predict(model, texts, marks, cv=folds, method="decision_function")
    except ValueError:  # no words at all
        return None
    area = float(roc_auc_score(marks, judged))
    twice, square = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (positive - 1) * (twice - area**2) + (negative - 1) * (square - area**2)
    deviation = float(np.sqrt(max(variance, 0) / (positive * negative)))
    reach = float(norm.isf(LEVEL / 2)) * deviation
    return Shift(name, area, (max(0.0, area - reach), min(1.0, area + reach)))
