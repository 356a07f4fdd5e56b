"""How the splits of a task differ: in their classes, and in their words."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2_contingency, norm, rankdata
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from mtl.benchmark_making.audits.words import LEVEL
from mtl.data.dataset import Dataset, Split
from mtl.tasks.task import Task

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
class ClassShares:
    """The classes of a task in its splits: the number of rows of each, int64 (classes,), and the p of a test that all splits have the same shares."""

    answers: list[str]
    rows: dict[str, np.ndarray]
    p: float


def class_shares(task: Task, splits: dict[str, Split]) -> ClassShares | None:
    """The classes of the splits whose targets are known; None if there is only one such split."""
    classes = np.arange(len(task.labels or ()))
    known = {name: split for name, split in splits.items() if not np.isnan(split.targets).any()}
    if len(known) < 2:
        return None
    rows = {name: (split.targets[:, None] == classes).sum(axis=0) for name, split in known.items()}
    table = np.array(list(rows.values()))
    table = table[:, table.any(axis=0)]
    return ClassShares(list(task.labels or ()), rows, float(chi2_contingency(table).pvalue))


def split_shift(dataset: Dataset, train: Split, scored: Split, name: str) -> Shift | None:
    """How well a classifier on TF-IDF of words tells the rows of a split from training rows; None with fewer groups of rows than folds.

    Each row is judged by a classifier that was not trained on it, nor on a row of its split with one of its texts: where the answers to a
    question stand in one split, the question alone would tell the split. Texts that both splits have tell nothing.
    """
    rng = np.random.default_rng(SEED)
    numbers, labels = [], []
    for label, split in enumerate((train, scored)):
        rows = np.arange(len(split.texts))
        if len(rows) > MOST_ROWS:
            rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
        numbers.append(split.texts[rows])
        labels += [label] * len(rows)
    inputs, marks = np.concatenate(numbers), np.array(labels)
    groups = _groups(inputs, marks)
    if min(len(np.unique(groups[marks == label])) for label in (0, 1)) < FOLDS:
        return None
    texts = [" ".join(dataset.texts[text] for text in row) for row in inputs.tolist()]
    model = make_pipeline(
        TfidfVectorizer(token_pattern=r"\w+"), LogisticRegression(class_weight="balanced", max_iter=300)
    )
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED)
    try:
        judged = cross_val_predict(model, texts, marks, groups=groups, cv=folds, method="decision_function")
    except ValueError:  # no words at all, or a fold with rows of one split alone
        return None
    area, deviation = area_under_curve(judged[marks == 0], judged[marks == 1], groups[marks == 0], groups[marks == 1])
    reach = float(norm.isf(LEVEL / 2)) * deviation
    return Shift(name, area, (max(0.0, area - reach), min(1.0, area + reach)))


def _groups(inputs: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The group of each row: rows with a common text that one split alone has, and those joined by others, are in one."""
    rows = np.repeat(np.arange(len(inputs)), inputs.shape[1])
    texts = np.unique(inputs, return_inverse=True)[1].ravel()
    share = np.bincount(texts, marks[rows]) / np.bincount(texts)
    alone = np.isin(share[texts], (0, 1))
    size = len(inputs) + len(share)
    graph = coo_matrix((np.ones(alone.sum(), np.int8), (rows[alone], len(inputs) + texts[alone])), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][: len(inputs)])


def area_under_curve(
    low: np.ndarray, high: np.ndarray, low_groups: np.ndarray, high_groups: np.ndarray
) -> tuple[float, float]:
    """The area under the ROC curve of scores that should be low, and high, and its standard deviation for rows in groups, which may have
    rows of both (DeLong et al. 1988; Obuchowski 1997)."""
    ranks = rankdata(np.concatenate([low, high]))
    over = (ranks[len(low) :] - rankdata(high)) / len(low)  # which share of the low scores is below a high one
    under = 1 - (ranks[: len(low)] - rankdata(low)) / len(high)
    area = float(over.mean())
    groups = np.concatenate([low_groups, high_groups])
    influence = np.concatenate([(under - area) / len(low), (over - area) / len(high)])
    sums = np.bincount(np.unique(groups, return_inverse=True)[1], influence)
    return area, float(np.sqrt((sums**2).sum() * len(sums) / max(1, len(sums) - 1)))
