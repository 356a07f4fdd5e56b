"""Build small splits for tests of the audit."""

from mtl.audit.findings import Finding, Part
from mtl.data.reader import Example
from mtl.tasks.suite import Task

LABELS = Task(id="kansla", text=["text"], target="label", labels=["glad", "arg"], metric="accuracy")
POSITIVE = Task(id="cbd", text=["text"], target="label", labels=["0", "1"], metric="f1", positive="1")
RATING = Task(id="betyg", text=["text"], target="score", range=[0, 10], metric="spearman")
PAIR = Task(id="samma", text=["a", "b"], target="same", labels=["0", "1"], metric="accuracy")


def part(
    *rows: tuple[str, ...] | str, targets: list[float] | None = None, task: Task = LABELS, split: str = "train"
) -> Part:
    """A split with these rows, from line 2 of its file on. targets: None for a test file."""
    texts = [(row,) if isinstance(row, str) else row for row in rows]
    values = targets or [None] * len(texts)
    examples = [Example(i, t, v) for i, (t, v) in enumerate(zip(texts, values, strict=True), start=2)]
    return Part(task, split, f"{task.id}/{split}.tsv", examples)


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, [str(finding) for finding in findings]
    return findings[0]
