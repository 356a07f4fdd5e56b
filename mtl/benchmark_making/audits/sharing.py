"""Leaks: texts that occur both in training rows and in rows that a score is computed on."""

from collections.abc import Sequence

from mtl.benchmark_making.audits.findings import Finding, Part, excerpt, places, plain
from mtl.data.examples import Example
from mtl.data.repeats import unordered
from mtl.tasks.target_kind import Target

Key = tuple[str, ...]
Parts = dict[str, Part]  # by split: "train", "dev" and "test"; held-out rows count as dev


def shared_within(parts: Parts) -> list[Finding]:
    """Rows of dev and test that also occur in train of the same task, and rows of test that also occur in dev."""
    pairs = (("dev", "train"), ("test", "train"), ("test", "dev"))
    there = [(parts[split], parts[source], source) for split, source in pairs if {split, source} <= set(parts)]
    return [finding for pair in there if (finding := _within(*pair))]


def _within(part: Part, source: Part, source_split: str) -> Finding | None:
    """Rows of `part` that also occur in `source`, the training or the dev rows, which may be held out."""
    index = _pairs(source)
    hits: list[tuple[Example, list[Example]]] = []
    swapped = 0
    for key, row in zip(part.keys, part.rows, strict=True):
        candidates = index.get(unordered(part.task, key), ())
        if alike := [candidate for candidate in candidates if _marked(part, candidate) == _marked(part, row)]:
            hits.append((row, alike))
            swapped += key not in source.lines
    if not hits:
        return None
    row = hits[0][0]
    what = f"{part.of(len(hits), 'also occur', 'also occurs')} in {source.split}, such as {excerpt(row.texts[0])}"
    if swapped:
        order = "the two texts swapped" if part.task.candidates is None else "their texts in another order"
        what += f"; {swapped} of them with {order}"
    if source_split == "dev":
        meaning = "checkpoints are chosen on dev, so the test score is slightly too high"
    elif row.target is None:
        meaning = "a model that memorised train has seen a target for them"
    else:
        right = sum(_answer(part, row) in {_answer(source, match) for match in alike} for row, alike in hits)
        these = f"these {len(hits)}" if len(hits) > 1 else "this one"
        if right < len(hits):
            these = f"{right} of {these}" if len(hits) > 1 else f"not even {these}"
        meaning = f"a model that memorised train would get {these} right"
    where = places(part.file, [f"{row.line} = {alike[0].line}" for row, alike in hits])
    if part.file != source.file:
        where += f" of {source.file}"
    return part.finding("shared", len(hits), what, meaning, where)


def _answer(part: Part, row: Example) -> Target | None:
    """The row's target; of a choice the right candidate's text, which does not depend on the candidates' order."""
    if part.task.candidates is None or row.target is None:
        return row.target
    return plain(row.inputs[int(row.target)][-1])


def shared_across(tasks: Sequence[Parts]) -> list[Finding]:
    """Rows of one task's dev and test whose texts all occur in another task's training rows.

    Rows that also occur in the task's own training rows are left to `shared_within`. Of several tasks with the same training
    texts, only the first is compared.
    """
    sources: dict[frozenset[Key], tuple[Part, dict[Key, list[Example]]]] = {}
    for parts in tasks:
        if "train" in parts:
            texts = frozenset(parts["train"].lines)
            if texts not in sources:
                sources[texts] = parts["train"], _pairs(parts["train"], sides=True)
    findings = []
    for parts in tasks:
        train = _pairs(parts["train"]) if "train" in parts else {}
        for part in (parts[split] for split in ("dev", "test") if split in parts):
            for source, index in sources.values():
                if source is not parts.get("train") and (finding := _across(part, source, index, train)):
                    findings.append(finding)
    return findings


def _across(
    part: Part, source: Part, index: dict[Key, list[Example]], train: dict[Key, list[Example]]
) -> Finding | None:
    hits = [
        (row, index[pair])
        for key, row in zip(part.keys, part.rows, strict=True)
        if (pair := unordered(part.task, key)) in index and pair not in train
    ]
    if not hits:
        return None
    occur = part.of(len(hits), "also occur", "also occurs")
    what = f"{occur} in {source.split} of {source.task.id}, such as {excerpt(hits[0][0].texts[0])}"
    meaning = "stage 1 trains on all tasks together, and the encoder has seen the texts"
    if part.task.answered_by == source.task.id:
        meaning = f"the head of {source.task.id} answers this task, and was trained on these texts with their targets"
    pairs = [f"{row.line} = {rows[0].line}" for row, rows in hits]
    return part.finding("shared across", len(hits), what, meaning, f"{places(part.file, pairs)} of {source.file}")


def _pairs(part: Part, sides: bool = False) -> dict[Key, list[Example]]:
    """Rows by their texts, where the order of a pair does not count; if wanted, by each single text of a pair, too."""
    index: dict[Key, list[Example]] = {}
    for key, rows in part.lines.items():
        index.setdefault(unordered(part.task, key), []).extend(rows)
        if sides and len(key) > 1:
            for text in key:
                index.setdefault((text,), []).extend(rows)
    return index


def _marked(part: Part, row: Example) -> list[tuple[str, tuple[int, int]]]:
    """The row's marked spans with the texts that they are in: the same text is another question where another word is marked."""
    return sorted((row.texts[side], span) for (side, _), span in zip(part.task.marked, row.spans, strict=True))


def same_rows(first: Part, second: Part) -> bool:
    """Whether two files have the same texts in the same order."""
    return [row.texts for row in first.rows] == [row.texts for row in second.rows]


def same_targets(first: Part, second: Part) -> bool:
    """Whether the rows of two tasks have the same targets, row by row, or both have no targets."""
    targets = [[row.target for row in part.rows] for part in (first, second)]
    if not {*targets[0], *targets[1]} - {None}:
        return True
    return first.task.labels == second.task.labels and targets[0] == targets[1]


def texts_in_other_pairs(parts: Parts) -> list[tuple[str, int, int]]:
    """For the dev and test of a pair task, the split, how many rows have a text that occurs in train in another pair, and of how many."""
    train = parts.get("train")
    if train is None or not train.task.is_pair:
        return []
    pairs = _pairs(train)
    texts = {text for key in train.lines for text in key}
    counts = []
    for part in (parts[split] for split in ("dev", "test") if split in parts):
        if count := sum(unordered(part.task, key) not in pairs and not texts.isdisjoint(key) for key in part.keys):
            counts.append((part.split, count, len(part.rows)))
    return counts
