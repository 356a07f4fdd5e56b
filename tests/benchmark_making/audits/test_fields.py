import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_parts import ANALOGY, CHOICE, LABELS, RATING, WORD, only, part
from sklearn.model_selection import PredefinedSplit

from mtl.benchmark_making.audits.fields import FOLDS, field_findings, guess, non_inputs, question_findings
from mtl.benchmark_making.audits.findings import Finding, Part
from mtl.tasks.target_kind import Target
from mtl.tasks.task import PERCENT, SCALES, Scale, Task

ROWS = 100
HALF = [float(i % 2) for i in range(ROWS)]


def findings(
    folder: Path, targets: list[Target], task: Task = LABELS, scale: Scale = PERCENT, **fields: list[Any]
) -> list[Finding]:
    """The findings in a jsonl file whose rows have these targets and further fields."""
    texts: list[Any] = [
        f"text {i}" if task.candidates is None else ("fråga", f"a {i}", "b") for i in range(len(targets))
    ]
    of: Part = replace(part(*texts, targets=targets, task=task), file="rows.jsonl")
    rows = [
        {"text": "t", task.target: target, "meta": {name: values[i] for name, values in fields.items()}}
        for i, target in enumerate(targets)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return field_findings(of, folder, scale)


def mostly(targets: list[float], wrong: int) -> list[str]:
    """A field that names the target, but for every so manieth row."""
    return ["ab"[int(target if i % wrong else 1 - target)] for i, target in enumerate(targets)]


def test_a_nested_field_that_predicts_the_label(tmp_path: Path) -> None:
    found = only(findings(tmp_path, HALF, pos=mostly(HALF, 10), other=["x", "x", "y", "y"] * 25))
    assert (found.kind, found.count, found.where) == ("fields", 1, "rows.jsonl")
    assert found.what == (
        "a field that is no input predicts the target (accuracy, and the share of a constant answer's errors that the field"
        " removes): meta.pos 90.0 (80%); a constant answer has 50.0"
    )


def test_several_fields_are_one_finding_with_the_best_first(tmp_path: Path) -> None:
    found = only(findings(tmp_path, HALF, weak=mostly(HALF, 5), strong=mostly(HALF, 10), all=mostly(HALF, ROWS + 1)))
    assert found.count == 3 and "3 fields that are no input predict the target" in found.what
    assert "meta.all 99.0 (98%), meta.strong 90.0 (80%), meta.weak 80.0 (60%)" in found.what
    found = only(findings(tmp_path, HALF, error=[None if target else f"e{i % 9}" for i, target in enumerate(HALF)]))
    assert "meta.error 100.0" in found.what  # null is a value of its own
    found = only(findings(tmp_path, HALF, scale=SCALES[1], pos=mostly(HALF, 10)))
    assert "meta.pos 0.900 (80%); a constant answer has 0.500" in found.what


def test_a_number_is_guessed_by_the_mean_and_a_choice_by_its_index(tmp_path: Path) -> None:
    targets = [3 * (i % 3) + 0.1 * (i % 7) for i in range(ROWS)]
    fields = {"third": [i % 3 for i in range(ROWS)], "seventh": [i % 7 for i in range(ROWS)]}
    found = only(findings(tmp_path, targets, RATING, **fields))
    assert found.count == 1 and "(Spearman, and" in found.what and "meta.third " in found.what
    found = only(findings(tmp_path, HALF, CHOICE, year=mostly(HALF, 10)))
    assert "meta.year 90.0 (80%); a constant answer has 50.0" in found.what


@pytest.mark.parametrize(
    "values",
    [
        list(range(ROWS)),  # ids
        [i // 2 for i in range(ROWS)],  # each value twice, once with each label
        ["same"] * ROWS,
        mostly(HALF, 2),  # right for every second row
        [i // 10 for i in range(ROWS)],
    ],
)
def test_fields_that_predict_nothing(tmp_path: Path, values: list[Any]) -> None:
    assert findings(tmp_path, HALF, field=values) == []


def test_few_or_unlabelled_rows_give_no_finding(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    fields = {f"f{i}": rng.integers(4, size=40).tolist() for i in range(30)}
    assert findings(tmp_path, rng.integers(2, size=40).astype(float).tolist(), **fields) == []
    assert findings(tmp_path, [0.0, 1.0] * 4, field=["a", "b"] * 4) == []
    assert field_findings(part("a", "b", split="test"), tmp_path, PERCENT) == []


def test_inputs_are_not_tried() -> None:
    spans = {"first.text": ["first.word"]}
    task = Task(text=["first.text", "second.text"], target="label", candidates=["answers[]"], spans=spans)
    ends = ["first.word.start", "first.word.stop"]
    columns = ["first.text", "first.id", *ends, "second.text", "answers[]", "label", "meta.pos"]
    assert non_inputs(task, columns) == ["first.id", "meta.pos"]


def test_guesses_are_those_of_the_other_folds() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(12, size=80)
    targets = np.where(rng.random(80) < 0.8, values % 2, rng.integers(2, size=80)).astype(float)
    made = guess(LABELS, "field", values.tolist(), targets, [None] * len(targets))
    assert made is not None
    folds = np.random.default_rng(0).permutation(80) % FOLDS
    for train, test in PredefinedSplit(folds).split():
        for row in test:
            alike = Counter(targets[train[values[train] == values[row]]].tolist())
            best = {target for target, count in alike.items() if count == max(alike.values())}
            assert made.targets[row] in (best or {0.0, 1.0})


def test_removed_errors() -> None:
    """Of 100 rows, 80 with the commonest label, the field gets 90 right: it removes half of the constant answer's 20 errors."""
    targets = np.array([0.0] * 80 + [1.0] * 20)
    made = guess(LABELS, "field", ["a"] * 80 + ["b"] * 10 + ["a"] * 10, targets, [None] * ROWS)
    assert made is not None and made.removed == pytest.approx(0.5)
    assert guess(LABELS, "field", ["a"] * 97 + ["b"] * 3, targets, [None] * ROWS) is None  # removes 3 of 20


def test_a_group_is_guessed_from_other_groups() -> None:
    """The name of a group whose rows have one label says nothing of new groups."""
    names = [f"g{row // 4}" for row in range(ROWS)]
    targets = np.array([float(row // 4 % 2) for row in range(ROWS)])
    assert guess(LABELS, "id", names, targets, [None] * ROWS) is not None
    assert guess(LABELS, "id", names, targets, names) is None


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
