"""Ways around a task: fields that are no input of a model and predict the target, such as a part of speech or a source, questions that answer each
other, and texts that occur both in training rows and in rows that a score is computed on.

Analogies answer each other if their pairs stand in other questions, and choices if their rows share the candidates.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from mtl.base.errors import InputError
from mtl.base.wording import counted
from mtl.benchmark_making.audits.findings import Finding, Part, excerpt, located_below, places, plain
from mtl.data.examples import Example
from mtl.data.records import Value, read_fields
from mtl.data.repeats import without_order
from mtl.runs.folder import scored_rows
from mtl.tasks.metrics import metric_named, score
from mtl.tasks.scale import Scale
from mtl.tasks.target_kind import Target
from mtl.tasks.targets import target_kind
from mtl.tasks.task import Task

# The share of a constant answer's errors that a field must remove. A fifth is what separates good systems from poor ones on hard
# tasks: most of the published transformers on SweWiC remove less than a third.
LEAST_REMOVED = 0.2
# The gain must also be this many standard errors above 0. An audit tries dozens of fields, and at 3 one field in 700 passes by chance.
STANDARD_ERRORS = 3.0
# The values that a field may have, as a share of its rows. Above it, most values occur once, as in a column of ids.
MOST_VALUES = 0.5
FOLDS = 5
# A choice counts as one with shared candidates if at least half of its rows share their whole list with other rows. Fewer rows
# change a score less than another seed does.
SHARED_SHARE = 0.5
# A list is compared with its rows' answers if it has at most twice as many candidates as rows. In longer lists, the answers of
# few rows are different by chance.
MOST_CANDIDATES = 2
# Of the rows that share their candidates, how many must be the only row with their answer. With as many rows as candidates,
# 37 % are by chance (1 / e), and with half as many 61 %.
ALONE_SHARE = 0.9

Key = tuple[str, ...]  # the texts of a row, in a form for comparison
Index = dict[Key, list[Example]]  # rows by their texts; the two orders of a pair have one key


def field_findings(part: Part, data_dir: Path, scale: Scale) -> list[Finding]:
    """The finding that names all fields of the part's file from which the target can be guessed far better than by a constant answer."""
    if any(row.target is None for row in part.rows) or len(part.rows) < 2 * FOLDS or target_kind(part.task).by_unit:
        return []  # a field of a row says nothing of single units
    try:
        fields = read_fields(data_dir / part.file, part.task.layout(part.split, data_dir))
    except InputError as error:  # a parquet file can be too large with all columns
        what = f"its further columns cannot be read: {located_below(error, data_dir)}"
        return [part.finding("unreadable", 1, what, "the audit cannot tell whether they predict the target")]
    rows, groups = scored_rows(part.task, part.rows), [row.group for row in part.rows]
    names = non_inputs(part.task, list(fields))
    guessed = {name: guess(part.task, fields[name], rows.targets, groups) for name in names}
    guesses = sorted(((name, *made) for name, made in guessed.items() if made), key=lambda guesses: -guesses[2])
    if not guesses:
        return []
    task, kind = part.task, target_kind(part.task)

    def shown(answers: np.ndarray) -> str:
        return scale.show(score(task, answers, rows))

    constant = shown(kind.repeat(kind.constants(rows.targets)[0], len(part.rows), rows.candidates))
    subject = f"{len(guesses)} fields that are no input predict" if guesses[1:] else "a field that is no input predicts"
    measure = f"{metric_named(task.metric).title}, and the share of a constant answer's errors that the field removes"
    scores = ", ".join(f"{name} {shown(targets)} ({removed:.0%})" for name, targets, removed in guesses)
    what = f"{subject} the target ({measure}): {scores}; a constant answer has {constant}"
    meaning = "a model must not read such a field, and one that infers it from the text need not solve the task"
    return [part.finding("fields", len(guesses), what, meaning, part.file)]


def non_inputs(task: Task, columns: Sequence[str]) -> list[str]:
    """The columns that hold neither a text of the task nor a marked span nor the target."""
    return [name for name in columns if name not in (*task.text_columns, *task.span_columns, *task.target_columns)]


