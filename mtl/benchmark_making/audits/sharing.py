"""Leaks: texts that occur both in training rows and in rows that a score is computed on."""

from collections.abc import Sequence

from mtl.benchmark_making.audits.findings import Finding, Part, excerpt, places, plain
from mtl.data.examples import Example
from mtl.data.repeats import unordered
from mtl.tasks.target_kind import Target

Key = tuple[str, ...]  # the texts of a row, in a form for comparison
Index = dict[Key, list[Example]]  # rows by their texts; the two orders of a pair have one key
Parts = dict[str, Part]  # by split: "train", "dev" and "test"; held-out rows count as dev


def shared_within(parts: Parts) -> list[Finding]:
    """Rows of dev and test that also occur in train of the same task, and rows of test that also occur in dev."""
    pairs = [("dev", "train"), ("test", "train"), ("test", "dev")]
    found = [_shared_rows(parts[one], parts[other], other) for one, other in pairs if {one, other} <= {*parts}]
    return [finding for finding in found if finding]


def shared_across(tasks: Sequence[Parts]) -> list[Finding]:
    """Rows of one task's dev and test whose texts all occur in another task's training rows.

    Rows that also occur in the task's own training rows are left to `shared_within`. Of several tasks with the same training
    texts, only the first is compared.
    """
    first: dict[frozenset[Key], Part] = {}
    for parts in tasks:
        if "train" in parts:
            first.setdefault(frozenset(parts["train"].lines), parts["train"])
    sources = [(part, _index(part, single_texts=True)) for part in first.values()]
    findings = []
    for parts in tasks:
        train = _index(parts["train"]) if "train" in parts else {}
        for part in (parts[split] for split in ("dev", "test") if split in parts):
            for source, index in sources:
                if source is not parts.get("train") and (finding := _shared_texts(part, source, index, train)):
                    findings.append(finding)
    return findings


def _index(part: Part, single_texts: bool = False) -> Index:
    """The rows of a part by their texts; with `single_texts`, rows of a pair also by each of its texts."""
    index: Index = {}
    for key, rows in part.lines.items():
        index.setdefault(unordered(part.task, key), []).extend(rows)
        if single_texts and len(key) > 1:
            for text in key:
                index.setdefault((text,), []).extend(rows)
    return index


def _shared_rows(part: Part, source: Part, source_split: str) -> Finding | None:
    """The rows of `part` that also occur in `source`, which has the training or the dev rows (these may be held out)."""
    index = _index(source)
    matches: list[tuple[Example, list[Example]]] = []  # a row, and the rows of `source` that are the same
    reordered = 0
    for key, row in zip(part.keys, part.rows, strict=True):
        candidates = index.get(unordered(part.task, key), ())
        if equal := [candidate for candidate in candidates if _marked(part, candidate) == _marked(part, row)]:
            matches.append((row, equal))
            reordered += key not in source.lines
    if not matches:
        return None
    count = len(matches)
    what = f"{part.of(count, 'also occur', 'also occurs')} in {source.split}, such as {excerpt(matches[0][0].texts[0])}"
    if reordered:
        order = "the two texts swapped" if part.task.candidates is None else "their texts in another order"
        what += f"; {reordered} of them with {order}"
    where = places(part.file, [f"{row.line} = {equal[0].line}" for row, equal in matches])
    if part.file != source.file:
        where += f" of {source.file}"
    if source_split == "dev":
        effect = "checkpoints are chosen on dev, so the test score is slightly too high"
    elif matches[0][0].target is None:
        effect = "a model that memorised train has seen a target for them"
    else:
        right = sum(_answer(part, row) in {_answer(source, match) for match in equal} for row, equal in matches)
        effect = f"a model that memorised train would get {right} of them right"
    return part.finding("shared", count, what, effect, where)


def _shared_texts(part: Part, source: Part, index: Index, train: Index) -> Finding | None:
    """The rows of `part` whose texts are in the training rows of another task (`source`, `index`), but not in `train`."""
    matches = [
        (row, index[texts])
        for key, row in zip(part.keys, part.rows, strict=True)
        if (texts := unordered(part.task, key)) in index and texts not in train
    ]
    if not matches:
        return None
    occur = part.of(len(matches), "also occur", "also occurs")
    what = f"{occur} in {source.split} of {source.task.id}, such as {excerpt(matches[0][0].texts[0])}"
    meaning = "stage 1 trains on all tasks together, and the encoder has seen the texts"
    if part.task.answered_by == source.task.id:
        meaning = f"the head of {source.task.id} answers this task, and was trained on these texts with their targets"
    lines = [f"{row.line} = {rows[0].line}" for row, rows in matches]
    return part.finding("shared across", len(matches), what, meaning, f"{places(part.file, lines)} of {source.file}")


def _answer(part: Part, row: Example) -> Target | None:
    """The row's target; of a choice the right candidate's text, which does not depend on the candidates' order."""
    if part.task.candidates is None or row.target is None:
        return row.target
    return plain(row.inputs[int(row.target)][-1])


def _marked(part: Part, row: Example) -> list[tuple[str, tuple[int, int]]]:
    """The row's spans with their texts: a text with another marked word is another question."""
    return sorted((row.texts[side], span) for (side, _), span in zip(part.task.marked, row.spans, strict=True))
