"""The best constant answer to a task: the score that every model must exceed."""

from mtl.tasks.kind import Target
from mtl.tasks.metrics import score
from mtl.tasks.scored import ScoredRows
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

DIGITS = 9  # decimals to which scores are compared, so that rounding errors do not choose between answers


def best_constant(task: Task, train: ScoredRows) -> Target:
    """The answer with the best score by the task's metric if every row gets it; among equal scores, the first answer.

    train: the training rows.
    """
    candidates = target_kind(task).constants(train.targets)
    return max(candidates, key=lambda answer: round(constant_score(task, answer, train), DIGITS))


def constant_score(task: Task, answer: Target, rows: ScoredRows) -> float:
    """The metric × 100 if every row gets the same answer."""
    return score(task, target_kind(task).repeat(answer, len(rows.targets), rows.candidates), rows)
