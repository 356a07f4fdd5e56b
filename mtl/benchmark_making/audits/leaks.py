"""Rows that give away the answers of others: questions of one file that answer each other, and texts that occur both in training rows and in rows
that a score is computed on.

Analogies answer each other if their pairs stand in other questions, and choices if their rows share the candidates.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from mtl.base.wording import counted
from mtl.benchmark_making.audits.fields import LEAST_REMOVED
from mtl.benchmark_making.audits.parts import Finding, Key, Part, excerpt, file_lines, plain
from mtl.data.examples import Example
from mtl.data.repeats import without_order
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind

# A choice counts as one with shared candidates if at least half of its rows share their whole list with other rows. Fewer rows
# change a score less than another seed does.
SHARED_SHARE = 0.5
# A list is compared with its rows' answers if it has at most twice as many candidates as rows. In longer lists, the answers of
# few rows are different by chance.
MOST_CANDIDATES = 2
# Of the rows that share their candidates, how many must be the only row with their answer. With as many rows as candidates,
# 37 % are by chance (1 / e), and with half as many 61 %.
ALONE_SHARE = 0.9

Index = dict[Key, list[Example]]  # rows by their texts; the two orders of a pair have one key


def question_findings(parts: dict[str, Part]) -> list[Finding]:
    """The findings about questions that answer each other, in a task's files with targets (by split)."""
    findings = list[Finding]()
    for part in parts.values():
        if any(row.target is None for row in part.rows):
            continue
        if part.task.candidates is not None:
            findings += _shared_candidates(part)
        elif len(part.task.text) > 2 and target_kind(part.task).dtype is object:
            findings += _answered_by_pairs(part)
    return findings


def _answered_by_pairs(part: Part) -> Iterator[Finding]:
    """Analogy questions that a dictionary of the pairs (first text, second text) in the file's own questions answers, asked for the third."""
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for row in part.rows:
        pairs[plain(row.texts[0])][plain(row.texts[1])] += 1
    answers_by_word = {word: [answer for answer, _ in answers.most_common()] for word, answers in pairs.items()}
    # questions: all, with the right answer in the dictionary, and as its most frequent one
    rows, count, first = len(part.rows), 0, 0
    for row in part.rows:
        target, answers = plain(str(row.target)), answers_by_word.get(plain(row.texts[2]), [])
        count += target in answers
        first += target in answers[:1]
    constant = Counter(row.target for row in part.rows).most_common(1)[0][1]
    if first <= constant or first - constant < LEAST_REMOVED * (rows - constant):
        return
    word, answer, asked = part.task.text[:3]
    has = f"has the right answer to {count} of {rows} questions ({count / rows:.1%}), in {first} of them as its most frequent one"
    what = f"a dictionary of the pairs ({word}, {answer}) in the file's own questions, asked for {asked}, {has}"
    meaning = "a system that collects these pairs needs to know no words; build nothing from questions that are scored"
    yield part.finding("answers", count, what, meaning, part.file)


def _shared_candidates(part: Part) -> Iterator[Finding]:
    """Rows of a choice that share their candidates, of which each is the right answer of one row only."""
    rows_by_list: dict[Key, list[int]] = defaultdict(list)  # the numbers of rows
    for number, key in enumerate(part.keys):
        if key:
            candidates = key[len(part.task.text) :]
            rows_by_list[tuple(sorted(candidates))].append(number)
    shared = {candidates: numbers for candidates, numbers in rows_by_list.items() if len(numbers) > 1}
    groups = [numbers for candidates, numbers in shared.items() if len(candidates) <= MOST_CANDIDATES * len(numbers)]
    count, alone = sum(map(len, groups)), sum(_alone(part, numbers) for numbers in groups)
    if count < SHARED_SHARE * len(part.rows) or alone < ALONE_SHARE * count:
        return
    share = part.rows_text(count, "share", "shares")
    lists, such = counted(len(groups), "list"), excerpt(part.rows[groups[0][0]].texts[0])
    what = f"{share} all candidates with other rows, in {lists}, and {alone} of them are the only row with their answer, such as {such}"
    meaning = "a system that chooses for the rows of a list jointly solves an easier task; say so, or answer each row by itself"
    where = part.where(part.rows[number] for number in sorted(chain.from_iterable(groups)))
    yield part.finding("shared candidates", count, what, meaning, where)


def _alone(part: Part, numbers: Sequence[int]) -> int:
    """How many of these rows of a choice are the only one among them with their right answer."""
    answers = Counter(_answer(part, part.rows[number]) for number in numbers)
    return sum(count == 1 for count in answers.values())


