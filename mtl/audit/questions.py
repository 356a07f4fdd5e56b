"""Questions that answer each other: analogies whose pairs are in other questions, and choices whose rows share their candidates."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain, permutations

from mtl.audit.cells import plain
from mtl.audit.fields import LEAST_REMOVED
from mtl.audit.findings import Finding, Part, excerpt
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

Columns = tuple[int, int, int]


def question_findings(parts: dict[str, Part]) -> list[Finding]:
    """The findings in a task's files, by split."""
    found = [shared_candidates(part) for part in parts.values()]
    columns = _dictionary_columns(parts)
    if columns is not None:
        found += [answered_by_pairs(part, columns) for part in parts.values()]
    return [finding for finding in found if finding]


def _dictionary_columns(parts: dict[str, Part]) -> Columns | None:
    """The text columns of a dictionary that answers most questions right: of its words, of their answers, and of the word to look up.

    None for tasks whose questions have fewer than three texts or whose target is no word, and if no split has targets.
    """
    known = [part for part in parts.values() if all(row.target is not None for row in part.rows)]
    if not known:
        return None
    task = known[0].task
    if task.candidates is not None or len(task.text) < 3 or target_kind(task).dtype is not object:
        return None
    largest = max(known, key=lambda part: len(part.rows))
    return max(permutations(range(len(task.text)), 3), key=lambda columns: _right(largest, _answers(largest, columns)))


def _pairs(part: Part, columns: Columns) -> dict[str, Counter[str]]:
    """The dictionary that the file's questions contain: each word with its answers and how often they occur."""
    word, answer, _ = columns
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for row in part.rows:
        pairs[plain(row.texts[word])][plain(row.texts[answer])] += 1
    return pairs


def _answers(part: Part, columns: Columns) -> list[list[str]]:
    """Each row's answers in that dictionary, the most frequent one first; none for a word that the dictionary lacks."""
    pairs = _pairs(part, columns)
    ordered = {word: [answer for answer, _ in answers.most_common()] for word, answers in pairs.items()}
    return [ordered.get(plain(row.texts[columns[2]]), []) for row in part.rows]


def _right(part: Part, answers: Sequence[Sequence[str]]) -> int:
    """For how many rows the first answer is right."""
    return sum(plain(str(row.target)) in of_row[:1] for row, of_row in zip(part.rows, answers, strict=True))


def answered_by_pairs(part: Part, columns: Columns) -> Finding | None:
    """Analogy questions that a dictionary of the pairs in the file's own questions answers. columns: as `_dictionary_columns` returns."""
    answers = _answers(part, columns)
    names = [part.task.text[column] for column in columns]
    rows = len(part.rows)
    if all(row.target is not None for row in part.rows):
        first, constant = _right(part, answers), Counter(row.target for row in part.rows).most_common(1)[0][1]
        if first <= constant or first - constant < LEAST_REMOVED * (rows - constant):
            return None
        count = sum(plain(str(row.target)) in of_row for row, of_row in zip(part.rows, answers, strict=True))
        has = f"has the right answer to {count} of {rows} questions ({count / rows:.1%}), in {first} of them as its most frequent one"
    else:
        count = sum(map(bool, answers))
        if count < LEAST_REMOVED * rows:
            return None
        has = f"has an answer to {count} of {rows} questions ({count / rows:.1%})"
    what = (
        f"a dictionary of the pairs ({names[0]}, {names[1]}) in the file's own questions, asked for {names[2]}, {has}"
    )
    meaning = "a system that collects these pairs needs to know no words; build nothing from questions that are scored"
    return part.finding("answers", count, what, meaning, part.file)


def shared_candidates(part: Part) -> Finding | None:
    """Rows of a choice that share their candidates, of which each is the right answer of one row only."""
    if part.task.candidates is None:
        return None
    shared = len(part.task.text)
    lists: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, key in enumerate(part.keys):
        if key:
            lists[tuple(sorted(key[shared:]))].append(place)
    groups = [
        places
        for candidates, places in lists.items()
        if len(places) > 1 and len(candidates) <= MOST_CANDIDATES * len(places)
    ]
    rows = sum(map(len, groups))
    if rows < SHARED_SHARE * len(part.rows):
        return None
    known = all(row.target is not None for row in part.rows)
    alone = sum((_alone if known else _in_full_list)(part, places) for places in groups)
    if alone < ALONE_SHARE * rows:
        return None
    unlike = (
        "are the only row with their answer"
        if known
        else "are in lists with as many rows as candidates, or nearly as many"
    )
    what = (
        f"{part.of(rows, 'share', 'shares')} all candidates with other rows, in {len(groups)} list{'s' if len(groups) > 1 else ''},"
        f" and {alone} of them {unlike}, such as {excerpt(part.rows[groups[0][0]].texts[0])}"
    )
    meaning = "a system that chooses for the rows of a list jointly solves an easier task; say so, or answer each row by itself"
    where = part.where(part.rows[place] for place in sorted(chain.from_iterable(groups)))
    return part.finding("shared candidates", rows, what, meaning, where)


def _alone(part: Part, places: Sequence[int]) -> int:
    """How many of these rows are the only one among them with their right candidate."""
    right = [plain(part.rows[place].inputs[int(part.rows[place].target or 0)][-1]) for place in places]
    return sum(count == 1 for count in Counter(right).values())


def _in_full_list(part: Part, places: Sequence[int]) -> int:
    """How many of these rows, which share a list, are in one with about as many rows as candidates: all or none."""
    spare = len(part.rows[places[0]].inputs) - len(places)
    return len(places) if abs(spare) <= (1 - ALONE_SHARE) * len(places) else 0