def guess(
    task: Task, values: Sequence[Value | None], targets: np.ndarray, groups: Sequence[str | None]
) -> tuple[np.ndarray, float] | None:
    """Guess each row's target from the rows of the other folds with the same value in this field.

    The guess is the best constant answer of those rows; of all rows of the other folds if no row has the value. Rows of one group are in one
    fold, because they share more than a model may know of new rows. Returns the guesses (rows,) and the share of a constant answer's errors that they
    remove; None for a field that is constant, that has almost as many values as rows, or that predicts the target hardly better than the best
    constant answer.
    """
    if not 1 < len(set(values)) <= MOST_VALUES * len(values):
        return None
    kind = target_kind(task)
    guessed = np.empty_like(targets)
    numbers = {group: number for number, group in enumerate(dict.fromkeys(filter(None, groups)))}
    of_rows = [len(values) + row if group is None else numbers[group] for row, group in enumerate(groups)]
    indices = np.unique(of_rows, return_inverse=True)[1]
    folds = (np.random.default_rng(0).permutation(indices.max() + 1) % FOLDS)[indices]
    for fold in range(FOLDS):
        rows_of: dict[Value | None, list[int]] = defaultdict(list)
        for row in np.flatnonzero(folds != fold).tolist():
            rows_of[values[row]].append(row)
        overall = kind.constants(targets[folds != fold])[0]
        answers = {value: kind.constants(targets[rows])[0] for value, rows in rows_of.items()}
        for row in np.flatnonzero(folds == fold).tolist():
            guessed[row] = answers.get(values[row], overall)
    # The constant answer knows all rows, so that the gain is not overstated where labels are equally frequent.
    constant = np.full_like(targets, kind.constants(targets)[0])
    if kind.estimator == "regressor":
        before, after = (constant - targets) ** 2, (guessed - targets) ** 2
    else:
        before, after = (constant != targets).astype(np.float64), (guessed != targets).astype(np.float64)
    gains = before - after
    removed = gains.sum() / before.sum() if before.any() else 0.0
    if removed < LEAST_REMOVED or gains.mean() < STANDARD_ERRORS * gains.std() / np.sqrt(len(gains)):
        return None
    return guessed, float(removed)


def question_findings(parts: dict[str, Part]) -> list[Finding]:
    """The findings in a task's files with targets, by split."""
    findings = []
    for part in (part for part in parts.values() if all(row.target is not None for row in part.rows)):
        if part.task.candidates is not None:
            findings.append(shared_candidates(part))
        elif len(part.task.text) > 2 and target_kind(part.task).dtype is object:
            findings.append(answered_by_pairs(part))
    return [finding for finding in findings if finding]


def answered_by_pairs(part: Part) -> Finding | None:
    """Analogy questions that a dictionary of the pairs (first text, second text) in the file's own questions answers, asked for the third."""
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for row in part.rows:
        pairs[plain(row.texts[0])][plain(row.texts[1])] += 1
    ordered = {word: [answer for answer, _ in answers.most_common()] for word, answers in pairs.items()}
    answered = [(plain(str(row.target)), ordered.get(plain(row.texts[2]), [])) for row in part.rows]
    rows, (word, answer, asked) = len(part.rows), part.task.text[:3]
    first = sum(target in answers[:1] for target, answers in answered)
    constant = Counter(row.target for row in part.rows).most_common(1)[0][1]
    if first <= constant or first - constant < LEAST_REMOVED * (rows - constant):
        return None
    count = sum(target in answers for target, answers in answered)
    has = f"has the right answer to {count} of {rows} questions ({count / rows:.1%}), in {first} of them as its most frequent one"
    what = f"a dictionary of the pairs ({word}, {answer}) in the file's own questions, asked for {asked}, {has}"
    meaning = "a system that collects these pairs needs to know no words; build nothing from questions that are scored"
    return part.finding("answers", count, what, meaning, part.file)