def shared_within(parts: dict[str, Part]) -> list[Finding]:
    """Rows of dev and test that also occur in train of the same task, and rows of test that also occur in dev; held-out rows count as dev."""
    findings = list[Finding]()
    for split, source in (("dev", "train"), ("test", "train"), ("test", "dev")):
        if split in parts and source in parts:
            findings += _shared_rows(parts[split], parts[source], source)
    return findings


def shared_across(tasks: Sequence[dict[str, Part]]) -> list[Finding]:
    """Rows of one task's dev and test whose texts all occur in another task's training rows. Rows that also occur in the task's own training rows are
    left to `shared_within`. Of several tasks with the same training texts, only the first is compared."""
    sources: dict[frozenset[Key], Part] = {}  # the training rows to compare with, by all of their keys
    for parts in tasks:
        if "train" in parts:
            sources.setdefault(frozenset(parts["train"].rows_by_key), parts["train"])
    indexed = [(source, _by_texts(source) | _by_single_texts(source)) for source in sources.values()]
    findings = list[Finding]()
    for parts in tasks:
        train = parts.get("train")
        known = {} if train is None else _by_texts(train)
        for part in (parts[split] for split in ("dev", "test") if split in parts):
            for source, index in indexed:
                if source is not train:
                    findings += _shared_texts(part, source, index, known)
    return findings


def _by_texts(part: Part) -> Index:
    """The rows of a part by all their texts."""
    index: Index = defaultdict(list)
    for key, rows in part.rows_by_key.items():
        index[without_order(part.task, key)] += rows
    return index


def _by_single_texts(part: Part) -> Index:
    """The rows of a part by each of their texts."""
    index: Index = defaultdict(list)
    for key, rows in part.rows_by_key.items():
        for text in key:
            index[text,] += rows
    return index


def _shared_rows(part: Part, source: Part, role: str) -> Iterator[Finding]:
    """The rows of `part` that also occur in `source`, whose role is "train" or "dev"; rows for dev may be held out of the split train."""
    index = _by_texts(source)
    matches: list[tuple[Example, list[Example]]] = []  # a row, and the rows of `source` that are the same
    reordered = 0
    for key, row in zip(part.keys, part.rows, strict=True):
        candidates = index.get(without_order(part.task, key), ())
        if equal := [candidate for candidate in candidates if part.marked(candidate) == part.marked(row)]:
            matches.append((row, equal))
            reordered += key not in source.rows_by_key
    if not matches:
        return
    row, _ = matches[0]
    what = f"{part.rows_text(len(matches), 'also occur', 'also occurs')} in {source.split}, such as {excerpt(row.texts[0])}"
    if reordered:
        order = "the two texts swapped" if part.task.candidates is None else "their texts in another order"
        what += f"; {reordered} of them with {order}"
    if role == "dev":
        effect = "checkpoints are chosen on dev, so the test score is slightly too high"
    elif row.target is None:
        effect = "a model that memorised train has seen a target for them"
    else:
        right = sum(_answer(part, row) in {_answer(source, match) for match in equal} for row, equal in matches)
        effect = f"a model that memorised train would get {right} of them right"
    where = file_lines(part.file, [f"{row.line} = {equal[0].line}" for row, equal in matches])
    source_file = f" of {source.file}" if source.file != part.file else ""
    yield part.finding("shared", len(matches), what, effect, f"{where}{source_file}")


def _shared_texts(part: Part, source: Part, index: Index, known: Index) -> Iterator[Finding]:
    """The rows of `part` whose texts are among the training rows of another task (`source`, by `index`), but not among those of its own (`known`)."""
    matches = [
        (row, index[texts])
        for key, row in zip(part.keys, part.rows, strict=True)
        if (texts := without_order(part.task, key)) in index and texts not in known
    ]
    if not matches:
        return
    occur, (row, _) = part.rows_text(len(matches), "also occur", "also occurs"), matches[0]
    what = f"{occur} in {source.split} of {source.task.id}, such as {excerpt(row.texts[0])}"
    meaning = "stage 1 trains on all tasks together, and the encoder has seen the texts"
    if part.task.answered_by == source.task.id:
        meaning = f"the head of {source.task.id} answers this task, and was trained on these texts with their targets"
    lines = [f"{row.line} = {rows[0].line}" for row, rows in matches]
    yield part.finding("shared across", len(matches), what, meaning, f"{file_lines(part.file, lines)} of {source.file}")


def _answer(part: Part, row: Example) -> Target | None:
    """The row's target; of a choice the right candidate's text, which does not depend on the candidates' order."""
    if part.task.candidates is None or row.target is None:
        return row.target
    return plain(row.inputs[int(row.target)][-1])
