"""Scores of tags: precision, recall and F1 of the entities that tags mark, and the accuracy of the tags themselves.
Entities count as conlleval (Tjong Kim Sang and Buchholz 2000) and seqeval count them. With B-, I- and O, any tags mark entities: one begins at a B-,
and at an I- of another type than the tag before it; it ends before the next tag that does not continue it. If labels also say where entities end, as
E- and S- do (IOBES; L- and U- of BILOU, M- of BMES), only S-, or B-, any number of I-, and E- of one type are an entity (seqeval's strict mode).
All scores come from the numbers of items that a row has, that are predicted for it, and that are both: sums of rows with any weights."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from mtl.tasks.formulas import CACHED_PAIRS
from mtl.tasks.metrics import Metric, Parts
from mtl.tasks.task import ScoredRows, Task

OUTSIDE = "O"
TAG = re.compile(r"O|[BIESLUM](-.*)?")
PREFIXES = str.maketrans("LUM", "ESI")  # of BILOU and BMES, as in IOBES

Item = tuple[str, int, int]  # a type, and the first and the last token of an entity; or a tag, and its token twice
Find = Callable[[Sequence[str]], Iterator[Item]]  # the items of tags


def entities(tags: Sequence[str]) -> Iterator[Item]:
    """The entities that tags with B-, I- and O mark."""
    first, kind = 0, None  # of the entity that has begun; the type with its hyphen
    for position, tag in enumerate([*tags, OUTSIDE]):
        if kind is not None and not (tag[0] == "I" and tag[1:] == kind):
            yield kind, first, position - 1
            kind = None
        if tag != OUTSIDE and kind is None:
            first, kind = position, tag[1:]


def whole_entities(tags: Sequence[str]) -> Iterator[Item]:
    """The entities that tags with B-, I-, E-, S- and O mark."""
    first, kind = 0, None  # as in `entities`
    for position, tag in enumerate(tags):
        prefix = tag[0].translate(PREFIXES)
        if prefix == "S":
            yield tag[1:], position, position
        if prefix == "E" and tag[1:] == kind:
            yield tag[1:], first, position
        if prefix == "B":
            first, kind = position, tag[1:]
        elif prefix != "I" or tag[1:] != kind:
            kind = None


def single_tags(tags: Sequence[str]) -> Iterator[Item]:
    return ((tag, position, position) for position, tag in enumerate(tags))


@lru_cache(CACHED_PAIRS)
def items_by_type(find: Find, gold: str, predicted: str) -> list[tuple[str, list[int]]]:
    """By type, how many items of a row's tags are right, gold and predicted."""
    marked, guessed = set(find(gold.split())), set(find(predicted.split()))
    counters = [Counter(kind for kind, _, _ in items) for items in (marked & guessed, marked, guessed)]
    _, gold_counts, predicted_counts = counters
    return [(kind, [counter[kind] for counter in counters]) for kind in gold_counts | predicted_counts]


def counts(find: Find, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The numbers of right, gold and predicted items for each set of weights, float64 (3, sets, types)."""
    from scipy.sparse import csr_matrix  # not at the top: every command reads the registry of metrics

    by_row = [items_by_type(find, gold, guessed) for gold, guessed in zip(rows.targets, predicted, strict=True)]
    types = dict[str, int]()  # the column of each type
    columns = [types.setdefault(kind, len(types)) for row_items in by_row for kind, _ in row_items]
    numbers = np.array([numbers for row_items in by_row for _, numbers in row_items], dtype=np.float64).reshape(-1, 3)
    starts = np.cumsum([0, *map(len, by_row)])
    matrices = (csr_matrix((values, columns, starts), shape=(len(by_row), len(types))) for values in numbers.T)
    return np.stack([np.asarray(weights @ matrix) for matrix in matrices])


def finder(task: Task) -> Find:
    """What finds the entities that the task's tags mark: with labels that say where entities end, or without."""
    return whole_entities if any(label[0] in "ESLU" for label in task.labels or ()) else entities


def ratio(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """part / total; 0 where total is 0."""
    return np.divide(part, total, out=np.zeros_like(part), where=total > 0)


def span_f1(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """F1 of the entities of all types together (micro): 2 right / (gold + predicted). Entities count as conlleval and seqeval count them; if
    labels say where entities end (E-, S-), as seqeval's strict mode does."""
    right, gold, guessed = counts(finder(task), predicted, rows, weights).sum(axis=2)
    return ratio(2 * right, gold + guessed)


def span_precision(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of the predicted entities that are right."""
    right, _, guessed = counts(finder(task), predicted, rows, weights).sum(axis=2)
    return ratio(right, guessed)


def span_recall(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of the gold entities that are predicted."""
    right, gold, _ = counts(finder(task), predicted, rows, weights).sum(axis=2)
    return ratio(right, gold)


def type_scores(task: Task, predicted: np.ndarray, rows: ScoredRows) -> dict[str, tuple[int, float]]:
    """For each type with gold entities their number and its F1, as seqeval's report has it. The type of tags without one is empty."""
    totals = defaultdict[str, np.ndarray](lambda: np.zeros(3, dtype=np.int64))
    for gold, guessed in zip(rows.targets, predicted, strict=True):
        for kind, numbers in items_by_type(finder(task), gold, guessed):
            totals[kind.removeprefix("-")] += numbers
    by_type = {kind: numbers.tolist() for kind, numbers in totals.items()}
    return {kind: (gold, 2 * right / (gold + guessed)) for kind, (right, gold, guessed) in by_type.items() if gold}


def token_accuracy(task: Task, predicted: np.ndarray, rows: ScoredRows, weights: np.ndarray) -> np.ndarray:
    """The share of tokens whose tag is right, over the tokens of all examples."""
    right, gold, _ = counts(single_tags, predicted, rows, weights).sum(axis=2)
    return ratio(right, gold)


def problem(task: Task) -> str | None:
    """What is wrong with the labels of a task whose metric counts entities, or None."""
    odd = [label for label in task.labels or () if not TAG.fullmatch(label)]
    if not odd:
        return None
    return f"labels: {odd[0]!r} is no tag of an entity, as B-PER, I-PER and O are; metric {task.metric} needs them; plain tags have token_accuracy"


KINDS = ("token_labels",)  # of targets, that have tags
TYPES = Parts("type", "entities", type_scores)
SPAN_F1 = Metric("span F1", KINDS, span_f1, problem=problem, parts=TYPES)
SPAN_PRECISION = Metric("span precision", KINDS, span_precision, problem=problem)
SPAN_RECALL = Metric("span recall", KINDS, span_recall, problem=problem)
TOKEN_ACCURACY = Metric("token accuracy", KINDS, token_accuracy)
