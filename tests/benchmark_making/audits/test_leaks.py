from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_parts import ANALOGY, CHOICE, LABELS, PAIR, POSITIVE, RATING, only, part
from sklearn.model_selection import PredefinedSplit

from mtl.benchmark_making.audits.fields import FOLDS, field_findings, field_guess, non_inputs
from mtl.benchmark_making.audits.leaks import shared_across, shared_within
from mtl.benchmark_making.audits.parts import Finding, Part
from mtl.benchmark_making.audits.questions import question_findings
from mtl.benchmark_making.data_files import write_records
from mtl.data.marked_spans import Span
from mtl.tasks.scale import PERCENT, SCALES, Scale
from mtl.tasks.target_kind import Target
from mtl.tasks.task import Task

ROWS = 100
HALF = [float(i % 2) for i in range(ROWS)]


def findings(
    folder: Path, targets: list[Target], task: Task = LABELS, scale: Scale = PERCENT, **fields: list[Any]
) -> list[Finding]:
    """The findings in a jsonl file whose rows have these targets and further fields."""
    texts: list[Any] = [f"text {i}" if task.candidates is None else ("q", f"a {i}", "b") for i in range(len(targets))]
    names = ["text", task.target, *(f"meta.{name}" for name in fields)]
    write_records(folder / "rows.jsonl", names, list(zip(map(str, texts), targets, *fields.values(), strict=True)))
    return field_findings(replace(part(*texts, targets=targets, task=task), file="rows.jsonl"), folder, scale)


def mostly(targets: list[float], wrong: int) -> list[str]:
    """A field that names the target, but for every so manieth row."""
    return ["ab"[int(target if i % wrong else 1 - target)] for i, target in enumerate(targets)]


def test_a_nested_field_that_predicts_the_label_and_several_with_the_best_first(tmp_path: Path) -> None:
    found = only(findings(tmp_path, HALF, pos=mostly(HALF, 10), other=["x", "x", "y", "y"] * 25))
    assert (found.kind, found.count, found.where) == ("fields", 1, "rows.jsonl")
    assert found.what == (
        "a field that is no input predicts the target (accuracy, and the share of a constant answer's errors that the field"
        " removes): meta.pos 90.0 (80%); a constant answer has 50.0"
    )
    error = [None if target else f"e{i % 9}" for i, target in enumerate(HALF)]  # null is a value of its own
    found = only(findings(tmp_path, HALF, weak=mostly(HALF, 5), strong=mostly(HALF, 10), error=error))
    assert found.count == 3 and "3 fields that are no input predict the target" in found.what
    assert "meta.error 100.0 (100%), meta.strong 90.0 (80%), meta.weak 80.0 (60%)" in found.what


def test_a_number_is_guessed_by_the_mean_and_a_candidate_by_its_index(tmp_path: Path) -> None:
    targets = [3 * (i % 3) + 0.1 * (i % 7) for i in range(ROWS)]
    fields = {"third": [i % 3 for i in range(ROWS)], "seventh": [i % 7 for i in range(ROWS)]}
    found = only(findings(tmp_path, targets, RATING, **fields))
    assert found.count == 1 and "(Spearman, and" in found.what and "meta.third " in found.what
    found = only(findings(tmp_path, HALF, CHOICE, SCALES[1], year=mostly(HALF, 10)))
    assert "meta.year 0.900 (80%); a constant answer has 0.500" in found.what  # as the suite shows scores


def test_a_field_of_a_row_says_nothing_of_its_tokens(tmp_path: Path) -> None:
    tags = Task("t", text=["text"], target="tags", kind="token_labels", labels=["neg", "pos"], metric="token_accuracy")
    targets: list[Target] = [["neg", "pos"][int(target)] for target in HALF]
    assert findings(tmp_path, HALF, LABELS, source=mostly(HALF, ROWS))
    assert findings(tmp_path, targets, tags, source=mostly(HALF, ROWS)) == []


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


def test_what_is_not_tried(tmp_path: Path) -> None:
    # Random fields of few rows give no finding.
    rng = np.random.default_rng(1)
    fields = {f"f{i}": rng.integers(4, size=40).tolist() for i in range(30)}
    assert findings(tmp_path, rng.integers(2, size=40).astype(float).tolist(), **fields) == []
    # Unlabelled and few rows are not tried.
    assert findings(tmp_path, [0.0, 1.0] * 4, field=["a", "b"] * 4) == []
    assert field_findings(part("a", "b", split="test"), tmp_path, PERCENT) == []
    # Inputs are not tried.
    texts, spans = ["first.text", "second.text"], {"first.text": ["first.word"]}
    task = Task(text=texts, target="label", candidates=["answers[]"], spans=spans, metric="accuracy")
    inputs = ["first.text", "first.word.start", "first.word.stop", "second.text", "answers[]", "label"]
    assert non_inputs(task, ["first.id", *inputs, "meta.pos"]) == ["first.id", "meta.pos"]


