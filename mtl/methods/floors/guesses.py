"""Guesses: predictions that do not depend on the texts."""

from collections.abc import Sequence

import numpy as np

from mtl.data.dataset import Split, last_texts
from mtl.tasks.metrics import best_constant
from mtl.tasks.target_kind import UnitKind
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

GUESSES = (
    "random",  # drawn from the targets of the training rows, as the row "Random" of KLEJ's Table 3
    "constant",  # the best constant answer on the training rows, by the task's metric
    "uniform",  # each possible answer is equally probable, as "Random" in the Superlim paper
    "majority",  # the most frequent target of the training rows ("MaxFreq/Avg" there); of numbers, the mean; of units, `UnitKind.usual`
)
ANY_ANSWER = ""  # a word that `decode` gets, so that a drawn code may also mean that there is no answer


def guess_for(method: str, task: Task) -> str | None:
    """The guess that a method makes for a task; None if the method reads the texts. A single text has no overlap to read."""
    if method == "overlap" and not task.is_pair:
        return "constant"
    return method if method in GUESSES else None


def guessed(
    guess: str, task: Task, train: Split, rows: Split, rng: np.random.Generator, texts: Sequence[str] = ()
) -> np.ndarray:
    """A target for each row to predict, (rows,), by one of GUESSES. `texts` are those of the dataset, which both splits refer to."""
    kind, sizes = target_kind(task), rows.scored_rows.candidates  # how many candidates, or units, each row has
    if guess == "constant":
        return kind.repeat(best_constant(task, train.scored_rows), len(rows), sizes)
    if guess == "majority" and isinstance(kind, UnitKind):
        first_texts = [texts[number] for number in rows.texts[:, 0].tolist()]
        return kind.usual(train.targets, last_texts(task, train, texts), last_texts(task, rows, texts), first_texts)
    if guess == "majority":
        return kind.repeat(kind.commonest(train.targets), len(rows), sizes)
    draw = kind.draw if guess == "random" else kind.uniform
    drawn = draw(train.targets, len(rows), sizes, rng)
    if drawn.ndim == 1:
        return drawn
    return kind.head.decode(drawn, [ANY_ANSWER], last_texts(task, rows, texts))  # codes of units become tags or texts
