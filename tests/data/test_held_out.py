import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mtl.data.examples import Example
from mtl.data.held_out import hold_out
from mtl.tasks.task import Task

COLUMNS: dict[str, Any] = {"text": ["x"], "target": "y", "metric": "accuracy"}


def examples(groups: Sequence[str | None], labels: Sequence[float] = (0.0,)) -> list[Example]:
    """A row with a text of its own for each group; the labels are repeated."""
    rows = zip(groups, itertools.cycle(labels), strict=False)
    return [Example(line, ((f"text {line}",),), label, group) for line, (group, label) in enumerate(rows, start=2)]


def held_out(rows: Sequence[Example], share: float = 0.1) -> tuple[list[Example], list[Example]]:
    return hold_out(Task(kind="labels", labels=["0", "1"], **COLUMNS), rows, share)


def test_groups_repeated_texts_and_labels_of_what_is_held_out() -> None:
    rows = examples([str(i // 4) for i in range(400)])
    train, dev = held_out(rows)
    assert len(dev) == 40
    assert sorted(train + dev, key=lambda e: e.line) == rows
    assert not {e.group for e in train} & {e.group for e in dev}
    assert [e.line for e in dev] == sorted(e.line for e in dev)
    # Rows with the same text.
    rows = [Example(line, ((f"text {line % 50}",),), 0.0) for line in range(2, 202)]
    train, dev = held_out(rows)
    assert len(dev) == 20
    assert not {e.texts for e in train} & {e.texts for e in dev}
    # Ten rows a group; the first text of each even group is also the last of the group after it.
    rows = examples([str(i // 10) for i in range(400)])
    rows = [replace(e, inputs=rows[i - 19].inputs) if i % 20 == 19 else e for i, e in enumerate(rows)]
    train, dev = held_out(rows)
    assert len(dev) == 40
    assert not {e.texts for e in train} & {e.texts for e in dev}
    rows = examples([str(i % 60) for i in range(300)], labels=[0, 0, 1])
    assert {e.line for e in held_out(rows)[1]} == {e.line for e in held_out(rows[::-1])[1]}
    rows = examples([str(i if i < 50 else 50 + i // 30) for i in range(500)])
    assert 40 <= len(held_out(rows)[1]) <= 50
    rows = examples([str(i // 20) for i in range(400)], labels=[*[0] * 20, *[1] * 20])
    assert [sum(e.target == label for e in held_out(rows)[1]) for label in (0, 1)] == [20, 20]
    task = Task(kind="labels", labels=[str(label) for label in range(150)], **COLUMNS)
    dev = hold_out(task, examples([None] * 6000, [float(i % 150) for i in range(6000)]), 0.1)[1]
    assert len(dev) == 600 and set(Counter(row.target for row in dev).values()) == {4}


@pytest.mark.parametrize("size", [1, 4])
def test_labels_keep_their_shares(size: int) -> None:
    chance = random.Random(size)
    rows = [replace(e, target=float(chance.random() < 0.08)) for e in examples([str(i // size) for i in range(2000)])]
    dev = held_out(rows)[1]
    assert len(dev) == 200
    assert abs(sum(e.target == 1 for e in dev) - 0.1 * sum(e.target == 1 for e in rows)) <= 1