def test_guesses_are_those_of_the_other_folds() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(12, size=80)
    targets = np.where(rng.random(80) < 0.8, values % 2, rng.integers(2, size=80)).astype(float)
    made = field_guess(LABELS, values.tolist(), targets, [None] * len(targets))
    assert made is not None
    folds = np.random.default_rng(0).permutation(80) % FOLDS
    for train, test in PredefinedSplit(folds).split():
        for row in test:
            alike = Counter(targets[train[values[train] == values[row]]].tolist())
            best = {target for target, count in alike.items() if count == max(alike.values())}
            assert made.targets[row] in (best or {0.0, 1.0})


def test_removed_errors_where_a_group_is_guessed_from_other_groups() -> None:
    """Of 100 rows, 80 with the commonest label, the field gets 90 right: it removes half of the constant answer's 20 errors."""
    targets = np.array([0.0] * 80 + [1.0] * 20)
    values: list[Any] = ["a"] * 80 + ["b"] * 10 + ["a"] * 10
    made = field_guess(LABELS, values, targets, [None] * len(targets))
    assert made is not None and made.removed == pytest.approx(0.5)
    assert field_guess(LABELS, ["a"] * 97 + ["b"] * 3, targets, [None] * len(targets)) is None  # removes 3 of 20
    # A group is guessed from other groups.
    names = [f"g{row // 4}" for row in range(ROWS)]
    targets = np.array([float(row // 4 % 2) for row in range(ROWS)])
    assert field_guess(LABELS, names, targets, [None] * ROWS) is not None
    assert field_guess(LABELS, names, targets, names) is None
    # An empty cell is a group like any other.
    assert field_guess(LABELS, names, targets, ["" if name == "g3" else name for name in names]) is None


def test_analogies_and_choices_that_answer_each_other() -> None:
    pairs = [(f"a{i}", f"b{i}") for i in range(6)]
    rows = [(*pairs[i], pairs[(i + 1) % 6][0]) for i in range(6)]
    answers = [pairs[(i + 1) % 6][1] for i in range(6)]
    found = only(question_findings({"train": part(*rows, targets=answers, task=ANALOGY)}))
    assert found.kind == "answers" and "has the right answer to 6 of 6 questions (100.0%)" in found.what
    constant = part(*[("a", "b", "a")] * 4, targets=["b", "b "] * 2, task=ANALOGY)
    assert not [*question_findings({"train": constant, "dev": part(task=CHOICE), "test": part(task=ANALOGY)})]
    shared = part(("q", "x", "y"), ("r", "x", "y"), ("s", "z", "w"), targets=[0, 1, 0], task=CHOICE)
    found = only(question_findings({"train": shared}))
    assert (found.kind, found.count, found.where) == ("shared candidates", 2, "val/train.tsv:2, 3")
    assert not [*question_findings({"train": part(("q", "x", "y"), ("r", "x", "y"), targets=[0, 0], task=CHOICE)})]


def test_rows_of_dev_in_train_and_how_many_a_memorising_model_gets_right() -> None:
    train = part("a", "b", "c", "", targets=[0, 1, 1, 0])
    dev = part("x", " b ", "a", "", targets=[0, 1, 1, 0], split="dev")
    found = only(shared_within({"train": train, "dev": dev}))
    assert (found.kind, found.split, found.count) == ("shared", "dev", 2)
    assert found.where == "kansla/dev.tsv:3 = 3, 4 = 2 of kansla/train.tsv"
    assert found.meaning == "a model that memorised train would get 1 of them right"


def test_rows_of_test_in_train_and_in_dev() -> None:
    parts = {
        "train": part("a", "b", targets=[0, 1]),
        "dev": part("c", targets=[0], split="dev"),
        "test": part("c", "b", "a", "d", " ", split="test"),
    }
    train, dev = shared_within(parts)
    assert (train.split, train.count) == ("test", 2) and "in train" in train.what
    assert (dev.split, dev.count) == ("test", 1) and "in dev" in dev.what
    quoted = {"train": part('a "b"'), "test": part('"a ""b"""', split="test")}
    assert only(shared_within(quoted)).count == 1


def test_pairs_and_candidates_are_compared_in_any_order() -> None:
    train = part(("a", "b"), ("c", "d"), targets=[0, 1], task=PAIR)
    dev = part(("b", "a"), ("c", "d"), ("a", "d"), ("x", "y"), targets=[0, 1, 0, 1], task=PAIR, split="dev")
    found = only(shared_within({"train": train, "dev": dev}))
    assert found.count == 2 and "1 of them with the two texts swapped" in found.what
    assert found.meaning.endswith("2 of them right")
    # The right candidate counts wherever it stands.
    train = part(("q1", "a", "b"), ("q2", "c", "d"), targets=[0, 1], task=CHOICE)
    dev = part(("q1", "b", "a"), ("q2", "d", "c"), ("q3", "c", "d"), targets=[1, 1, 0], task=CHOICE, split="dev")
    found = only(shared_within({"train": train, "dev": dev}))
    assert found.count == 2 and "2 of them with their texts in another order" in found.what
    assert found.meaning.endswith("1 of them right")


def test_rows_in_another_task_s_training_rows() -> None:
    one = {"train": part("a", "b", targets=[0, 1]), "dev": part("c", "b", "p", targets=[0, 1, 1], split="dev")}
    two = {"train": part("c", "b", targets=[0, 1], task=POSITIVE), "dev": part("z", task=POSITIVE, split="dev")}
    pairs = {"train": part(("p", "q"), task=PAIR), "test": part(("q", "p"), ("a", "b"), task=PAIR, split="test")}
    found = list(shared_across([one, two, pairs]))
    # b is in the task's own train, which is another finding. The pair (a, b) is nowhere else, but the texts a and b are.
    assert [(f.kind, f.task, f.split, f.count) for f in found] == [("shared across", "kansla", "dev", 1)] * 2
    assert "in train of cbd" in found[0].what and "in train of samma" in found[1].what
    assert found[0].where == "kansla/dev.tsv:2 = 2 of cbd/train.tsv"
    # Tasks with the same training texts give one finding.
    one = {"train": part("a", "b"), "dev": part("a", split="dev")}
    two = {"train": part("a", "b", task=POSITIVE), "dev": part("a", "c", task=POSITIVE, split="dev")}
    other = {"train": part("x", task=PAIR), "dev": part("b", task=LABELS, split="dev")}
    found = only(shared_across([one, two, other]))
    assert (found.task, found.count) == ("kansla", 1) and "in train of kansla" in found.what


def test_the_order_of_three_texts_has_a_meaning() -> None:
    """a is to b as c is to what? is another question than c is to b as a is to what?"""
    train = part(("a", "b", "c"), targets=["d"], task=ANALOGY)
    dev = part(("c", "b", "a"), ("a", "b", "c"), targets=["x", "d"], task=ANALOGY, split="dev")
    found = only(shared_within({"train": train, "dev": dev}))
    assert found.count == 1 and found.where == "likhet/dev.tsv:3 = 2 of likhet/train.tsv"
    other = {"train": part(("b", "a"), task=PAIR), "dev": part(("x", "y"), task=PAIR, split="dev")}
    assert not [*shared_across([{"train": train, "dev": part(("c", "b", "a"), task=ANALOGY, split="dev")}, other])]


def test_the_same_text_with_another_marked_word_is_another_row() -> None:
    task = replace(PAIR, spans={"a": ["word_a"], "b": ["word_b"]})

    def marked(split: str, *rows: tuple[tuple[str, str], Span, Span]) -> Part:
        of = part(*(texts for texts, *_ in rows), targets=[0] * len(rows), task=task, split=split)
        spans = [tuple(spans) for _, *spans in rows]
        return replace(of, rows=[replace(row, spans=own) for row, own in zip(of.rows, spans, strict=True)])

    texts, swapped = ("en bank", "två banker"), ("två banker", "en bank")
    train = marked("train", (texts, (3, 7), (4, 10)))
    dev = [(texts, (0, 2), (4, 10)), (texts, (3, 7), (4, 10)), (swapped, (4, 10), (3, 7)), (swapped, (3, 7), (4, 10))]
    found = only(shared_within({"train": train, "dev": marked("dev", *dev)}))
    assert found.where == "samma/dev.tsv:3 = 2, 4 = 2 of samma/train.tsv" and "1 of them with" in found.what
