from dataclasses import replace

from audit_parts import ANALOGY, CHOICE, LABELS, PAIR, POSITIVE, only, part

from mtl.benchmark_making.audits.findings import Part
from mtl.benchmark_making.audits.sharing import shared_across, shared_within
from mtl.data.examples import Span


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
    found = shared_across([one, two, pairs])
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
    assert shared_across([{"train": train, "dev": part(("c", "b", "a"), task=ANALOGY, split="dev")}, other]) == []


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
