"""Texts that stand where they should not: in training rows and in the rows that a score is measured on."""

from collections.abc import Sequence

from mtl.audit.findings import Finding, Part, excerpt, places
from mtl.data.examples import Example

Key = tuple[str, ...]
Parts = dict[str, Part]  # by split: what is trained on, "dev" and "test"; held-out rows count as dev


def shared_within(parts: Parts) -> list[Finding]:
    """Rows of dev and test that training rows of the same task have, and rows of test that dev has."""
    found = []
    for split in ("dev", "test"):
        for other in ("train", "dev"):
            if other != split and split in parts and other in parts:
                found.append(_within(parts[split], parts[other], other))
    return [finding for finding in found if finding]


def _within(part: Part, source: Part, other: str) -> Finding | None:
    """other: "train" or "dev", which `source` is."""
    index = _pairs(source)
    shared = [(key, row) for key, row in zip(part.keys, part.rows, strict=True) if tuple(sorted(key)) in index]
    if not shared:
        return None
    swapped = sum(key not in source.lines for key, _ in shared)
    hits = [(row, index[tuple(sorted(key))]) for key, row in shared]
    row = hits[0][0]
    what = f"{part.of(len(hits), 'also stand', 'also stands')} in {source.split}, as {excerpt(row.texts[0])}"
    if swapped:
        what += f"; {swapped} of them with the two texts swapped"
    if other == "dev":
        meaning = "checkpoints are chosen on dev, which flatters the test score a little"
    elif row.target is None:
        meaning = "a model that memorised train knows an answer by heart"
    else:
        right = sum(row.target in {there.target for there in rows} for row, rows in hits)
        meaning = f"a model that memorised train would get {_right(right, len(hits))} right"
    shown = [f"{row.line} = {rows[0].line}" for row, rows in hits]
    same_file = part.file == source.file
    where = places(part.file, shown) if same_file else f"{places(part.file, shown)} of {source.file}"
    return part.finding("shared", len(hits), what, meaning, where)


def _right(right: int, hits: int) -> str:
    if right == hits:
        return f"these {hits}" if hits > 1 else "this one"
    return f"{right} of these {hits}" if hits > 1 else "not even this one"


def shared_across(tasks: Sequence[Parts]) -> list[Finding]:
    """Rows of one task's dev and test whose texts all stand in another task's training rows.

    Rows that the task's own training rows have, too, are left to `shared_within`. Of tasks with the same training texts the
    first speaks for all.
    """
    sources: dict[frozenset[Key], tuple[Part, dict[Key, list[Example]]]] = {}
    for parts in tasks:
        if "train" in parts:
            texts = frozenset(parts["train"].lines)
            if texts not in sources:
                sources[texts] = parts["train"], _pairs(parts["train"], sides=True)
    found = []
    for parts in tasks:
        own = _pairs(parts["train"]) if "train" in parts else {}
        for part in (parts[split] for split in ("dev", "test") if split in parts):
            for source, index in sources.values():
                if source is not parts.get("train") and (finding := _across(part, source, index, own)):
                    found.append(finding)
    return found


def _across(part: Part, source: Part, index: dict[Key, list[Example]], own: dict[Key, list[Example]]) -> Finding | None:
    hits = [
        (row, index[place])
        for key, row in zip(part.keys, part.rows, strict=True)
        if (place := tuple(sorted(key))) in index and place not in own
    ]
    if not hits:
        return None
    what = f"{part.of(len(hits), 'also stand', 'also stands')} in {source.split} of {source.task.id}, as {excerpt(hits[0][0].texts[0])}"
    meaning = "stage 1 trains on all tasks together, and the encoder has seen the texts"
    shown = [f"{row.line} = {rows[0].line}" for row, rows in hits]
    return part.finding("shared across", len(hits), what, meaning, f"{places(part.file, shown)} of {source.file}")


def _pairs(part: Part, sides: bool = False) -> dict[Key, list[Example]]:
    """Rows by their texts, those of a pair in either order. sides: and by each text of a pair alone."""
    index: dict[Key, list[Example]] = {}
    for key, rows in part.lines.items():
        index.setdefault(tuple(sorted(key)), []).extend(rows)
        if sides and len(key) > 1:
            for text in key:
                index.setdefault((text,), []).extend(rows)
    return index


def same_rows(one: Part, other: Part) -> bool:
    """Whether two files hold the same texts in the same order."""
    return [row.texts for row in one.rows] == [row.texts for row in other.rows]


def same_targets(one: Part, other: Part) -> bool:
    """Whether the rows of two tasks have the same targets, row by row, or none."""
    if all(row.target is None for row in (*one.rows, *other.rows)):
        return True
    return one.task.labels == other.task.labels and [r.target for r in one.rows] == [r.target for r in other.rows]


def texts_in_other_pairs(parts: Parts) -> list[tuple[str, int, int]]:
    """For pairs: by split, how many rows of dev and test have a text that stands in train in another pair, and of how many."""
    train = parts.get("train")
    if train is None or not train.task.is_pair:
        return []
    pairs = _pairs(train)
    texts = {text for key in train.lines for text in key}
    counts = []
    for part in (parts[split] for split in ("dev", "test") if split in parts):
        count = sum(tuple(sorted(key)) not in pairs and not texts.isdisjoint(key) for key in part.keys)
        counts.append((part.split, count, len(part.rows)))
    return [entry for entry in counts if entry[1]]
