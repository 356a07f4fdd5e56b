"""Questions of one file that answer each other: analogies whose pairs stand in other questions, and choices whose rows share the candidates."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from mtl.base.wording import counted
from mtl.benchmark_making.audits.cells import excerpt, plain
from mtl.benchmark_making.audits.fields import LEAST_REMOVED
from mtl.benchmark_making.audits.parts import Finding, Key, Part
from mtl.data.examples import Example
from mtl.tasks.targets import target_kind

SHARED_SHARE = 0.5  # of a choice's rows must share their list of candidates; fewer change a score less than a seed does
MOST_CANDIDATES = 2  # for each row that shares a list; the rows of a longer list have different answers by chance
ALONE_SHARE = 0.9  # of these rows must have an answer of their own in their list; by chance, 37 % (1 / e) to 61 % do


def question_findings(parts: Mapping[str, Part]) -> Iterator[Finding]:
    """The findings about questions that answer each other, in a task's files with targets (by split)."""
    for part in parts.values():
        if not part.rows or any(row.target is None for row in part.rows):
            continue
        if part.task.candidates is not None:
            yield from _shared_candidates(part)
        elif len(part.task.text) > 2 and target_kind(part.task).dtype is object:  # an analogy
            yield from _answered_by_pairs(part)


def _answered_by_pairs(part: Part) -> Iterator[Finding]:
    """Analogy questions that a dictionary of the pairs (first text, second text) in the file's own questions answers, asked for the third."""
    pairs: dict[str, Counter[str]] = defaultdict(Counter)
    for row in part.rows:
        pairs[plain(row.texts[0])][plain(row.texts[1])] += 1
    answers_by_word = {word: [answer for answer, _ in answers.most_common()] for word, answers in pairs.items()}
    right, right_first = 0, 0  # questions that the dictionary answers, and those by its most frequent answer
    for row in part.rows:
        target, answers = plain(str(row.target)), answers_by_word.get(plain(row.texts[2]), [])
        right += target in answers
        right_first += target in answers[:1]
    questions = len(part.rows)
    constant_right = max(Counter(plain(str(row.target)) for row in part.rows).values())  # by one answer to all
    gain = right_first - constant_right
    if gain <= 0 or gain < LEAST_REMOVED * (questions - constant_right):
        return
    word, answer, asked = part.task.text[:3]
    result = f"has the right answer to {right} of {questions} questions ({right / questions:.1%}), in {right_first} of them as its most frequent one"
    what = f"a dictionary of the pairs ({word}, {answer}) in the file's own questions, asked for {asked}, {result}"
    meaning = "a system that collects these pairs needs to know no words; build nothing from questions that are scored"
    yield part.new_finding("answers", right, what, meaning, part.file)


def _shared_candidates(part: Part) -> Iterator[Finding]:
    """Rows of a choice that share their candidates with others, where almost each row is the only one with its answer."""
    row_groups = _rows_with_shared_candidates(part)
    answers = Counter((number, part.answer(row)) for number, rows in enumerate(row_groups) for row in rows)
    count = answers.total()
    alone = list(answers.values()).count(1)  # rows whose answer no other row of their group has
    if count < SHARED_SHARE * len(part.rows) or alone < ALONE_SHARE * count:
        return
    share, lists = part.count_with_verb(count, "share", "shares"), counted(len(row_groups), "list")
    example = excerpt(row_groups[0][0].texts[0])
    what = f"{share} all candidates with other rows, in {lists}, and {alone} of them are the only row with their answer, such as {example}"
    meaning = "a system that chooses for the rows of a list jointly solves an easier task; say so, or answer each row by itself"
    in_order = sorted((row for rows in row_groups for row in rows), key=lambda row: row.line)
    yield part.new_finding("shared candidates", count, what, meaning, part.first_lines(in_order))


def _rows_with_shared_candidates(part: Part) -> list[list[Example]]:
    """The rows of a choice that have the same candidates, in any order, list by list; without lists that are long for so few rows."""
    rows_by_candidates: dict[Key, list[Example]] = defaultdict(list)
    for key, row in zip(part.keys, part.rows, strict=True):
        if key:
            candidates = key[len(part.task.text) :]
            rows_by_candidates[tuple(sorted(candidates))].append(row)
    shared = [(candidates, rows) for candidates, rows in rows_by_candidates.items() if len(rows) > 1]
    return [rows for candidates, rows in shared if len(candidates) <= MOST_CANDIDATES * len(rows)]
