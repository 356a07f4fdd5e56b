"""Build small splits for tests of the audit."""

from collections.abc import Iterable, Sequence

from mtl.benchmark_making.audits.parts import Finding, Part
from mtl.data.examples import Example, make_inputs
from mtl.tasks.target_kind import Target
from mtl.tasks.task import Task

LABELS = Task(id="kansla", kind="labels", text=["text"], target="label", labels=["glad", "arg"], metric="accuracy")
POSITIVE = Task(id="cbd", kind="labels", text=["text"], target="label", labels=["0", "1"], metric="f1", positive="1")
RATING = Task(id="betyg", kind="number", text=["text"], target="score", range=[0, 10], metric="spearman")
PAIR = Task(id="samma", kind="labels", text=["a", "b"], target="same", labels=["0", "1"], metric="accuracy")
CHOICE = Task(id="val", kind="choice", text=["q"], candidates=["a[]"], target="right", metric="accuracy")
ANALOGY = Task(id="likhet", kind="word", text=["a", "b", "c"], target="d", metric="accuracy")
WORD = Task(id="ord", kind="word", text=["text"], target="word", metric="accuracy")


def part(
    *rows: tuple[str, ...] | str, targets: Sequence[Target] | None = None, task: Task = LABELS, split: str = "train"
) -> Part:
    """A split with these rows, from line 2 of its file on. targets: None for a test file."""
    texts = [(row,) if isinstance(row, str) else row for row in rows]
    values = targets or [None] * len(texts)
    examples = [
        Example(i, make_inputs(task, t), v) for i, (t, v) in enumerate(zip(texts, values, strict=True), start=2)
    ]
    return Part(task, split, f"{task.id}/{split}.tsv", examples)


def only(findings: Iterable[Finding]) -> Finding:
    found = list(findings)
    assert len(found) == 1, list(map(str, found))
    return found[0]
