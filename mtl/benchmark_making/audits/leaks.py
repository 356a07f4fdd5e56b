"""Leaks: texts that occur both in training rows and in rows that a score is computed on, in one task or in two."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mtl.benchmark_making.audits.cells import excerpt
from mtl.benchmark_making.audits.parts import Finding, Key, Part, file_lines
from mtl.data.examples import Example
from mtl.data.repeats import without_order

Index = dict[Key, list[Example]]  # rows by their texts; the two orders of a pair have one key
Matches = list[tuple[Example, list[Example]]]  # a row, and the rows elsewhere that are the same


def shared_within(parts: Mapping[str, Part]) -> Iterator[Finding]:
    """Rows of dev and test that also occur in train of the same task, and rows of test that also occur in dev; held-out rows count as dev."""
    for split, source in (("dev", "train"), ("test", "train"), ("test", "dev")):
        if split in parts and source in parts:
            yield from _shared_rows(parts[split], parts[source], source)


def shared_across(tasks: Sequence[Mapping[str, Part]]) -> Iterator[Finding]:
    """Rows of dev and test whose texts, or only text, are in another task's train, but not in their own. Of equal training texts, the first count."""
    sources: dict[frozenset[Key], Part] = {}  # the training rows to compare with, by all of their keys
    for parts in tasks:
        if "train" in parts:
            sources.setdefault(frozenset(parts["train"].rows_by_key), parts["train"])
    indexed = [(source, _by_texts(source, with_single_texts=True)) for source in sources.values()]
    for parts in tasks:
        train = parts.get("train")
        known = {} if train is None else _by_texts(train)
        for part in (parts[split] for split in ("dev", "test") if split in parts):
            for source, index in indexed:
                if source is not train:
                    yield from _shared_texts(part, source, index, known)


def _by_texts(part: Part, with_single_texts: bool = False) -> Index:
    """The rows of a part by all their texts, and if wanted by each of them, too."""
    index: Index = defaultdict(list)
    for key, rows in part.rows_by_key.items():
        single_texts = [(text,) for text in key] if with_single_texts else []
        for texts in {without_order(part.task, key), *single_texts}:
            index[texts] += rows
    return index


def _shared_rows(part: Part, source: Part, role: str) -> Iterator[Finding]:
    """The rows of `part` that also occur in `source`, which is used as `role`, train or dev; `source.split` may be "dev (held out)" for dev."""
    index = _by_texts(source)
    matches: Matches = []
    reordered = 0
    for key, row in zip(part.keys, part.rows, strict=True):
        candidates = index.get(without_order(part.task, key), ())
        if equal := [candidate for candidate in candidates if part.marked(candidate) == part.marked(row)]:
            matches.append((row, equal))
            reordered += key not in source.rows_by_key
    if not matches:
        return
    row, _ = matches[0]
    what = f"{part.count_with_verb(len(matches), 'also occur', 'also occurs')} in {source.split}, such as {excerpt(row.texts[0])}"
    if reordered:
        order = "the two texts swapped" if part.task.candidates is None else "their texts in another order"
        what += f"; {reordered} of them with {order}"
    where = _matched_lines(part, matches) + (f" of {source.file}" if source.file != part.file else "")
    yield part.new_finding("shared", len(matches), what, _effect(part, source, role, matches), where)


def _effect(part: Part, source: Part, role: str, matches: Matches) -> str:
    if role == "dev":
        return "checkpoints are chosen on dev, so the test score is slightly too high"
    row, _ = matches[0]
    if row.target is None:
        return "a model that memorised train has seen a target for them"
    right = sum(part.answer(row) in {source.answer(match) for match in equal} for row, equal in matches)
    return f"a model that memorised train would get {right} of them right"


def _matched_lines(part: Part, matches: Matches) -> str:
    """The first rows of `part` that also occur elsewhere, each with the line of the first row that is the same."""
    return file_lines(part.file, [f"{row.line} = {equal[0].line}" for row, equal in matches])


def _shared_texts(part: Part, source: Part, index: Index, known: Index) -> Iterator[Finding]:
    """The rows of `part` whose texts are a key of `index`, which has the training rows of another task (`source`), but not of its own (`known`)."""
    texts_and_rows = [(without_order(part.task, key), row) for key, row in zip(part.keys, part.rows, strict=True)]
    matches = [(row, index[texts]) for texts, row in texts_and_rows if texts in index and texts not in known]
    if not matches:
        return
    row, _ = matches[0]
    what = f"{part.count_with_verb(len(matches), 'also occur', 'also occurs')} in {source.split} of {source.task.id}, such as {excerpt(row.texts[0])}"
    meaning = "stage 1 trains on all tasks together, and the encoder has seen the texts"
    if part.task.answered_by == source.task.id:
        meaning = f"the head of {source.task.id} answers this task, and was trained on these texts with their targets"
    where = f"{_matched_lines(part, matches)} of {source.file}"
    yield part.new_finding("shared across", len(matches), what, meaning, where)
