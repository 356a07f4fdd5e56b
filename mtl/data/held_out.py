"""Which training rows are held out: whole groups, so that the labels keep their proportions."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from mtl.data.examples import Example
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

FORMAT = 2  # version of the rule for held-out rows; increase it when the rule holds out other rows of the same data

Node = TypeVar("Node", str, tuple[int, str])


def hold_out(task: Task, examples: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """Training rows and held-out rows, both in file order. Rows of one group (`Example.group`) stay on one side, and so do rows with the same
    texts. The held-out rows keep the labels' proportions as far as groups allow. The choice depends on a hash of the groups' names, not on a seed:
    every seed has the same held-out rows, and adding rows changes few of them."""
    held_out = held_out_numbers(task, examples, share)
    training = [example for number, example in enumerate(examples) if number not in held_out]
    return training, [examples[number] for number in sorted(held_out)]


def held_out_numbers(task: Task, examples: Sequence[Example], share: float) -> set[int]:
    """The numbers of the rows that `hold_out` holds out, from 0."""
    groups = _groups(examples)
    order = sorted(groups, key=lambda name: hashlib.sha256(name.encode()).digest())
    kind = target_kind(task)
    strata = [kind.stratum(example.target) for example in examples]
    counts = {name: Counter(strata[number] for number in groups[name]) for name in order}
    return {number for name in _stratified(counts, share) for number in groups[name]}


def grouped_by_source(task: Task, examples: Sequence[Example]) -> list[Example]:
    """The rows of a pair task, grouped by the source of their first text. The texts of pairs with the label `same_source` that are connected have
    one source. In KLEJ's PSC, sources are the news articles by which the official split was made (KLEJ, section 3.6)."""
    kind = target_kind(task)
    sides = [(side, text) for example in examples for side, text in enumerate(example.texts)]
    alike = [row.texts for row in examples if row.target is not None and kind.format(row.target) == task.same_source]
    names = _smallest_connected(sides, [((0, first), (1, second)) for first, second in alike])
    return [replace(example, group=names[0, example.texts[0]][1]) for example in examples]


def _groups(examples: Sequence[Example]) -> dict[str, list[int]]:
    """The indices of the rows that stay together, by group. A group's name does not depend on the order of the rows."""
    texts = ["\t".join(example.texts) for example in examples]
    keys = [text if example.group is None else example.group for text, example in zip(texts, examples, strict=True)]
    first_keys = dict(zip(reversed(texts), reversed(keys), strict=True))  # by text, that of its first row
    names = _smallest_connected(keys, [(first_keys[text], key) for text, key in zip(texts, keys, strict=True)])
    groups: dict[str, list[int]] = defaultdict(list)
    for number, key in enumerate(keys):
        groups[names[key]].append(number)
    return groups


def _stratified(counts: dict[str, Counter[Hashable]], share: float) -> list[str]:
    """The groups to hold out: at most `share` of all rows, or one group if no group qualifies.
    The groups are tried in the order of `counts`, their numbers of rows by stratum. A group is taken if it brings the strata nearer to their shares,
    in proportions within `tolerance` rows of those of all rows. Groups with other proportions are tried again with twice the tolerance."""
    strata = list(sum(counts.values(), Counter[Hashable]()))
    sizes = {name: np.array([rows[stratum] for stratum in strata]) for name, rows in counts.items()}  # by stratum
    total = np.sum(list(sizes.values()), axis=0)
    wanted = share * total
    most = max(1, round(share * total.sum()))
    taken: list[str] = []
    taken_size = np.zeros_like(total)
    candidates = list(sizes)
    tolerance = 1
    while candidates and taken_size.sum() < most and tolerance < 2 * total.sum():
        tried_again = []
        for name in candidates:
            grown = taken_size + sizes[name]
            if grown.sum() > most or _imbalance(grown, wanted) >= _imbalance(taken_size, wanted):
                continue  # it will not fit better when more rows are held out
            if np.abs(grown - total * (grown.sum() / total.sum())).max() <= tolerance:
                taken_size = grown
                taken.append(name)
            else:
                tried_again.append(name)
        candidates = tried_again
        tolerance *= 2
    return taken or [min(sizes, key=lambda name: _imbalance(sizes[name], wanted))]


def _imbalance(size: np.ndarray, wanted: np.ndarray) -> float:
    """How far the numbers of rows of some groups are from the wanted numbers, both by stratum (Pearson's chi-squared statistic)."""
    return float(((size - wanted) ** 2 / wanted).sum())


def _smallest_connected(nodes: Iterable[Node], pairs: Iterable[tuple[Node, Node]]) -> dict[Node, Node]:
    """By node, the smallest of all nodes that pairs connect it with, which does not depend on the order of the nodes and the pairs."""
    smaller = {node: node for node in nodes}

    def smallest(node: Node) -> Node:
        while smaller[node] != node:
            smaller[node] = smaller[smaller[node]]
            node = smaller[node]
        return node

    for first, second in pairs:
        roots = smallest(first), smallest(second)
        smaller[max(roots)] = min(roots)
    return {node: smallest(node) for node in smaller}
