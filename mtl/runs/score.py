"""Score prediction files against files with gold targets."""

from collections.abc import Sequence
from pathlib import Path

from mtl.runs.predictions import gold_and_predictions
from mtl.tasks.metrics import score
from mtl.tasks.suite import Suite
from mtl.tasks.task import Task


def score_predictions(path: Path, suite: Suite, tasks: Sequence[Task], gold_dir: Path, held_out: float) -> str:
    """A Markdown table of the metrics × 100 of the predictions in a zip or folder, and their average.

    Raises InputError as `mtl.runs.predictions.gold_and_predictions` does.
    """
    pairs = gold_and_predictions(path, suite, tasks, gold_dir, held_out)
    lines, scores = ["| task | split | metric | rows | score |", "|---|---|---|--:|--:|"], {}
    for id, (split, predictions, rows) in pairs.items():
        task = suite.tasks[id]
        scores[id] = score(task, predictions, rows)
        lines.append(f"| {task.title} | {split} | {task.metric} | {len(predictions)} | {scores[id]:.1f} |")
    absent, average = suite.lacking(scores), suite.mean(scores)
    if average is None:
        return "\n".join([*lines, f"average: none, without {', '.join(absent)}"])
    of = len(suite.averaged)
    partial = f" (of {of - len(absent)} of {of} tasks; not scored: {', '.join(absent)})" if absent else ""
    return "\n".join([*lines, f"average{partial}: {average:.1f}"])
