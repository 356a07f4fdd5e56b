from dataclasses import replace

import pytest
from audit_parts import ANALOGY, CHOICE, WORD, only, part

from mtl.benchmark_making.audits.fields import question_findings
from mtl.benchmark_making.audits.findings import Part

CAPITALS = {"Paris": "Frankrike", "Rom": "Italien", "Oslo": "Norge", "Wien": "Österrike"}
QUESTIONS = [((a, CAPITALS[a], c), CAPITALS[c]) for a in CAPITALS for c in CAPITALS if a != c]


def analogies(split: str = "dev", labelled: bool = True) -> Part:
    rows, targets = zip(*QUESTIONS, strict=True)
    return part(*rows, targets=list(targets) if labelled else None, task=ANALOGY, split=split)


def test_analogies_that_answer_each_other() -> None:
    found = only(question_findings({"dev": analogies()}))
    assert (found.kind, found.count) == ("answers", 12)
    assert found.what == (
        "a dictionary of the pairs (a, b) in the file's own questions, asked for c,"
        " has the right answer to 12 of 12 questions (100.0%), in 12 of them as its most frequent one"
    )
    rows = [(c, b, a) for (a, b, c), _ in QUESTIONS]
    swapped = part(*rows, targets=[target for _, target in QUESTIONS], task=ANALOGY, split="dev")
    assert "(c, b) in the file's own questions, asked for a" in only(question_findings({"dev": swapped})).what


def test_questions_without_targets_are_asked_for_any_answer() -> None:
    test = analogies("test", labelled=False)
    dev, found = question_findings({"dev": analogies(), "test": test})
    assert (dev.split, found.split) == ("dev", "test")
    assert "asked for c, has an answer to 12 of 12 questions" in found.what
    assert question_findings({"test": test}) == []  # no targets say which columns are the pairs


def test_a_word_with_two_answers() -> None:
    """The dictionary has both, and the most frequent one is right for some of the questions."""
    more = [(("Rom", "latin", c), CAPITALS[c]) for c in ("Paris", "Oslo")] + [(("Paris", "Frankrike", "Rom"), "latin")]
    rows, targets = zip(*QUESTIONS, *more, strict=True)
    found = only(question_findings({"dev": part(*rows, targets=list(targets), task=ANALOGY, split="dev")}))
    assert "right answer to 15 of 15 questions (100.0%), in 14 of them as its most frequent one" in found.what


def test_questions_that_do_not_answer_each_other() -> None:
    rows = [(f"a{i}", f"b{i}", f"c{i}") for i in range(20)]
    assert question_findings({"dev": part(*rows, targets=[f"d{i}" for i in range(20)], task=ANALOGY)}) == []
    constant = part(*(row for row, _ in QUESTIONS), targets=["Norge"] * 12, task=ANALOGY)
    assert question_findings({"train": constant}) == []
    single = part("a", "b", targets=["b", "a"], task=WORD)
    assert question_findings({"train": single}) == []


def choices(*lists: tuple[int, list[int] | None], split: str = "train") -> Part:
    """Rows with shared lists of candidates: for each list, its size, and the right candidates of its rows (None: unknown)."""
    rows, targets = [], []
    for number, (size, right) in enumerate(lists):
        for place, answer in enumerate(right if right is not None else [None] * size):
            rows.append((f"fråga {number} {place}", *(f"svar {number} {i}" for i in range(size))))
            targets.append(answer)
    known = None if None in targets else targets
    return part(*rows, targets=known, task=CHOICE, split=split)


def test_choices_that_share_their_candidates() -> None:
    found = only(question_findings({"train": choices((4, [2, 0, 1, 3]), (3, [1, 2]))}))
    assert (found.kind, found.count, found.where) == ("shared candidates", 6, "val/train.tsv:2, 3, 4, …")
    assert "6 of 6 rows share all candidates with other rows, in 2 lists, and 6 of them are the only row" in found.what


def test_the_order_of_shared_candidates_does_not_count() -> None:
    rows = [("q1", "a", "b", "c"), ("q2", "c", "a", "b"), ("q3", "b", "a", "c")]
    assert only(question_findings({"train": part(*rows, targets=[0, 0, 0], task=CHOICE)})).count == 3
    assert question_findings({"train": part(*rows, targets=[0, 1, 1], task=CHOICE)}) == []  # a is right for all


def test_shared_candidates_without_targets() -> None:
    found = only(question_findings({"test": choices((12, None), (5, None), split="test")}))
    assert found.count == 17 and "17 of them are in lists with as many rows as candidates" in found.what
    nearly = choices((12, None), split="test")
    assert question_findings({"test": replace(nearly, rows=nearly.rows[1:])})[0].count == 11
    assert question_findings({"test": replace(nearly, rows=nearly.rows[3:])}) == []


@pytest.mark.parametrize(
    "lists",
    [
        [(4, [2, 2, 2, 2])],  # shared, but one answer is right for all
        [(8, [0, 1])],  # few rows of a long list differ by chance
        [(2, [0]), (2, [1]), (3, [0]), (4, [0]), (2, [0, 1])],  # most rows share nothing
    ],
)
def test_choices_with_answers_of_their_own(lists: list[tuple[int, list[int] | None]]) -> None:
    assert question_findings({"train": choices(*lists)}) == []