def shared_candidates(part: Part) -> Finding | None:
    """Rows of a choice that share their candidates, of which each is the right answer of one row only."""
    shared = len(part.task.text)
    lists: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, key in enumerate(part.keys):
        if key:
            lists[tuple(sorted(key[shared:]))].append(number)
    groups = [rows for key, rows in lists.items() if len(rows) > 1 and len(key) <= MOST_CANDIDATES * len(rows)]
    count = sum(map(len, groups))
    if count < SHARED_SHARE * len(part.rows):
        return None
    alone = 0
    for numbers in groups:
        rows = [part.rows[number] for number in numbers]
        right = Counter(plain(row.inputs[int(row.target or 0)][-1]) for row in rows)
        alone += sum(number == 1 for number in right.values())
    if alone < ALONE_SHARE * count:
        return None
    share = (
        f"{part.rows_text(count, 'share', 'shares')} all candidates with other rows, in {counted(len(groups), 'list')}"
    )
    such = excerpt(part.rows[groups[0][0]].texts[0])
    what = f"{share}, and {alone} of them are the only row with their answer, such as {such}"
    meaning = "a system that chooses for the rows of a list jointly solves an easier task; say so, or answer each row by itself"
    where = part.where(part.rows[number] for number in sorted(chain.from_iterable(groups)))
    return part.finding("shared candidates", count, what, meaning, where)


def shared_within(parts: dict[str, Part]) -> list[Finding]:
    """Rows of dev and test that also occur in train of the same task, and rows of test that also occur in dev; held-out rows count as dev."""
    pairs = [("dev", "train"), ("test", "train"), ("test", "dev")]
    present = [(parts[split], parts[source], source) for split, source in pairs if {split, source} <= {*parts}]
    return [finding for shared in present if (finding := _shared_rows(*shared))]


def shared_across(tasks: Sequence[dict[str, Part]]) -> list[Finding]:
    """Rows of one task's dev and test whose texts all occur in another task's training rows.

    Rows that also occur in the task's own training rows are left to `shared_within`. Of several tasks with the same training
    texts, only the first is compared.
    """
    first: dict[frozenset[Key], Part] = {}
    for parts in tasks:
        if "train" in parts:
            first.setdefault(frozenset(parts["train"].lines), parts["train"])
    sources = [(part, _by_texts(part) | _by_single_texts(part)) for part in first.values()]
    findings = []
    for parts in tasks:
        train = _by_texts(parts["train"]) if "train" in parts else {}
        for part in (parts[split] for split in ("dev", "test") if split in parts):
            for source, index in sources:
                if source is not parts.get("train") and (finding := _shared_texts(part, source, index, train)):
                    findings.append(finding)
    return findings


def _by_texts(part: Part) -> Index:
    """The rows of a part by all their texts."""
    index: Index = defaultdict(list)
    for key, rows in part.lines.items():
        index[without_order(part.task, key)] += rows
    return index


def _by_single_texts(part: Part) -> Index:
    """The rows of a part by each of their texts."""
    index: Index = defaultdict(list)
    for text, rows in ((text, rows) for key, rows in part.lines.items() for text in key):
        index[text,] += rows
    return index


def _shared_rows(part: Part, source: Part, role: str) -> Finding | None:
    """The rows of `part` that also occur in `source`, whose role is "train" or "dev"; rows for dev may be held out of the split train."""
    index = _by_texts(source)
    matches: list[tuple[Example, list[Example]]] = []  # a row, and the rows of `source` that are the same
    reordered = 0
    for key, row in zip(part.keys, part.rows, strict=True):
        candidates = index.get(without_order(part.task, key), ())
        if equal := [candidate for candidate in candidates if part.marked(candidate) == part.marked(row)]:
            matches.append((row, equal))
            reordered += key not in source.lines
    if not matches:
        return None
    count = len(matches)
    what = f"{part.rows_text(count, 'also occur', 'also occurs')} in {source.split}, such as {excerpt(matches[0][0].texts[0])}"
    if reordered:
        order = "the two texts swapped" if part.task.candidates is None else "their texts in another order"
        what += f"; {reordered} of them with {order}"
    where = places(part.file, [f"{row.line} = {equal[0].line}" for row, equal in matches])
    if part.file != source.file:
        where += f" of {source.file}"
    if role == "dev":
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
        if (texts := without_order(part.task, key)) in index and texts not in train
    ]
    if not matches:
        return None
    occur = part.rows_text(len(matches), "also occur", "also occurs")
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
